"""What there is to see of one heal, as a digest: the heal's record and the outcomes of its own runs, nothing else.

The digest belongs to the record, not to its place: it is the same after other lines were added, the file was packed or its lines shuffled.
It moves when the record was rewritten, or a run that names the heal was added, changed or taken away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from seam_core.errors import UnreadableLogError
from seam_core.judge import whole_number
from seam_core.lines import BOM
from seam_core.records import HEALS
from seam_core.store import Store
from seam_core.words import count

HEAL_ROWS = "select row, heal_id from heals where heal_id in (select unnest($ids::varchar[])) order by row"
RUN_ROWS = "select row, heal_id from runs where heal_id in (select unnest($ids::varchar[])) order by row"

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True)
class Evidence:
    """Digests of one heal's record and of its runs' outcomes."""

    record_sha256: str
    runs_sha256: str
    n_runs: int

    @property
    def sha256(self) -> str:
        """One digest of both: sha256 over the canonical JSON of [record_sha256, runs_sha256]."""
        return _digest([self.record_sha256, self.runs_sha256])


class _Run(msgspec.Struct):
    run_id: str
    suite: str
    phase: str
    results: dict[str, str]


_decode_run = msgspec.json.Decoder(_Run).decode


def evidence(store: Store, heal_ids: Iterable[str]) -> dict[str, Evidence]:
    """heal_id → evidence of each heal that is in the log. A dozen or thousands at once; the lines are read in the order of the file.

    Raises UnreadableLogError when a file was changed since it was loaded.
    """
    ids = [heal_id for heal_id in dict.fromkeys(heal_ids) if _is_unicode(heal_id)]
    records: dict[str, str] = {}
    runs: dict[str, list[str]] = {}
    with store.lock:
        for heal_id, line in _lines(store, "heals", HEAL_ROWS, ids):
            records[heal_id] = _record_digest(line, heal_id)
            if not records[heal_id]:
                raise UnreadableLogError(f"{store.workspace.heals}: was changed while it was being read; read it again")
        for heal_id, line in _lines(store, "runs", RUN_ROWS, list(records)):
            runs.setdefault(heal_id, []).append(_outcomes(line))
    return {heal_id: _evidence(record, runs.get(heal_id, [])) for heal_id, record in records.items()}


def difference(before: Evidence, now: Evidence | None) -> str | None:
    """What changed about a heal since it was looked at, in words; None when nothing did."""
    if now is None:
        return f"its record is no longer in {HEALS.file}"
    said = []
    if now.record_sha256 != before.record_sha256:
        said.append("its record was rewritten")
    if now.runs_sha256 != before.runs_sha256:
        more = now.n_runs - before.n_runs
        if more:
            said.append(
                f"{count(abs(more), 'run')} of its own {'was' if abs(more) == 1 else 'were'} {'added' if more > 0 else 'taken away'}"
            )
        else:
            said.append("the outcomes of its own runs changed")
    return " and ".join(said) or None


def _evidence(record: str, runs: list[str]) -> Evidence:
    return Evidence(record, _digest(sorted(runs)), len(runs))


def _lines(store: Store, table: str, sql: str, ids: list[str]) -> Iterator[tuple[str, bytes]]:
    """(heal_id, line) of the rows of a query that name one of these heals."""
    with store.cursor() as con:
        found = con.execute(sql, {"ids": ids}).fetchall() if ids else []
    lines = store.lines(table, [row for row, _ in found]) if found else iter(())
    for (_, heal_id), line in zip(found, lines, strict=True):
        yield heal_id, line.removeprefix(BOM)


def _record_digest(line: bytes, heal_id: str) -> str:
    """The digest of a heal's line; empty when the line is another heal's."""
    try:
        record = json.loads(line, parse_int=whole_number)
        text = _encode(record)
    except (ValueError, RecursionError):
        return _digest(_as_written(line))
    return sha256(text.encode("ascii")).hexdigest() if isinstance(record, dict) and record.get("heal_id") == heal_id else ""


def _outcomes(line: bytes) -> str:
    """What a run says about its heal, as canonical text."""
    try:
        run = _decode_run(line)
    except (msgspec.DecodeError, RecursionError):
        return _as_written(line)
    return _encode([run.run_id, run.suite, run.phase, run.results])


def _as_written(line: bytes) -> str:
    """A line that DuckDB reads and the standard does not allow, or that is nested thousands deep."""
    return line.decode("utf-8", "backslashreplace").strip()


def _digest(value: Any) -> str:
    return sha256(_encode(value).encode("ascii")).hexdigest()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
