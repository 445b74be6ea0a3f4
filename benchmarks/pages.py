"""The pages: warm script time against a bare Streamlit page that draws the same, bytes sent to the browser, memory per session.

`python -m benchmarks.pages` measures them alone. Everything runs on real servers and is asked for over their websockets, as a browser does
it: a time is from asking for a page until its script has ended and everything has arrived. AppTest would be easier and tell less: it runs
the script alone, without serialising a figure, and does not follow the choices that live in the address.
"""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import duckdb

from benchmarks.client import Session
from pages.parts.menu import PAGES
from seam_core.simulate import write_bulk

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "benchmarks" / "data"
ROUNDS = 7
SIZES = (10_000, 100_000)
ASKED = {10_000: 1.5, 100_000: 2.5}  # script time ÷ that of the bare page, at most
BYTES_ASKED = 1_000_000
MEMORY_ASKED = 50.0  # MB a further session, at most
SESSIONS = 10
WARM_UP = 2


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def memory_mb(self) -> float:
        """Resident memory."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def show(rows: list[tuple[str, str, str]]) -> None:
    """Print rows as a table."""
    width = max(len(row[0]) for row in rows)
    for label, figure, behind in rows:
        print(f"{label:<{width}}  {figure:>16}  {behind}")


def rows(files: Path = FILES, *, rounds: int = ROUNDS) -> list[tuple[str, str, str]]:
    """Rows of (measure, figure, what is behind it) for every page in the menu."""
    found: list[tuple[str, str, str]] = []
    for n_heals in SIZES:
        folder = files / f"{n_heals}x1000"
        if not (folder / "surface.jsonl").exists():
            print(f"making {n_heals:,} × 1 kB …", file=sys.stderr)
            write_bulk(folder, heals=n_heals, record_bytes=1000)
        found += _measure(folder, n_heals, rounds=rounds)
    return found


def _measure(folder: Path, n_heals: int, *, rounds: int) -> list[tuple[str, str, str]]:
    query = _query(folder)
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        ready = Path(scratch) / "ready.pickle"
        _record(folder, query, ready)
        with (
            _serving("-m", "streamlit", "run", "app.py", workspace=folder) as pages,
            _serving("-m", "streamlit", "run", "benchmarks/bare.py", ready=ready) as bare,
        ):
            for entry in PAGES:
                ours, plain = _times(pages, bare, entry.file, entry.title, query, rounds=rounds)
                found.append(
                    (
                        f"{n_heals:,} heals, {entry.title}: script ÷ bare page",
                        f"{ours / plain:.2f}",
                        f"{1000 * ours:.0f} ms ÷ {1000 * plain:.0f} ms; asked: at most {ASKED[n_heals]}",
                    )
                )
            if n_heals == SIZES[-1]:
                found += [_weight(pages, entry.file, entry.title, query) for entry in PAGES]
        if n_heals == SIZES[-1]:
            with _serving("-m", "streamlit", "run", "app.py", workspace=folder) as fresh:
                found.append(_memory(fresh, query))
    return found


def _query(folder: Path) -> str:
    """All of history, and one heal, its loop, its failure and a case, for the pages that show one thing."""
    sql = """
    select heal_id, loop_id, trigger.failure_signature from read_ndjson($path, columns = {
        'heal_id': 'varchar', 'loop_id': 'varchar', 'ts': 'varchar', 'trigger': 'struct(failure_signature varchar)'
    }) order by ts desc, heal_id desc limit 1
    """
    heal, loop, signature = duckdb.execute(sql, {"path": str(folder / "heal_events.jsonl")}).fetchall()[0]
    case = duckdb.execute("select min(id) from read_ndjson($path)", {"path": str(folder / "surface.jsonl")}).fetchall()[0][0]
    return urlencode({"win": "all", "heal": heal, "loop": loop, "signature": signature, "case": case})


def _record(folder: Path, query: str, ready: Path) -> None:
    """Open every page once on a server that notes what they draw."""
    with _serving("-m", "benchmarks.recording", workspace=folder, ready=ready) as server:
        for entry in PAGES:
            with Session(server.port) as session:
                session.open(_address(entry.file), query)
        server.process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + 60
        while not ready.exists():
            if time.monotonic() > until:
                raise RuntimeError("the recording server wrote nothing")
            time.sleep(0.1)


def _times(pages: Server, bare: Server, file: str, title: str, query: str, *, rounds: int) -> tuple[float, float]:
    """Median seconds of a page and of its bare twin, asked for in turn, so that a machine that slows down slows both."""
    ours, plain = [], []
    with Session(pages.port) as one, Session(bare.port) as other:
        for turn in range(WARM_UP + rounds):
            seconds = one.open(_address(file), query).seconds, other.open("", urlencode({"title": title})).seconds
            if turn >= WARM_UP:
                ours.append(seconds[0])
                plain.append(seconds[1])
    return statistics.median(ours), statistics.median(plain)


def _weight(pages: Server, file: str, title: str, query: str) -> tuple[str, str, str]:
    """Bytes that a reader who comes for the first time is sent, Streamlit's own files apart."""
    with Session(pages.port) as session:
        n_bytes = session.open(_address(file), query).n_bytes
    return f"{SIZES[-1]:,} heals, {title}: sent to the browser", f"{n_bytes / 1000:.0f} kB", f"asked: at most {BYTES_ASKED / 1000:.0f} kB"


def _memory(pages: Server, query: str) -> tuple[str, str, str]:
    """What each of nine further sessions takes, all of them open, each having looked at every page."""

    def look_around(session: Session) -> None:
        for entry in PAGES:
            session.open(_address(entry.file), query)

    with ExitStack() as sessions:
        first = sessions.enter_context(Session(pages.port))
        look_around(first)
        look_around(first)  # so that what the first look left behind is used again
        before = pages.memory_mb
        for _ in range(SESSIONS - 1):
            look_around(sessions.enter_context(Session(pages.port)))
        after = pages.memory_mb
    per_session = (after - before) / (SESSIONS - 1)
    behind = f"{before:.0f} MB with one, {after:.0f} MB with {SESSIONS}; asked: at most {MEMORY_ASKED:.0f} MB"
    return f"{SIZES[-1]:,} heals: memory per further session", f"{per_session:.1f} MB", behind


def _address(file: str) -> str:
    return Path(file).stem


@contextmanager
def _serving(*command: str, workspace: Path | None = None, ready: Path | None = None) -> Iterator[Server]:
    """A fresh server, ended at the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environ = {key: value for key, value in os.environ.items() if key != "SEAM_SETTINGS"}
    environ |= {"SEAM_WORKSPACE": str(workspace)} if workspace else {}
    environ |= {"SEAM_READY": str(ready)} if ready else {}
    ends = (
        [str(port), str(ready)] if command[1] == "benchmarks.recording" else ["--server.port", str(port), "--server.address", "127.0.0.1"]
    )
    process = subprocess.Popen(
        [sys.executable, *command, *ends], cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(port, process)
        yield Server(port, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("the server did not start")


if __name__ == "__main__":
    show(rows())
