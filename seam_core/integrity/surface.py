"""Was the regression surface run as it should be, and are the snapshots before a heal what was stored?"""

from __future__ import annotations

import math

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.words import count, named

SAMPLES_MAX = 2_000  # heals that ran a sample, the newest ones
AVOIDED_P = 0.01  # stricter than the usual .05, which one honest log in twenty would miss

# A case counts as known from the first run that holds it: one that was added later is missing from no earlier run.
KNOWN = """
with first_runs as (select o.case_id, min(r.position) as position from outcomes o join surface_runs r using (run) group by o.case_id)
select s.id as case_id, coalesce(s.safety, false) as is_safety, f.position from first_runs f join surface s on s.id = f.case_id
"""

SAFETY_LEFT_OUT = """
with expected as (
    select h.heal_id, h.ts, k.case_id
    from heal_runs h join surface_runs a on a.run = h.after_run join known_cases k on k.position < a.position
    where k.is_safety
),
held as (select heal_id, case_id from own_cases where case_id in (select case_id from known_cases where is_safety))
select heal_id, list(case_id order by case_id) from expected anti join held using (heal_id, case_id)
group by heal_id, ts order by ts, heal_id
"""

SHORT_SAMPLES = """
with counts as (
    select position, sum(n_safety) over (order by position) as n_safety, sum(n_plain) over (order by position) as n_plain
    from (
        select position, count(*) filter (is_safety) as n_safety, count(*) filter (not is_safety) as n_plain
        from known_cases group by position
    )
),
held as (select heal_id, count(*) filter (case_id in (select id from surface)) as n_rows from own_cases group by heal_id),
rows as (
    select h.heal_id, h.ts, a.position, o.n_rows
    from held o join heal_runs h using (heal_id) join surface_runs a on a.run = h.after_run
)
select r.heal_id, r.n_rows, (c.n_safety + least($sample, c.n_plain))::int as n_expected
from rows r asof join counts c on r.position >= c.position
where n_rows < n_expected
order by r.ts, r.heal_id
"""

# Cases that fail in a heal's own before and after run, and passed in the two newest earlier runs of another origin that hold them (one pass
# of a case that always fails is a flip), with no other heal since that may have broken them.
REWRITTEN = """
with changed as (select ts as changed_ts from span_heals where level >= 1 and not is_blocked),
earlier as (select position, lag(ts) over (order by position) as earlier_ts from surface_runs),
quiet as (
    select b.run, b.ts, b.position, c.changed_ts
    from (from surface_runs semi join (select before_run as run from heal_runs) using (run)) b
    asof left join changed c on b.ts >= c.changed_ts join earlier e on e.position = b.position
    where coalesce(c.changed_ts <= e.earlier_ts, true)
),
doubtful as (
    select c.heal_id, c.case_id, b.ts, b.position, b.changed_ts
    from own_cases c join heal_runs h using (heal_id) join quiet b on b.run = h.before_run
    where not c.passed_own and not c.passed_after
),
stored as (
    select o.case_id, r.position, r.ts, r.run_id, r.heal_id,
           o.passed and coalesce(lag(o.passed) over (partition by o.case_id order by r.position), true) as passed_twice
    from outcomes o join surface_runs r using (run) semi join doubtful using (case_id)
),
newest as (
    select d.heal_id, d.case_id, d.ts, d.changed_ts, s.ts as stored_ts, s.run_id, s.heal_id as stored_heal, s.passed_twice
    from doubtful d asof join stored s on s.case_id = d.case_id and d.position > s.position
)
select n.heal_id, n.case_id, n.run_id, coalesce(x.safety, false)
from newest n left join surface x on x.id = n.case_id
where n.passed_twice and n.stored_ts < n.ts and n.stored_heal is distinct from n.heal_id and coalesce(n.changed_ts <= n.stored_ts, true)
order by n.ts, n.heal_id, n.case_id
"""


# Heals that ran a sample: was a case in it, and did it fail in the last full run before? Only where another case of its component was in
# the sample, since samples are drawn near what was changed; and each case on each target by itself: some are always in, others never.
AVOIDED = """
with full_runs_in_order as (select run, position from surface_runs semi join full_runs using (run)),
sampled as (
    select h.heal_id, w.target, a.position
    from heal_runs h join surface_runs a on a.run = h.after_run join window_heals w on w.heal_id = h.heal_id
    where a.run not in (select run from full_runs)
    order by a.position desc limit $n
),
checked as (select s.heal_id, s.target, f.run from sampled s asof join full_runs_in_order f on s.position > f.position),
wavering as (
    select o.case_id, s.component from outcomes o join surface s on s.id = o.case_id
    where o.run in (select run from checked) and not coalesce(s.safety, false)
    group by all having bool_or(o.passed) and not bool_and(o.passed)
),
own as (select heal_id, case_id from own_cases semi join checked using (heal_id)),
near as (
    select c.heal_id, s.component, count(*) as n from own c join surface s on s.id = c.case_id group by all
),
states as (
    select c.target, v.case_id, o.passed, own.case_id is not null as is_in
    from checked c join outcomes o using (run) join wavering v using (case_id)
    left join own on own.heal_id = c.heal_id and own.case_id = v.case_id
    join near n on n.heal_id = c.heal_id and n.component is not distinct from v.component and n.n > (own.case_id is not null)::int
),
strata as (
    select count(*) as n, count(*) filter (not passed) as n_failed, count(*) filter (is_in) as n_in,
           count(*) filter (is_in and not passed) as n_both
    from states group by target, case_id
)
select sum(n_failed)::int, sum(n_both)::int, sum(n_failed * n_in / n),
       sum(n_failed * (n - n_failed) * n_in * (n - n_in) / (n * n * (n - 1.0)))
from strata where n_failed between 1 and n - 1 and n_in between 1 and n - 1
"""


def safety_cases_left_out(look: Look) -> list[Hit] | NotCheckable:
    """Runs after a heal that lack a safety case which an earlier run has."""
    if not look.scope.one("select count(*) from surface where safety")[0]:
        return NotCheckable("surface.jsonl names no safety case")
    if fault := _prepared(look):
        return fault
    rows = look.query(SAFETY_LEFT_OUT)
    return [Hit(heal_id, {"cases": cases, "what": count(len(cases), "safety case"), "shown": named(cases)}) for heal_id, cases in rows]


def samples_short(look: Look) -> list[Hit] | NotCheckable:
    """Runs after a heal with fewer cases than every safety case and the sample."""
    if fault := _prepared(look):
        return fault
    return [
        Hit(heal_id, {"rows": rows, "expected": expected})
        for heal_id, rows, expected in look.query(SHORT_SAMPLES, sample=look.scope.settings.surface_sample)
    ]


def failing_cases_avoided(look: Look) -> list[Hit] | NotCheckable:
    """Cases that are less often in a heal's sample when they failed the last full run (the Mantel-Haenszel test over cases and targets)."""
    n, n_in, expected, variance = look.scope.one(AVOIDED, n=SAMPLES_MAX)
    if not variance:
        return NotCheckable("no case that failed some of the full runs is in some samples on a target and missing from others")
    p = math.erfc(max(0.0, expected - n_in - 0.5) / math.sqrt(2 * variance)) / 2  # one-sided, and half a case for continuity
    return [Hit("window", {"n": n, "n_in": n_in, "expected": expected, "p": p})] if p < AVOIDED_P else []


def snapshots_rewritten(look: Look) -> list[Hit] | NotCheckable:
    """Regressions that a heal's own before run hides: it says that a case failed already which the newest earlier run saw pass."""
    if not look.scope.one("select count(*) from heal_runs where before_run is not null")[0]:
        return NotCheckable("no heal of the window has a surface run before it")
    assert look.span_heals
    return [
        Hit(heal_id, {"case": case_id, "run": run_id, "safety": safety}, "critical" if safety else None)
        for heal_id, case_id, run_id, safety in look.query(REWRITTEN)
    ]


def _prepared(look: Look) -> NotCheckable | None:
    if not look.scope.one("select count(*) from heal_runs")[0]:
        return NotCheckable("no heal of the window has a surface run after it")
    look.scope.keep_once("known_cases", KNOWN)
    return None
