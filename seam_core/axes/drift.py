"""Anchored drift: how far each full run of the surface stands from the baseline that was in force at it."""

from __future__ import annotations

from dataclasses import dataclass

from seam_core.outcomes import COLUMNS, prepare_outcomes, unfold_into
from seam_core.scope import Scope
from seam_core.store import Store
from seam_core.words import count

TOLERANCE = 1e-9

# Surface runs in order; a heal's own runs are found by its id.
SURFACE_RUNS = """
select row as run, run_id, ts, phase, heal_id, n_results, row_number() over (order by ts, run_id) as position
from runs
where suite = 'surface'
"""

MAY_BE_FULL = """
from surface_runs anti join unfolded using (run)
where n_results >= (select count(*) from surface) and (select count(*) from surface) > 0
"""

# Surface runs that hold every case of the surface.
FULL_RUNS = """
select r.run
from (select run from surface_runs where n_results >= (select count(*) from surface)) r
join outcomes o using (run) join surface s on s.id = o.case_id
group by r.run
having count(*) = (select count(*) from surface)
"""

# The baseline in force at a run: the newest version whose reviewed run is not later. One without a run was there from the start.
RUN_VERSIONS = """
select r.run, max(v.version) as version
from surface_runs r semi join full_runs using (run)
join baseline_versions v on v.run_ts is null or v.run_ts < r.ts or (v.run_ts = r.ts and v.run_id <= r.run_id)
group by r.run
"""

# Drift counts the cases that the baseline knows.
DRIFT_ROWS = """
select r.run_id, r.ts, r.heal_id, count(c.passed) as n_cases, count(*) filter (c.passed <> o.passed) as n_differ,
       n_differ / nullif(n_cases, 0) as drift
from full_runs join surface_runs r using (run) join outcomes o using (run) join surface s on s.id = o.case_id
left join run_versions v using (run) left join baselines c on c.version = v.version and c.case_id = o.case_id
where r.phase in ('after', 'nightly')
group by r.run_id, r.ts, r.heal_id, r.position
order by r.position
"""

# With whether a run is later than the one that the newest decision looked at.
DRIFTS = """
select d.run_id, d.drift, v.version,
       $run_ts::timestamptz is null or d.ts > $run_ts::timestamptz or (d.ts = $run_ts::timestamptz and d.run_id > $run_id) as is_later
from drift_rows d join surface_runs r using (run_id) join run_versions v using (run)
where d.drift is not null
order by r.position
"""


@dataclass(frozen=True)
class Drift:
    """How far the newest full run stands from the certified baseline (share of cases), and whether a person must look."""

    anchored: float | None = None
    run: str | None = None
    reason: str | None = None
    due: bool = False
    first_due_run: str | None = None  # the first full run since the newest decision that reached the line
    version: int | None = None  # of the baseline in force at the newest full run


NO_DRIFT = Drift()


def read_surface(store: Store) -> None:
    """Make the tables of the schema ``drift``, once for each state of the logs: they are the same for every window. ``outcomes``, of the
    runs that may be full ones, grows with the log. Needs nothing of a scope, so it may run beside the making of one.
    """
    version, known_file = store.drift_of
    if version == store.version:
        return
    store.drift_of = 0, None  # half of it is none
    file = store.states["runs"].file
    with store.cursor() as con:
        if not version or known_file is not file:
            con.execute("create schema if not exists drift")
            con.execute(f"create or replace table drift.outcomes {COLUMNS}")
            con.execute("create or replace table drift.unfolded (run integer)")
        con.execute("set schema = 'drift'")
        con.execute(f"create or replace table surface_runs as {SURFACE_RUNS}")
        unfold_into(con, store, "outcomes", MAY_BE_FULL)
        con.execute("insert into unfolded from unfold_queue")
        for name, sql in (("full_runs", FULL_RUNS), ("run_versions", RUN_VERSIONS), ("drift_rows", DRIFT_ROWS)):
            con.execute(f"create or replace table {name} as {sql}")
    store.drift_of = store.version, file


def prepare_surface(scope: Scope) -> None:
    """Keep ``surface_runs``, ``full_runs`` with their outcomes unfolded, ``run_versions``, the baseline in force at each full run, and
    ``drift_rows`` (full runs).
    """
    with scope.store.lock:
        read_surface(scope.store)
        for name in ("surface_runs", "full_runs", "run_versions", "drift_rows"):
            scope.keep(name, f"from drift.{name}")
        prepare_outcomes(scope)


def measure_drift(scope: Scope) -> Drift:
    """Drift of the newest full run, and whether RECERTIFY is due, once the surface is prepared.

    Source: docs/method.md, Drift and RECERTIFY: all full runs count, not the window's; a person's decision ends what was due at the run
    that they reviewed, not at the time when they did.
    """
    _flag_baseline(scope)
    store = scope.store
    if store.versions.fault and not store.baselines:
        return Drift(reason="the baselines in the ledger of decisions cannot be believed")
    if not store.baselines:
        fault = next((reject.reason for reject in store.certified.rejects), None)
        return Drift(reason=f"certified.json cannot be used: {fault}" if fault else "no certified.json")
    decision = store.versions.newest_decision
    rows = scope.query(DRIFTS, run_ts=decision and decision.run_ts, run_id=decision and decision.run_id)
    if not rows:
        return Drift(reason=_reason(scope))
    scope.keep("open_drifts", "select unnest($drifts::double[]) as drift", drifts=[drift for _, drift, _, is_later in rows if is_later])
    over = [run_id for run_id, drift, _, is_later in rows if is_later and drift >= scope.settings.drift_max - TOLERANCE]
    run_id, drift, version, _ = rows[-1]
    return Drift(drift, run_id, due=bool(over), first_due_run=over[0] if over else None, version=version)


def _reason(scope: Scope) -> str:
    if not scope.one("select count(*) from drift_rows")[0]:
        return "no full run of the surface"
    if not scope.one("select count(*) from run_versions")[0]:
        return "no full run since the one that was certified"
    return "certified.json knows no case of the surface" if not scope.store.versions else "the baseline knows no case of the surface"


def _flag_baseline(scope: Scope) -> None:
    strange = scope.one("select count(*) from certified where case_id not in (select id from surface)")[0]
    if strange:
        scope.flags["A"].append(f"{count(strange, 'certified case')} not in surface.jsonl: left out of the drift")
    scope.flags["A"] += scope.store.baseline_notes()
