"""The bytes of an opened log: whole lines by offset, the half-written tail, and whether history was changed."""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

BLOCK_BYTES = 32 * 2**20
LINE_MAX = 64 * 2**20  # a longer line is rejected unread
EDGE_BYTES = 64 * 2**10  # fingerprint: head, tail …
SAMPLE_BYTES = 4 * 2**10  # … and samples between them
SAMPLES = 16
RUN_GAP = 64 * 2**10  # offsets closer than this are read in one go …
RUN_BYTES = 2**20  # … of at most this size
BOM = b"\xef\xbb\xbf"
BRACE = ord("{")


@dataclass(frozen=True)
class Block:
    """A run of whole lines: the bytes, and where they start in the file."""

    data: bytes
    start: int


@dataclass(frozen=True)
class TooLong:
    """A line over LINE_MAX bytes: where it starts, and how long it is."""

    start: int
    n_bytes: int


@dataclass
class LogFile:
    """One opened log file. Reads go to the inode that was opened, so a file replaced meanwhile does not mix in."""

    path: Path
    handle: IO[bytes]
    identity: tuple[int, int]  # device, inode of the file as named
    n_bytes: int  # size when last looked at, unpacked
    packed_stat: tuple[int, int] = (0, 0)  # size and mtime_ns of the file as named
    notes: list[str] = field(default_factory=list)
    _newlines: array[int] = field(default_factory=lambda: array("q", [0]))  # before every EDGE_BYTES-th byte

    def read(self, start: int, n_bytes: int) -> bytes:
        """The bytes [start, start + n_bytes); fewer at the end of the file."""
        return os.pread(self.handle.fileno(), n_bytes, start)

    def line_at(self, start: int) -> bytes:
        """The line that starts at an offset, without its newline."""
        data = b""
        while True:
            more = self.read(start + len(data), max(SAMPLE_BYTES, len(data)))
            found = more.find(b"\n")
            if found >= 0 or not more:
                return (data + more[:found] if found >= 0 else data).rstrip(b"\r")
            data += more

    def lines_at(self, starts: Iterable[int]) -> Iterator[bytes]:
        """The line at each offset, in the order given; offsets that follow each other closely are read together."""
        run: list[int] = []
        for start in starts:
            if run and not (run[-1] < start <= run[-1] + RUN_GAP and start - run[0] < RUN_BYTES):
                yield from self._lines_of_run(run)
                run = []
            run.append(start)
        yield from self._lines_of_run(run)

    def _lines_of_run(self, run: list[int]) -> Iterator[bytes]:
        if not run:
            return
        data = self.read(run[0], run[-1] - run[0]) if len(run) > 1 else b""
        for start in run[:-1]:
            at = start - run[0]
            stop = data.find(b"\n", at)
            yield data[at : stop if stop >= 0 else len(data)].rstrip(b"\r")
        yield self.line_at(run[-1])

    def line_number(self, offset: int) -> int:
        """Physical number, from 1, of the line that starts at an offset. Newlines are counted once, as far as anybody asked."""
        mark = offset // EDGE_BYTES
        while len(self._newlines) <= mark:
            at = EDGE_BYTES * (len(self._newlines) - 1)
            self._newlines.append(self._newlines[-1] + self.read(at, EDGE_BYTES).count(b"\n"))
        return 1 + self._newlines[mark] + self.read(mark * EDGE_BYTES, offset - mark * EDGE_BYTES).count(b"\n")

    def tail_start(self, start: int) -> int:
        """Offset of the first byte after the last newline at or after `start`; `start` when there is none."""
        stop = self.n_bytes
        while stop > start:
            low = max(start, stop - EDGE_BYTES)
            found = self.read(low, stop - low).rfind(b"\n")
            if found >= 0:
                return low + found + 1
            stop = low
        return start

    def blocks(self, start: int, stop: int, size: int = BLOCK_BYTES) -> Iterator[Block | TooLong]:
        """Whole lines of [start, stop) in runs of about `size` bytes; a line over LINE_MAX comes as `TooLong`."""
        while start < stop:
            data = self.read(start, min(size, stop - start))
            if not data:
                return
            cut = len(data) if start + len(data) >= stop else data.rfind(b"\n") + 1
            if cut == 0:
                end = self._line_end(start + len(data), stop)
                if end - start > LINE_MAX:
                    yield TooLong(start, end - start)
                    start = end
                    continue
                data, cut = self.read(start, end - start), end - start
            yield Block(data[:cut], start)
            start += cut

    def _line_end(self, start: int, stop: int) -> int:
        while start < stop:
            data = self.read(start, min(BLOCK_BYTES, stop - start))
            found = data.find(b"\n")
            if found >= 0:
                return start + found + 1
            start += len(data)
        return stop

    def fingerprint(self, n_bytes: int) -> str:
        """sha256 over the head, the tail and sixteen samples of the first `n_bytes`: notices a rewritten history cheaply."""
        digest = hashlib.sha256(str(n_bytes).encode())
        digest.update(self.read(0, min(EDGE_BYTES, n_bytes)))
        if n_bytes > EDGE_BYTES:
            for i in range(1, SAMPLES + 1):
                digest.update(self.read(n_bytes * i // (SAMPLES + 1), min(SAMPLE_BYTES, n_bytes)))
            digest.update(self.read(max(0, n_bytes - EDGE_BYTES), min(EDGE_BYTES, n_bytes)))
        return digest.hexdigest()

    @property
    def is_read_by_name(self) -> bool:
        """Whether DuckDB, given the name, reads this file and no other, and the same bytes: it reads patterns into names."""
        return self.path.suffix not in (".gz", ".zst") and not re.search(r"[*?\[]|^~", str(self.path))

    def is_same(self) -> bool:
        """Whether the name still stands for the file that was opened."""
        found = self.path.stat() if self.path.exists() else None
        return found is not None and (found.st_dev, found.st_ino) == self.identity

    def close(self) -> None:
        """Give the file back."""
        self.handle.close()


def pieces(block: Block) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of the lines of a block that are not blank."""
    offset = block.start
    for data in block.data.split(b"\n"):
        if data.strip() and data.strip() != BOM:
            yield offset, data
        offset += len(data) + 1


def starts(block: Block) -> array[int]:
    """Where each line of a block that is not blank starts; quicker than `pieces` where every line begins with a brace."""
    found, at = array("q"), 0
    while at < len(block.data):
        if block.data[at] != BRACE:
            return array("q", (offset for offset, _ in pieces(block)))
        found.append(block.start + at)
        at = block.data.find(b"\n", at) + 1 or len(block.data)
    return found
