"""What can be wrong with a ledger, each in one sentence; and SQLite's errors in the same words."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from seam_core.errors import SeamError


class LedgerError(SeamError):
    """The ledger cannot be read, or a decision was not written."""


class BrokenChainError(LedgerError):
    """A row of the ledger does not hold, so nothing more is written until a person has looked."""


NOTHING = "nothing was written"
_SENTENCES = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite file; put it aside if it is not yours, or bring back a copy of the ledger",
    sqlite3.SQLITE_CORRUPT: "is damaged; bring back a copy of the ledger and compare it with the head that was noted elsewhere",
    sqlite3.SQLITE_FULL: f"the disk is full; {NOTHING}",
    sqlite3.SQLITE_READONLY: f"the file or its folder may not be written; {NOTHING}",
    sqlite3.SQLITE_PERM: f"the file or its folder may not be written; {NOTHING}",
    sqlite3.SQLITE_BUSY: f"another program has kept it locked for too long; {NOTHING}, try again",
    sqlite3.SQLITE_LOCKED: f"another program has kept it locked for too long; {NOTHING}, try again",
    sqlite3.SQLITE_IOERR: f"the disk reported an error; {NOTHING}",
    sqlite3.SQLITE_NOLFS: f"the file system takes no larger file; {NOTHING}",
    sqlite3.SQLITE_TOOBIG: f"the decision is too long to be kept; {NOTHING}",
}


def in_words(path: Path, error: sqlite3.Error) -> LedgerError | None:
    """What SQLite's error means for a user; None when it is a fault of the program."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_CANTOPEN:
        return LedgerError(f"{path}: {_cannot_open(path)}")
    return LedgerError(f"{path}: {_SENTENCES[code]}") if code in _SENTENCES else None


def _cannot_open(path: Path) -> str:
    if path.exists() and not os.access(path, os.R_OK):
        return "cannot be read (no permission)"
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return f"its folder may not be written; {NOTHING}"
    return "cannot be opened; look at the permissions of the file and of its folder"
