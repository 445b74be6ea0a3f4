"""Are the scores what an exam can give?"""

from __future__ import annotations

from seam_core.integrity.chance import at_least
from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.ledger.kinds import Certification
from seam_core.outcomes import unfold
from seam_core.words import cut

RARE = 0.001  # p from which chance is no explanation
SIZES_MAX = 20  # sizes of the held-out exam that a score may fit
EQUAL_MIN = 3
EQUAL_GAINS, EQUAL_SCORES = 0.02, 0.05  # how often an honest pair is equal, at the least
PAIRED = 3.0  # and how many times as often as pairs drawn at random: both gains come from one heal
WOBBLE_HELD_OUT, WOBBLE_VISIBLE = 1.5, 2.5  # cases that an exam may move by itself between two heals
NOISY, NOISY_MIN = 0.25, 8  # from this share of breaks, and so many steps, the exam moves by itself
MOSTLY = 0.5  # share of cycles scored by an exam, from which the others are the exception
NEVER_FALLS = 0.25  # share of honest changes that go down, at the least

DIGITS = "case when contains({x}::varchar, 'e') then 12 else length(split_part({x}::varchar, '.', 2)) end"
HALF_A_DIGIT = f"0.5 * pow(10, -({DIGITS})) + 1e-9"  # what rounding can have done to a score

# {fits} is a condition over x and slack, one for each size of the exam.
IMPOSSIBLE = """
with stored as (
    select heal_id, ts, unnest([holdout_before, holdout_after]) as x, unnest(['before', 'after']) as place from score_pairs
),
slack as (select *, {half_a_digit} as slack from stored where x is not null)
select heal_id, list(struct_pack(place := place, score := x) order by place desc)
from slack where not ({fits})
group by heal_id, ts order by ts, heal_id
"""

EQUAL = """
with pairs as (select round({first}, 4) as a, round({second}, 4) as b, abs({first} - {second}) <= $slack as is_equal from score_pairs
    where {first} is not null and {second} is not null and {counts}),
n as (select count(*) as n from pairs),
a as (select a as x, count(*) as n from pairs group by a),
b as (select b as x, count(*) as n from pairs group by b)
select (select count(*) from pairs where is_equal), (select n from n),
       coalesce((select sum(a.n * b.n) from a join b using (x)) / nullif((select n * n from n), 0), 0)
"""

BREAKS = """
with told as (
    select *, loop_id in (select loop_id from copied_loops where {exam}) as is_copy from span_heals where level >= 1 or {after} is not null
),
steps as (
    select row, in_window and not is_copy as is_judged, {before} as now, lag(row) over in_time as earlier,
           lag(case when not is_copy then {after} end) over in_time as became,
           lag(case when is_blocked then {before} end) over in_time as stayed
    from told
    window in_time as (order by ts, heal_id)
),
links as (
    select row, earlier, now, became, abs(now - became) > $slack and coalesce(abs(now - stayed) > $slack, true) as is_broken
    from steps where is_judged and now is not null and became is not null
)
select h.heal_id, e.heal_id, now, became, (select count(*) from links)
from links l join span_heals h on h.row = l.row join span_heals e on e.row = l.earlier
where is_broken order by h.ts, h.heal_id
"""

# Loops whose scores of either exam were measured once and copied onto every heal.
COPIED_LOOPS = """
select loop_id, coalesce(bool_or(holdout_scope = 'loop'), false) as is_said, count(*) >= 2 as is_longer,
       is_said or is_longer and min(holdout_before) = max(holdout_before) and min(holdout_after) = max(holdout_after) as holdout,
       is_said or is_longer and min(visible_before) = max(visible_before) and min(visible_after) = max(visible_after) as visible
from span_heals
group by loop_id
having holdout or visible
"""

FALLS = "select count(*) filter (holdout_gain < -1e-9), count(*) filter (abs(holdout_gain) > 1e-9) from score_pairs"

EXAM_RUNS = """
with own as (
    select h.heal_id, r.phase, arg_max(r.row, (r.ts, r.run_id)) as run from window_heals h join runs r using (heal_id)
    where r.suite = 'holdout' and r.phase in ('before', 'after')
    group by h.heal_id, r.phase
)
select * from own
"""

AGGREGATES = f"""
with means as (
    select o.run, avg(o.passed::int) as every, avg(o.passed::int) filter (h.slice = 'core') as core
    from outcomes o left join holdout h on h.id = o.case_id
    where o.run in (select run from exam_runs)
    group by o.run
),
stored as (
    select e.heal_id, w.ts, e.run, e.phase, case e.phase when 'before' then w.holdout_before else w.holdout_after end as x
    from exam_runs e join window_heals w using (heal_id)
)
select s.heal_id, s.phase, s.x, m.every
from stored s join means m using (run)
where s.x is not null and abs(s.x - m.every) > {HALF_A_DIGIT.format(x="s.x")}
    and coalesce(abs(s.x - m.core) > {HALF_A_DIGIT.format(x="s.x")}, true)
order by s.ts, s.heal_id, s.phase desc
"""


# Scores of cycles beside the exams of the same heal; pairs copied onto a loop are no measurement of a cycle.
OWN_SCORES = f"""
with stored as (
    select w.heal_id, w.ts, w.score, unnest([w.visible_after, w.holdout_after]) as x
    from window_heals w semi join (select heal_id from score_pairs where not is_copied) using (heal_id)
    where w.score is not null
),
judged as (
    select heal_id, ts, bool_or(abs(score - x) <= {HALF_A_DIGIT.format(x="score")} + {HALF_A_DIGIT.format(x="x")}) as is_exam
    from stored where x is not null
    group by heal_id, ts
)
select count(*), count(*) filter (is_exam), list(heal_id order by ts, heal_id) filter (not is_exam) from judged
"""

# Runs of one suite, those around heals and those by night apart, whose grader is not that of the run before.
GRADERS = """
with graded as (
    select run_id, ts, suite, phase = 'nightly' as is_night, grader_hash from runs
    where grader_hash is not null and phase in ('before', 'after', 'nightly') and ts <= (select stop from span)
),
newest as (
    select suite, is_night, max_by(run_id, (ts, run_id)) as run_id from graded where ts <= (select start from span) group by suite, is_night
),
steps as (
    select g.*, lag(g.grader_hash) over in_time as was, lag(g.run_id) over in_time as earlier
    from graded g
    where ts > (select start from span) or run_id in (select run_id from newest)
    window in_time as (partition by suite, is_night order by ts, run_id)
)
select run_id, suite, earlier, was, grader_hash from steps
where was <> grader_hash and coalesce(ts > $accepted::timestamptz, true)
order by ts, run_id
"""


def scores_impossible(look: Look) -> list[Hit] | NotCheckable:
    """Held-out scores that no whole number of passed cases gives (the GRIM test), by the digits that each is written with."""
    sizes = look.exam_sizes
    if len(sizes) > SIZES_MAX:
        return NotCheckable(f"the held-out exam was run with {len(sizes):,} different numbers of cases")
    digits = (
        look.scope.one(
            f"select max({DIGITS.format(x='x')}) from (select distinct holdout_after as x from {look.score_pairs}) where x is not null"
        )[0]
        or 0
    )
    if min(sizes) >= 10**digits:
        return NotCheckable(f"with {digits} decimals every score fits an exam of {min(sizes):,} cases")
    fits = " or ".join(f"abs(round(x * {size}) / {size} - x) <= slack" for size in sizes)
    rows = look.query(IMPOSSIBLE.format(fits=fits, half_a_digit=HALF_A_DIGIT.format(x="x")))
    exam = " or ".join(f"{size:,}" for size in sizes)
    return [Hit(heal_id, {"scores": scores, "exam": exam, "shown": _shown(scores)}) for heal_id, scores in rows]


def _shown(scores: list[dict[str, float | str]]) -> str:
    return " and ".join(f"{one['place']} {one['score']:g}" for one in scores)


def gains_copied(look: Look) -> list[Hit]:
    """Held-out gains that equal the visible ones too often."""
    return _equal(look, "visible_gain", "holdout_gain", counts="abs(visible_gain) > 1e-9", slack=2e-4, share=EQUAL_GAINS)


def scores_copied(look: Look) -> list[Hit] | NotCheckable:
    """Held-out scores that equal the visible ones too often."""
    if look.is_there("practice") and look.n_rows("practice") in look.exam_sizes:
        return NotCheckable("both exams have the same number of cases, so equal scores are no wonder")
    return _equal(look, "visible_after", "holdout_after", counts="true", slack=1e-4, share=EQUAL_SCORES)


def _equal(look: Look, first: str, second: str, *, counts: str, slack: float, share: float) -> list[Hit]:
    assert look.score_pairs
    n_equal, n, at_random = look.scope.one(EQUAL.format(first=first, second=second, counts=counts), slack=slack + 1e-9)
    p = at_least(n_equal, n, max(share, PAIRED * at_random)) if n_equal >= EQUAL_MIN else 1.0
    return [Hit("window", {"n_equal": n_equal, "n": n, "p": p})] if p < RARE else []


def held_out_breaks(look: Look) -> list[Hit]:
    """Held-out scores before a heal that are not where the heal before it left them."""
    return _breaks(look, "holdout", WOBBLE_HELD_OUT / min(look.exam_sizes))


def visible_breaks(look: Look) -> list[Hit]:
    """The same for the visible metric."""
    return _breaks(look, "visible", WOBBLE_VISIBLE / look.n_rows("practice"))


def _breaks(look: Look, exam: str, slack: float) -> list[Hit]:
    assert look.span_heals
    look.scope.keep_once("copied_loops", COPIED_LOOPS)
    rows = look.query(BREAKS.format(exam=exam, before=f"{exam}_before", after=f"{exam}_after"), slack=slack + 1e-9)
    if rows and rows[0][4] >= NOISY_MIN and len(rows) > NOISY * rows[0][4]:
        return [Hit("window", {"n": len(rows), "shown": f"{len(rows)} of {rows[0][4]} times, as if it moved by itself"}, "medium")]
    return [
        Hit(heal_id, {"earlier": earlier, "before": now, "after": was, "shown": f"{now:g} here, {was:g} after {earlier}"})
        for heal_id, earlier, now, was, _ in rows
    ]


def held_out_never_falls(look: Look) -> list[Hit]:
    """Held-out scores that change often and never go down."""
    assert look.score_pairs
    n_down, n = look.scope.one(FALLS)
    p = (1 - NEVER_FALLS) ** n
    return [Hit("window", {"n": n, "p": p})] if not n_down and p < 0.01 else []


def aggregates_edited(look: Look) -> list[Hit] | NotCheckable:
    """Held-out scores that are not the share of cases passed in the heal's own run of the exam."""
    look.scope.keep("exam_runs", EXAM_RUNS)
    if not look.scope.one("select count(*) from exam_runs")[0]:
        return NotCheckable("no heal of the window has a held-out run of its own")
    unfold(look.scope, "select run from exam_runs")
    return [
        Hit(heal_id, {"phase": str(phase), "stored": stored, "mean": mean, "shown": f"{stored:g}, and its rows give {mean:g}"})
        for heal_id, phase, stored, mean in look.query(AGGREGATES)
    ]


def cycle_scores_strange(look: Look) -> list[Hit] | NotCheckable:
    """Scores of cycles that are neither exam's, where most are."""
    assert look.score_pairs
    n, n_exam, strange = look.scope.one(OWN_SCORES)
    if not n:
        return NotCheckable("no cycle with a score has a visible or held-out score of its own")
    if n_exam < MOSTLY * n:
        return NotCheckable("most cycles are scored by a measure of their own")
    return [Hit(heal_id, {"n": n, "n_exam": n_exam}) for heal_id in strange or ()]


def graders_changed(look: Look) -> list[Hit] | NotCheckable:
    """Runs whose grader is another than that of the run before, later than what a person certified last."""
    if not look.scope.one("select count(grader_hash) from runs")[0]:
        return NotCheckable("no run logs grader_hash")
    decisions = look.scope.store.versions.decisions
    accepted = max((one.run_ts for one in decisions if isinstance(one.said, Certification)), default=None)
    return [
        Hit(run_id, {"suite": suite, "earlier": earlier, "was": cut(was, 16), "now": cut(now, 16)}, axis="A" if suite == "surface" else "E")
        for run_id, suite, earlier, was, now in look.query(GRADERS, accepted=accepted)
    ]
