"""From the bytes of one log to rows of one table: a fast load, and a second look at the lines that it did not accept.

A clean file of some size is read by DuckDB directly. Anything else, and whatever was appended, goes through in blocks of
whole lines; a block that DuckDB refuses is filtered line by line and loaded again, so one bad line costs one block.
Rows are loaded outside of any transaction, since DuckDB numbers uncommitted rows differently. Each row keeps its place: row n of a table is the n-th line that DuckDB was given, and `Part` says where that line starts.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from seam_core.columns import columns_of, reader, selection
from seam_core.judge import EARLIEST, Reject, judge
from seam_core.lines import BOM, LINE_MAX, Block, LazyOffsets, LogFile, TooLong, stat_log
from seam_core.records import Log

DIRECT_MIN = 16 * 2**20  # from this size DuckDB reads the file itself
OBJECT_MIN = 16 * 2**20  # DuckDB's own bound on one line; raised when a longer one comes
HASH_MASK = 2**64 - 1

STAGE = """
create or replace table stage as
select {selection}
from read_ndjson($path, columns = {reader}, maximum_object_size = $object_max)
"""

# What DuckDB takes for JSON and the standard does not makes a line odd; odd lines are judged one by one.
ODD = "regexp_matches(json, ',\\s*[}\\]]') or contains(json, 'NaN') or contains(json, 'Infinity')"

SCAN = f"""
select count(*), coalesce(sum(strlen(json)), 0), coalesce(sum(hash(json)), 0), count(*) filter ({ODD})
from read_ndjson_objects($path, maximum_object_size = $object_max)
"""

ODD_ROWS = f"""
with numbered as (
    select row_number() over () - 1 as place, {ODD} as odd
    from read_ndjson_objects($path, maximum_object_size = $object_max)
)
select place from numbered where odd order by place
"""

BAD_LINES = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.IOException)  # a bug in our SQL is none of these

OUTCOMES = """
with pairs as (
    select $first_row + rowid as run, unnest(json_keys(results)) as case_id, unnest(json_extract(results, '$.*')) as outcome
    from stage
    where kept
)
insert into outcomes select run, case_id, outcome::varchar = '"pass"' from pairs
"""

Piece = tuple[int, int, bytes]  # offset, physical line from 0, the line


@dataclass(frozen=True)
class Part:
    """Rows from `first_row` on: the offset and the physical line (from 0; None: consecutive from `first_line`) of each."""

    first_row: int
    offsets: Sequence[int]
    first_line: int
    lines: Sequence[int] | None = None

    def line_of(self, row: int) -> int:
        """Physical line number, from 1."""
        at = row - self.first_row
        return 1 + (self.first_line + at if self.lines is None else int(self.lines[at]))


@dataclass
class LogState:
    """What is known of one log: its open file, how far it was read, and where each row stands."""

    log: Log
    file: LogFile | None = None
    consumed: int = 0
    n_lines: int = 0
    n_rows: int = 0
    parts: list[Part] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    digest: int = 0  # sum of the hashes of the lines kept: the same for any order
    repeated: int = 0
    rewritten: int = 0
    fingerprint: str = ""
    pending: bool = False
    open_rows: int = 0  # rows of a last line that has no newline yet, and the sums without it:
    without_tail: tuple[int, int, int, int] | None = None  # rejects, repeated, rewritten, digest
    error: str = ""  # why the file could not be read at all

    @property
    def rows_table(self) -> str:
        """The table of every row, kept or not."""
        return f"{self.log.table}_rows"

    def part_of(self, row: int) -> Part:
        """The part that holds a row."""
        low, high = 0, len(self.parts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.parts[middle].first_row <= row else (low, middle - 1)
        return self.parts[low]

    def offset_of(self, row: int) -> int:
        """Where a row's line starts in the file."""
        part = self.part_of(row)
        return int(part.offsets[row - part.first_row])

    def reopen_tail(self, con: duckdb.DuckDBPyConnection) -> None:
        """Take back the rows of a last line that had no newline, so that it is read again with what was appended to it."""
        if self.open_rows:
            con.execute(f"update {self.rows_table} set kept = false where rowid >= $row", {"row": self.n_rows - self.open_rows})
        if self.without_tail is not None:
            n_rejects, self.repeated, self.rewritten, self.digest = self.without_tail
            del self.rejects[n_rejects:]

    def reject(self, line: int, path: str, reason: str) -> None:
        """List a line that is not loaded; `line` is its physical number, from 1."""
        file = self.file.path.name if self.file else self.log.file
        self.rejects.append(Reject(file, line, path, reason))


@dataclass(frozen=True)
class Scan:
    """What a second, untyped look at a file of lines found."""

    n_rows: int
    n_bytes: int  # without newlines
    digest: int
    odd: list[int]


@dataclass(frozen=True)
class Loader:
    """What a load needs besides the log: the connection, a scratch file, the newest time believed, and whom to tell."""

    con: duckdb.DuckDBPyConnection
    scratch: Path
    latest: datetime
    tell: Callable[[str], None]

    def create(self, log: Log) -> None:
        """Make the log's table of rows, empty."""
        self.scratch.write_bytes(b"")
        self._stage(log, self.scratch, OBJECT_MIN)
        self.con.execute("alter table stage drop column doubtful")
        if log.table == "runs":
            self.con.execute("create or replace table outcomes (run bigint, case_id varchar, passed boolean)")
            self.con.execute("alter table stage drop column results")
        self.con.execute(f"drop table if exists {log.table}_rows")
        self.con.execute(f"alter table stage rename to {log.table}_rows")

    def append(self, state: LogState) -> None:
        """Load everything from `state.consumed` to the end of the file."""
        file = state.file
        assert file is not None
        stop = file.tail_start(state.consumed)
        direct = state.consumed == 0 and stop == file.n_bytes and stop >= DIRECT_MIN and file.path.suffix not in (".gz", ".zst")
        if not (direct and self._append_file(state, file)):
            for block in file.blocks(state.consumed, stop, state.n_lines):
                self._append_block(state, block)
                self.tell(f"{file.path.name}: {min(1.0, block.start / max(stop, 1)):.0%} read")
        state.consumed = stop
        self._append_tail(state, file)

    def _append_file(self, state: LogState, file: LogFile) -> bool:
        """Load a whole clean file; False when it is not clean or changed meanwhile, and then nothing was loaded."""
        self.tell(f"reading {file.path.name} ({file.n_bytes / 1e6:,.0f} MB)")
        try:
            n_rows = self._stage(state.log, file.path, OBJECT_MIN)
            scan = self._scan(file.path, OBJECT_MIN)
        except BAD_LINES:
            return False
        found = stat_log(file.path)
        if (found.st_dev, found.st_ino, found.st_size) != (*file.identity, file.n_bytes) or scan.n_rows != n_rows:
            return False
        if scan.n_bytes + n_rows == file.n_bytes:  # every line is a record and ends in one newline
            part = Part(state.n_rows, LazyOffsets(file, file.n_bytes, n_rows), 0)
            state.n_lines = n_rows
        else:
            part = self._place_lines(state, file)
            if len(part.offsets) != n_rows:
                state.n_lines = 0
                return False
        self._move(state, part, scan)
        return True

    def _place_lines(self, state: LogState, file: LogFile) -> Part:
        offsets, lines = array("q"), array("q")
        for block in file.blocks(0, file.n_bytes, 0):
            if isinstance(block, Block):
                for offset, line, _ in _pieces(block):
                    offsets.append(offset)
                    lines.append(line)
                state.n_lines = block.line + block.data.count(b"\n")
        return Part(state.n_rows, offsets, 0, lines)

    def _append_block(self, state: LogState, block: Block | TooLong) -> None:
        if isinstance(block, TooLong):
            state.reject(block.line + 1, "", f"longer than {LINE_MAX >> 20} MB ({block.n_bytes / 1e6:,.0f} MB)")
            state.n_lines += 1
            return
        state.n_lines = block.line + block.data.count(b"\n")
        self._append_pieces(state, list(_pieces(block)))

    def _append_pieces(self, state: LogState, pieces: list[Piece]) -> None:
        """Load lines, filtering in ever greater doubt: all, those of the right shape, those without any fault, one half at a time."""
        for doubt in (None, self._shapeless, self._faulty):
            if doubt is not None:
                pieces = [piece for piece in pieces if not doubt(state, piece)]
            if not pieces or self._try_pieces(state, pieces):
                return
        if len(pieces) == 1:
            state.reject(pieces[0][1] + 1, "", "not JSON that can be read")
            return
        middle = len(pieces) // 2
        self._append_pieces(state, pieces[:middle])
        self._append_pieces(state, pieces[middle:])

    def _try_pieces(self, state: LogState, pieces: list[Piece]) -> bool:
        self.scratch.write_bytes(b"".join(line + b"\n" for _, _, line in pieces))
        object_max = max(OBJECT_MIN, max(len(line) for _, _, line in pieces) + 1024)
        try:
            n_rows = self._stage(state.log, self.scratch, object_max)
            scan = self._scan(self.scratch, object_max)
        except BAD_LINES:
            return False
        if not n_rows == scan.n_rows == len(pieces):
            return False
        part = Part(state.n_rows, array("q", (piece[0] for piece in pieces)), 0, array("q", (piece[1] for piece in pieces)))
        self._move(state, part, scan)
        return True

    def _shapeless(self, state: LogState, piece: Piece) -> bool:
        try:
            _decoder(state.log).decode(piece[2].removeprefix(BOM))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._faulty(state, piece)
        return False

    def _faulty(self, state: LogState, piece: Piece) -> bool:
        fault = judge(piece[2], state.log, latest=self.latest)
        if fault:
            state.reject(piece[1] + 1, *fault)
        return fault is not None

    def _append_tail(self, state: LogState, file: LogFile) -> None:
        """A last line without a newline counts if it is a whole record, else it is pending."""
        data = file.read(state.consumed, min(file.n_bytes - state.consumed, LINE_MAX))
        state.pending, state.open_rows = False, 0
        state.without_tail = len(state.rejects), state.repeated, state.rewritten, state.digest
        if not data.removeprefix(BOM).strip():
            return
        try:
            msgspec.json.decode(data.removeprefix(BOM))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            state.pending = True
            return
        n_rows = state.n_rows
        self._append_pieces(state, [(state.consumed, state.n_lines, data)])
        state.open_rows = state.n_rows - n_rows

    def _stage(self, log: Log, path: Path, object_max: int) -> int:
        sql = STAGE.format(selection=selection(log), reader=reader(log))
        limits = {"earliest": EARLIEST, "latest": self.latest} if "$earliest" in sql else {}
        self.con.execute(sql, {"path": str(path), "object_max": object_max, **limits})
        row = self.con.execute("select count(*) from stage").fetchone()
        return int(row[0]) if row else 0

    def _scan(self, path: Path, object_max: int) -> Scan:
        binds = {"path": str(path), "object_max": object_max}
        n_rows, n_bytes, digest, n_odd = self.con.execute(SCAN, binds).fetchall()[0]
        odd = [int(at) for (at,) in self.con.execute(ODD_ROWS, binds).fetchall()] if n_odd else []
        return Scan(int(n_rows), int(n_bytes), int(digest), odd)

    def _move(self, state: LogState, part: Part, scan: Scan) -> None:
        """Judge what the checks did not accept, then make the staged rows part of the log's table."""
        refused = {int(at) for (at,) in self.con.execute("select rowid from stage where not kept").fetchall()}
        doubtful = {int(at) for (at,) in self.con.execute("select rowid from stage where kept and doubtful").fetchall()}
        bad = [at for at in sorted(refused.union(doubtful, scan.odd)) if self._is_bad(state, part, at, refused=at in refused)]
        if len(bad) > len(refused):
            self.con.execute("update stage set kept = false where rowid in (select unnest($bad))", {"bad": bad})
        self.con.execute("alter table stage drop column doubtful")
        if state.log.table == "runs":
            self.con.execute(OUTCOMES, {"first_row": state.n_rows})
            self.con.execute("alter table stage drop column results")
        if state.n_rows == 0:
            self.con.execute(f"drop table if exists {state.rows_table}")
            self.con.execute(f"alter table stage rename to {state.rows_table}")
        else:
            self.con.execute(f"insert into {state.rows_table} from stage order by rowid")
        state.digest = (state.digest + scan.digest - self._digest_of(state, part, bad)) & HASH_MASK
        state.n_rows += len(part.offsets)
        state.parts.append(part)

    def _is_bad(self, state: LogState, part: Part, at: int, *, refused: bool) -> bool:
        assert state.file is not None
        line = state.file.line_at(int(part.offsets[at]))
        piece = (0, part.line_of(part.first_row + at) - 1, line)
        if not refused:
            return self._shapeless(state, piece)
        if not self._faulty(state, piece):
            state.reject(piece[1] + 1, "", "is not a record that can be read")
        return True

    def _digest_of(self, state: LogState, part: Part, bad: list[int]) -> int:
        if not bad or state.file is None:
            return 0
        lines = [state.file.line_at(int(part.offsets[at])).strip().decode() for at in bad]
        return int(self.con.execute("select sum(hash(line)) from (select unnest($lines) as line)", {"lines": lines}).fetchall()[0][0])


_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def _decoder(log: Log) -> msgspec.json.Decoder[Any]:
    return _decoders.setdefault(log.table, msgspec.json.Decoder(log.record))


def _pieces(block: Block) -> Iterator[Piece]:
    """The lines of a block that are not blank."""
    offset = block.start
    for line, data in enumerate(block.data.split(b"\n"), block.line):
        if data.strip() and data.strip() != BOM:
            yield offset, line, data
        offset += len(data) + 1
