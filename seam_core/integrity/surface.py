"""Was the regression surface run as it should be, and are the snapshots before a heal what was stored?"""

from __future__ import annotations

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.words import count, named

# A case counts as known from the first run that holds it: one that was added later is missing from no earlier run.
KNOWN = """
select s.id as case_id, coalesce(s.safety, false) as is_safety, min(r.position) as position
from outcomes o join surface_runs r using (run) join surface s on s.id = o.case_id
group by all
"""

SAFETY_LEFT_OUT = """
with expected as (
    select h.heal_id, h.ts, k.case_id
    from heal_runs h join surface_runs a on a.run = h.after_run join known_cases k on k.position < a.position
    where k.is_safety
)
select heal_id, list(case_id order by case_id) from expected anti join own_cases using (heal_id, case_id)
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
rows as (
    select o.heal_id, o.ts, a.position, count(*) filter (o.case_id in (select id from surface)) as n_rows
    from own_cases o join heal_runs h using (heal_id) join surface_runs a on a.run = h.after_run
    group by all
)
select r.heal_id, r.n_rows, (c.n_safety + least($sample, c.n_plain))::int as n_expected
from rows r asof join counts c on r.position >= c.position
where n_rows < n_expected
order by r.ts, r.heal_id
"""

# Cases that fail in a heal's own before and after run, and passed in the two newest earlier runs of another origin that hold them (one pass
# of a case that always fails is a flip), with no other heal since that may have broken them.
REWRITTEN = """
with doubtful as (
    select c.heal_id, c.case_id, b.ts, b.position
    from own_cases c join heal_runs h using (heal_id) join surface_runs b on b.run = h.before_run
    where not c.passed_own and not c.passed_after
),
stored as (
    select o.case_id, r.position, r.ts, r.run_id, r.heal_id,
           o.passed and coalesce(lag(o.passed) over (partition by o.case_id order by r.position), true) as passed_twice
    from outcomes o join surface_runs r using (run) semi join doubtful using (case_id)
),
newest as (
    select d.heal_id, d.case_id, d.ts, s.ts as stored_ts, s.run_id, s.heal_id as stored_heal, s.passed_twice
    from doubtful d asof join stored s on s.case_id = d.case_id and d.position > s.position
),
changed as (select ts as changed_ts from span_heals where level >= 1 and not is_blocked)
select n.heal_id, n.case_id, n.run_id, coalesce(x.safety, false)
from newest n asof left join changed c on n.ts >= c.changed_ts left join surface x on x.id = n.case_id
where n.passed_twice and n.stored_ts < n.ts and n.stored_heal is distinct from n.heal_id and coalesce(c.changed_ts <= n.stored_ts, true)
order by n.ts, n.heal_id, n.case_id
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
