"""The rule of two: what one person proposed and another has not approved yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import UNSET

from seam_core.baseline.faults import BaselineError, ConflictError
from seam_core.baseline.versions import KINDS as DECIDED
from seam_core.ledger import Actor, Row
from seam_core.ledger.kinds import Certification, Proposal, Rollback, Veto

BaselineRow = Certification | Rollback | Proposal | Veto
KINDS = (*DECIDED, Proposal.kind, Veto.kind)


@dataclass(frozen=True)
class Pending:
    """A proposal that nobody approved or vetoed. `lapsed`: why it cannot be approved any more; empty while it stands."""

    row: Row
    said: Proposal
    lapsed: str = ""

    @property
    def seq(self) -> int:
        """The number of its row, by which it is approved."""
        return self.row.seq


def open_proposal(newest_first: Iterable[Row]) -> Row | None:
    """The proposal that is still open, of the rows of ``KINDS`` from the newest back: a decision or a veto closes what came before it."""
    vetoed: set[int] = set()
    for row in newest_first:
        if row.kind in DECIDED:
            return None
        said = row.decision
        if isinstance(said, Veto):
            vetoed.add(said.proposal)
        elif isinstance(said, Proposal):
            return None if row.seq in vetoed else row
    return None


def check_second(first: Actor, second: Actor) -> None:
    """Raises BaselineError unless the second person is another one than the first, vouched for in the same way."""
    if first.key == second.key:
        raise BaselineError(f"two different people have to agree, and {first.name} proposed this; nothing was written")
    if type(first) is not type(second):
        raise BaselineError(
            "the proposal and its approval have to come in the same way, both signed in or both on this machine: else one person could be"
            " two; nothing was written"
        )


def check_open(decision: BaselineRow, newest_first: Iterable[Row], *, lapsed: int | None) -> None:
    """Raises ConflictError when a proposal is in the way of a new one, or when the one that a decision is about is not open any more.
    `lapsed`: one that does not count.
    """
    row = open_proposal(newest_first)
    if isinstance(decision, Proposal):
        if row and row.seq != lapsed:
            raise ConflictError(in_the_way(row))
    elif decision.proposal is not UNSET and (row is None or row.seq != decision.proposal):
        raise ConflictError(f"the proposal in row {decision.proposal} was closed meanwhile; nothing was written, look again")


def in_the_way(row: Row) -> str:
    """Why nothing else can be proposed."""
    return f"{row.by.name} proposed a decision already (row {row.seq}, {row.ts}): approve it or veto it first; nothing was written"


def key_of(row: Row) -> str | None:
    """The key that a decision was sent with."""
    key: str | None = getattr(row.decision, "key", None)
    return key
