"""One line of a file exactly as it was written, what was made of it, and the keys in it that SEAM does not know."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from seam_core.columns import columns_of
from seam_core.errors import SeamError
from seam_core.lines import BOM, LogFile
from seam_core.logstate import LogState
from seam_core.records import LOGS, Log
from seam_core.report import Audit
from seam_core.words import count, cut

CHUNK = 2**20
SHOWN = 20_000  # characters of a line


class NoSuchLineError(SeamError):
    """An address names a file or a line that is not there."""


@dataclass(frozen=True)
class Line:
    """One physical line."""

    file: str
    number: int
    text: str  # as written, bytes that are no UTF-8 as \\xNN, cut when very long
    n_bytes: int
    pretty: str  # the same indented, when it is JSON; else ""
    became: str  # what was made of it, in a sentence
    unknown_keys: tuple[str, ...]
    earlier: int | None = None  # the line that already has this identity


def open_line(audit: Audit, file: str, number: int) -> Line:
    """One line of a log by the file's name and its number, from 1.  Raises NoSuchLineError."""
    store = audit.scope.store
    state = next((one for one in store.states.values() if one.file and one.file.path.name == file), None)
    if state is None or state.file is None:
        raise NoSuchLineError(f"There is no log {cut(file)} in this workspace.")
    start = _start_of(state.file, number)
    if start is None:
        n_lines = state.file.line_number(state.file.n_bytes)
        raise NoSuchLineError(f"{file} has no line {number:,}; it has {count(n_lines, 'line')}.")
    data = state.file.line_at(start)
    value = _parsed(data)
    became, earlier = _became(audit, state, number, start, value)
    return Line(
        file, number, _shown(data), len(data), _pretty(value), became, tuple(_unknown(state.log, value)), earlier
    )  # fmt: skip


def _start_of(file: LogFile, number: int) -> int | None:
    """Offset of a physical line; None when the file is shorter."""
    left, at = number - 1, 0
    while at < file.n_bytes:
        data = file.read(at, min(CHUNK, file.n_bytes - at))
        n_newlines = data.count(b"\n")
        if n_newlines >= left:
            place = 0
            for _ in range(left):
                place = data.find(b"\n", place) + 1
            return at + place if at + place < file.n_bytes else None
        left -= n_newlines
        at += len(data)
    return None


def _became(audit: Audit, state: LogState, number: int, start: int, value: Any) -> tuple[str, int | None]:
    assert state.file is not None, "a line has a file"
    reject = next((one for one in state.rejects if one.line == number), None)
    if reject and reject.reason.startswith("rewritten:"):
        return f"not taken: {reject.reason}", int(reject.reason.split()[2])
    if reject:
        where = f"{reject.path} " if reject.path else ""
        return f"rejected: {where}{reject.reason}", None
    if start >= state.consumed and state.pending:
        return "pending: it is only half written", None
    if not state.file.line_at(start).removeprefix(BOM).strip():
        return "blank: nothing to read", None
    key = state.log.key
    if key is None or not isinstance(value, dict) or not isinstance(value.get(key), str):
        return "read", None
    rows = audit.scope.query(f"select row from {state.log.table} where {key} = $name", name=value[key])
    if not rows:
        return "read", None
    kept = audit.scope.store.line_number(state.log.table, rows[0][0])
    return ("kept", None) if kept == number else (f"repeated: equal to line {kept:,}", kept)


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.removeprefix(BOM))
    except (ValueError, RecursionError):
        return None


def _pretty(value: Any) -> str:
    if value is None:
        return ""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except RecursionError:
        return ""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _shown(data: bytes) -> str:
    text = data[: 4 * SHOWN].decode("utf-8", "backslashreplace")
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _unknown(log: Log, value: Any) -> list[str]:
    """Keys that SEAM has no use for; they stay in the file, and are nobody's fault."""
    if not isinstance(value, dict):
        return []
    columns = columns_of(log)
    inner: dict[str, set[str]] = {}
    for column in columns:
        names = column.path[1:] if len(column.path) > 1 else column.inner
        if names:
            inner.setdefault(column.path[0], set()).update(names)
    found = set(value) - {column.path[0] for column in columns}
    for key, known in inner.items():
        held = value.get(key)
        found |= {f"{key}.{name}" for name in held if name not in known} if isinstance(held, dict) else set()
    return sorted(found)


def log_names(audit: Audit) -> tuple[str, ...]:
    """Names of the logs of which a line can be opened."""
    states = audit.scope.store.states
    return tuple(file.path.name for log in LOGS if (file := states[log.table].file))
