"""Work on the texts of a long window, shared out to other processes while this one does something else."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from seam_core.apart import Apart
from seam_core.lines import LogFile
from seam_core.logstate import Part
from seam_core.records import HEALS
from seam_core.texts import Reader, ask_reader

if TYPE_CHECKING:  # other processes import this, too, and have no use for a database
    from seam_core.scope import Scope

Result = TypeVar("Result")

APART_MIN = 10_000  # from so many texts on it is worth to start another process …
SPLIT_MIN = 50_000  # … and from so many on to start several
SEVERAL = 3
LARGE = 2**24  # bytes of a log that may have a window of so many texts
WORK = "seam_core.one_pass"  # the module of what other processes are asked for

TEXTS = """
select count(*), coalesce(min(row), 0), coalesce(max(row), -1) from heals
where has_after_text and ts > (select start from span) and ts <= (select stop from span)
"""


@dataclass(frozen=True)
class Call(Generic[Result]):
    """`function(edits, *arguments)`: something to do on texts."""

    function: Callable[..., Result]
    arguments: tuple[Any, ...]


class Shared(Generic[Result]):
    """What a call returns: sent by another process that does it after others, or worked out here when it is asked for."""

    def __init__(self, scope: Scope, call: Call[Result], process: Apart | None = None, place: int = 0) -> None:
        self._scope, self._call, self._process, self._place = scope, call, process, place

    @cached_property
    def result(self) -> Result:
        """It, as soon as it is there."""
        found: Result | None = None
        if self._process:
            try:
                found = self._process.result(self._place)
            except ChildProcessError:  # it was killed, for want of memory perhaps
                found = None
        return self._call.function(self._scope.edits, *self._call.arguments) if found is None else found


class Processes:
    """Other processes that may read the heal log, waiting for work on the texts of one window; none where it is short. While there is
    none, each does `function(edits, rows, *arguments)` of the call `first`, where rows are those whose texts it can remember.
    """

    def __init__(self, scope: Scope, first: Call[None] | None = None, ahead: Apart | None = None) -> None:
        self._scope, self._first, self._ahead = scope, first, ahead
        self._first_row = 0
        self._waiting: list[Apart] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        state = self._scope.store.states[HEALS.table]
        n_texts, self._first_row, last_row = self._scope.one(TEXTS)
        n_processes = 0 if n_texts < APART_MIN or (os.cpu_count() or 1) == 1 else SEVERAL if n_texts >= SPLIT_MIN else 1
        if not n_processes or state.file is None:
            return self
        self._waiting += [self._ahead] if self._ahead else []
        try:
            while len(self._waiting) < n_processes:
                self._waiting.append(self._stack.enter_context(Apart(WORK)))
        except OSError:  # no process can be had here: everything is worked out in this one
            self._waiting.clear()
        offsets = state.offsets(self._first_row) if self._waiting else array("q")
        rows = range(self._first_row, last_row + 1)
        rows = rows if n_processes == 1 and len(rows) < 2 * n_texts else range(0)
        for process in self._waiting:
            process.make(Reader.opened, *_opened_as(state.file), Part(self._first_row, offsets))
            if self._first:
                process.ask(ask_reader, (), self._first.function, (rows, *self._first.arguments))
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    @property
    def n_waiting(self) -> int:
        """How many have no work yet."""
        return len(self._waiting)

    def share(self, calls: Sequence[Call[Any]], columns: Sequence[array[int]]) -> list[Shared[Any]]:
        """The results of some calls, which one process makes in this order. In the columns stand the rows that they read, -1 for none."""
        process = self._waiting.pop() if self._waiting else None
        if not process:
            return [Shared(self._scope, call) for call in calls]
        state = self._scope.store.states[HEALS.table]
        before = range(self._first_row)  # most of what is read comes later
        rows = sorted({row for column in columns if before for row in column if row in before})
        earlier = [Part(row, array("q", [state.offset_of(row)])) for row in rows]
        places = [process.ask(ask_reader, earlier, call.function, call.arguments) for call in calls]
        return [Shared(self._scope, call, process, place) for call, place in zip(calls, places, strict=True)]


def start_ahead(log: Path) -> AbstractContextManager[Apart | None]:
    """A process for a window of a log that is still to be read, where that is large: it is ready when the log is."""
    try:
        if log.stat().st_size >= LARGE and (os.cpu_count() or 1) > 1:
            return Apart(WORK)
    except OSError:  # what is wrong is said by whoever reads the log
        pass
    return nullcontext()


def _opened_as(file: LogFile) -> tuple[Path, tuple[int, int]]:
    """Name and identity under which another process finds an open log; what was unpacked has a name only as long as it is open here."""
    found = os.fstat(file.handle.fileno())
    is_named = (found.st_dev, found.st_ino) == file.identity
    path = file.path.absolute() if is_named else Path(f"/proc/{os.getpid()}/fd/{file.handle.fileno()}")
    return path, (found.st_dev, found.st_ino)


def spans(n_items: int, n_parts: int) -> list[tuple[int, int]]:
    """[start, stop) of equal parts of so many items."""
    return [(n_items * k // n_parts, n_items * (k + 1) // n_parts) for k in range(n_parts)]
