"""How far the surface has moved from the certified baseline, run by run, and which cases are off it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seam_core import summary
from seam_core.report import Audit
from seam_core.views.case_runs import Run, find_run
from seam_core.words import count, percent

MARKS = 2_000

# Every full run that can be compared; beyond MARKS the largest drift of each stretch, and always the newest run.
DRIFT = """
with moved as (
    select r.run, count(*) filter (c.passed and not o.passed) as n_worse, count(*) filter (o.passed and not c.passed) as n_better
    from full_runs f join surface_runs r using (run) join outcomes o using (run)
    join surface s on s.id = o.case_id join run_versions v using (run)
    join baselines c on c.version = v.version and c.case_id = o.case_id
    group by r.run
),
placed as (
    select d.run_id, d.ts, d.heal_id, d.n_cases, d.n_differ, d.drift, m.n_worse, m.n_better,
           ntile($n) over (order by r.position) as stretch, row_number() over (order by r.position desc) as age, r.position
    from drift_rows d join surface_runs r using (run_id) join moved m using (run)
    where d.drift is not null
)
select run_id, ts, heal_id, n_cases, n_differ, drift, n_worse, n_better
from placed
qualify row_number() over (partition by stretch order by drift desc, position desc) = 1 or age = 1
order by position
"""

OFF = """
select c.case_id, coalesce(s.safety, false) as is_safety, s.component, left(s.text, $length), c.passed, o.passed
from baselines c join surface s on s.id = c.case_id join outcomes o on o.case_id = c.case_id
where o.run = $run and c.version = coalesce((select version from run_versions where run = $run), (select max(version) from baselines))
  and c.passed <> o.passed
order by is_safety desc, o.passed, c.case_id
"""


@dataclass(frozen=True)
class Certification:
    """A baseline that a person certified: a flag in the chart."""

    ts: datetime
    label: str


@dataclass(frozen=True)
class DriftMark:
    """One full run against the baseline. `drift` is a share of the cases that the baseline knows."""

    run_id: str
    ts: datetime
    heal_id: str | None
    n_cases: int
    n_differ: int
    drift: float
    n_worse: int
    n_better: int


@dataclass(frozen=True)
class DriftSeries:
    """Drift over time, oldest first, the line at which it asks for a person, and what it means in words; ids are as logged."""

    marks: tuple[DriftMark, ...]
    n_runs: int
    line: float
    is_due: bool
    sentences: tuple[str, ...]
    certifications: tuple[Certification, ...] = ()


@dataclass(frozen=True)
class OffCase:
    """One case whose outcome is not the certified one."""

    case_id: str
    is_safety: bool
    component: str | None
    question: str | None
    certified: bool
    passed: bool


def drift_series(audit: Audit) -> DriftSeries:
    """Anchored drift of every full run, of all times: a state that needs a person does not end with the window. A version that a person
    certified is a flag at the run that it was certified on, from which it counts.
    """
    drift, line = audit.aftermath.drift, audit.settings.drift_max
    marks = tuple(DriftMark(*row) for row in audit.scope.query(DRIFT, n=MARKS)) if drift.anchored is not None else ()
    n_runs = audit.scope.one("select count(*) from drift_rows where drift is not null")[0]
    flags = tuple(Certification(one.run_ts, f"version {one.number}") for one in audit.scope.store.versions.all if one.run_ts)
    return DriftSeries(marks, n_runs, line, drift.due, tuple(_sentences(audit, marks)), flags)


def off_baseline(audit: Audit, run_id: str, *, length: int = 300) -> tuple[Run, tuple[OffCase, ...]]:
    """A full run, and its cases that are not as certified: safety cases first, then what got worse.  Raises NoSuchRunError."""
    run = find_run(audit, run_id)
    return run, tuple(OffCase(*row) for row in audit.scope.query(OFF, run=run.run, length=length))


def _sentences(audit: Audit, marks: tuple[DriftMark, ...]) -> list[str]:
    drift, line = audit.aftermath.drift, audit.settings.drift_max
    if not marks:
        fill = "" if drift.reason != "no certified.json" else " certified.json holds the outcomes that a person signed off, case by case."
        return [f"Drift is unknown: {drift.reason}.{fill}"]
    newest = marks[-1]
    if drift.due:
        found = [f"RECERTIFY is due: {summary.drift_sentence(audit)}"]
        if newest.drift < line - 1e-9:
            found.append("It stays due although the newest run is below the line: a person has to look, and then decides.")
    else:
        share = f"{newest.n_differ:,} of {count(newest.n_cases, 'case')} ({percent(newest.n_differ, newest.n_cases)})"
        verb = "differs" if newest.n_differ == 1 else "differ"
        found = [f"Not due: in the newest full run {share} {verb} from the certified baseline; the line is {line * 100:g} %."]
    return [*found, f"Direction, in the newest run: {newest.n_worse:,} got worse, {newest.n_better:,} got better. Both count as drift."]
