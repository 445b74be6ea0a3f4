"""Versions of the certified baseline, as the ledger holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from seam_core.ledger import Ledger, Row
from seam_core.ledger.canonical import canonical
from seam_core.ledger.kinds import Certification, Outcome, Rollback

Outcomes = Mapping[str, bool]
KINDS = (Certification.kind, Rollback.kind)


@dataclass(frozen=True)
class Version:
    """One version of the baseline. Without a row it is certified.json, in force from the first run on."""

    number: int
    outcomes: Outcomes
    run_id: str | None = None
    run_ts: datetime | None = None
    row: Row | None = None

    @property
    def sha256(self) -> str:
        """Digest of its outcomes."""
        return outcomes_digest(self.outcomes)


@dataclass(frozen=True)
class Decided:
    """One certification or rollback, with the run that it looked at."""

    row: Row
    said: Certification | Rollback

    @property
    def run_id(self) -> str:
        """The run that was reviewed."""
        return self.said.run_id

    @property
    def run_ts(self) -> datetime:
        """The time of the run that was reviewed."""
        return datetime.fromisoformat(self.said.run_ts)


@dataclass(frozen=True)
class Versions:
    """Every certification and rollback in a ledger, and the versions that they made. `fault`: not all of its rows can be believed."""

    decisions: tuple[Decided, ...] = ()
    all: tuple[Version, ...] = ()
    fault: str = ""

    def __bool__(self) -> bool:
        """Whether the ledger holds a certification, be it one that cannot be believed, so that it alone is read."""
        return bool(self.all or self.fault)

    @property
    def newest(self) -> Version | None:
        """The version of the newest certification."""
        return self.all[-1] if self.all else None

    @property
    def newest_decision(self) -> Decided | None:
        """The newest certification or rollback."""
        return self.decisions[-1] if self.decisions else None

    @property
    def head(self) -> str | None:
        """sha256 of the newest row, which stands for all of them."""
        return self.decisions[-1].row.sha256 if self.decisions else None

    def with_key(self, key: str) -> Decided | None:
        """The decision that was sent with a key."""
        return next((one for one in self.decisions if one.said.key == key), None)


NONE = Versions()


def read_versions(ledger: Ledger, *, known: Versions = NONE) -> Versions:
    """What a ledger holds of baselines; what is already known is not read again. Writes nothing.

    Raises LedgerError when it cannot be read.
    """
    chain = ledger.chain()
    head = known.newest_decision
    is_known = head is not None and not known.fault and chain.holds
    after = head.row.seq if is_known and head else 0
    if is_known and head and not any(row.sha256 == head.row.sha256 for row in ledger.rows(*KINDS, after=after - 1)[:1]):
        after, is_known = 0, False  # another ledger than the one that was read before
    rows = ledger.rows(*KINDS, after=after)
    if is_known and not rows:
        return known
    earlier = [one.row for one in known.decisions] if is_known else []
    return of_rows([*earlier, *(row for row in rows if row.seq <= chain.rows)], fault="" if chain.holds or not rows else chain.sentence)


def of_rows(rows: Iterable[Row], *, fault: str = "") -> Versions:
    """The versions that rows of a ledger, in order, made; up to the first that makes one twice or leaves one out."""
    decisions: list[Decided] = []
    found: list[Version] = []
    for row in rows:
        said = row.decision
        if not isinstance(said, (Certification, Rollback)):
            continue
        if isinstance(said, Certification):
            if not found and isinstance(said.first_baseline, dict):
                found.append(Version(1, passed(said.first_baseline)))
            if said.version != len(found) + 1:
                fault = fault or f"row {row.seq} certifies version {said.version} of the baseline after version {len(found)}"
                break
            found.append(Version(said.version, passed(said.baseline), said.run_id, datetime.fromisoformat(said.run_ts), row))
        decisions.append(Decided(row, said))
    return Versions(tuple(decisions), tuple(found), fault)


def passed(outcomes: Mapping[str, Outcome]) -> dict[str, bool]:
    """Outcomes in words as truth values."""
    return {case_id: outcome == "pass" for case_id, outcome in outcomes.items()}


def in_words(outcomes: Outcomes) -> dict[str, Outcome]:
    """Outcomes as certified.json has them, by case id."""
    return {case_id: "pass" if outcomes[case_id] else "fail" for case_id in sorted(outcomes)}


def outcomes_digest(outcomes: Outcomes) -> str:
    """sha256 over the canonical JSON of case id → pass or fail."""
    return sha256(canonical(in_words(outcomes)).encode("ascii")).hexdigest()
