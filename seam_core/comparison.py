"""Compares the pairs of texts of a window: few of them here, many in other processes while this one does something else."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Self

from seam_core.apart import Apart
from seam_core.records import HEALS
from seam_core.revisits import Bar, Pairs, Revisits, compare, compare_apart
from seam_core.scope import Scope

APART_MIN = 50_000  # from so many pairs on it is worth to start other processes
PROCESSES = 2


class Comparison:
    """The comparing of all pairs: many are shared out to other processes at once, few are compared when the result is asked for."""

    def __init__(self, scope: Scope, pairs: Pairs) -> None:
        self._scope, self._pairs = scope, pairs
        self._bar = Bar(scope.settings.similarity_min, scope.settings.similarity_method)
        self._at_work: list[Apart] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        n = len(self._pairs.earlier)
        state = self._scope.store.states[HEALS.table]
        if n >= APART_MIN and (os.cpu_count() or 1) > 1 and state.file is not None:
            offsets, descriptor = state.offsets(), state.file.handle.fileno()
            try:
                for k in range(PROCESSES):
                    part = self._pairs.part(n * k // PROCESSES, n * (k + 1) // PROCESSES)
                    job = Apart(compare_apart, descriptor, offsets, part, self._bar, files=[descriptor])
                    self._at_work.append(self._stack.enter_context(job))
            except OSError:  # no process can be had here: `result` compares everything itself
                self._at_work.clear()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    def result(self) -> Revisits:
        """Every revisit."""
        try:
            parts = [job.result() for job in self._at_work]
        except ChildProcessError:  # it was killed, for want of memory perhaps
            parts = []
        if not parts or None in parts:
            return compare(self._pairs, self._scope.texts, self._bar)
        return Revisits([one for part in parts for one in part.found], sum(part.n_long for part in parts))
