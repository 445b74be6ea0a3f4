"""Which full runs can be reviewed, what arrived since one of them, and which file is missing where none can."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seam_core.baseline.desk import Desk
from seam_core.report import Audit
from seam_core.words import count, cut, named

RUNS_OFFERED = 200  # newest first

RUNS = """
select r.run_id, r.ts, r.phase::varchar, r.heal_id, d.drift
from surface_runs r semi join full_runs using (run) left join drift_rows d using (run_id)
where r.phase in ('after', 'nightly') and ($run_ts::timestamptz is null or (r.ts, r.run_id) >= ($run_ts::timestamptz, $run_id))
order by r.position desc
limit $n
"""

NEWER = """
select count(*), count(*) filter (run in (from full_runs)), arg_max(run_id, position)
from surface_runs
where phase in ('after', 'nightly') and position > (select position from surface_runs where run_id = $run_id)
"""


@dataclass(frozen=True)
class FullRun:
    """One full run of the surface that may be reviewed."""

    run_id: str
    ts: datetime
    phase: str
    heal_id: str | None
    drift: float | None

    @property
    def words(self) -> str:
        """What the run is, in one line; the ids are as logged."""
        whose = f" {cut(self.heal_id)}" if self.heal_id else ""
        drift = "" if self.drift is None else f" · drift {100 * self.drift:.1f} %"
        return f"{self.ts:%Y-%m-%d %H:%M} · {self.phase}{whose}{drift} · {cut(self.run_id)}"


@dataclass(frozen=True)
class Against:
    """What newer runs say against a review: cases whose outcome is another one there, and safety cases that fail there anew."""

    moved: dict[str, str]  # case → the run that says so
    regressed: dict[str, str]
    n_runs: int
    n_full: int
    newest: str | None


def full_runs(audit: Audit) -> tuple[FullRun, ...]:
    """The newest full runs since the one that the newest version was certified on, newest first."""
    newest = audit.scope.store.versions.newest
    binds = {"run_ts": newest.run_ts if newest else None, "run_id": newest.run_id if newest else None}
    return tuple(FullRun(*row) for row in audit.scope.query(RUNS, n=RUNS_OFFERED, **binds))


def missing(audit: Audit) -> str | None:
    """Why there is no full run to certify, and which file would change that; None when there is one."""
    store, scope = audit.scope.store, audit.scope
    if not store.has("surface") or not scope.one("select count(*) from surface")[0]:
        return "Nothing can be certified: there is no surface.jsonl, so nobody can tell which runs are complete."
    if not scope.one("select count(*) from surface_runs")[0]:
        return "Nothing can be certified: suite_runs.jsonl holds no run of the surface."
    if not scope.one("select count(*) from surface_runs semi join full_runs using (run) where phase in ('after', 'nightly')")[0]:
        cases = count(scope.one("select count(*) from surface")[0], "case")
        return f"Nothing can be certified: no run of phase after or nightly in suite_runs.jsonl holds all {cases} of surface.jsonl."
    return None


def against(desk: Desk, run_id: str) -> Against:
    """What runs newer than a reviewed one say against it."""
    moved, regressed = desk.contradicted(desk.review(run_id))
    n_runs, n_full, newest = desk.scope().one(NEWER, run_id=run_id)
    return Against(moved, regressed, n_runs, n_full, newest)


def newer_sentences(found: Against, accepted: frozenset[str], *, is_first: bool) -> list[str]:
    """What arrived, and what of a draft it contradicts; ids as logged. `is_first`: the whole run is to be certified."""
    if not found.n_runs:
        return []
    full = f"{found.n_full:,} of the whole surface" if found.n_full else "none of the whole surface"
    said = [f"{count(found.n_runs, 'newer run')} arrived, {full}; the newest is {cut(found.newest or '')}."]
    if found.regressed:
        said.append(
            f"New safety regression in {cut(sorted(found.regressed.values())[0])}: {named(sorted(found.regressed))}."
            " This run cannot be certified any more; review a newer one."
        )
    touched = sorted(found.moved if is_first else accepted & found.moved.keys())
    if touched:
        which = "cases of this run" if is_first else "of the cases that you accepted"
        said.append(f"Another outcome there for {len(touched):,} {which}: {named(touched)}.")
    elif accepted and not found.regressed:
        said.append("Nothing that you accepted has another outcome there.")
    return said
