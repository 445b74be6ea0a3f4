"""The one text that a heal's line carries, read without the rest of the line."""

from __future__ import annotations

import msgspec

from seam_core.lines import BOM


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
