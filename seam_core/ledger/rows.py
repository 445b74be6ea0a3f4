"""One row of the ledger, and the digest that links it to the one before."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from seam_core.ledger.actors import Actor
from seam_core.ledger.faults import LedgerError
from seam_core.ledger.kinds import Decision, kind_of

BEFORE_FIRST = "0" * 64  # the prev_sha256 of row 1
COLUMNS = "seq, ts, actor, kind, body, prev_sha256, sha256"


@dataclass(frozen=True, slots=True)
class Row:
    """A row exactly as it is kept: actor and body are canonical JSON."""

    seq: int
    ts: str
    actor: str
    kind: str
    body: str
    prev_sha256: str
    sha256: str

    @property
    def values(self) -> tuple[int, str, str, str, str, str, str]:
        """The row in the order of COLUMNS."""
        return self.seq, self.ts, self.actor, self.kind, self.body, self.prev_sha256, self.sha256

    @property
    def by(self) -> Actor:
        """Who decided.  Raises LedgerError when it says so in no way that is known."""
        try:
            return _actor(self.actor)
        except (ValueError, RecursionError) as error:
            raise LedgerError(f"row {self.seq} names nobody as SEAM does: {error}") from None

    @property
    def decision(self) -> Decision:
        """What was decided.  Raises LedgerError for a kind that this version does not know, and for what is not of its kind."""
        kind = kind_of(self.kind)
        if kind is None:
            raise LedgerError(f"row {self.seq} is of the kind {self.kind!r}, which this version does not know")
        try:
            found: Decision = decode(self.body, kind)
        except (ValueError, RecursionError) as error:
            raise LedgerError(f"row {self.seq} is no {self.kind} as SEAM writes it: {error}") from None
        return found

    @property
    def heal_id(self) -> str | None:
        """The heal that the decision is about, if it is about one; None also for a kind that this version does not know."""
        if kind_of(self.kind) is None:
            return None
        heal_id: str | None = getattr(self.decision, "heal_id", None)
        return heal_id

    @property
    def note(self) -> str | None:
        """What a reader must know of the row's time; None when there is nothing to say."""
        clock = self.decision.clock
        if not isinstance(clock, str):
            return None
        return f"the clock said {clock}, before the decision ahead of this one; it is dated {self.ts} like that one. Set the clock right"


_encode = json.JSONEncoder(separators=(",", ":"), default=repr).encode


def row_digest(seq: Any, ts: Any, actor: Any, kind: Any, body: Any, prev_sha256: Any) -> str:
    """sha256 over the canonical JSON of one list: seq as a number, the others as the texts that are kept."""
    return sha256(_encode([seq, ts, actor, kind, body, prev_sha256]).encode("ascii")).hexdigest()


@lru_cache(maxsize=1000)
def _actor(text: str) -> Actor:
    found: Actor = decode(text, Actor)
    return found


def decode(text: str, kind: Any) -> Any:
    """The value of a canonical JSON text, as some type."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # half of a surrogate pair, which msgspec does not take and a comment may hold
        return msgspec.convert(json.loads(text), kind)
