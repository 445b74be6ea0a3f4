"""What is known of one log: how far it was read, where each of its rows stands in the file, and which lines were refused."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seam_core.lines import BLOCK_BYTES, LogFile
from seam_core.offsets import LazyOffsets
from seam_core.records import Log
from seam_core.rejected import Reject

if TYPE_CHECKING:  # other processes read lines, too, and have no use for a database
    import duckdb

ROWS_AT_ONCE = 100  # of usual lengths these stay in the cache of a processor until they are worked on
GAP_MAX = 3  # rows between two that are asked for; reading so many more takes less than reading twice


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

    def offsets(self, first_row: int) -> array[int]:
        """Where the line of every row from `first_row` on starts."""
        found = array("q")
        for part in self.parts:
            first = max(0, first_row - part.first_row)
            if first < len(part.offsets):
                found.extend(part.offsets.since(first) if isinstance(part.offsets, LazyOffsets) else part.offsets[first:])
        return found

    def lines_of(self, rows: list[int]) -> Iterator[bytes]:
        """The line of each row, in the order of the rows."""
        assert self.file is not None, "a table with rows has a file"
        for run, data in self.runs_of(rows):
            if data is None:
                yield from self.file.lines_at(map(self.offset_of, run))
            else:
                lines = data.split(b"\n")
                yield from (lines[row - run[0]].rstrip(b"\r") for row in run)

    def runs_of(self, rows: list[int]) -> Iterator[tuple[list[int], bytes | None]]:
        """The rows in runs of near neighbours, each with the lines of every row from its first to its last as they stand in the file, the
        last one without its newline; None where there is one row only, they do not stand one after the other, or are too long to read at
        once.
        """
        at = 0
        while at < len(rows):
            first, stop = rows[at], at + 1
            while stop < len(rows) and 0 < rows[stop] - rows[stop - 1] <= GAP_MAX + 1 and rows[stop] < first + ROWS_AT_ONCE:
                stop += 1
            run = rows[at:stop]
            yield run, self._neighbours(first, run[-1]) if len(run) > 1 else None
            at = stop

    def _neighbours(self, first: int, last: int) -> bytes | None:
        assert self.file is not None, "a table with rows has a file"
        start, stop = self.offset_of(first), self.offset_of(last)
        if not 0 < stop - start <= BLOCK_BYTES:
            return None
        data = self.file.read(start, stop - start)
        return data + self.file.line_at(stop) if data.count(b"\n") == last - first else None

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
