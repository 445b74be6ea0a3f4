"""What was sent to whom, what waits, and what failed: one small SQLite file beside the ledger.

A delivery is claimed in a transaction before it is sent, so two processes never send the same at once. Whoever claimed it has LEASE to
say how it ended; after that it counts as not sent and goes out again. So a message is sent at least once: twice only when the process
was killed between sending and noting it. A notice that is lost would be worse than one that comes twice.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from seam_core.errors import SeamError
from seam_core.files import own_file
from seam_core.ledger.book import timestamp
from seam_core.ledger.looking import beside
from seam_core.notify.hooks import Hook, Hooks
from seam_core.notify.notices import Notice

FILE = "notices.sqlite"
APPLICATION = 0x5345414E  # "SEAN", in the file's header
LOCK_S = 5.0
LEASE = timedelta(minutes=2)  # much longer than a message may take
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))  # after each failed try; after the next one it is given up
TRIES = len(WAITS) + 1
INTERRUPTED = "interrupted before it was known whether it arrived"

TABLE = """create table if not exists deliveries (
    hook text not null,
    event text not null,
    kind text not null,
    noted text not null,
    title text not null,
    text text not null,
    link text not null,
    state text not null default 'waiting',
    tries integer not null default 0,
    due text not null,
    ended text,
    reason text not null default '',
    primary key (hook, event)
) strict"""

ADD = """insert or ignore into deliveries (hook, event, kind, noted, title, text, link, due)
values (:hook, :event, :kind, :now, :title, :text, :link, :now)"""

# What is claimed has no reason until it is known how it ended. A due time further ahead than any wait was written by a clock that has
# been set back since.
DUE = "state = 'waiting' and (due <= :now or due > :horizon)"
GIVE_UP = f"update deliveries set state = 'given up', ended = :now, reason = :reason where hook = :hook and tries >= :tries and {DUE}"
CLAIM = f"""update deliveries set tries = tries + 1, due = :lease, reason = '' where hook = :hook and {DUE}
returning noted, rowid, event, kind, title, text, link, tries"""
SENT = "update deliveries set state = 'sent', ended = ?, reason = '' where hook = ? and event = ?"
FAILED = "update deliveries set state = ?, due = ?, ended = ?, reason = ? where hook = ? and event = ? and state = 'waiting'"
AGAIN = "update deliveries set state = 'waiting', tries = 0, due = ? where state in ('waiting', 'given up') and reason <> ''"
LISTING = "select hook, event, title, noted, state, tries, due, ended, reason from deliveries order by noted desc, rowid desc limit ?"
BY_HOOK = """
select hook,
       count(*) filter (where state = 'sent'),
       count(*) filter (where state = 'waiting'),
       count(*) filter (where state = 'waiting' and reason <> ''),
       count(*) filter (where state = 'given up'),
       max(ended) filter (where state = 'sent'),
       min(due) filter (where state = 'waiting'),
       coalesce((select reason from deliveries r where r.hook = d.hook and reason <> '' order by ended desc limit 1), '')
from deliveries d
group by hook
"""


class OutboxError(SeamError):
    """It cannot be noted what was sent, so nothing is sent."""


@dataclass(frozen=True)
class Claimed:
    """One event that this process has to send to one hook, and the how-manieth try that is."""

    notice: Notice
    n_tries: int


@dataclass(frozen=True)
class Delivery:
    """One event and one hook, and how far that is."""

    hook: str
    event: str
    title: str
    noted: str
    state: str  # waiting, sent, given up
    tries: int
    due: str
    ended: str | None
    reason: str


@dataclass(frozen=True)
class Standing:
    """How one hook stands."""

    n_sent: int = 0
    n_waiting: int = 0
    n_failed: int = 0  # of those that wait: tried, and to be tried again
    n_given_up: int = 0
    last_sent: str | None = None
    next_try: str | None = None
    reason: str = ""


def outbox_file(ledger: Path) -> Path:
    """Where it is kept."""
    return beside(ledger, FILE)


class Outbox:
    """The deliveries of one workspace. Keeps no connection; may be used by several threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, notices: Sequence[Notice], hooks: Hooks, *, now: datetime) -> int:
        """How many deliveries are new; events that a hook has had, or waits for, are not noted again.  Raises OutboxError."""
        wanted = [one for one in notices if one.kind in hooks.events]
        if not wanted or not hooks:
            return 0
        with self._writing() as con:
            before = con.total_changes
            for hook in hooks.all:
                con.executemany(ADD, [_row(one, hook, now) for one in wanted])
            return con.total_changes - before

    def claim(self, hook: Hook, *, now: datetime) -> list[Claimed]:
        """What this process has to send to a hook now, oldest first; nobody else is given the same until the lease is over."""
        if not self._is_there():
            return []
        values = {"hook": hook.name, "now": timestamp(now), "lease": timestamp(now + LEASE), "horizon": timestamp(now + WAITS[-1])}
        with self._writing() as con:
            con.execute(GIVE_UP, values | {"tries": TRIES, "reason": INTERRUPTED})
            rows = con.execute(CLAIM, values).fetchall()
        return [Claimed(Notice(*notice), n_tries) for _, _, *notice, n_tries in sorted(rows)]

    def settle(self, hook: Hook, claimed: Sequence[Claimed], reason: str, *, now: datetime) -> None:
        """Note how the sending ended: an empty reason says that it was taken."""
        moment = timestamp(now)
        with self._writing() as con:
            for one in claimed:
                if not reason:
                    con.execute(SENT, (moment, hook.name, one.notice.id))
                    continue
                is_last = one.n_tries >= TRIES
                due = moment if is_last else timestamp(now + WAITS[one.n_tries - 1])
                state = "given up" if is_last else "waiting"
                con.execute(FAILED, (state, due, moment, reason, hook.name, one.notice.id))

    def again(self, *, now: datetime) -> int:
        """How many deliveries are to be tried at once again: those given up, and those that wait after a failure."""
        if not self._is_there():
            return 0
        with self._writing() as con:
            return con.execute(AGAIN, (timestamp(now),)).rowcount

    def is_known(self, hook: Hook, event: str) -> bool:
        """Whether a hook was told of an event, or is to be."""
        with self._reading() as con:
            found = con and con.execute("select 1 from deliveries where hook = ? and event = ?", (hook.name, event)).fetchone()
        return bool(found)

    def listing(self, *, limit: int = 100) -> list[Delivery]:
        """The newest deliveries, newest first. Writes nothing."""
        with self._reading() as con:
            return [Delivery(*row) for row in con.execute(LISTING, (limit,))] if con else []

    def standings(self) -> dict[str, Standing]:
        """Name of a hook → how it stands, for every hook that anything was noted for. Writes nothing."""
        with self._reading() as con:
            return {hook: Standing(*row) for hook, *row in con.execute(BY_HOOK)} if con else {}

    def _is_there(self) -> bool:
        try:
            found = own_file(self.path)
        except OSError as error:
            raise OutboxError(f"{self.path}: cannot be read ({error.strerror}), so nothing is sent") from None
        if found in ("", "none"):
            return not found
        raise OutboxError(f"{self.path}: is {found}, so nothing is sent; take it away")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._is_there()
        with self._in_words(), closing(self._connect("rwc")) as con:
            con.execute("begin immediate")
            try:
                self._check(con)
                con.execute(TABLE)
                con.execute(f"pragma application_id = {APPLICATION}")
                yield con
                con.execute("commit")
            except BaseException:
                if con.in_transaction:
                    con.execute("rollback")
                raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self._is_there():
            yield None
            return
        with self._in_words(), closing(self._connect("ro")) as con:
            yield con if self._check(con) else None

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=LOCK_S, isolation_level=None)

    def _check(self, con: sqlite3.Connection) -> bool:
        """Whether the file holds deliveries; False when it is empty.  Raises OutboxError for another program's file."""
        if not con.execute("select count(*) from sqlite_master").fetchone()[0]:
            return False
        if con.execute("pragma application_id").fetchone()[0] != APPLICATION:
            raise OutboxError(f"{self.path}: is another program's file, so nothing is sent; move it away")
        return True

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OutboxError(f"{self.path}: {_fault(self.path, error)}, so nothing is sent") from None


def _row(notice: Notice, hook: Hook, now: datetime) -> dict[str, str]:
    return {
        "hook": hook.name,
        "event": notice.id,
        "kind": notice.kind,
        "title": notice.title,
        "text": notice.text,
        "link": notice.link,
        "now": timestamp(now),
    }


_FAULTS = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite file; take it away, and a new one is made",
    sqlite3.SQLITE_CORRUPT: "is damaged; take it away, and a new one is made",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the file or its folder may not be written",
    sqlite3.SQLITE_BUSY: "another program keeps it locked",
    sqlite3.SQLITE_IOERR: "the disk reported an error",
}


def _fault(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_CANTOPEN:
        return "its folder may not be written" if not os.access(path.parent, os.W_OK | os.X_OK) else "cannot be opened"
    return _FAULTS.get(code, "is not as SEAM makes it; take it away, and a new one is made")
