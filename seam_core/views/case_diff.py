"""Two looks at the surface, case by case: what broke, what was fixed, what stayed, and what only one of them has.

The before of a heal is its snapshot, exactly as Aftermath scores it: its own before run, filled case by case from the newest run before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from seam_core.errors import SeamError
from seam_core.intervals import mcnemar_p
from seam_core.outcomes import unfold
from seam_core.report import Audit
from seam_core.views.case_runs import Run, find_run, runs_of
from seam_core.views.cases import HEAL_COLUMNS, ScoredHeal, own_score
from seam_core.words import count, cut, listed, percent

STATES = ("broke", "fixed", "still failing", "only after", "only before", "still passing")  # what a reader looks at first
LOW_OVERLAP = 0.5  # share of the cases of either run that both must have; below it a comparison says little
FEW_FLIPS = 6  # with fewer flips, no exact test can tell a direction from chance
TEXT_LENGTH = 300  # characters of a question in a row

# The run that each case's outcome before the heal is from: the heal's own before run, else the newest that counts as earlier.
SNAPSHOT_RUNS = """
select o.case_id, arg_max(r.run, (r.run is not distinct from h.before_run, r.position)) as run
from outcomes o join surface_runs r using (run), (from heal_runs where heal_id = $heal_id) h
where r.run is not distinct from h.before_run
   or (r.position <= h.reach and not (r.phase = 'after' and r.heal_id is not distinct from h.heal_id))
group by o.case_id
"""

HEAL_CASES = f"""
with snapshot as ({SNAPSHOT_RUNS}),
scored as (select case_id, passed_before, passed_after from surface_cases where heal_id = $heal_id),
pairs as (
    select c.case_id, c.passed_before, c.passed_after, case when c.passed_before is not null then s.run end as before_run
    from scored c left join snapshot s using (case_id)
    union all
    select o.case_id, o.passed, null, o.run
    from outcomes o join heal_runs h on o.run = h.before_run
    where h.heal_id = $heal_id and o.case_id not in (select case_id from scored)
)
"""

RUN_CASES = """
with pairs as (
    select case_id, b.passed as passed_before, a.passed as passed_after, b.run as before_run
    from (select case_id, passed, run from outcomes where run = $before) b
    full join (select case_id, passed from outcomes where run = $after) a using (case_id)
)
"""

ROWS = """
select b.case_id, passed_before, passed_after, before_run, coalesce(s.safety, false) as is_safety, s.id is not null as is_known,
       s.component, left(s.text, $length) as question
from pairs b left join surface s on s.id = b.case_id
order by is_safety desc, b.case_id
"""

WHERE_IS = """
select h.ts, h.row in (select row from blocked) as is_blocked, h.ts > s.start and h.ts <= s.stop as is_inside,
       exists (select 1 from heal_runs r where r.heal_id = h.heal_id) as has_after
from heals h, span s where h.heal_id = $heal_id
"""

SCORED = f"""
select {HEAL_COLUMNS}, r.before_run, r.after_run
from aftermath_rows a join window_heals h using (heal_id) join heal_runs r using (heal_id)
where a.heal_id = $heal_id
"""

OWN_RUNS = """
select arg_max(run_id, position) filter (phase = 'before'), arg_max(run_id, position) filter (phase = 'after')
from surface_runs where heal_id = $heal_id
"""


class NotComparedError(SeamError):
    """An address names a heal of which there is nothing to compare in this window. `pair` holds its own runs, where it has both."""

    def __init__(self, sentence: str, pair: tuple[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.pair = pair


@dataclass(frozen=True)
class ComparedCase:
    """One case before and after. `passed_…` is None where it was not run; `before_run` is the id of the run that its outcome is from."""

    case_id: str
    state: str  # one of STATES
    is_safety: bool
    is_known: bool  # to surface.jsonl
    component: str | None
    question: str | None
    passed_before: bool | None
    passed_after: bool | None
    before_run: str | None
    after_run: str | None


@dataclass(frozen=True)
class Diff:
    """Cases compared, those that broke first. `sentences` say what was compared, `warnings` why that may mislead; ids are as logged."""

    before: Run | None
    after: Run
    heal: ScoredHeal | None
    cases: tuple[ComparedCase, ...]
    counts: dict[str, int]
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]

    def of(self, state: str | None) -> tuple[ComparedCase, ...]:
        """The cases of one state, or all."""
        return self.cases if state is None else tuple(case for case in self.cases if case.state == state)


def heal_diff(audit: Audit, heal_id: str) -> Diff:
    """What one heal of the window did to the surface, as Aftermath scores it.  Raises NotComparedError."""
    found = audit.scope.query(SCORED, heal_id=heal_id)
    if not found:
        raise _not_compared(audit, heal_id)
    *fields, before_row, after_row = found[0]
    heal = ScoredHeal(*fields)
    rows = audit.scope.query(HEAL_CASES + ROWS, heal_id=heal_id, length=TEXT_LENGTH)
    runs = runs_of(audit, list({before_row, after_row, *(row[3] for row in rows)} - {None}))
    before, after = runs.get(before_row), runs[after_row]
    cases = _cases(rows, runs, after)
    counts = _counts(cases)
    filled = [case for case in cases if case.before_run and (before is None or case.before_run != before.run_id)]
    own = f"its own before run {cut(before.run_id)}" if before else "no before run of its own"
    sources = count(len({case.before_run for case in filled}), "earlier run")
    filling = f"; {count(len(filled), 'outcome')} filled from {sources}" if filled else ""
    sentences = [
        f"Compared with {own}{filling}. After: {cut(after.run_id)}.",
        f"A_heal = {own_score(audit, heal)}.",
        *_direction(counts),
        *_sample(audit, after),
    ]
    warnings = [*_states(before, after, "the heal changed nothing that it knows of")]
    if counts["only before"]:
        missing = count(counts["only before"], "case")
        warnings.append(f"{missing} of its before run are not in the after run. A missing case is not a passing case; no score counts it.")
    return Diff(before, after, heal, cases, counts, tuple(sentences), (*warnings, *_strangers(cases)))


def run_diff(audit: Audit, before_id: str, after_id: str) -> Diff:
    """Any two runs of the surface.  Raises NoSuchRunError."""
    before, after = find_run(audit, before_id), find_run(audit, after_id)
    unfold(audit.scope, f"select unnest([{before.run}, {after.run}]) as run")
    rows = audit.scope.query(RUN_CASES + ROWS, before=before.run, after=after.run, length=TEXT_LENGTH)
    cases = _cases(rows, {before.run: before}, after)
    counts = _counts(cases)
    sentences = [*_direction(counts), *_sample(audit, before), *_sample(audit, after)]
    warnings = [*_overlap(counts, before, after), *_states(before, after, "what differs is noise")]
    if before.ts > after.ts:
        warnings.append("The run on the right is the older one: what it broke had been fixed later.")
    return Diff(before, after, None, cases, counts, tuple(dict.fromkeys(sentences)), (*warnings, *_strangers(cases)))


def _cases(rows: Iterable[tuple[Any, ...]], runs: dict[int, Run], after: Run) -> tuple[ComparedCase, ...]:
    found = []
    for case_id, was, now, before_row, is_safety, is_known, component, question in rows:
        before_run = runs[before_row].run_id if before_row is not None else None
        after_run = after.run_id if now is not None else None
        state = _state(was, now)
        found.append(ComparedCase(case_id, state, is_safety, is_known, component, question, was, now, before_run, after_run))
    return tuple(sorted(found, key=lambda case: STATES.index(case.state)))  # safety cases stay on top of each state


def _state(was: bool | None, now: bool | None) -> str:  # noqa: FBT001 -- outcomes as logged
    if was is None or now is None:
        return "only after" if was is None else "only before"
    if was != now:
        return "fixed" if now else "broke"
    return "still passing" if now else "still failing"


def _counts(cases: tuple[ComparedCase, ...]) -> dict[str, int]:
    found = Counter(case.state for case in cases)
    return {state: found[state] for state in STATES}


def _direction(counts: dict[str, int]) -> list[str]:
    """What broke against what was fixed, and whether chance alone would split them so."""
    broke, fixed = counts["broke"], counts["fixed"]
    n = sum(counts[state] for state in ("broke", "fixed", "still failing", "still passing"))
    if not broke and not fixed:
        return [f"None of {count(n, 'case')} in both changed its outcome." if n else "No case is in both."]
    said = f"{broke:,} broke and {fixed:,} {'was' if fixed == 1 else 'were'} fixed, of {count(n, 'case')} in both"
    if broke + fixed < FEW_FLIPS:
        return [f"{said}: too few changes to tell a direction from chance."]
    p = mcnemar_p(fixed, broke)
    how = "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"
    return [f"{said}. By chance alone, {'a split so uneven is unlikely' if p < 0.05 else 'such a split is common'} (exact McNemar, {how})."]


def _overlap(counts: dict[str, int], before: Run, after: Run) -> list[str]:
    both = before.n_cases - counts["only before"]
    either = both + counts["only before"] + counts["only after"]
    if not either or both / either >= LOW_OVERLAP:
        return []
    return [
        f"Low overlap: only {both:,} of {count(either, 'case')} are in both runs ({percent(both, either)}). "
        f"{before.n_cases:,} and {after.n_cases:,} cases were run; totals of the two cannot be compared."
    ]


def _sample(audit: Audit, run: Run) -> list[str]:
    n_surface = audit.scope.one("select count(*) from surface")[0]
    if run.n_cases >= n_surface:
        return []
    return [f"{cut(run.run_id)} is a sample: {run.n_cases:,} of the {n_surface:,} cases of the surface. What was not run cannot break."]


def _states(before: Run | None, after: Run, meaning: str) -> list[str]:
    """What the hashes of grader and agent say against the comparison."""
    if before is None:
        return []
    found = []
    if before.grader_hash and after.grader_hash and before.grader_hash != after.grader_hash:
        found.append("The two runs name different graders: a changed outcome may be the grader's doing.")
    if before.run != after.run and before.state_hash and before.state_hash == after.state_hash:
        found.append(f"Both runs name the same state of the agent: {meaning}.")
    return found


def _strangers(cases: tuple[ComparedCase, ...]) -> list[str]:
    n = sum(not case.is_known for case in cases)
    return [f"{count(n, 'case')} not in surface.jsonl: compared, but never as a safety case."] if n else []


def _not_compared(audit: Audit, heal_id: str) -> NotComparedError:
    name, found = cut(heal_id), audit.scope.query(WHERE_IS, heal_id=heal_id)
    pair = audit.scope.one(OWN_RUNS, heal_id=heal_id)
    both = (pair[0], pair[1]) if all(pair) else None
    if not found:
        return NotComparedError(f"There is no heal {name} in this log.", both)
    ts, is_blocked, is_inside, has_after = found[0]
    if not is_inside:
        return NotComparedError(f"{name} ended at {_moment(ts)}, outside of this window, so it is not scored here.", both)
    if is_blocked:
        return NotComparedError(f"The boundary gate stopped {name}: it took no effect and is not scored.", both)
    if not has_after:
        return NotComparedError(f"{name} has no surface run with phase after and its heal_id: nothing says what it broke.")
    return NotComparedError(f"No case that ran after {name} was seen before it: there is nothing to compare.", both)


def _moment(ts: datetime) -> str:
    return f"{ts:%Y-%m-%d %H:%M} UTC"


def named_states(counts: dict[str, int]) -> str:
    """The counts in words: 2 broke, 1 fixed and 29 still passing."""
    return listed([f"{n:,} {state}" for state, n in counts.items() if n])
