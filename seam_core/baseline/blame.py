"""Since which heal a case is not as certified, and how often it changes with no change to the agent at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from seam_core.outcomes import unfold
from seam_core.scope import Scope
from seam_core.views.case_history import RUNS, Noise
from seam_core.words import count, cut

# Every surface run in the order of the case history: a heal's before run before it, its after run after it.
PLACED = f"""
select *, row_number() over (
    order by ts, place, case phase when 'before' then 0 when 'after' then 2 else 1 end, run_id
) as step
from ({RUNS})
"""

HEALS = "select heal_id, row, row_number() over (order by ts, heal_id) as number from heals"

OBSERVED = """
select o.case_id, o.passed, p.step, p.place, p.run_id, p.ts, p.phase, nullif(p.state_hash, '') as state_hash, d.certified,
       o.passed is distinct from d.certified as differs
from outcomes o join placed_runs p using (run) join review_cases d using (case_id)
where p.step <= (select step from placed_runs where run = $run)
"""

# Of all places where a case may have changed for good, the one that the fewest outcomes speak against: those before it that differ
# already and those from it on that do not. Of several, one with a heal between, and the earliest. What was before a person certified
# the outcome is not looked at.
ORIGINS = """
with confirmed as (
    select case_id, max(step) as first_step from observed
    where not differs and run_id in (select run_id from baseline_versions where run_id is not null)
    group by case_id
),
counted as (
    select case_id, step, place, run_id, ts, differs, lag(place) over earlier as place_before,
           coalesce(sum(differs::int) over (earlier rows between unbounded preceding and 1 preceding), 0)
           + sum((not differs)::int) over (earlier rows between current row and unbounded following) as n_against
    from observed left join confirmed c using (case_id)
    where observed.step >= coalesce(c.first_step, 0) and certified is not null
    window earlier as (partition by case_id order by observed.step)
)
select case_id, run_id, ts, place, place_before, n_against
from counted
where differs
qualify row_number() over (partition by case_id order by n_against, place_before is not null and place <= place_before, step) = 1
order by case_id
"""

# The rules of a case's history: a run is held against the one before it, a control or rescore run against the newest of the same state.
NOISE = """
with compared as (
    select case_id, passed, phase, state_hash, place, lag(passed) over earlier as passed_before,
           lag(state_hash) over earlier as state_before, lag(place) over earlier as place_before,
           lag(passed) over (partition by case_id, state_hash order by step) as passed_again
    from observed
    window earlier as (partition by case_id order by step)
),
pairs as (
    select case_id, passed,
           state_hash is not null and phase in ('control', 'rescore') and passed_again is not null as is_again,
           case when is_again then passed_again else passed_before end as other,
           is_again or case when state_hash is not null and state_before is not null then state_hash = state_before
                            else place = place_before end as is_quiet
    from compared
)
select case_id, count(*) filter (is_quiet and other is not null), count(*) filter (is_quiet and other <> passed)
from pairs
group by case_id
order by case_id
"""


@dataclass(frozen=True)
class Origin:
    """Where a case changed: the first run that saw it, and the heals between that run and the one before, but those the gate stopped."""

    run_id: str
    ts: datetime
    place: int  # heals up to that run, for order
    heals: tuple[str, ...]
    from_start: bool  # no run before had the case, so that it may have changed before the first of them
    n_against: int = field(default=0, compare=False)  # outcomes that say otherwise

    @property
    def heal_id(self) -> str | None:
        """The heal to blame, where the log tells which one it is."""
        return self.heals[0] if len(self.heals) == 1 and not self.from_start else None

    @property
    def sentence(self) -> str:
        """What the log tells, in words; ids as logged."""
        run = f"run {cut(self.run_id)}"
        if self.from_start:
            if not self.heals:
                return f"Not as certified in the first run that has it ({run}), with no heal before."
            heals = count(len(self.heals), "heal")
            return f"Not as certified in the first run that has it ({run}): one of {heals} before it, or none of them."
        if not self.heals:
            return f"Changed by {run}, with no heal between it and the run before."
        if self.heal_id:
            return f"Changed after heal {cut(self.heal_id)} ({run})."
        return f"Changed after one of these {len(self.heals):,} heals, between two runs ({run})."

    @property
    def heading(self) -> str:
        """The heals in words, without the run."""
        if self.from_start and not self.heals:
            return "Not as certified from the first run on, with no heal before."
        if self.from_start:
            return f"Not as certified from the first run on: after one of {count(len(self.heals), 'heal')} before it, or none of them."
        if not self.heals:
            return "Changed with no heal between two runs."
        return f"Changed after heal {cut(self.heals[0])}." if self.heal_id else f"Changed after one of these {len(self.heals):,} heals."

    @property
    def shown(self) -> list[object]:
        """What a digest covers."""
        return [self.run_id, list(self.heals), self.from_start, self.n_against]


def find_origins(scope: Scope, run: int) -> dict[str, Origin]:
    """case_id → where it changed, for the cases of ``review_cases``. Keeps ``observed``: their outcomes up to the reviewed run."""
    unfold(scope, "select run from surface_runs")
    scope.keep("placed_runs", PLACED)
    scope.keep("observed", OBSERVED, run=run)
    heals = [
        (heal_id, bool(blocked))
        for heal_id, blocked in scope.query(f"select heal_id, row in (select row from blocked) from ({HEALS}) order by number")
    ]
    between: dict[tuple[int, int], tuple[str, ...]] = {}
    found = {}
    for case_id, run_id, ts, place, place_before, n_against in scope.query(ORIGINS):
        start = place_before or 0
        span = start, place
        if span not in between:
            between[span] = tuple(heal_id for heal_id, is_blocked in heals[start:place] if not is_blocked)
        found[case_id] = Origin(run_id, ts, place, between[span], place_before is None, n_against)
    return found


def find_noise(scope: Scope) -> dict[str, Noise]:
    """case_id → how often it changed with no heal between, for the cases of ``observed``."""
    return {case_id: Noise(n_pairs, n_flips) for case_id, n_pairs, n_flips in scope.query(NOISE)}
