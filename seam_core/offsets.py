"""Where the lines of a large log start, found only as far as somebody asks."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import overload

from seam_core.errors import UnreadableLogError
from seam_core.lines import RUN_BYTES, Block, LogFile, starts


class LazyOffsets(Sequence[int]):
    """Where each line of a file starts, blank lines left out. Found from the end backwards and kept, one MB of lines at a time,
    because a window mostly asks for the end of the file.

    `is_right(row, line)` says whether a line is the one of that row; it is asked about the lowest row looked at, to notice a file that
    was changed.
    """

    def __init__(self, file: LogFile, n_bytes: int, n_lines: int, is_right: Callable[[int, bytes], bool]) -> None:
        self._file = file
        self._n_lines = n_lines
        self._is_right = is_right
        self._proven = n_lines  # rows from here on are known to be right
        self._start = n_bytes  # where the earliest block known so far begins; of each block, from the end backwards:
        self._blocks: list[array[int]] = []  # where its lines start …
        self._first_lines = [n_lines]  # … and, from the second item on, the number of its first line

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
        if index < self._proven:
            self._prove(index)
        block = bisect_left(self._first_lines, -index, key=lambda line: -line)
        return self._blocks[block - 1][index - self._first_lines[block]]

    def since(self, first: int) -> array[int]:
        """Where every line from the number `first` on starts; cheaper than asking for one after the other."""
        if first < self._proven:
            self._prove(first)
        found = array("q")
        for block, start in zip(reversed(self._blocks), reversed(self._first_lines[1:]), strict=True):
            found.extend(block[max(0, first - start) :])
        return found

    def _prove(self, index: int) -> None:
        while self._first_lines[-1] > index and self._start > 0:
            self._extend()
        first = self._first_lines[-1]
        if self._start > 0 and self._is_right(first, self._file.line_at(self._blocks[-1][0])):
            self._proven = first
        else:
            self._prove_all()

    def _prove_all(self) -> None:
        while self._start > 0:
            self._extend()
        if self._first_lines[-1] != 0:
            raise UnreadableLogError(f"{self._file.path}: was changed while it was being read; read it again")
        self._proven = 0

    def _extend(self) -> None:
        """Look at the whole lines of one MB more; of as much as it takes where a line is longer."""
        stop, size = self._start, RUN_BYTES
        while True:
            base = max(0, stop - size)
            data = self._file.read(base, stop - base)
            cut = data.find(b"\n") + 1 if base else 0
            if cut < len(data):
                break
            size *= 2
        self._start = base + cut
        self._blocks.append(starts(Block(data[cut:], self._start)))
        self._first_lines.append(self._first_lines[-1] - len(self._blocks[-1]))
