"""Runs a function of this package in a process of its own, so that a second core works while this one does something else.

Threads would not do: only one of them runs Python at a time. The other process is a plain ``python -m seam_core.apart``, because a fork
of a process with threads may hang, and `multiprocessing` would run the main script of a page again. It gets its work as a file, which
need not wait for it as a pipe would.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent  # where that process finds the package


class Apart:
    """One call of a module's function at work elsewhere; `files` are descriptors that it may read. Leaving the context ends it."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, files: Sequence[int] = ()) -> None:
        command = [sys.executable, "-m", "seam_core.apart"]
        with tempfile.TemporaryFile(prefix="seam-") as work:
            pickle.dump((function, arguments), work, protocol=pickle.HIGHEST_PROTOCOL)
            work.seek(0)
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
                command, cwd=ROOT, stdin=work, stdout=subprocess.PIPE, pass_fds=files
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        with self._process:  # closes its pipes and waits for its end
            self._process.kill()

    def result(self) -> Any:
        """What the function returned, once it has.  Raises ChildProcessError when it failed; its traceback is on standard error."""
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            answer = pipe.read()
        if self._process.wait():
            raise ChildProcessError(f"a process at work ended with {self._process.returncode}")
        return pickle.loads(answer)  # noqa: S301  from our own child


if __name__ == "__main__":
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  from our own parent
    pickle.dump(function(*arguments), sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)
