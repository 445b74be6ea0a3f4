"""The one text that a heal's line carries, read without the rest of the line, and remembered for those who ask again."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seam_core.lines import BOM, LogFile
from seam_core.logstate import LogState, Part
from seam_core.records import HEALS

TEXTS_KEPT = 32_000_000  # characters remembered
TEXTS_AT_ONCE = 16

Texts = Callable[[Iterable[int]], Iterator[str | None]]  # rows → their texts


class _Changed(msgspec.Struct):
    after_text: str | None = None


class _Text(msgspec.Struct):
    heal_id: str
    change: _Changed | None = None


_decoder = msgspec.json.Decoder(_Text)


class Remembered:
    """Texts of which those read last are remembered, up to TEXTS_KEPT characters."""

    def __init__(self, texts_of: Texts) -> None:
        self._texts_of = texts_of
        self._kept: dict[int, str | None] = {}
        self._lots: deque[tuple[list[int], int]] = deque()  # (rows, characters) as they were read
        self._n_characters = 0

    def __call__(self, rows: Iterable[int]) -> Iterator[str | None]:
        """Each row's text, in the order of the rows."""
        wanted = list(rows)
        known = {row: self._kept[row] for row in wanted if row in self._kept}  # held until it is asked for, whatever is read before
        reading = self._texts_of([row for row in wanted if row not in known])
        for at in range(0, len(wanted), TEXTS_AT_ONCE):
            some = wanted[at : at + TEXTS_AT_ONCE]
            read = dict(zip([row for row in some if row not in known], reading, strict=False))
            self._keep(read)
            yield from [known[row] if row in known else read[row] for row in some]

    def _keep(self, read: dict[int, str | None]) -> None:
        n_characters = sum(len(text) for text in read.values() if text)
        self._kept |= read
        self._lots.append((list(read), n_characters))
        self._n_characters += n_characters
        while self._n_characters > TEXTS_KEPT and len(self._lots) > 1:
            rows, n_characters = self._lots.popleft()
            self._n_characters -= n_characters
            for row in rows:
                self._kept.pop(row, None)


def text_of(line: bytes) -> str | None:
    """The `after_text` of a heal's line.  Raises msgspec.DecodeError or RecursionError for a line that only DuckDB reads."""
    return _text_in(_decoder.decode(line.removeprefix(BOM)))


def read_texts(state: LogState, rows: Iterable[int]) -> Iterator[str | None]:
    """Each row's text, in the order of the rows, neighbours decoded in one go.  Raises as `text_of` does."""
    for run, data in state.runs_of(list(rows)):
        found = _decode_lines(data) if data is not None else []
        yield from map(_text_in, found) if len(found) == len(run) else map(text_of, state.lines_of(run))


def _decode_lines(data: bytes) -> list[_Text]:
    """What stands in some lines; nothing when one of them has to be looked at alone."""
    try:
        return _decoder.decode_lines(data)
    except (msgspec.DecodeError, RecursionError):
        return []


def _text_in(found: _Text) -> str | None:
    return found.change.after_text if found.change else None


def with_texts(descriptor: int, offsets: Sequence[int], function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function(texts, *arguments)` returns, where row n of the log open as `descriptor` starts at `offsets[n]`; for another
    process, which has the file alone. None when there is a line that only DuckDB reads.
    """
    with open(descriptor, "rb", buffering=0, closefd=False) as handle:
        log = LogFile(Path(HEALS.file), handle, (0, 0), os.fstat(descriptor).st_size)
        state = LogState(HEALS, log, parts=[Part(0, offsets)])
        try:
            return function(Remembered(lambda rows: read_texts(state, rows)), *arguments)
        except (msgspec.DecodeError, RecursionError):
            return None
