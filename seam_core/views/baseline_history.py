"""Who certified or rolled back what, when, why and on which evidence; and what differs between any two versions of the baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from seam_core.baseline.approvals import BaselineRow
from seam_core.baseline.desk import Desk
from seam_core.errors import SeamError
from seam_core.ledger import Row
from seam_core.ledger.kinds import BaselineDecision, Certification, Proposal, Rollback
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
    sha256: str
    run_id: str | None = None
    drift: float | None = None
    n_accepted: int | None = None
    n_rejected: int | None = None
    n_left: int | None = None


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
    """Every certification, rollback, proposal and veto, newest first."""
    return tuple(_line(row) for row in reversed(desk.history()))


def rows(desk: Desk) -> dict[int, Row]:
    """The same rows as they are kept, by number, oldest first."""
    return {row.seq: row for row in desk.history()}


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


def _line(row: Row) -> Line:
    said = row.decision
    assert isinstance(said, BaselineRow)
    line = Line(row.seq, datetime.fromisoformat(row.ts), what(row), who(row), said.reason, row.sha256)
    if isinstance(said, BaselineDecision):
        line = replace(line, run_id=said.run_id, drift=said.drift)
    if isinstance(said, Certification) or (isinstance(said, Proposal) and said.heal_id is None):
        line = replace(line, n_accepted=len(said.accepted), n_rejected=len(said.rejected), n_left=len(said.left))
    return line


def rollback_sentences(said: Rollback) -> list[str]:
    """What a rollback restores and what it cannot."""
    lost = [f"{cut(one.target)}: {one.reason}." for one in said.not_restored]
    n = count(len(said.restored), "target")
    return [f"The folder {said.bundle} holds the texts of {n}; its manifest has sha256 {said.bundle_sha256}.", *lost]


def digests(row: Row) -> list[tuple[str, str]]:
    """(of what, sha256) that a row stands on."""
    said = row.decision
    found = [("sha256 of this row", row.sha256)]
    if isinstance(said, BaselineDecision):
        found += [("of what was shown", said.shown_sha256), ("of the run's record", said.run_sha256)]
    if isinstance(said, Certification):
        found += [("of the baseline", said.baseline_sha256)]
    if isinstance(said, Rollback):
        found += [("of the manifest", said.bundle_sha256)]
    return found
