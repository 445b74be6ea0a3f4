"""E by slice of the held-out exam: over its core cases, which stay, and over its rotating ones, which are replaced.

An agent that has learnt the exam by heart keeps its core score and loses on the rotating cases. A slice is known only where held-out runs
name their heal (``suite_runs.jsonl``) and ``holdout.jsonl`` says which case belongs to which.
"""

from __future__ import annotations

from dataclasses import dataclass

from seam_core.exam_rows import read_held_out_rows
from seam_core.report import Audit
from seam_core.words import count, listed

HEALS_MAX = 20_000
TWO_SLICES = "select count(distinct slice) from holdout where slice is not null"

# E of each heal as it would be if the exam were one slice of it: the same visible gain against the gain over those cases alone.
BY_SLICE = """
with gains as (
    select c.id as heal_id, s.slice::varchar as slice, avg(c.passed_after::int) - avg(c.passed_before::int) as holdout_gain,
           count(*) as n_cases
    from exam_cases c join holdout s on s.id = c.case_id
    where c.suite = 'holdout' and s.slice is not null
    group by c.id, s.slice
),
scored as (
    select g.*, 1 - least(greatest(0, e.visible_gain - g.holdout_gain) / $gap_max, 1) as e_slice
    from gains g join efficacy_rows e using (heal_id)
)
select slice, fsum(e_slice) / count(*), fsum(holdout_gain) / count(*), count(*), max(n_cases)
from scored group by slice order by slice
"""


@dataclass(frozen=True)
class Slice:
    """One slice of the exam: E over its cases alone, the mean held-out gain there, heals that tell, and its cases."""

    name: str
    efficacy: float
    gain: float
    n_heals: int
    n_cases: int


def by_slice(audit: Audit) -> tuple[Slice, ...]:
    """Core and rotating, as far as runs tell; nothing where no case belongs to a slice or no held-out run names a heal of the window."""
    scope = audit.scope
    if not (scope.store.has("holdout") and scope.store.has("runs")) or scope.one(TWO_SLICES)[0] < 2 or audit.efficacy.n > HEALS_MAX:
        return ()
    with scope.store.lock:
        heals = [heal_id for (heal_id,) in scope.query("select heal_id from efficacy_rows order by ts, heal_id")]
        if not read_held_out_rows(scope, heals, until=audit.window.end):
            return ()
        return tuple(Slice(*row) for row in scope.query(BY_SLICE, gap_max=audit.settings.gap_max))


def sentences(found: tuple[Slice, ...]) -> list[str]:
    """E by slice in a sentence; nothing where it is not known."""
    if not found:
        return []
    each = listed([f"{one.efficacy:.2f} over {count(one.n_cases, f'{one.name} case')} ({count(one.n_heals, 'heal')})" for one in found])
    return [f"By slice of the exam E is {each}."]
