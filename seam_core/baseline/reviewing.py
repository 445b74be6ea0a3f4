"""One full run to decide on: each case that is not as certified, since which heal, how often it changes by itself, and a digest of it all.

Only runs up to the reviewed one are looked at, so that what was shown does not change when another run arrives.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from seam_core.axes.drift import prepare_surface
from seam_core.baseline.blame import Origin, find_noise, find_origins
from seam_core.baseline.faults import BaselineError
from seam_core.baseline.versions import Version, outcomes_digest
from seam_core.gates import apply_gate
from seam_core.judge import whole_number
from seam_core.ledger.canonical import canonical
from seam_core.lines import BOM
from seam_core.report import window_of
from seam_core.scope import Scope, open_scope
from seam_core.settings import Settings
from seam_core.store import Store
from seam_core.views.case_history import QUESTION_LENGTH, Noise
from seam_core.words import count, cut, is_text

FULL = """
select r.run, r.run_id, r.ts, r.phase::varchar, r.heal_id, r.position
from surface_runs r semi join full_runs using (run)
where r.phase in ('after', 'nightly') and ($run_id is null or r.run_id = $run_id)
order by r.position desc limit 1
"""

# Cases of the surface whose outcome in the run is not the certified one; those that the baseline does not know come last.
CASES = """
select s.id as case_id, left(s.text, $length) as question, s.component, coalesce(s.safety, false) as is_safety, c.passed as certified,
       o.passed
from surface s join outcomes o on o.run = $run and o.case_id = s.id
left join certified c on c.case_id = s.id
where c.passed is distinct from o.passed
order by c.passed is null, is_safety desc, o.passed, s.id
"""

OUTCOMES = "select o.case_id, o.passed from outcomes o join surface s on s.id = o.case_id where o.run = $run order by o.case_id"

# What the newest later run that has a case saw of it.
LATER = """
select o.case_id, arg_max(o.passed, r.position), arg_max(r.run_id, r.position)
from outcomes o join surface_runs r using (run)
where r.position > $position and r.phase in ('after', 'nightly')
group by o.case_id
"""


UNKNOWN = "The baseline does not know these cases."


@dataclass(frozen=True)
class PinnedRun:
    """The full run that is decided on."""

    run: int  # its row in the log
    run_id: str
    ts: datetime
    phase: str
    heal_id: str | None
    position: int
    record_sha256: str

    @property
    def stamp(self) -> str:
        """Its time as the ledger keeps it."""
        return self.ts.isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class DifferingCase:
    """One case that is not as certified. `certified` is None where the baseline does not know the case; texts are as logged."""

    case_id: str
    question: str | None
    component: str | None
    is_safety: bool
    certified: bool | None
    passed: bool
    origin: Origin | None
    noise: Noise

    @property
    def is_new(self) -> bool:
        """Whether the baseline does not know it: it does not count as drift, and an accepted one is certified from now on."""
        return self.certified is None

    @property
    def is_regression(self) -> bool:
        """Whether it passed when it was certified and fails now."""
        return self.certified is True and not self.passed


@dataclass(frozen=True)
class HealGroup:
    """Cases that changed at the same place: after one heal, one of several, or none."""

    heals: tuple[str, ...]
    sentence: str  # the heal in words, for a heading
    case_ids: tuple[str, ...]


@dataclass(frozen=True)
class Review:
    """Everything there is to decide about one full run, and the digest that a decision must repeat."""

    run: PinnedRun
    version: Version | None  # the newest, which is in force at this run; None when there is no baseline yet
    outcomes: dict[str, bool]  # of the run, for every case of the surface
    cases: tuple[DifferingCase, ...]
    drift: float | None
    digest: str

    @property
    def version_number(self) -> int:
        """Of the baseline that the run is held against; 0 when there is none."""
        return self.version.number if self.version else 0

    @property
    def groups(self) -> tuple[HealGroup, ...]:
        """The cases by the heal after which they changed: the newest heal first, what nobody certified yet last."""
        found: dict[tuple[bool, int, tuple[str, ...], str], list[str]] = {}
        for case in self.cases:
            origin = case.origin
            key = (False, -origin.place if origin.heals else 0, origin.heals, origin.heading) if origin else (True, 0, (), UNKNOWN)
            found.setdefault(key, []).append(case.case_id)
        return tuple(HealGroup(heals, heading, tuple(case_ids)) for (_, _, heals, heading), case_ids in sorted(found.items()))

    @property
    def safety_cases(self) -> frozenset[str]:
        """The differing cases that are accepted one by one."""
        return frozenset(case.case_id for case in self.cases if case.is_safety)


def open_surface(store: Store, settings: Settings) -> Scope:
    """A scope over all of history with the gate applied and the surface's runs prepared.  Raises UnreadableLogError without a heal."""
    with store.lock:
        scope = open_scope(store, window_of(store, span="all"), settings)
        apply_gate(scope)
        prepare_surface(scope)
        return scope


def review_run(scope: Scope, run_id: str | None = None) -> Review:
    """What there is to decide about one full run; the newest one when none is named.

    Raises BaselineError when there is no such run, or it is older than the one that the newest version was certified on.
    """
    with scope.store.lock:
        if scope.store.versions.fault:
            raise BaselineError(f"nothing can be certified: {scope.store.versions.fault}")
        version = max(scope.store.baselines, key=lambda one: one.number, default=None)
        if version is None and scope.store.certified.rejects:  # else whoever spoils the file starts a first baseline in its place
            fault = scope.store.certified.rejects[0].reason
            raise BaselineError(f"certified.json cannot be used: {fault}; mend it, or take it away to certify a first version")
        run = _pinned(scope, run_id)
        if version and version.run_ts and version.run_id and (run.ts, run.run_id) < (version.run_ts, version.run_id):
            raise BaselineError(
                f"run {cut(run.run_id)} is older than {cut(version.run_id)}, on which version {version.number} was certified;"
                " review a later one"
            )
        outcomes = dict(scope.query(OUTCOMES, run=run.run))
        cases = _cases(scope, run) if version else ()
        known = [case for case in outcomes if version and case in version.outcomes]
        n_differ = sum(not case.is_new for case in cases)
        drift = n_differ / len(known) if known else None
        return Review(run, version, outcomes, cases, drift, _digest(scope, run, version, outcomes, cases))


def seen_later(scope: Scope, run: PinnedRun) -> dict[str, tuple[bool, str]]:
    """case_id → what the newest run after the reviewed one saw of it, and which run that is; samples count."""
    from seam_core.outcomes import unfold

    with scope.store.lock:
        unfold(scope, f"select run from surface_runs where position > {run.position} and phase in ('after', 'nightly')")
        return {case_id: (passed, run_id) for case_id, passed, run_id in scope.query(LATER, position=run.position)}


def _pinned(scope: Scope, run_id: str | None) -> PinnedRun:
    found = scope.query(FULL, run_id=run_id) if run_id is None or is_text(run_id) else []
    if not found:
        if run_id is None:
            raise BaselineError(
                "there is no full run of the surface to certify: one of phase after or nightly with every case of surface.jsonl"
            )
        raise BaselineError(f"{cut(run_id)} is no full run of the surface (phase after or nightly, every case of surface.jsonl)")
    run, name, ts, phase, heal_id, position = found[0]
    line = next(scope.store.lines("runs", [run]))
    return PinnedRun(run, name, ts, phase, heal_id, position, _record_digest(line))


def _cases(scope: Scope, run: PinnedRun) -> tuple[DifferingCase, ...]:
    scope.keep("review_cases", CASES, run=run.run, length=QUESTION_LENGTH)
    rows = scope.query("select case_id, question, component, is_safety, certified, passed from review_cases")
    if not rows:
        return ()
    origins = find_origins(scope, run.run)
    noise = find_noise(scope)
    quiet = Noise(0, 0)
    return tuple(
        DifferingCase(case_id, question, component, is_safety, certified, passed, origins.get(case_id), noise.get(case_id, quiet))
        for case_id, question, component, is_safety, certified, passed in rows
    )


def _record_digest(line: bytes) -> str:
    """The digest of a run's record, whatever the order of its keys."""
    try:
        text = canonical(json.loads(line.removeprefix(BOM), parse_int=whole_number))
    except (ValueError, RecursionError):  # a line that only DuckDB reads
        text = line.removeprefix(BOM).decode("utf-8", "backslashreplace").strip()
    return sha256(text.encode("ascii", "backslashreplace")).hexdigest()


def _digest(scope: Scope, run: PinnedRun, version: Version | None, outcomes: dict[str, bool], cases: tuple[DifferingCase, ...]) -> str:
    shown = [
        [c.case_id, c.question, c.component, c.is_safety, c.certified, c.passed, c.origin.shown if c.origin else None, c.noise.words]
        for c in cases
    ]
    versions = scope.store.versions
    what = [run.run_id, run.record_sha256, version and [version.number, version.sha256], versions.head, outcomes_digest(outcomes), shown]
    return sha256(canonical(what).encode("ascii")).hexdigest()


def in_short(review: Review) -> str:
    """The review in one sentence."""
    if review.version is None:
        return f"There is no baseline yet: all {count(len(review.outcomes), 'case')} of run {cut(review.run.run_id)} may become version 1."
    n_new = sum(case.is_new for case in review.cases)
    n_differ = len(review.cases) - n_new
    more = f", and {count(n_new, 'case')} that it does not know" if n_new else ""
    return f"Run {cut(review.run.run_id)} differs from version {review.version.number} in {count(n_differ, 'case')}{more}."
