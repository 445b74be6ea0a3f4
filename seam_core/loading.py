"""From the bytes of one log to rows of one table: a fast load, and a second look at the lines that it did not accept.

A clean file of some size is read by DuckDB directly. Anything else, and whatever was appended, goes through in blocks of
whole lines; a block that DuckDB refuses is filtered line by line and loaded again, so one bad line costs one block.
Rows are loaded outside of any transaction, since DuckDB numbers uncommitted rows differently.
Each row keeps its place: row n of a table is the n-th line that DuckDB was given, and `Part` says where that line starts.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from seam_core.columns import in_doubt, out_of_range, reader, selection, values
from seam_core.files import stat_log
from seam_core.judge import EARLIEST, is_odd, judge
from seam_core.lines import BOM, EDGE_BYTES, LINE_MAX, Block, LogFile, TooLong, pieces, starts
from seam_core.logstate import LogState, Part
from seam_core.offsets import LazyOffsets
from seam_core.records import Log

DIRECT_MIN = 16 * 2**20  # from this size DuckDB reads the file itself
OBJECT_MIN = 2**20  # how long a line DuckDB is first told to expect: its buffers grow with it

STAGE = """
create or replace table {stage} as
with rows as (
    select {values}
    from read_ndjson($path, columns = {reader}, maximum_object_size = $object_max)
)
select {selection} from rows
"""

BAD_LINES = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.IOException)  # a bug in our SQL is none of these

# Runs in which a case stands twice. Many runs hold the same cases, so one run of each kind is taken apart.
CASES_TWICE = """
with kinds as (select min(rowid) as place from {stage} where kept group by results_keys),
twice as (
    select results_keys from {stage} run join kinds on run.rowid = kinds.place
    where run.n_results > list_unique(json_keys(run.results))
)
select rowid from {stage} where kept and results_keys in (select results_keys from twice)
"""
NEEDED_ONCE = {"runs": ("results", "results_keys")}  # columns that are only checked

# The results of surface runs that hold most cases stay at hand, as far as there is room: drift asks for every one of them.
MOST_CASES = "select max(n_results) from {stage} where kept and suite = 'surface'"
FULLEST = """
insert into fullest_runs
select $first_row + rowid, results
from {stage}
where kept and suite = 'surface' and n_results = $most
qualify sum(strlen(results)) over (order by rowid desc) <= $n_bytes - (select coalesce(sum(strlen(results)), 0) from fullest_runs)
"""
FULLEST_BYTES = 8_000_000

Piece = tuple[int, bytes]  # offset, the line


@dataclass(frozen=True)
class Loader:
    """What a load needs besides the log: connections, the newest time believed, and whom to tell."""

    root: duckdb.DuckDBPyConnection  # outlives the load
    con: duckdb.DuckDBPyConnection
    stage: str  # name of the table that a file is read into first
    latest: datetime
    tell: Callable[[str], None]

    def create(self, log: Log) -> None:
        """Make the log's table of rows, empty."""
        if log.table == "runs":
            self._create_fullest()
        self._stage_bytes(log, b"")
        self._drop_checked(log)
        self.con.execute(f"drop table if exists {log.table}_rows")
        self.con.execute(f"alter table {self.stage} rename to {log.table}_rows")

    def append_lines(self, state: LogState) -> None:
        """Load every whole line from `state.consumed` on."""
        file = state.file
        assert file is not None
        stop = file.tail_start(state.consumed)
        if not (state.n_rows == 0 and stop == file.n_bytes and stop >= DIRECT_MIN and self._append_file(state, file)):
            for block in file.blocks(state.consumed, stop):
                self._append_block(state, block)
                self.tell(f"{file.path.name}: {min(1.0, block.start / max(stop, 1)):.0%} read")
        state.consumed = stop

    def _append_file(self, state: LogState, file: LogFile) -> bool:
        """Load a whole file as DuckDB reads it; False, with nothing loaded, when it will not or may not, or the file changed meanwhile."""
        if not file.is_read_by_name or self._starts_oddly(state.log, file):
            return False
        self.tell(f"reading {file.path.name} ({file.n_bytes / 1e6:,.0f} MB)")
        try:
            exact = self._starts_in_doubt(state.log, file)
            n_rows = self._stage(state.log, file.path, OBJECT_MIN, exact=exact)
        except BAD_LINES:
            return False
        found = stat_log(file.path)
        if (found.st_dev, found.st_ino, found.st_size) != (*file.identity, file.n_bytes):
            return False
        if self._refused(state.log) or self._doubtful(state.log, exact=exact):
            part = self._place_lines(file)
            if len(part.offsets) != n_rows:
                return False
        else:
            part = Part(0, LazyOffsets(file, file.n_bytes, n_rows, self._identity_check(state)))
        self._move(state, part, exact=exact)
        return True

    def _starts_oddly(self, log: Log, file: LogFile) -> bool:
        """Whether a line near the start is what DuckDB takes for JSON and the standard does not; one writer writes all lines alike."""
        lines = file.read(0, EDGE_BYTES).removeprefix(BOM).split(b"\n")[:-1]
        return any(is_odd(line) and not _is_record(log, line) for line in lines)

    def _starts_in_doubt(self, log: Log, file: LogFile) -> bool:
        """Whether texts near the start look like numbers, so that very many lines would have to be looked at again."""
        head = file.read(0, EDGE_BYTES)
        self._stage_bytes(log, head[: head.rfind(b"\n") + 1], exact=False)
        return bool(self._doubtful(log, exact=False))

    def _place_lines(self, file: LogFile) -> Part:
        offsets = array("q")
        for block in file.blocks(0, file.n_bytes):
            if isinstance(block, Block):
                offsets.extend(starts(block))
        return Part(0, offsets)

    def _identity_check(self, state: LogState) -> Callable[[int, bytes], bool]:
        """Whether a line is the one that became a row, told by its identity."""
        key = state.log.key or "failure_signature"
        decode = msgspec.json.Decoder(state.log.record).decode
        con = self.root.cursor()  # lives as long as the offsets do

        def is_right(row: int, line: bytes) -> bool:
            found = con.execute(f"select {key} from {state.rows_table} where rowid = $row", {"row": row}).fetchall()
            try:
                return bool(found) and getattr(decode(line.removeprefix(BOM)), key) == found[0][0]
            except msgspec.DecodeError:
                return False

        return is_right

    def _append_block(self, state: LogState, block: Block | TooLong) -> None:
        if isinstance(block, TooLong):
            state.reject(block.start, "", f"longer than {LINE_MAX >> 20} MB ({block.n_bytes / 1e6:,.0f} MB)")
            return
        found = list(pieces(block))
        if is_odd(block.data):
            found = [piece for piece in found if not (is_odd(piece[1]) and self._shapeless(state, piece))]
        self._append_pieces(state, found)

    def _append_pieces(self, state: LogState, pieces: list[Piece]) -> None:
        """Load lines, filtering in ever greater doubt: all, those of the right shape, those without any fault, one half at a time."""
        for doubt in (None, self._shapeless, self._faulty):
            if doubt is not None:
                pieces = [piece for piece in pieces if not doubt(state, piece)]
            if not pieces or self._try_pieces(state, pieces):
                return
        if len(pieces) == 1:
            state.reject(pieces[0][0], "", "not JSON that can be read")
            return
        middle = len(pieces) // 2
        self._append_pieces(state, pieces[:middle])
        self._append_pieces(state, pieces[middle:])

    def _try_pieces(self, state: LogState, pieces: list[Piece]) -> bool:
        object_max = max(OBJECT_MIN, max(len(line) for _, line in pieces) + 1024)
        try:
            n_rows = self._stage_bytes(state.log, b"".join(line.removeprefix(BOM) + b"\n" for _, line in pieces), object_max)
        except BAD_LINES:
            return False
        if n_rows != len(pieces):
            return False
        self._move(state, Part(state.n_rows, array("q", (offset for offset, _ in pieces))))
        return True

    def _shapeless(self, state: LogState, piece: Piece) -> bool:
        return not _is_record(state.log, piece[1]) and self._faulty(state, piece)

    def _faulty(self, state: LogState, piece: Piece) -> bool:
        fault = judge(piece[1], state.log, latest=self.latest)
        if fault:
            state.reject(piece[0], *fault)
        return fault is not None

    def append_tail(self, state: LogState) -> None:
        """A last line without a newline counts if it is a whole record, else it is pending."""
        file = state.file
        assert file is not None
        data = file.read(state.consumed, min(file.n_bytes - state.consumed, LINE_MAX))
        state.pending, state.open_rows = False, 0
        state.without_tail = len(state.rejects), state.repeated, state.rewritten
        if not data.removeprefix(BOM).strip():
            return
        try:
            msgspec.json.decode(data.removeprefix(BOM))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            state.pending = True
            return
        n_rows = state.n_rows
        self._append_pieces(state, [(state.consumed, data)])
        state.open_rows = state.n_rows - n_rows

    def _stage_bytes(self, log: Log, data: bytes, object_max: int = OBJECT_MIN, *, exact: bool = True) -> int:
        with tempfile.NamedTemporaryFile(prefix="seam-", suffix=".jsonl") as file:  # DuckDB reads files, and no range of one
            file.write(data)
            file.flush()
            return self._stage(log, Path(file.name), object_max, exact=exact)

    def _stage(self, log: Log, path: Path, object_max: int, *, exact: bool) -> int:
        parts = {"reader": reader(log, exact=exact), "values": values(log, exact=exact), "selection": selection(log, exact=exact)}
        self.con.execute(STAGE.format(stage=self.stage, **parts), {"path": str(path), "object_max": object_max})
        row = self.con.execute(f"select count(*) from {self.stage}").fetchone()
        return int(row[0]) if row else 0

    def _refused(self, log: Log) -> set[int]:
        """Staged rows that a check did not accept."""
        wrong = out_of_range(log)
        limits = {"earliest": EARLIEST, "latest": self.latest} if "$earliest" in wrong else {}
        return self._places(f"select rowid from {self.stage} where not kept or {wrong}", **limits)

    def _doubtful(self, log: Log, *, exact: bool) -> set[int]:
        """Staged rows with a text that may have been another value."""
        return self._places(f"select rowid from {self.stage} where {in_doubt(log, exact=exact)}")

    def _move(self, state: LogState, part: Part, *, exact: bool = True) -> None:
        """Judge what the checks did not accept, then make the staged rows part of the log's table."""
        refused = self._refused(state.log)
        doubtful = self._doubtful(state.log, exact=exact) - refused
        if state.log.table == "runs":
            refused |= self._places(CASES_TWICE.format(stage=self.stage))
        bad = [place for place in sorted(refused | doubtful) if self._is_bad(state, part, place, refused=place in refused)]
        if bad:
            self.con.execute(f"update {self.stage} set kept = false where rowid in (select unnest($bad))", {"bad": bad})
        if state.log.table == "runs":
            self._keep_fullest(state.n_rows)
        self._drop_checked(state.log)
        if state.n_rows == 0:
            self.con.execute(f"drop table if exists {state.rows_table}")
            self.con.execute(f"alter table {self.stage} rename to {state.rows_table}")
        else:
            self.con.execute(f"insert into {state.rows_table} from {self.stage} order by rowid")
        state.n_rows += len(part.offsets)
        state.parts.append(part)

    def _keep_fullest(self, first_row: int) -> None:
        if first_row == 0:
            self._create_fullest()
        most = self.con.execute(MOST_CASES.format(stage=self.stage)).fetchall()[0][0]
        binds = {"first_row": first_row, "most": most, "n_bytes": FULLEST_BYTES}
        self.con.execute(FULLEST.format(stage=self.stage), binds)

    def _create_fullest(self) -> None:
        self.con.execute("create or replace table fullest_runs (run integer, results varchar)")

    def _drop_checked(self, log: Log) -> None:
        for column in ("doubtful", *NEEDED_ONCE.get(log.table, ())):
            self.con.execute(f"alter table {self.stage} drop column {column}")

    def _places(self, sql: str, **binds: Any) -> set[int]:
        return {int(place) for (place,) in self.con.execute(sql, binds or None).fetchall()}

    def _is_bad(self, state: LogState, part: Part, at: int, *, refused: bool) -> bool:
        assert state.file is not None
        offset = int(part.offsets[at])
        piece = (offset, state.file.line_at(offset))
        if not refused:
            return self._shapeless(state, piece)
        if not self._faulty(state, piece):
            state.reject(offset, "", "is not a record that can be read")
        return True


_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def _is_record(log: Log, line: bytes) -> bool:
    """Whether a line has the shape of a record of this log; one that is nested too deeply to tell is given the benefit of the doubt."""
    try:
        _decoder(log).decode(line.removeprefix(BOM))
    except RecursionError:
        pass
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _decoder(log: Log) -> msgspec.json.Decoder[Any]:
    return _decoders.setdefault(log.table, msgspec.json.Decoder(log.record))
