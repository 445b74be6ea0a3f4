"""Runs a function of this package in a process of its own, so that a second core works while this one does something else.

Threads would not do: only one of them runs Python at a time. The other process is a plain ``python -m seam_core.apart``, because a fork
of a process with threads may hang, and `multiprocessing` would run the main script of a page again. It is started before there is work for
it, loads what the work needs, and waits.
"""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent  # where that process finds the package


class Apart:
    """A process that waits for one call of a module's function, and sends each of the results that it yields. It loads `module` meanwhile;
    `files` are descriptors that it may read. Leaving the context ends it.
    """

    def __init__(self, module: str, *, files: Sequence[int] = ()) -> None:
        self._results: list[Any] = []
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "seam_core.apart", module], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=files
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # it took not all of its work
                if pipe:
                    pipe.close()
        self._process.wait()

    def begin(self, function: Callable[..., Iterable[Any]], *arguments: Any) -> None:
        """Hand the call over.  Raises OSError when the process has ended."""
        assert self._process.stdin is not None
        with self._process.stdin as pipe:
            pickle.dump((function, arguments), pipe, protocol=pickle.HIGHEST_PROTOCOL)

    def result(self, place: int) -> Any:
        """The result of that number, from 0, once it is there.  Raises ChildProcessError when there is none, or the process failed: its
        traceback is then on standard error.
        """
        assert self._process.stdout is not None
        while len(self._results) <= place:
            try:
                self._results.append(pickle.load(self._process.stdout))  # noqa: S301  from our own child
            except (EOFError, pickle.UnpicklingError):
                raise ChildProcessError(f"a process at work ended with {self._process.wait()}") from None
        return self._results[place]


def _serve(module: str) -> None:
    """What the other process does. A thread sends the results, so that the next one is worked on even while nobody takes them."""
    gc.disable()  # nothing here makes cycles
    import_module(module)
    try:
        function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  from our own parent
    except EOFError:  # there is no work
        return
    with ThreadPoolExecutor(max_workers=1) as sender:
        for result in function(*arguments):
            sender.submit(_send, pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL))


def _send(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
