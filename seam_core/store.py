"""The lens: a workspace's logs as DuckDB tables, with every bad line listed, refreshed by reading appended bytes only.

Files are the record; nothing here is needed to rebuild an answer. Each log becomes a table of rows in file order
(``heals_rows``, ``runs_rows`` …) whose ``rowid`` stands for the line, and a view (``heals``, ``runs`` …) of the rows that were
kept, with that number as ``row``. Texts stay in the file and are read by offset.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from seam_core import duplicates
from seam_core.baseline.copies import copy_state
from seam_core.baseline.versions import Version, Versions, read_versions
from seam_core.certified import Certified, read_certified
from seam_core.errors import UnreadableLogError
from seam_core.files import open_log, stat_log
from seam_core.judge import latest_time
from seam_core.ledger import Ledger, LedgerError
from seam_core.lines import LogFile
from seam_core.loading import Loader
from seam_core.logstate import LogState
from seam_core.records import CERTIFIED_FILE, HEALS, LOGS, Log
from seam_core.rejected import Reject
from seam_core.texts import Edit, read_edits
from seam_core.words import count
from seam_core.workspace import Workspace

READERS = 2  # logs read at once; each reader is DuckDB's, which uses every core for a large file
LAX_EDIT = """
select json_extract_string($line::json, '$.change.before_hash'), json_extract_string($line::json, '$.change.after_text')
from heals where row = $row and heal_id = json_extract_string($line::json, '$.heal_id')
"""


@dataclass(frozen=True)
class Refresh:
    """What a refresh found: rows added per table, sentences on the files, and whether a report may be different now."""

    added: dict[str, int]
    notes: tuple[str, ...]
    changed: bool


class Store:
    """One workspace in an in-memory DuckDB. Queries go through `cursor()`; `lock` is held while a report is computed,
    so that a refresh never moves the ground under it.
    """

    def __init__(
        self, workspace: Workspace, *, now: datetime, tell: Callable[[str], None] | None = None, ledger: Path | None = None
    ) -> None:
        self.workspace = workspace
        self.ledger = Ledger(ledger) if ledger else None  # where baselines are read from, once it holds one
        self.versions = Versions()
        self.version = 0
        self.lock = threading.RLock()
        self.states = {log.table: LogState(log) for log in LOGS}
        self.certified = Certified()
        self.drift_of: tuple[int, LogFile | None] = 0, None  # which version's drift stands in the schema of that name, and of which file
        self._shape: list[tuple[Any, ...]] = []
        self._now = now
        self._tell = tell or (lambda sentence: None)
        self._con = duckdb.connect()
        self._con.execute("set enable_progress_bar = false")  # it would print to standard output
        self._viewed: set[str] = set()
        self._fill_certified()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same data, with its own temporary tables."""
        con = self._con.cursor()
        con.execute("set TimeZone = 'UTC'")  # a cursor does not inherit it
        return con

    def close(self) -> None:
        """Give memory and files back."""
        self._con.close()
        for state in self.states.values():
            if state.file:
                state.file.close()

    def refresh(self, *, now: datetime | None = None) -> Refresh:
        """Read what was appended since the last call; a replaced, shrunk or edited file is read anew and noted.

        Raises UnreadableLogError when the heal log itself cannot be read; another log's fault is kept in its state.
        """
        with self.lock:
            self._now = now or self._now
            others = [log for log in LOGS if log != HEALS]
            with ThreadPoolExecutor(max_workers=READERS) as pool:
                found = list(pool.map(self._refresh_log, others))
            # last and alone: it takes every core, and more memory than all others
            found = [self._refresh_log(HEALS), *found]
            added = {log.table: n_rows for log, (n_rows, _) in zip([HEALS, *others], found, strict=True)}
            notes = [note for _, some in found for note in some]
            baseline = read_certified(self.workspace.fixtures / CERTIFIED_FILE, known=self.certified)
            if baseline != self.certified:
                notes += [f"{CERTIFIED_FILE} changed"] if self.version else []
                self.certified = baseline
                self._fill_certified()
            versions = self._read_versions()
            if (versions.head, versions.fault) != (self.versions.head, self.versions.fault):
                notes += ["the certified baseline changed"] if self.version else []
                self.versions = versions
                self._fill_certified()
            shape = [state.shape for state in self.states.values()]
            result = Refresh(added, tuple(notes), bool(notes) or shape != self._shape)
            self._shape = shape
            self.version += result.changed or not self.version
            return result

    def has(self, table: str) -> bool:
        """Whether the workspace has that log. An empty file is a log; one of which no line can be used is none."""
        return self.states[table].file is not None and not self._is_useless(table)

    def _is_useless(self, table: str) -> bool:
        state = self.states[table]
        if not state.rejects:
            return False
        row = self.cursor().execute(f"select count(*) from {table}").fetchone()
        return row is None or not row[0]

    def rejects(self) -> list[Reject]:
        """Every line that was not kept for a fault of its own, by file and line."""
        found = [reject for state in self.states.values() for reject in state.rejects] + list(self.certified.rejects)
        return sorted(found, key=lambda reject: (reject.file, reject.line, reject.path))

    def counts(self) -> dict[str, int]:
        """Lines rejected, rewritten, repeated, pending, and times read as UTC for want of an offset; over whole files."""
        states = self.states.values()
        rewritten = sum(state.rewritten for state in states)
        timed = " union all ".join(f"select assumed_utc from {table}" for table in ("heals", "failures", "runs"))
        row = self.cursor().execute(f"select count(*) filter (assumed_utc) from ({timed})").fetchone()
        return {
            "rejected": sum(len(state.rejects) for state in states) - rewritten + len(self.certified.rejects),
            "rewritten": rewritten,
            "repeated": sum(state.repeated for state in states),
            "pending": sum(state.pending for state in states),
            "assumed_utc": int(row[0]) if row else 0,
        }

    def notes(self) -> list[str]:
        """What a reader must know of the files: those that could not be read, damaged archives."""
        found = [state.error for state in self.states.values() if state.error]
        for table, state in self.states.items():
            if state.file and table != HEALS.table and self._is_useless(table):
                fault = min(f"{reject.path} {reject.reason}".strip() for reject in state.rejects)
                lines = f"none of its {count(len(state.rejects), 'line')} can be used (for one, {fault})"
                found.append(f"{state.file.path.name} counts as missing: {lines}")
        return found + [note for state in self.states.values() if state.file for note in state.file.notes]

    @property
    def baselines(self) -> tuple[Version, ...]:
        """Every version of the baseline: those of the ledger, or else certified.json as version 1."""
        if self.versions or self.certified.outcomes is None:
            return self.versions.all
        return (Version(1, self.certified.outcomes),)

    def baseline_notes(self) -> list[str]:
        """What a reader must know of certified.json and the ledger, once that holds a certification."""
        state = copy_state(self.versions, self.certified)
        return [sentence for sentence in (state.sentence, self.versions.fault) if sentence]

    def digest(self) -> str:
        """sha256 over what was read, the same for any order of lines. It notices change; it does not prove its absence."""
        con = self.cursor()
        parts = []
        for log in LOGS:
            found = con.execute(f"select count(*), sum(digest) from {log.table}_rows where kept").fetchall()[0]
            parts.append(f"{log.table}:{found}")
        decided = [self.versions.head] if self.versions.head else []
        return hashlib.sha256("\n".join([*parts, self.certified.digest, *decided]).encode()).hexdigest()

    def lines(self, table: str, rows: Iterable[int]) -> Iterator[bytes]:
        """Each row's line as it was written, in the order asked for."""
        return self.states[table].lines_of(list(rows))

    def line_number(self, table: str, row: int) -> int:
        """Physical line number of a row, from 1."""
        return self.states[table].line_of(row)

    def edits(self, rows: Iterable[int]) -> Iterator[Edit]:
        """What each heal's line says of its change, in the order of the rows.

        Raises UnreadableLogError when the file was changed since it was loaded.
        """
        return read_edits(self.states[HEALS.table], rows, self._lax_edit)

    def _lax_edit(self, row: int, line: bytes) -> Edit:
        """The edit of a line that DuckDB reads and others do not: with a comma too many, or nested thousands deep."""
        con = self.cursor()
        try:
            found = con.execute(LAX_EDIT, {"line": line.decode("utf-8-sig"), "row": row}).fetchall()
        except (duckdb.Error, UnicodeDecodeError):
            found = []
        if not found:
            raise UnreadableLogError(f"{self.workspace.heals}: was changed while it was being read; read it again")
        return Edit(*found[0])

    def _refresh_log(self, log: Log) -> tuple[int, list[str]]:
        """Rows added to a log, and what was noticed about its file."""
        before = self.states[log.table]
        rows_before, file_before = before.n_rows, before.file
        notes = self._read_log(log)
        self._complete(log)
        state = self.states[log.table]
        return state.n_rows - (rows_before if state.file is file_before else 0), notes

    def _read_log(self, log: Log) -> list[str]:
        state = self.states[log.table]
        notes: list[str] = []
        try:
            path = self.workspace.file_of(log)
            if path is None:
                gone = state.file is not None
                self._forget(log)
                return [f"{log.file} is gone"] if gone else []
            found = stat_log(path)
            if state.file and not self._needs_reload(state, state.file, path, found):
                if (found.st_size, found.st_mtime_ns) == state.file.packed_stat:
                    return []
                state.file.packed_stat, state.file.n_bytes = (found.st_size, found.st_mtime_ns), found.st_size
            else:
                notes += [f"{path.name} was replaced, shortened or edited; it was read anew"] if state.file else []
                self._forget(log)
                state = self.states[log.table]
                state.file = open_log(path)
            self._load(state)
        except UnreadableLogError as error:
            if log == HEALS:
                raise
            changed = state.error != str(error)
            self._forget(log)
            self.states[log.table].error = str(error)
            notes += [str(error)] if changed else []
        return notes

    def _needs_reload(self, state: LogState, file: LogFile, path: Path, found: Any) -> bool:
        """Whether the file named is another one than was read, or lost or changed what was read."""
        if path != file.path or (found.st_dev, found.st_ino) != file.identity:
            return True
        if (found.st_size, found.st_mtime_ns) == file.packed_stat:
            return False
        grown = found.st_size > file.packed_stat[0] and path.suffix not in (".gz", ".zst")
        return not grown or file.fingerprint(state.consumed) != state.fingerprint

    def _load(self, state: LogState) -> None:
        assert state.file is not None
        con = self.cursor()
        try:
            state.reopen_tail(con)
            loader = self._loader(con, state.log)
            for append in (loader.append_lines, loader.append_tail):  # apart, since what is said of the tail may be taken back
                first_row = state.n_rows
                append(state)
                if state.n_rows > first_row:
                    duplicates.settle(con, state, first_row=first_row)
        except BaseException:
            self._forget(state.log)  # half a load is none: the next refresh reads the file anew
            raise
        finally:
            con.close()
        state.fingerprint = state.file.fingerprint(state.consumed)

    def _forget(self, log: Log) -> None:
        state = self.states[log.table]
        if state.file:
            state.file.close()
        if state.n_rows:
            with self.cursor() as con:
                self._loader(con, log).create(log)
        self.states[log.table] = LogState(log)

    def _complete(self, log: Log) -> None:
        """After its first reading, a log has its table, however empty, and the view of the rows kept."""
        if log.table in self._viewed:
            return
        with self.cursor() as con:
            if not self.states[log.table].n_rows:
                self._loader(con, log).create(log)
            con.execute(f"create view {log.table} as select rowid as row, * exclude (kept, digest) from {log.table}_rows where kept")
        self._viewed.add(log.table)

    def _loader(self, con: duckdb.DuckDBPyConnection, log: Log) -> Loader:
        return Loader(self._con, con, f"stage_{log.table}", latest_time(self._now), self._tell)

    def _read_versions(self) -> Versions:
        """The versions in the ledger; those known before when it cannot be read now, which the report says under ``ledger``. Where none are
        known, no baseline is: else whoever spoils the ledger could edit certified.json and have it used.
        """
        try:
            return read_versions(self.ledger, known=self.versions) if self.ledger else self.versions
        except LedgerError as error:
            return self.versions or Versions(fault=f"the ledger of decisions cannot be read: {error}")

    def _fill_certified(self) -> None:
        """Make ``certified`` (the newest baseline), ``baselines`` (case by case, every version) and ``baseline_versions`` (their runs)."""
        run = self._con.execute
        run("create or replace table baselines (version integer, case_id varchar, passed boolean)")
        run("create or replace table baseline_versions (version integer, run_ts timestamptz, run_id varchar)")
        run("create or replace table certified (case_id varchar, passed boolean)")
        for one in self.baselines:
            pairs = list(one.outcomes.items())
            columns = {"version": one.number, "cases": [case for case, _ in pairs], "passed": [passed for _, passed in pairs]}
            run("insert into baselines select $version, unnest($cases::varchar[]), unnest($passed::boolean[])", columns)
            binds = {"version": one.number, "run_ts": one.run_ts, "run_id": one.run_id}
            run("insert into baseline_versions values ($version, $run_ts::timestamptz, $run_id)", binds)
        run("insert into certified select case_id, passed from baselines where version = (select max(version) from baselines)")
