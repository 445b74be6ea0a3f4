"""Runs functions of this package in a process of its own, so that a second core works while this one does something else.

Threads would not do: only one of them runs Python at a time. The other process is a plain ``python -m seam_core.apart``, because a fork
of a process with threads may hang, and `multiprocessing` would run the main script of a page again. It is started before there is work for
it, loads what the work needs, and waits.
"""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Self

ROOT = Path(__file__).resolve().parent.parent  # where that process finds the package


class Apart:
    """A process that makes something, and then does with it what it is asked for, one call after the other; `module` is what it loads
    first. Leaving the context ends it.  Raises OSError when no process can be had.
    """

    def __init__(self, module: str) -> None:
        self._results: list[Any] = []
        self._n_asked = 0
        self._sender = ThreadPoolExecutor(max_workers=1)  # so that nobody waits while the other process is busy
        # a session of its own: Ctrl+C is for this process, which then ends the other
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "seam_core.apart", module],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._process.kill()
        self._sender.shutdown(cancel_futures=True)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # it took not all of its work
                if pipe:
                    pipe.close()
        self._process.wait()

    def make(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let it make, first of all, what `function(*arguments)` returns."""
        self._send(function, arguments)

    def ask(self, function: Callable[..., Any], *arguments: Any) -> int:
        """Let it work out `function(made, *arguments)`; the number of the result."""
        self._send(function, arguments)
        self._n_asked += 1
        return self._n_asked - 1

    def _send(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        assert self._process.stdin is not None
        self._sender.submit(_send, self._process.stdin, (function, arguments))  # where it has ended, `result` says so

    def result(self, place: int) -> Any:
        """The result of that number, once it is there.  Raises ChildProcessError when there is none, or the process failed: its traceback
        is then on standard error.
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
    with ThreadPoolExecutor(max_workers=1) as sender, suppress(EOFError):  # which is raised when no more is asked
        function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  from our own parent
        made = function(*arguments)
        while True:
            function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301
            sender.submit(_send, sys.stdout.buffer, function(made, *arguments))


def _send(pipe: IO[bytes], what: Any) -> None:
    pickle.dump(what, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
