"""Who certified or rolled back what, when, why and on which evidence; and what differs between any two versions of the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seam_core.baseline.desk import Desk
from seam_core.baseline.versions import Decided
from seam_core.errors import SeamError
from seam_core.ledger.kinds import Certification, Rollback
from seam_core.views.baseline_in_force import what, who
from seam_core.words import count, cut

CASES = "select id, coalesce(safety, false), component, left(text, $length) from surface"
QUESTION_LENGTH = 300  # characters


class NoSuchVersionError(SeamError):
    """An address names a version that there is not."""


@dataclass(frozen=True)
class Line:
    """One decision, for a table. Texts are as they were logged or typed."""

    seq: int
    ts: datetime
    what: str
    who: str
    why: str
    run_id: str
    drift: float | None
    n_accepted: int | None
    n_rejected: int | None
    n_left: int | None
    sha256: str


@dataclass(frozen=True)
class CaseOfTwo:
    """One case that is not the same in two versions; None where a version does not know it."""

    case_id: str
    before: bool | None
    after: bool | None
    is_safety: bool
    component: str | None
    question: str | None


def lines(desk: Desk) -> tuple[Line, ...]:
    """Every certification and rollback, newest first."""
    return tuple(_line(one) for one in reversed(desk.store.versions.decisions))


def decided(desk: Desk, seq: int) -> Decided | None:
    """One decision by the number of its row."""
    return next((one for one in desk.store.versions.decisions if one.row.seq == seq), None)


def numbers(desk: Desk) -> tuple[int, ...]:
    """The versions that there are, oldest first."""
    return tuple(sorted(one.number for one in desk.store.baselines))


def between(desk: Desk, first: int, second: int) -> tuple[CaseOfTwo, ...]:
    """The cases that are not the same in two versions, safety cases first.  Raises NoSuchVersionError."""
    found = {one.number: one.outcomes for one in desk.store.baselines}
    for number in (first, second):
        if number not in found:
            raise NoSuchVersionError(f"There is no version {number:,} of the baseline.")
    before, after = found[first], found[second]
    known = {case_id: more for case_id, *more in desk.scope().query(CASES, length=QUESTION_LENGTH)}
    differing = [case_id for case_id in sorted(before.keys() | after.keys()) if before.get(case_id) != after.get(case_id)]
    cases = [CaseOfTwo(one, before.get(one), after.get(one), *known.get(one, (False, None, None))) for one in differing]
    return tuple(sorted(cases, key=lambda case: not case.is_safety))


def _line(one: Decided) -> Line:
    said, row = one.said, one.row
    common = row.seq, datetime.fromisoformat(row.ts), what(one), who(row), said.reason, said.run_id, said.drift
    if isinstance(said, Certification):
        return Line(*common, len(said.accepted), len(said.rejected), len(said.left), row.sha256)
    return Line(*common, None, None, None, row.sha256)


def rollback_sentences(said: Rollback) -> list[str]:
    """What a rollback restores and what it cannot."""
    lost = [f"{cut(one.target)}: {one.reason}." for one in said.not_restored]
    n = count(len(said.restored), "target")
    return [f"The folder {said.bundle} holds the texts of {n}; its manifest has sha256 {said.bundle_sha256}.", *lost]
