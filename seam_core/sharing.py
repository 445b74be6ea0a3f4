"""Work on the texts of a long window, shared out to other processes while this one does something else."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from seam_core.apart import Apart
from seam_core.records import HEALS
from seam_core.texts import with_edits

if TYPE_CHECKING:  # other processes import this, too, and have no use for a database
    from seam_core.scope import Scope

Result = TypeVar("Result")

APART_MIN = 10_000  # from so many texts on it is worth to start another process …
SPLIT_MIN = 50_000  # … and from so many on to start several
SEVERAL = 3

TEXTS = "select count(*) from heals where has_after_text and ts > (select start from span) and ts <= (select stop from span)"


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
    """Other processes that may read the heal log, waiting for work on the texts of one window; none where it is short."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._waiting: list[Apart] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        file = self._scope.store.states[HEALS.table].file
        n_texts = self._scope.one(TEXTS)[0]
        n_processes = 0 if n_texts < APART_MIN or (os.cpu_count() or 1) == 1 or file is None else SEVERAL if n_texts >= SPLIT_MIN else 1
        try:
            for _ in range(n_processes):
                assert file is not None
                self._waiting.append(self._stack.enter_context(Apart("seam_core.one_pass", files=[file.handle.fileno()])))
        except OSError:  # no process can be had here: everything is worked out in this one
            self._waiting.clear()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    @property
    def n_waiting(self) -> int:
        """How many have no work yet."""
        return len(self._waiting)

    def share(self, calls: Sequence[Call[Any]], *, first_row: int) -> list[Shared[Any]]:
        """The results of some calls, which one process makes in this order; no text before `first_row` is read."""
        state = self._scope.store.states[HEALS.table]
        process = self._waiting.pop() if self._waiting and state.file else None
        if process and state.file:
            work = [(call.function, call.arguments) for call in calls]
            try:
                process.begin(with_edits, state.file.handle.fileno(), first_row, state.offsets(first_row), work)
            except OSError:
                process = None
        return [Shared(self._scope, call, process, place) for place, call in enumerate(calls)]


def spans(n_items: int, n_parts: int) -> list[tuple[int, int]]:
    """[start, stop) of equal parts of so many items."""
    return [(n_items * k // n_parts, n_items * (k + 1) // n_parts) for k in range(n_parts)]
