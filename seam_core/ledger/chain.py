"""Whether every row still follows on the one before, and which is the first that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from seam_core.ledger.faults import LedgerError
from seam_core.ledger.rows import BEFORE_FIRST, Row, row_digest
from seam_core.words import count


@dataclass(frozen=True)
class Chain:
    """How far the chain was followed. `seq` is the first row that does not hold and `reason` why; `guard` what is wrong with the
    triggers and the numbering that keep rows from being changed.
    """

    rows: int = 0  # rows that hold, from the first one on
    head: str | None = None  # sha256 of the last of them
    ts: str = ""
    seq: int | None = None
    reason: str | None = None
    guard: str | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing was changed, as far as the file itself can tell."""
        return self.reason is None and self.guard is None

    @property
    def sentence(self) -> str:
        """The state in words."""
        if self.holds:
            return f"{count(self.rows, 'decision')}, and the chain holds" if self.rows else "nothing has been decided yet"
        what = "; ".join(fault for fault in (self.reason, self.guard) if fault)
        return f"the chain of decisions does not hold: {what}. Nothing more is written until a person has looked"


def follow(rows: Iterable[Row], start: Chain, *, seen: Callable[[Row], None]) -> Chain:
    """The chain from `start` on, up to the first row that does not hold. Every row that does is handed to `seen`, which raises
    LedgerError when it is no decision.
    """
    n_rows, head, ts = start.rows, start.head or BEFORE_FIRST, start.ts
    fault: tuple[int, str] | None = None
    iterator = iter(rows)
    for row in iterator:
        fault = _fault(row, n_rows + 1, head, ts) or _unlinked(row, head, iterator)
        if fault:
            break
        try:
            seen(row)
        except LedgerError as error:
            fault = row.seq, str(error)
            break
        n_rows, head, ts = row.seq, row.sha256, row.ts
    seq, reason = fault or (None, None)
    return replace(start, rows=n_rows, head=head if n_rows else None, ts=ts, seq=seq, reason=reason)


def _fault(row: Row, expected: int, head: str, ts: str) -> tuple[int, str] | None:
    if row.seq != expected:
        return (expected, f"row {expected} is missing") if row.seq > expected else (row.seq, f"row {row.seq} is not numbered from 1")
    if row.sha256 != row_digest(row.seq, row.ts, row.actor, row.kind, row.body, row.prev_sha256):
        if row.sha256 == row_digest(row.seq, row.ts, row.actor, row.kind, row.body, head):
            return row.seq, f"row {row.seq} was changed: its prev_sha256 is not the sha256 of {_place(row.seq - 1)}"
        return row.seq, f"row {row.seq} was changed: its sha256 is not that of what it says"
    if row.ts < ts:
        return row.seq, f"row {row.seq} is dated before row {row.seq - 1}"
    return None


def _unlinked(row: Row, head: str, following: Iterator[Row]) -> tuple[int, str] | None:
    """A row that is whole in itself and follows on another row than the one before it: one of the two was replaced. When the row after
    it knows this one, it is the one before that is new.
    """
    if row.prev_sha256 == head:
        return None
    after = next(following, None)
    if row.seq > 1 and (after is None or after.prev_sha256 == row.sha256):
        return row.seq - 1, f"row {row.seq - 1} was replaced: row {row.seq} was written after another one"
    return row.seq, f"row {row.seq} was replaced: it does not follow on {_place(row.seq - 1)}"


def _place(seq: int) -> str:
    return f"row {seq}" if seq else "the beginning"
