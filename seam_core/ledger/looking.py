"""Where a workspace's ledger is, and looks at one from outside: its head for a report, its whole chain against a head that was noted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from seam_core.ledger import file
from seam_core.ledger.book import Ledger, last_row
from seam_core.ledger.chain import Chain
from seam_core.ledger.faults import LedgerError
from seam_core.settings import ServerSettings

FILE = "decisions.sqlite"
FIND_HEAD = "select seq from decisions where sha256 = ? and seq between 1 and ?"


class Noted(TypedDict):
    """What a report carries, so that a later look can prove that the ledger still contains it."""

    head: str | None
    rows: int | None
    fault: NotRequired[str]  # why neither is known


@dataclass(frozen=True)
class Verified:
    """The chain of one ledger followed whole, and whether it contains the row that somebody noted elsewhere."""

    chain: Chain
    head: str | None = None  # what was noted
    head_seq: int | None = None  # where it stands; None when it is not there

    @property
    def holds(self) -> bool:
        """Whether nothing was changed, as far as the file and what was noted can tell."""
        return self.chain.holds and (self.head is None or self.head_seq is not None)


def ledger_file(folder: Path, server: ServerSettings) -> Path:
    """Where the decisions of the workspace in `folder` are kept: in it, or where the server settings say. A folder named there holds one
    ledger a workspace, under the workspace's name; a relative path starts at the settings' own file.  Raises LedgerError.
    """
    if server.ledger is None:
        return folder / FILE
    place = server.file.parent / server.ledger if server.file else server.ledger
    try:
        return place / f"{folder.resolve().name}.sqlite" if place.is_dir() else place
    except OSError as error:
        raise LedgerError(f"{place}: cannot be read ({error.strerror})") from None


def beside(ledger: Path, name: str) -> Path:
    """Where something else about the same workspace is kept: beside the ledger, and named after it where one folder holds several."""
    return ledger.with_name(name if ledger.name == FILE else f"{ledger.stem}.{name}")


def noted(path: Path) -> Noted:
    """Number of rows and head of a ledger, for a report, or why they cannot be read; the chain is not followed."""
    try:
        with file.reading(path) as con:
            seq, head = last_row(con) if con else (0, None)
            return Noted(head=head, rows=seq)
    except LedgerError as error:
        return Noted(head=None, rows=None, fault=str(error))


def verify(path: Path, *, head: str | None = None) -> Verified:
    """The whole chain, followed anew. Whoever makes every row again makes a chain that holds: only a `head` noted elsewhere tells.

    Raises LedgerError when the file cannot be read.
    """
    chain = Ledger(path).chain()
    with file.reading(path) as con:
        found = con.execute(FIND_HEAD, (head, chain.rows)).fetchone() if con else None
    return Verified(chain, head, found[0] if found else None)
