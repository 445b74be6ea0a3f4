"""Ledgers for tests: a clock that ticks, people, and a way to open the file as somebody would who means to change it."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from json import dumps
from pathlib import Path

from seam_core.ledger import Ledger, Local, SignedIn, file
from seam_core.ledger.kinds import Assignment

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ANA, BEN = Local("ana"), SignedIn("https://login.example", "u-17", "Ben")


class Clock:
    """A clock that ticks by a second whenever it is read, or stands where it was put."""

    def __init__(self):
        self.now = NOON - timedelta(seconds=1)
        self.stands = False

    def __call__(self):
        if not self.stands:
            self.now += timedelta(seconds=1)
        return self.now

    def put(self, moment):
        self.now, self.stands = moment, True


def new_ledger(folder):
    """A ledger without a file yet, dated from NOON on."""
    return Ledger(folder / "decisions.sqlite", clock=Clock())


def handed(number, **changes):
    """A decision that is easy to make many of."""
    return Assignment(**{"heal_id": f"h{number}", "to": "payments", "note": ""} | changes)


def filled(folder, n=5):
    """A ledger of `n` rows, as a later process would find it."""
    ledger = new_ledger(folder)
    for number in range(1, n + 1):
        ledger.write(handed(number), actor=ANA)
    return Ledger(ledger.path)


@contextlib.contextmanager
def opened_by_force(path, *, again=True):
    """The file with its triggers taken away; put back at the end as they were, so that nothing else shows."""
    with contextlib.closing(sqlite3.connect(path)) as con:
        for name in file.GUARDS:
            con.execute(f"drop trigger {name}")
        yield con
        for sql in file.GUARDS.values() if again else ():
            con.execute(sql)
        con.commit()


def forge(con, seq, **changes):
    """Change a row and give it the sha256 that fits."""
    names = ("seq", "ts", "actor", "kind", "body", "prev_sha256")
    row = dict(zip(names, con.execute(f"select {', '.join(names)} from decisions where seq = ?", (seq,)).fetchone(), strict=True)) | changes
    digest = sha256(dumps(list(row.values()), separators=(",", ":")).encode()).hexdigest()
    settings = ", ".join(f"{name} = ?" for name in (*names, "sha256"))
    con.execute(f"update decisions set {settings} where seq = ?", (*row.values(), digest, seq))
    return digest


def files_in(folder):
    """Name → (bytes, mtime) of what lies in a folder."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(folder).iterdir() if path.is_file()}


def in_child(code, *arguments):
    """Run Python code in a process of its own."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False)


# For code that runs in a child: from here on as a user who may not do everything.
AS_NOBODY = """
import os
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
"""


def started(code, *arguments):
    """The same, without waiting for its end."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def open_to_all(folder):
    """Let another user reach a test's folder."""
    for place in (folder, *folder.parents):
        if place == Path(folder.anchor) or place.stat().st_uid != os.getuid() or place == Path("/tmp"):
            break
        place.chmod(0o755)
