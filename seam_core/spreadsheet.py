"""CSV for people who open it in a spreadsheet: RFC 4180, and no cell that is run as a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def neutral(value: Any) -> Any:
    """The value of one cell; a text that starts like a formula gets a leading apostrophe. Numbers stay numbers."""
    if value is None or isinstance(value, (int, float, Decimal)):
        return value
    text = as_text(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def as_text(value: Any) -> str:
    """A value as text: times as RFC 3339 in UTC, lists as JSON."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def csv_lines(names: Sequence[str], blocks: Iterable[Iterable[Sequence[Any]]], *, is_neutral: bool = False) -> Iterator[bytes]:
    """A heading and rows as UTF-8, a block of rows at a time; the same bytes for the same rows.

    is_neutral: the cells were made by `neutral_sql` already.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([neutral(name) for name in names])
    for block in blocks:
        writer.writerows(block if is_neutral else ([neutral(value) for value in row] for row in block))
        yield _taken(out)
    yield _taken(out)


def neutral_sql(name: str, kind: str) -> str:
    """The same as `neutral`, as an expression of DuckDB over a column of a type: much faster for many rows."""
    if kind.endswith("[]"):
        return f"to_json({name})::varchar"
    if kind.startswith("TIMESTAMP"):
        return f"replace(strftime({name}, '%Y-%m-%dT%H:%M:%S.%fZ'), '.000000Z', 'Z')"
    if kind in ("VARCHAR", "JSON") or kind.startswith("ENUM"):
        signs = ", ".join(f"chr({ord(sign)})" for sign in FORMULA)
        return f"case when left({name}::varchar, 1) in ({signs}) then '''' || {name}::varchar else {name}::varchar end"
    return name


def _taken(out: io.StringIO) -> bytes:
    data = out.getvalue().encode("utf-8", "backslashreplace")
    out.seek(0)
    out.truncate()
    return data
