"""What is known of one log: how far it was read, where each of its rows stands in the file, and which lines were refused."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seam_core.judge import Reject
from seam_core.lines import BLOCK_BYTES, LogFile
from seam_core.offsets import LazyOffsets
from seam_core.records import Log

if TYPE_CHECKING:  # other processes read lines, too, and have no use for a database
    import duckdb

ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class Part:
    """Rows from `first_row` on, and where the line of each starts."""

    first_row: int
    offsets: Sequence[int]


@dataclass
class LogState:
    """What is known of one log: its open file, how far it was read, and where each row stands."""

    log: Log
    file: LogFile | None = None
    consumed: int = 0
    n_rows: int = 0
    parts: list[Part] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    repeated: int = 0
    rewritten: int = 0
    fingerprint: str = ""
    pending: bool = False
    open_rows: int = 0  # rows of a last line that has no newline yet, and the sums without it:
    without_tail: tuple[int, int, int] | None = None  # rejects, repeated, rewritten
    error: str = ""  # why the file could not be read at all

    @property
    def rows_table(self) -> str:
        """The table of every row, kept or not."""
        return f"{self.log.table}_rows"

    @property
    def shape(self) -> tuple[object, ...]:
        """What moves whenever anything does that a report could show."""
        counts = (self.n_rows, self.open_rows, len(self.rejects), self.repeated, self.rewritten)
        return self.file, *counts, self.pending, self.error

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

    def offsets(self) -> array[int]:
        """Where the line of every row starts."""
        found = array("q")
        for part in self.parts:
            found.extend(part.offsets.all() if isinstance(part.offsets, LazyOffsets) else part.offsets)
        return found

    def lines_of(self, rows: Sequence[int]) -> Iterator[bytes]:
        """The line of each row, in the order of the rows; rows that follow each other are read and split in one go."""
        assert self.file is not None, "a table with rows has a file"
        at = 0
        while at < len(rows):
            stop = at + 1
            while stop < len(rows) and rows[stop] == rows[stop - 1] + 1 and stop - at < ROWS_AT_ONCE:
                stop += 1
            found = self._neighbours(self.file, rows[at], rows[stop - 1]) if stop - at > 1 else []
            yield from found or self.file.lines_at(map(self.offset_of, rows[at:stop]))
            at = stop

    def _neighbours(self, file: LogFile, first: int, last: int) -> list[bytes]:
        """The lines of consecutive rows; empty when they do not stand one after the other, or are too long to read at once."""
        start, stop = self.offset_of(first), self.offset_of(last)
        if not 0 < stop - start <= BLOCK_BYTES:
            return []
        data = file.read(start, stop - start)
        lines = data.split(b"\n")
        if len(lines) != last - first + 1:
            return []
        lines[-1] = file.line_at(stop)
        return [line.rstrip(b"\r") for line in lines] if b"\r" in data else lines

    def reopen_tail(self, con: duckdb.DuckDBPyConnection) -> None:
        """Take back the rows of a last line that had no newline, so that it is read again with what was appended to it."""
        if self.open_rows:
            con.execute(f"update {self.rows_table} set kept = false where rowid >= $row", {"row": self.n_rows - self.open_rows})
        if self.without_tail is not None:
            n_rejects, self.repeated, self.rewritten = self.without_tail
            del self.rejects[n_rejects:]

    def line_of(self, row: int) -> int:
        """Physical line number of a row, from 1."""
        assert self.file is not None, "a row has a file"
        return self.file.line_number(self.offset_of(row))

    def reject(self, offset: int, path: str, reason: str) -> None:
        """List the line that starts at an offset as one that is not loaded."""
        assert self.file is not None, "a line has a file"
        self.rejects.append(Reject(self.file.path.name, self.file.line_number(offset), path, reason))
