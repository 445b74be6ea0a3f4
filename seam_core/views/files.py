"""Each file of a workspace: was it there, was every line of it read, how, and what would a missing one add."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from seam_core.columns import columns_of
from seam_core.files import is_readable, is_there
from seam_core.inputs import ADDS, FEEDS
from seam_core.lines import LogFile
from seam_core.logstate import LogState
from seam_core.offsets import LazyOffsets
from seam_core.records import CERTIFIED_FILE, HEALS, LOGS
from seam_core.rejected import Reject
from seam_core.report import Audit
from seam_core.store import Store
from seam_core.words import count

PACKED = (".gz", ".zst")
DIGEST_MAX = 32 * 2**20  # a longer file is digested only when somebody asks
REJECTS_SHOWN = 1_000
CHUNK = 2**20
TIME_ASSUMED = (b'"ts_assumed": true', b'"ts_assumed":true')
TIMED = ("heals", "failures", "runs")


@dataclass(frozen=True)
class FileState:
    """One file and what became of its lines. Counts are lines; the kinds of lines add up to `lines`."""

    name: str
    path: str
    n_bytes: int
    lines: int
    kept: int
    repeated: int
    rewritten: int
    rejected: int
    pending: int
    blank: int
    assumed_utc: int | None  # None: its records carry no time
    first: datetime | None
    last: datetime | None
    changed_at: datetime | None
    how: str
    sha256: str | None  # of the bytes used; None for a long file that nobody asked about
    notes: tuple[str, ...] = ()
    assumed_time: int | None = None  # records that say so of their time; None for a long file, which is not searched


@dataclass(frozen=True)
class Missing:
    """A file that is not there, and what it would add."""

    name: str
    adds: str


@dataclass(frozen=True)
class Key:
    """One optional key of the heal log: how many heals of the window carry it, and what it feeds."""

    name: str
    n: int
    of: int
    feeds: str


@dataclass(frozen=True)
class Rejected:
    """Lines that were not taken: how many there are and were found, the first of those, and the reasons, most often first."""

    n: int
    n_found: int
    shown: tuple[Reject, ...]
    reasons: tuple[tuple[str, int], ...]
    files: tuple[str, ...]


def files(audit: Audit) -> tuple[FileState, ...]:
    """Every file that is there, in the order of the reference."""
    store = audit.scope.store
    with store.lock:
        logs = [_log(store, state) for state in store.states.values() if state.file or state.error]
        rest = [
            found for path in (store.workspace.fixtures / CERTIFIED_FILE, store.workspace.settings_file) if (found := _plain(store, path))
        ]
    return (*logs, *rest)


def missing(audit: Audit) -> tuple[Missing, ...]:
    """The files that are not there."""
    store = audit.scope.store
    absent = [log.file for log in LOGS if not store.states[log.table].file and not store.states[log.table].error]
    if not is_there(store.workspace.fixtures / CERTIFIED_FILE):
        absent.insert(-1, CERTIFIED_FILE)
    return tuple(Missing(name, ADDS[name]) for name in absent if name in ADDS)


def keys(audit: Audit) -> tuple[Key, ...]:
    """How often each optional key stands in the heals of the window, seldom ones first."""
    columns = {column.name: column for column in columns_of(HEALS) if column.name in FEEDS}
    counted = [f"count(*) filter (has_{name})" if column.keep == "presence" else f"count({name})" for name, column in columns.items()]
    n, *found = audit.scope.one(f"select count(*), {', '.join(counted)} from window_heals")
    rows = [Key(".".join(columns[name].path), times, n, FEEDS[name]) for name, times in zip(columns, found, strict=True)]
    return tuple(sorted(rows, key=lambda key: (key.n, key.name)))


def rejected(audit: Audit, text: str = "", file: str = "") -> Rejected:
    """Lines that were not taken, those whose reason, path or line number holds a text, by file and line."""
    every = audit.scope.store.rejects()
    found = [reject for reject in every if _matches(reject, text.casefold(), file)]
    reasons = Counter(_kind(reject) for reject in every)
    names = tuple(dict.fromkeys(reject.file for reject in every))
    return Rejected(len(every), len(found), tuple(found[:REJECTS_SHOWN]), tuple(reasons.most_common()), names)


def found_rejects(audit: Audit, text: str = "", file: str = "") -> list[Reject]:
    """All of the lines that `rejected` counts as found."""
    return [reject for reject in audit.scope.store.rejects() if _matches(reject, text.casefold(), file)]


def _matches(reject: Reject, text: str, file: str) -> bool:
    if file and reject.file != file:
        return False
    return not text or text in f"{reject.path} {reject.reason}".casefold() or text == str(reject.line)


def _kind(reject: Reject) -> str:
    """A reason without what differs from line to line."""
    if reject.reason.startswith("rewritten:"):
        return "rewritten: an earlier line already has this id"
    reason = reject.reason.split(", found ")[0].split(" at character ")[0].split(": byte ")[0]
    path = "" if reject.path.startswith("results.") else reject.path
    return " ".join(part for part in (path, reason) if part)[:120]


def sha256_of(audit: Audit, name: str) -> str | None:
    """The sha256 of the bytes of one log that were read, unpacked, however many; None when there is no such log."""
    file = next((state.file for state in audit.scope.store.states.values() if state.file and state.file.path.name == name), None)
    return _digest(file) if file else None


def how_read(state: LogState) -> str:
    """How a log was read, in words."""
    if state.file is None:
        return "not read"
    whole = bool(state.parts) and isinstance(state.parts[0].offsets, LazyOffsets)
    how = "as a whole by DuckDB" if whole else "in blocks of whole lines"
    how += ", later lines in blocks" if whole and len(state.parts) > 1 else ""
    return f"unpacked, then {how}" if state.file.path.suffix in PACKED else how


def _log(store: Store, state: LogState) -> FileState:
    file = state.file
    if file is None:
        folder = store.workspace.fixtures if state.log.fixture else store.workspace.folder
        path = str(folder / state.log.file)
        return FileState(state.log.file, path, 0, 0, 0, 0, 0, 0, 0, 0, None, None, None, None, "not read", None, (state.error,))
    timed = state.log.table in TIMED
    times = "min(ts), max(ts), count(*) filter (assumed_utc)" if timed else "null, null, null"
    kept, first, last, assumed = store.cursor().execute(f"select count(*), {times} from {state.log.table}").fetchall()[0]
    lines = _n_lines(file)
    rejects = len(state.rejects) - state.rewritten
    blank = lines - kept - state.repeated - len(state.rejects) - state.pending
    return FileState(
        file.path.name, str(file.path), file.n_bytes, lines, kept, state.repeated, state.rewritten, rejects, int(state.pending), blank,
        assumed, _utc(first), _utc(last), _moment(file.packed_stat[1]), how_read(state),
        _digest(file) if file.n_bytes <= DIGEST_MAX else None, tuple(file.notes), _n_assumed(file),
    )  # fmt: skip


def _n_assumed(file: LogFile) -> int | None:
    """How often an importer marked a record's time as its own invention; the key is not part of the format."""
    if file.n_bytes > DIGEST_MAX:
        return None
    data = file.read(0, file.n_bytes)
    return sum(data.count(mark) for mark in TIME_ASSUMED)


def _n_lines(file: LogFile) -> int:
    """Physical lines, a last one without a newline included."""
    has_tail = bool(file.n_bytes) and file.read(file.n_bytes - 1, 1) != b"\n"
    return file.line_number(file.n_bytes) - 1 + has_tail


def _plain(store: Store, path: Path) -> FileState | None:
    if not is_readable(path):
        return None
    found = path.stat()
    n_cases = len(store.certified.outcomes or ()) if path.name == CERTIFIED_FILE else 0
    n_rejects = len(store.certified.rejects) if path.name == CERTIFIED_FILE else 0
    how = f"as one object of {count(n_cases, 'case')}" if path.name == CERTIFIED_FILE else "as settings"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    moment = _moment(found.st_mtime_ns)
    return FileState(path.name, str(path), found.st_size, 0, n_cases, 0, 0, n_rejects, 0, 0, None, None, None, moment, how, digest)


def _digest(file: LogFile) -> str:
    digest = hashlib.sha256()
    for at in range(0, file.n_bytes, CHUNK):
        digest.update(file.read(at, min(CHUNK, file.n_bytes - at)))
    return digest.hexdigest()


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


def _moment(ns: int) -> datetime:
    return datetime.fromtimestamp(ns / 1e9, UTC)
