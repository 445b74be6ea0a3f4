"""The one text that a heal's line carries, read without the rest of the line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seam_core.lines import BOM, LogFile
from seam_core.logstate import LogState, Part
from seam_core.records import HEALS

Texts = Callable[[Iterable[int]], Iterator[str | None]]  # rows → their texts


class _Changed(msgspec.Struct):
    after_text: str | None = None


class _Text(msgspec.Struct):
    heal_id: str
    change: _Changed | None = None


_decode = msgspec.json.Decoder(_Text).decode


def text_of(line: bytes) -> str | None:
    """The `after_text` of a heal's line.  Raises msgspec.DecodeError or RecursionError for a line that only DuckDB reads."""
    found = _decode(line.removeprefix(BOM))
    return found.change.after_text if found.change else None


def with_texts(descriptor: int, offsets: Sequence[int], function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function(texts, *arguments)` returns, where row n of the log open as `descriptor` starts at `offsets[n]`; for another
    process, which has the file alone. None when there is a line that only DuckDB reads.
    """
    with open(descriptor, "rb", buffering=0, closefd=False) as handle:
        log = LogFile(Path(HEALS.file), handle, (0, 0), os.fstat(descriptor).st_size)
        state = LogState(HEALS, log, parts=[Part(0, offsets)])
        try:
            return function(lambda rows: map(text_of, state.lines_of(list(rows))), *arguments)
        except (msgspec.DecodeError, RecursionError):
            return None
