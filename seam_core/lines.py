"""The bytes of a log: whole lines by offset, the half-written tail, compressed files, and whether history was changed."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, overload

from seam_core.errors import UnreadableLogError

BLOCK_BYTES = 32 * 2**20
LINE_MAX = 64 * 2**20  # a longer line is rejected unread
UNPACKED_MAX = 64 * 2**30  # a compressed log may not fill the disk
EDGE_BYTES = 64 * 2**10  # fingerprint: head, tail …
SAMPLE_BYTES = 4 * 2**10  # … and samples between them
SAMPLES = 16
RUN_GAP = 64 * 2**10  # offsets closer than this are read in one go …
RUN_BYTES = 2**20  # … of at most this size
BOM = b"\xef\xbb\xbf"
SUFFIXES = ("", ".gz", ".zst")


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


class LazyOffsets(Sequence[int]):
    """Where each line of a file starts, blank lines left out. Found from the end backwards and kept, one MB of lines at a time,
    because a window mostly asks for the end of the file.

    A blank line would shift every row before it: when one is seen, all lines are placed one by one. `is_right(row, line)` says
    whether a line is the one of that row; it is asked about the lowest row looked at, to notice a file that was changed.
    """

    def __init__(self, file: LogFile, n_bytes: int, n_lines: int, is_right: Callable[[int, bytes], bool]) -> None:
        self._file = file
        self._n_bytes = n_bytes
        self._n_lines = n_lines
        self._is_right = is_right
        self._starts = [n_bytes]  # descending: where each block known so far begins …
        self._first_lines = [n_lines]  # … and the number of the first line that starts in it
        self._blocks: dict[int, array[int]] = {}
        self._last_block: tuple[int, int, array[int]] = (0, 0, array("q"))
        self._placed: array[int] | None = None
        self._proven = n_lines  # rows from here on are known to be right
        self._has_blank = False  # a blank line was seen; a row is no longer found by counting newlines

    def __len__(self) -> int:
        return self._n_lines

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._n_lines))]
        if not 0 <= index < self._n_lines:
            raise IndexError(index)
        if self._placed is None and index < self._proven:
            self._prove(index)
        return self._placed[index] if self._placed is not None else self._find(index)

    def _prove(self, index: int) -> None:
        while self._first_lines[-1] > index and self._starts[-1] > 0 and not self._has_blank:
            self._extend()
        first = max(self._first_lines[-1], 0)
        if self._first_lines[-1] >= 0 and not self._has_blank and self._is_right(first, self._file.line_at(self._find(first))):
            self._proven = first
        else:
            self._place_all()

    def _find(self, index: int) -> int:
        low, high, offsets = self._last_block
        if not low <= index < high:
            block = bisect_left(self._first_lines, -index, key=lambda line: -line)
            if block not in self._blocks:
                self._blocks[block] = self._read_block(block)
            low, offsets = self._first_lines[block], self._blocks[block]
            self._last_block = low, low + len(offsets), offsets
        return offsets[index - low]

    def _extend(self) -> None:
        stop = self._starts[-1]
        start = max(0, stop - RUN_BYTES)
        data = self._file.read(max(0, start - 1), stop - max(0, start - 1))
        n_starts = data.count(b"\n", 0, len(data) - 1) + (start == 0)
        self._has_blank = _holds_blank_line(data, is_start=start == 0)
        self._starts.append(start)
        self._first_lines.append(self._first_lines[-1] - n_starts)

    def _read_block(self, block: int) -> array[int]:
        start, stop = self._starts[block], self._starts[block - 1]
        base = max(0, start - 1)
        data = self._file.read(base, stop - base - 1)
        offsets = array("q", [0] if start == 0 else [])
        at = data.find(b"\n")
        while at >= 0:
            offsets.append(base + at + 1)
            at = data.find(b"\n", at + 1)
        return offsets

    def _place_all(self) -> None:
        placed = array("q")
        for block in self._file.blocks(0, self._n_bytes):
            if isinstance(block, Block):
                placed.extend(offset for offset, _ in pieces(block))
        if len(placed) != self._n_lines:
            raise UnreadableLogError(f"{self._file.path}: was changed while it was being read; read it again")
        self._placed = placed


def _holds_blank_line(data: bytes, *, is_start: bool) -> bool:
    """Whether there is a blank line among the lines that end in `data`, or what may be the end of one that starts earlier."""
    first, *rest = data.split(b"\n")[:-1] or [b"x"]
    starts_blank = (not first or first == BOM) if is_start else False
    return starts_blank or first.isspace() or any(not line or line.isspace() for line in rest)


def pieces(block: Block) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of the lines of a block that are not blank."""
    offset = block.start
    for data in block.data.split(b"\n"):
        if data.strip() and data.strip() != BOM:
            yield offset, data
        offset += len(data) + 1


def find_log(folder: Path, name: str) -> Path | None:
    """The log `name` in `folder`, plain or packed as .gz or .zst; None when there is none.  Two of them are an error."""
    found = [folder / (name + suffix) for suffix in SUFFIXES if is_there(folder / (name + suffix))]
    if len(found) > 1:
        raise UnreadableLogError(f"{folder}: {' and '.join(path.name for path in found)} are both there; keep one of them")
    return found[0] if found else None


def is_there(path: Path) -> bool:
    """Whether there is something of that name, be it a broken link.  Raises UnreadableLogError when that cannot be told."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    return True


def stat_log(path: Path) -> os.stat_result:
    """The file's stat.  Raises UnreadableLogError with a sentence when it is missing, a folder or no regular file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise UnreadableLogError(f"{path}: no such file") from None
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    if stat.S_ISDIR(found.st_mode):
        raise UnreadableLogError(f"{path}: is a folder, not a file; name the log inside it")
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableLogError(f"{path}: is not a regular file")
    return found


def open_log(path: Path) -> LogFile:
    """Open a log for reading by offset; a packed one is unpacked into an unnamed temporary file first.

    Raises UnreadableLogError with a sentence.
    """
    found = stat_log(path)
    try:
        handle: IO[bytes] = path.open("rb", buffering=0)
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    log = LogFile(path, handle, (found.st_dev, found.st_ino), found.st_size, (found.st_size, found.st_mtime_ns))
    if path.suffix in (".gz", ".zst"):
        log.handle = _unpack(handle, log)
        handle.close()
        log.n_bytes = os.fstat(log.handle.fileno()).st_size
    return log


def _unpack(packed: IO[bytes], log: LogFile) -> IO[bytes]:
    plain: IO[bytes] = tempfile.TemporaryFile(prefix="seam-")  # noqa: SIM115  lives as long as the log
    written = 0
    try:
        for data in _gunzip(packed) if log.path.suffix == ".gz" else _unzstd(packed):
            written += plain.write(data)
            if written > UNPACKED_MAX:
                log.notes.append(f"{log.path.name} unpacks to more than {UNPACKED_MAX >> 30} GB; only so much was read")
                break
    except (zlib.error, _zstd_error()) as error:
        log.notes.append(
            f"{log.path.name} is damaged or cut off after {written:,} unpacked bytes ({error}); what came before was read"
            if written
            else f"{log.path.name} is not packed as its name says, or cut off at the start ({error})"
        )
    plain.flush()
    return plain


def _gunzip(packed: IO[bytes]) -> Iterator[bytes]:
    unpacker: Any = None
    while data := packed.read(2**20):
        while data:
            unpacker = unpacker or zlib.decompressobj(wbits=31)
            yield unpacker.decompress(data, 2**22)
            data = unpacker.unconsumed_tail
            if unpacker.eof:  # another member may follow, or padding
                data, unpacker = unpacker.unused_data.lstrip(b"\0"), None
    if unpacker:
        raise zlib.error("the end is missing")


def _unzstd(packed: IO[bytes]) -> Iterator[bytes]:
    import zstandard

    unpacker: Any = None
    while data := packed.read(2**14):  # a little at a time, since a frame may unpack to many times its size
        while data:
            unpacker = unpacker or zstandard.ZstdDecompressor().decompressobj()
            yield unpacker.decompress(data)
            data, unpacker = (unpacker.unused_data, None) if unpacker.eof else (b"", unpacker)
    if unpacker:
        raise zstandard.ZstdError("the end is missing")


def _zstd_error() -> type[Exception]:
    import zstandard

    error: Any = zstandard.ZstdError
    return error if isinstance(error, type) else RuntimeError
