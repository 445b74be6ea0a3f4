"""Work on the texts of a long history, shared out to other processes while this one does something else."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from seam_core.apart import Apart
from seam_core.records import HEALS
from seam_core.texts import with_texts

if TYPE_CHECKING:  # other processes import this, too, and have no use for a database
    from seam_core.scope import Scope

Result = TypeVar("Result")

APART_MIN = 50_000  # from so many items on it is worth to start other processes
PROCESSES = 2


def spans(n_items: int) -> list[tuple[int, int]]:
    """[start, stop) of the parts that so many items are done in: one for each process, or one in all when they are few."""
    n_parts = PROCESSES if n_items >= APART_MIN and (os.cpu_count() or 1) > 1 else 1
    return [(n_items * k // n_parts, n_items * (k + 1) // n_parts) for k in range(n_parts)]


class Shared(Generic[Result]):
    """`function(texts, *arguments)` of each part: several parts are begun in other processes at once, one is done when it is asked for."""

    def __init__(self, scope: Scope, function: Callable[..., Result], parts: Sequence[tuple[Any, ...]]) -> None:
        self._scope, self._function, self._parts = scope, function, parts
        self._at_work: list[Apart] = []
        self._found: list[Result] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        state = self._scope.store.states[HEALS.table]
        if len(self._parts) > 1 and state.file is not None:
            offsets, descriptor = state.offsets(), state.file.handle.fileno()
            try:
                for part in self._parts:
                    job = Apart(with_texts, descriptor, offsets, self._function, *part, files=[descriptor])
                    self._at_work.append(self._stack.enter_context(job))
            except OSError:  # no process can be had here: `results` does everything itself
                self._at_work.clear()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    def results(self) -> list[Result]:
        """What the function returned for each part; worked out once."""
        if not self._found:
            try:
                self._found = [job.result() for job in self._at_work]
            except ChildProcessError:  # it was killed, for want of memory perhaps
                self._found = []
            if not self._found or None in self._found:
                self._found = [self._function(self._scope.texts, *part) for part in self._parts]
        return self._found
