"""The SQLite file: how it is opened, made and guarded.

One file with a rollback journal, so that it can be copied whole. Opening for reading writes nothing and creates nothing. Nothing
here opens the file by other means than SQLite's: when a process closes any other descriptor of it, POSIX drops every lock that the process
holds on it, and two writers would meet.
"""

from __future__ import annotations

import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from seam_core.files import own_file
from seam_core.ledger.faults import LedgerError, in_words
from seam_core.ledger.rows import BEFORE_FIRST, COLUMNS

LOCK_S = 10.0  # how long another writer is waited for
APPLICATION = 0x5345414D  # "SEAM", in the file's header
FORMAT = 1
HOT = (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY)
COPY_TRIES = 5

TABLE = """create table decisions (
    seq integer primary key autoincrement,
    ts text not null,
    actor text not null,
    kind text not null,
    body text not null,
    prev_sha256 text not null,
    sha256 text not null
) strict"""

# `insert or replace` would go round the second trigger; the third stops it.
GUARDS = {
    "decisions_are_never_updated": """create trigger decisions_are_never_updated before update on decisions
begin select raise(abort, 'a decision is never changed'); end""",
    "decisions_are_never_deleted": """create trigger decisions_are_never_deleted before delete on decisions
begin select raise(abort, 'a decision is never deleted'); end""",
    "decisions_are_only_added_at_the_end": f"""create trigger decisions_are_only_added_at_the_end before insert on decisions
when new.seq is not (select coalesce(max(seq), 0) + 1 from decisions)
    or new.prev_sha256 is not coalesce((select sha256 from decisions order by seq desc limit 1), '{BEFORE_FIRST}')
begin select raise(abort, 'a decision is added at the end, after the one it names'); end""",
}


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection that sees one state of the ledger and can change nothing; None where there is no ledger yet.

    Raises LedgerError with a sentence.
    """
    if not is_ledger_there(path):
        yield None
        return
    with _in_words(path), ExitStack() as stack:
        con = _open_for_reading(path, stack)
        yield con if is_ours(con, path) else None


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection inside one transaction, which is committed at the end or, whatever happens, leaves nothing behind. Makes the ledger
    when there is none.

    Raises LedgerError with a sentence.
    """
    is_ledger_there(path)
    with _in_words(path), closing(_connect(path, "rwc")) as con:
        con.execute("begin immediate")
        try:
            if not is_ours(con, path):
                _create(con)
            yield con
            con.execute("commit")
        except BaseException:
            if con.in_transaction:
                con.execute("rollback")
            raise


def is_ledger_there(path: Path) -> bool:
    """Whether there is a file.  Raises LedgerError when it cannot be told, and for what can be no ledger."""
    try:
        found = own_file(path)
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read ({error.strerror})") from None
    if found == "none" and not path.parent.is_dir():
        raise LedgerError(f"{path}: there is no such folder as {path.parent}")
    if found in ("", "none"):
        return not found
    raise LedgerError(f"{path}: is {found}{'; name the file that it stands for' if found == 'a link' else ''}")


def is_ours(con: sqlite3.Connection, path: Path) -> bool:
    """Whether the file holds a ledger; False when it is empty.  Raises LedgerError for another program's file or a later version's."""
    application, version = _pragma(con, "application_id"), _pragma(con, "user_version")
    is_empty = not con.execute("select count(*) from sqlite_master").fetchone()[0]
    if is_empty and not application and not version:
        return False
    if application != APPLICATION:
        raise LedgerError(f"{path}: is another program's SQLite file, not a ledger of decisions")
    if version > FORMAT:
        raise LedgerError(f"{path}: was written by a later version of SEAM (format {version}; this one knows {FORMAT}); use that version")
    columns = {row[1] for row in con.execute("pragma table_info (decisions)")}
    if not columns.issuperset(COLUMNS.split(", ")):
        raise LedgerError(f"{path}: has lost its table of decisions; bring back a copy of the ledger")
    return True


def guard_fault(con: sqlite3.Connection) -> str | None:
    """What is not as it was made: a trigger that is gone or was changed, something added, numbers given out that no row has."""
    found = {name: sql for name, sql in con.execute("select name, sql from sqlite_master") if not name.startswith("sqlite_")}
    expected = {"decisions": TABLE, **GUARDS}
    for name, sql in expected.items():
        if name not in found:
            return f"the trigger {name} is missing"
        if found[name] != _as_kept(sql):
            return f"{name} is not as SEAM makes it"
    if added := sorted(found.keys() - expected.keys()):
        return f"{added[0]} was added to the file"
    return None


def _as_kept(sql: str) -> str:
    """A statement as SQLite keeps it: the first two words in capitals."""
    create, what, rest = sql.split(" ", 2)
    return f"{create.upper()} {what.upper()} {rest}"


def numbers_given_out(con: sqlite3.Connection) -> int:
    """The highest seq that was ever given out; SQLite keeps it apart from the rows."""
    row = con.execute("select seq from sqlite_sequence where name = 'decisions'").fetchone()
    return int(row[0]) if row and isinstance(row[0], int) else 0


def schema_version(con: sqlite3.Connection) -> int:
    """A number that changes when a table or trigger does, even if it is made again as it was."""
    return _pragma(con, "schema_version")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    con = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=LOCK_S, isolation_level=None, check_same_thread=False
    )
    try:
        con.text_factory = _text
        for setting in ("trusted_schema = off", "cell_size_check = on", "synchronous = full", "fullfsync = on"):
            con.execute(f"pragma {setting}")
        if mode != "ro" and con.execute("pragma journal_mode").fetchone()[0] != "delete":
            con.execute("pragma journal_mode = delete")
    except BaseException:
        con.close()
        raise
    return con


def _create(con: sqlite3.Connection) -> None:
    con.execute(f"pragma application_id = {APPLICATION}")
    con.execute(f"pragma user_version = {FORMAT}")
    for sql in (TABLE, *GUARDS.values()):
        con.execute(sql)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # a row edited into nonsense must still be named


def _pragma(con: sqlite3.Connection, name: str) -> int:
    return int(con.execute(f"pragma {name}").fetchone()[0])


def _open_for_reading(path: Path, stack: ExitStack) -> sqlite3.Connection:
    """A connection inside a transaction. Where a writer was killed in the middle, its journal undoes what it had begun, and a reader may
    not apply it: then a connection to a copy, in which SQLite does so, and the file itself is left to the next writer.
    """
    for _ in range(COPY_TRIES):
        try:
            return _begun(stack.enter_context(closing(_connect(path, "ro"))))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in HOT:
                raise
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seam-")))
        if _is_copied_with_journal(path, folder):
            return _begun(stack.enter_context(closing(_connect(folder / "ledger", "rw"))))
    raise LedgerError(
        f"{path}: a write was interrupted and is not undone yet; try again, or let somebody who may write there decide something"
    )


def _begun(con: sqlite3.Connection) -> sqlite3.Connection:
    con.execute("begin")
    con.execute("select count(*) from sqlite_master").fetchone()
    return con


def _is_copied_with_journal(path: Path, folder: Path) -> bool:
    """Whether ledger and journal were copied as they belong together: not, when somebody else mended the file meanwhile. Another process
    copies, because of the locks.
    """
    journal = Path(f"{path}-journal")
    try:
        before = journal.stat()
        for source, copy in ((journal, "ledger-journal"), (path, "ledger")):
            subprocess.run(["cp", source.absolute(), folder / copy], capture_output=True, check=True)  # noqa: S603, S607
        after = journal.stat()
    except (OSError, subprocess.CalledProcessError):
        return False
    return (before.st_ino, before.st_size, before.st_mtime_ns) == (after.st_ino, after.st_size, after.st_mtime_ns)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        known = in_words(path, error)
        if known is None:
            raise
        raise known from None
