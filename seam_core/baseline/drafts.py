"""Choices that nobody has sent yet: kept per person and run beside the ledger, nobody's decision, and lost without harm."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from seam_core.errors import SeamError
from seam_core.files import own_file
from seam_core.ledger import Actor
from seam_core.ledger.kinds import COMMENT_MAX
from seam_core.ledger.looking import beside

NAME = "drafts.sqlite"
PATIENCE = 5.0  # seconds to wait for another writer
KEPT = 1000  # drafts; the oldest go first
TABLE = """
create table if not exists drafts (
    person text not null, run_id text not null, body blob not null, number integer not null, primary key (person, run_id)
)
"""
PUT = """
insert into drafts select ?, ?, ?, coalesce(max(number), 0) + 1 from drafts where true
on conflict (person, run_id) do update set body = excluded.body, number = excluded.number
"""

Words = Annotated[str, Meta(max_length=COMMENT_MAX)]


class DraftError(SeamError):
    """A draft that cannot be kept or read, in one sentence. What was chosen so far is for the caller to keep."""


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one person chose so far about one run. Reasons may be unfinished, and may belong to cases that are not accepted (yet)."""

    accepted: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    safety_reasons: dict[str, Words] = {}
    reason: Words = ""


class Drafts:
    """The drafts of one workspace. Reading makes no file; each change is on the disk before it returns."""

    def __init__(self, ledger: Path) -> None:
        self.path = beside(ledger, NAME)

    def get(self, actor: Actor, run_id: str) -> Draft:
        """What a person chose so far; an empty draft when nothing was kept.  Raises DraftError when there is one that cannot be read."""
        if not self._is_there():
            return Draft()
        with self._open(mode="ro") as con:
            row = con.execute("select body from drafts where person = ? and run_id = ?", (actor.key, run_id)).fetchone()
        if row is None:
            return Draft()
        try:
            return msgspec.json.decode(row[0], type=Draft)
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:  # the last: a number, where somebody put one
            raise DraftError(f"{self.path}: your draft on this run cannot be read ({error}); choose anew") from None

    def runs(self, actor: Actor) -> tuple[str, ...]:
        """The runs about which a person chose something, the last one first.  Raises DraftError."""
        if not self.path.exists():
            return ()
        with self._open(mode="ro") as con:
            found = con.execute("select run_id from drafts where person = ? order by number desc", (actor.key,)).fetchall()
        return tuple(run_id for (run_id,) in found)

    def put(self, actor: Actor, run_id: str, draft: Draft) -> None:
        """Keep what a person chose, in place of what they had.  Raises DraftError, and what was kept before is still there."""
        self._is_there()
        with self._open(mode="rwc") as con, con:
            body = msgspec.json.encode(draft, order="deterministic")
            con.execute(TABLE)
            con.execute(PUT, (actor.key, run_id, body))
            con.execute("delete from drafts where number <= (select max(number) from drafts) - ?", (KEPT,))

    def forget(self, actor: Actor, run_id: str) -> None:
        """Drop a draft that was sent.  Raises DraftError."""
        if self._is_there():
            with self._open(mode="rw") as con, con:
                con.execute("delete from drafts where person = ? and run_id = ?", (actor.key, run_id))

    def _is_there(self) -> bool:
        """Whether there is a file of drafts.  Raises DraftError for what can be none."""
        try:
            found = own_file(self.path)
        except OSError as error:
            raise self._lost(error.strerror) from None
        if found in ("", "none"):
            return not found
        raise self._lost(f"it is {found}")

    def _lost(self, why: object) -> DraftError:
        return DraftError(f"{self.path}: drafts cannot be kept there ({why}); what you chose lives as long as this page")

    @contextmanager
    def _open(self, *, mode: str) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE)) as con:
                yield con
        except UnicodeEncodeError:
            raise self._lost("half of a surrogate pair is no text") from None
        except sqlite3.Error as error:
            raise self._lost(error) from None
