"""A, aftermath: what did the repair break?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from seam_core.axes.drift import NO_DRIFT, Drift, measure_drift, prepare_surface
from seam_core.outcomes import unfold
from seam_core.scope import Scope
from seam_core.words import count

# The newest after run and the newest before run of each heal in the window, and how far the runs before it go.
HEAL_RUNS = """
with own as (
    select h.heal_id, any_value(h.ts) as ts, max(r.position) filter (r.phase = 'after') as after_position,
           max(r.position) filter (r.phase = 'before') as before_position
    from window_heals h join surface_runs r using (heal_id)
    where r.phase in ('before', 'after')
    group by h.heal_id
),
moments as (select ts, max(position) as position from surface_runs group by ts)
select own.heal_id, own.ts, a.run as after_run, b.run as before_run, coalesce(m.position, 0) as reach
from own
join surface_runs a on a.position = own.after_position
left join surface_runs b on b.position = own.before_position
asof left join moments m on own.ts >= m.ts
"""

# The runs of the heals themselves, and every run from the last one before them that holds the whole surface: what is older than that
# matters only for cases that the surface does not know.
NEAR_RUNS = """
with span as (select min(reach) as low, max(reach) as high from heal_runs),
whole as (
    select coalesce(max(position), 0) as position from surface_runs
    where run in (select run from full_runs) and position <= (select low from span)
)
select after_run as run from heal_runs
union all
select before_run from heal_runs where before_run is not null
union all
select run from surface_runs where position >= (from whole) and position <= (select high from span)
"""

# The cases of each after run, with the outcome of the heal's own before run where that has them.
OWN_CASES = """
select h.heal_id, h.ts, h.reach, a.case_id, a.passed as passed_after, b.passed as passed_own
from heal_runs h join outcomes a on a.run = h.after_run
left join outcomes b on b.run = h.before_run and b.case_id = a.case_id
"""

# Of the cases that no before run has: the newest outcome before the earliest heal, and every one after that.
RECENT_OUTCOMES = """
with asked as (select distinct case_id from own_cases where passed_own is null),
span as (select min(reach) as low, max(reach) as high from heal_runs),
near as (
    select o.case_id, o.passed, r.position, r.phase, r.heal_id
    from outcomes o join surface_runs r using (run) semi join asked using (case_id)
    where r.position <= (select high from span)
),
newest as (select case_id, max(position) as position from near where position <= (select low from span) group by case_id)
select n.* from near n join newest using (case_id, position)
union all
select * from near where position > (select low from span)
"""

CASES = """
select heal_id, ts, case_id, passed_after, passed_own as passed_before, reach, false as is_circular
from own_cases where passed_own is not null
union all
select c.heal_id, c.ts, c.case_id, c.passed_after, p.passed, c.reach, coalesce(p.phase = 'after' and p.heal_id = c.heal_id, false)
from (from own_cases where passed_own is null) c
asof left join recent_outcomes p on p.case_id = c.case_id and c.reach >= p.position
"""

# A run after the heal that is stamped before it is no snapshot of the time before: look further back, case by case.
UNCIRCLE = """
update surface_cases c
set passed_before = (
    select arg_max(o.passed, r.position)
    from outcomes o join surface_runs r using (run)
    where o.case_id = c.case_id and r.position <= c.reach and not (r.phase = 'after' and r.heal_id is not distinct from c.heal_id)
)
where is_circular
"""

HEAL_ROWS = """
with judged as (
    select c.*, coalesce(s.safety, false) as is_safety, s.id is null as is_unknown,
           passed_before and not passed_after as regressed
    from surface_cases c left join surface s on s.id = c.case_id
)
select heal_id, ts, count(*) as n_cases, count(*) filter (passed_before is null) as n_new,
       count(*) filter (regressed) as n_regressed, count(*) filter (passed_after and not passed_before) as n_fixed,
       count(*) filter (regressed and is_safety) as n_safety, count(*) filter (is_unknown) as n_unknown,
       list(case_id order by case_id) filter (regressed) as regressed,
       list(case_id order by case_id) filter (regressed and is_safety) as regressed_safety,
       n_regressed / n_cases as local_regress,
       case when n_safety > 0 then 0.0 else 1 - least(local_regress / $r_max, 1) end as a_heal
from judged
group by heal_id, ts
having count(passed_before) > 0
order by ts, heal_id
"""


@dataclass(frozen=True)
class Aftermath:
    """The axis and its parts. Scores and shares in [0, 1]; counts are heals."""

    score: float | None
    reason: str | None
    n: int
    left_out: int
    safety_regressions: list[tuple[str, str]] = field(default_factory=list)
    mean: float | None = None  # without the safety floor
    drift: Drift = NO_DRIFT


def score(scope: Scope) -> Aftermath:
    """Aftermath over the window. Keeps ``aftermath_rows`` (heals), ``surface_cases`` (case by case) and ``drift_rows`` (full runs).

    Source: docs/method.md, Aftermath. Drift and re-certification look at all full runs, not at the window.
    """
    prepare_surface(scope)
    scope.keep("heal_runs", HEAL_RUNS)
    unfold(scope, NEAR_RUNS)
    if scope.one(
        "select count(*) from outcomes where run in (select after_run from heal_runs) and case_id not in (select id from surface)"
    )[0]:
        unfold(scope, "select run from surface_runs where position <= (select max(reach) from heal_runs)")
    scope.keep("own_cases", OWN_CASES)
    scope.keep("recent_outcomes", RECENT_OUTCOMES)
    scope.keep("surface_cases", CASES)
    if scope.one("select count(*) from surface_cases where is_circular")[0]:
        unfold(scope, "select run from surface_runs")
        scope.query(UNCIRCLE)
    scope.keep("aftermath_rows", HEAL_ROWS, r_max=scope.settings.r_max)
    heals = scope.query("select heal_id, a_heal, regressed_safety from aftermath_rows")
    safety = [(heal_id, case_id) for heal_id, _, cases in heals for case_id in cases or ()]
    mean = math.fsum(a_heal for _, a_heal, _ in heals) / len(heals) if heals else None
    n_window = scope.one("select count(*) from window_heals")[0]
    _flag_cases(scope)
    return Aftermath(
        0.0 if safety else mean,
        None if heals else _reason(scope, n_window),
        len(heals),
        n_window - len(heals),
        safety,
        mean,
        measure_drift(scope),
    )


def _reason(scope: Scope, n_window: int) -> str:
    if not n_window:
        return "no heal in the window"
    if not scope.store.has("runs"):
        return "no suite_runs.jsonl"
    return "no heal in the window has a surface run after it and an outcome before it"


def _flag_cases(scope: Scope) -> None:
    unknown, sampled, n_scored = scope.one(
        "select coalesce(sum(n_unknown), 0), count(*) filter (n_cases < (select count(*) from surface)), count(*) from aftermath_rows"
    )
    if unknown:
        n_cases = scope.one("select count(distinct case_id) from surface_cases where case_id not in (select id from surface)")[0]
        scope.flags["A"].append(f"{count(n_cases, 'case')} of surface runs not in surface.jsonl: counted, but never as safety cases")
    if sampled:
        scope.flags["A"].append(f"{sampled} of {n_scored} scored heals were checked on a sample of the surface")
