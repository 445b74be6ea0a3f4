"""The ledger as a whole: what was decided, whether the chain holds, and the one way to add to it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from seam_core.ledger import file
from seam_core.ledger.actors import Actor
from seam_core.ledger.canonical import canonical
from seam_core.ledger.chain import Chain, follow
from seam_core.ledger.faults import BrokenChainError, LedgerError
from seam_core.ledger.history import SELECT, History, of_kinds
from seam_core.ledger.kinds import Decision, checked
from seam_core.ledger.rows import BEFORE_FIRST, COLUMNS, Row, row_digest

T = TypeVar("T")
Unless = Callable[[History], Row | None]


@dataclass
class _Seen:
    """What is known to hold, so that nothing is followed twice."""

    chain: Chain = field(default_factory=Chain)
    identity: tuple[int, int] = (0, 0)  # device, inode
    schema: int = -1
    stamp: tuple[int, int] = (-1, -1)  # size and mtime_ns when the file was last looked at
    about: dict[str, list[int]] = field(default_factory=dict)  # heal_id → seqs of the rows that name it

    def add(self, row: Row) -> None:
        """Remember a row that holds.  Raises LedgerError when it is no decision."""
        _ = row.by
        if (heal_id := row.heal_id) is not None:
            self.about.setdefault(heal_id, []).append(row.seq)


class Ledger:
    """The decisions of one workspace. Opens nothing until it is asked, keeps no connection, may be shared between threads.

    Before each write the chain is followed: whole when this object first looks, when the file is another one, when its schema was
    touched, or when it changed without a row being added; otherwise only the rows added since, after a check that the last one known
    is still there. So a write takes as long at 100,000 rows as at ten, about 2 ms, most of it the disk's; the first look takes a second
    at 100,000. An edit of old rows that leaves the schema alone and hides behind a row added at the same time is found by the next whole
    look, and by `verify`.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = path
        self._clock = clock
        self._seen = _Seen()
        self._lock = threading.RLock()

    def chain(self) -> Chain:
        """Whether the chain holds, and its head. Writes nothing.  Raises LedgerError when the file cannot be read."""
        with self._lock, file.reading(self.path) as con:
            if con is None:
                self._seen = _Seen()
                return Chain()
            return self._look(con)

    def rows(self, *kinds: str, after: int = 0) -> list[Row]:
        """The rows of some kinds, or of all, with a seq above `after`, in order. Writes nothing; the chain is not followed."""
        with file.reading(self.path) as con:
            sql = f"{SELECT} {of_kinds(kinds)} and seq > ? order by seq"
            return [Row(*values) for values in con.execute(sql, (*kinds, after))] if con else []

    def copy(self) -> bytes:
        """The whole file as bytes, at one moment; empty when there is none."""
        with file.reading(self.path) as con:
            return con.serialize() if con else b""

    def ask(self, question: Callable[[History], T]) -> T:
        """The answer to a question about what was decided so far. Writes nothing."""
        with self._lock, file.reading(self.path) as con:
            if con is None:
                return question(History(None))
            self._look(con)
            return question(History(con, self._seen.about))

    def write(self, decision: Decision, *, actor: Actor, unless: Unless | None = None) -> Row:
        """The row that was added, in one transaction. When `unless` finds a row that already says so, that one, and nothing is written;
        it is asked inside the transaction, so that no other writer comes between, and may refuse by raising.

        Raises BrokenChainError when a row does not hold, LedgerError when the file cannot be written.
        """
        return self.decide(lambda history: (unless(history) if unless else None) or decision, actor=actor)

    def decide(self, what: Callable[[History], Decision | Row], *, actor: Actor) -> Row:
        """As `write`, where the decision itself depends on what was decided before."""
        with self._lock:
            if not file.is_ledger_there(self.path):
                what(History(None))  # whoever refuses does so before a file is made
            with file.writing(self.path) as con:
                chain = self._look(con)
                if not chain.holds:
                    raise BrokenChainError(f"{self.path}: {chain.sentence}")
                decision = what(History(con, self._seen.about))
                if isinstance(decision, Row):
                    return decision
                row = self._next_row(chain, decision, actor)
                con.execute(f"insert into decisions ({COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)", row.values)
            self._seen.add(row)
            self._seen.chain = replace(chain, rows=row.seq, head=row.sha256, ts=row.ts)
            self._seen.stamp = self._stamp()[1]
            return row

    def _next_row(self, chain: Chain, decision: Decision, actor: Actor) -> Row:
        now = timestamp(self._clock())
        if now < chain.ts:  # a clock that was set back: rows stay in order, and this one says what the clock said
            decision, now = msgspec.structs.replace(decision, clock=now), chain.ts
        try:
            body = canonical(checked(decision))
        except msgspec.ValidationError as error:
            raise LedgerError(f"{self.path}: this is no {decision.kind}: {error}; nothing was written") from None
        who, prev, seq = canonical(msgspec.to_builtins(actor)), chain.head or BEFORE_FIRST, chain.rows + 1
        return Row(seq, now, who, decision.kind, body, prev, row_digest(seq, now, who, decision.kind, body, prev))

    def _look(self, con: sqlite3.Connection) -> Chain:
        """Follow the chain as far as it is not known yet."""
        identity, stamp = self._stamp()
        schema, seen = file.schema_version(con), self._seen
        is_known = seen.chain.holds and (identity, schema) == (seen.identity, seen.schema) and _has(con, seen.chain)
        if is_known and stamp != seen.stamp and last_row(con) == (seen.chain.rows, seen.chain.head):
            is_known = False  # the file changed, and not by a row that was added
        if not is_known:
            seen = _Seen()
        start = replace(seen.chain, guard=file.guard_fault(con))
        sql = f"{SELECT} where seq > ? order by seq" if start.rows else f"{SELECT} where ? = 0 order by seq"  # no row is numbered 0 or −1
        chain = follow((Row(*values) for values in con.execute(sql, (start.rows,))), start, seen=seen.add)
        if chain.reason is None and (given := file.numbers_given_out(con)) != chain.rows:
            chain = _numbers_fault(chain, given)
        seen.chain, seen.identity, seen.schema, seen.stamp = chain, identity, schema, stamp
        self._seen = seen
        return chain

    def _stamp(self) -> tuple[tuple[int, int], tuple[int, int]]:
        try:
            found = self.path.stat()
        except OSError as error:
            raise LedgerError(f"{self.path}: was taken away while it was being read ({error.strerror})") from None
        return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


def timestamp(moment: datetime) -> str:
    """A moment as the ledger writes it: UTC, microseconds, always as long, so that texts sort as times do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def last_row(con: sqlite3.Connection) -> tuple[int, str | None]:
    """Number and sha256 of the newest row; 0 and None when there is none."""
    row = con.execute("select seq, sha256 from decisions order by seq desc limit 1").fetchone()
    return (int(row[0]), str(row[1])) if row else (0, None)


def _has(con: sqlite3.Connection, chain: Chain) -> bool:
    """Whether the last row known is still there as it was."""
    row = con.execute("select sha256 from decisions where seq = ?", (chain.rows,)).fetchone()
    return (row[0] if row else None) == chain.head


def _numbers_fault(chain: Chain, given: int) -> Chain:
    if given > chain.rows:
        missing = chain.rows + 1
        return replace(chain, seq=missing, reason=f"row {missing} is missing: numbers up to {given} were given out")
    return replace(chain, guard=chain.guard or "the count of numbers given out was changed")
