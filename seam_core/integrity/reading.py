"""Which texts of a window are read for what they say, and what is looked for in them."""

from __future__ import annotations

from array import array

from seam_core.contamination import keep_texts_before
from seam_core.gates import Gate
from seam_core.integrity.wording import Task, exam_ids
from seam_core.scope import Scope

TEXTS_MAX = 25_000  # texts looked at, the newest ones of the window

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


def reading_task(scope: Scope, gate: Gate) -> Task:
    """The texts that are read, and what is looked for in them."""
    keep_texts_before(scope, gate)
    found = scope.query(NEWEST, n=TEXTS_MAX)
    blocks: dict[str, list[str]] = {}
    for target, text in scope.query("select target, text from protected where text is not null order by id"):
        if text.strip():
            blocks.setdefault(target, []).append(text)
    exam = exam_ids(case for (case,) in scope.query("select id from holdout"))
    return Task(array("q", [row for row, *_ in found]), [heal for _, *heal in found], blocks, exam)
