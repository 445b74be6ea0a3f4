"""The pass over the texts of a window: begun in another process where it is long, or made when the first rule asks for it."""

from __future__ import annotations

import os
from array import array
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import Self

from seam_core.apart import Apart
from seam_core.contamination import keep_texts_before
from seam_core.gates import Gate
from seam_core.integrity.wording import Task, Texts, exam_ids, read_log, read_texts
from seam_core.records import HEALS
from seam_core.scope import Scope

TEXTS_MAX = 25_000  # texts looked at, the newest ones of the window
APART_MIN = 10_000  # from so many texts on it is worth to start another process

# With the heals that changed a target and do not say how: after one of them its text is not known. Where the window holds more texts
# than are looked at, the first one on each target only says what the next one starts from. Of a long window only those are written down.
NEWEST = """
with texts as not materialized (
    select row, heal_id, target, ts, level, true as in_window from window_heals where has_after_text
    union all
    select b.row, b.heal_id, b.target, b.ts, h.level, false from texts_before b join heals h using (row)
),
silent as (
    select row, heal_id, target, ts, level, true as in_window from window_heals
    where level >= 1 and not has_after_text
        and target in (select target from window_heals where has_after_text union all select target from texts_before)
),
told as not materialized (
    from texts
    union all
    from silent
),
newest as materialized (from told order by ts desc, heal_id desc limit $n + 1)
select row, heal_id, target, level, in_window and not (is_more and row_number() over (partition by target order by ts, heal_id) = 1)
from (select *, (select count(*) from newest) > $n as is_more from newest order by ts desc, heal_id desc limit $n)
order by ts, heal_id
"""


class Reading:
    """What the texts of one window say; in its context a long window's are read by another process while this one does something else."""

    def __init__(self, scope: Scope, gate: Gate) -> None:
        self._scope, self._gate = scope, gate
        self._at_work: Apart | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        n_texts = self._scope.one("select count(*) from window_heals where has_after_text")[0]
        state = self._scope.store.states[HEALS.table]
        if n_texts >= APART_MIN and (os.cpu_count() or 1) > 1 and state.file is not None:
            rows, task = self._task
            descriptor, offsets = state.file.handle.fileno(), array("q", map(state.offset_of, rows))
            with suppress(OSError):  # no process can be had here
                self._at_work = self._stack.enter_context(Apart(read_log, descriptor, offsets, task, files=[descriptor]))
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    @cached_property
    def found(self) -> Texts:
        """What they say, as soon as they are read."""
        if self._at_work:
            with suppress(ChildProcessError):  # it was killed, for want of memory perhaps
                result: Texts = self._at_work.result()
                return result
        rows, task = self._task
        return read_texts(lambda: self._scope.store.lines(HEALS.table, rows), task)

    @cached_property
    def _task(self) -> tuple[list[int], Task]:
        """The rows of the texts, and what is to be done with them."""
        keep_texts_before(self._scope, self._gate)
        found = self._scope.query(NEWEST, n=TEXTS_MAX)
        blocks: dict[str, list[str]] = {}
        for target, text in self._scope.query("select target, text from protected where text is not null order by id"):
            if text.strip():
                blocks.setdefault(target, []).append(text)
        exam = exam_ids(case for (case,) in self._scope.query("select id from holdout"))
        return [row for row, *_ in found], Task([heal for _, *heal in found], blocks, exam)
