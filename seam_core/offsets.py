"""Where the lines of a large log start, found only as far as somebody asks."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import overload

from seam_core.errors import UnreadableLogError
from seam_core.lines import BOM, RUN_BYTES, Block, LogFile, starts

BLANK_LINE = re.compile(rb"\n[ \t\r\v\f]*\n")


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

    def all(self) -> array[int]:
        """Where every line starts; cheaper than asking for one after the other."""
        return self._place_all() if self._placed is None else self._placed

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

    def _place_all(self) -> array[int]:
        placed = array("q")
        for block in self._file.blocks(0, self._n_bytes):
            if isinstance(block, Block):
                placed.extend(starts(block))
        if len(placed) != self._n_lines:
            raise UnreadableLogError(f"{self._file.path}: was changed while it was being read; read it again")
        self._placed = placed
        return placed


def _holds_blank_line(data: bytes, *, is_start: bool) -> bool:
    """Whether there is a blank line among the lines that end in `data`, or what may be the end of one that starts earlier."""
    first = data[: data.find(b"\n")] if b"\n" in data else b"x"
    starts_blank = (not first or first == BOM) if is_start else False
    return starts_blank or first.isspace() or BLANK_LINE.search(data) is not None
