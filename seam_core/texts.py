"""What a heal's line says of its change, read without the rest of the line, and remembered for those who ask again."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from seam_core.lines import BOM, LogFile
from seam_core.logstate import LogState, Part
from seam_core.records import HEALS

TEXTS_KEPT = 32_000_000  # characters remembered
TEXTS_AT_ONCE = 64


class Edit(msgspec.Struct, frozen=True):
    """The texts of a change: hash of the block before it, and the whole block after it; None where it does not say."""

    before_hash: str | None = None
    after_text: str | None = None


class _Line(msgspec.Struct):
    heal_id: str
    change: Edit | None = None


Edits = Callable[[Iterable[int]], Iterator[Edit]]  # rows → what their lines say of the change
Lax = Callable[[int, bytes], Edit]  # row and its line → the same of a line that only DuckDB reads

NO_EDIT = Edit()
_decoder = msgspec.json.Decoder(_Line)


class Remembered:
    """Edits of which those read last are remembered, up to TEXTS_KEPT characters of their texts."""

    def __init__(self, edits_of: Edits) -> None:
        self._edits_of = edits_of
        self._kept: dict[int, Edit] = {}
        self._lots: deque[tuple[list[int], int]] = deque()  # (rows, characters) as they were read
        self._n_characters = 0

    def __call__(self, rows: Iterable[int]) -> Iterator[Edit]:
        """Each row's edit, in the order of the rows."""
        wanted = list(rows)
        known = {row: self._kept[row] for row in wanted if row in self._kept}  # held until it is asked for, whatever is read before
        reading = self._edits_of([row for row in wanted if row not in known])
        for at in range(0, len(wanted), TEXTS_AT_ONCE):
            some = wanted[at : at + TEXTS_AT_ONCE]
            read = dict(zip([row for row in some if row not in known], reading, strict=False))
            self._keep(read)
            yield from [known[row] if row in known else read[row] for row in some]

    def _keep(self, read: dict[int, Edit]) -> None:
        n_characters = sum(len(edit.after_text) for edit in read.values() if edit.after_text)
        self._kept |= read
        self._lots.append((list(read), n_characters))
        self._n_characters += n_characters
        while self._n_characters > TEXTS_KEPT and len(self._lots) > 1:
            rows, n_characters = self._lots.popleft()
            self._n_characters -= n_characters
            for row in rows:
                self._kept.pop(row, None)


def read_edits(state: LogState, rows: Iterable[int], lax: Lax) -> Iterator[Edit]:
    """What each row's line says of the change, in the order of the rows, neighbours decoded in one go."""
    for run, data in state.runs_of(list(rows)):
        found = _decode_lines(data) if data is not None else []
        if found and len(found) == run[-1] - run[0] + 1:
            yield from (found[row - run[0]].change or NO_EDIT for row in run)
        else:
            yield from map(_edit_of, run, state.lines_of(run), [lax] * len(run))


class Reader:
    """Reads edits in another process, which has the log alone, and is told where the rows start that it may be asked for."""

    def __init__(self, log: LogFile, part: Part) -> None:
        self._state = LogState(HEALS, log, parts=[part])
        self._edits = Remembered(lambda rows: read_edits(self._state, rows, _refuse))

    @classmethod
    def opened(cls, path: Path, identity: tuple[int, int], part: Part) -> Self | None:
        """A reader of the file that is named and has this device and inode; None when there is no such one any more."""
        try:
            handle = path.open("rb", buffering=0)
        except OSError:
            return None
        found = os.fstat(handle.fileno())
        if (found.st_dev, found.st_ino) != identity:
            return None
        return cls(LogFile(path, handle, identity, found.st_size), part)

    def do(self, earlier: Sequence[Part], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What `function(edits, *arguments)` returns, where `earlier` are rows in their order before those known; None where there is a
        line that only DuckDB reads.
        """
        self._state.parts[:-1] = earlier
        try:
            return function(self._edits, *arguments)
        except (msgspec.DecodeError, RecursionError):
            return None


def ask_reader(reader: Reader | None, *asked: Any) -> Any:
    """The same of a reader that may not be there; None then."""
    return reader.do(*asked) if reader else None


def _decode_lines(data: bytes) -> list[_Line]:
    """What stands in some lines; nothing when one of them has to be looked at alone."""
    try:
        return _decoder.decode_lines(data)
    except (msgspec.DecodeError, RecursionError):
        return []


def _edit_of(row: int, line: bytes, lax: Lax) -> Edit:
    try:
        return _decoder.decode(line.removeprefix(BOM)).change or NO_EDIT
    except (msgspec.DecodeError, RecursionError):
        return lax(row, line)


def _refuse(row: int, line: bytes) -> Edit:
    raise msgspec.DecodeError(f"row {row}, {len(line)} bytes: only DuckDB reads it")
