"""One key of a record as plain data, and what it may hold in words. Standard library only: the recorder carries it with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

TIME_PATTERN = r"\d{4}-\d\d-\d\d[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?"
OUTCOMES = ("pass", "fail")
_FOUND: dict[type, str] = {dict: "an object", list: "a list", type(None): "null"}


@dataclass(frozen=True)
class Column:
    """One key of a record: where it stands, what it may hold, and how it is kept."""

    name: str
    path: tuple[str, ...]
    kind: str  # text, time, share, int, bool, choice, map, object, any
    keep: str  # column, presence, check, skip
    required: bool
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()  # keys of an object that is not taken apart; each holds text
    description: str = ""


def in_words(column: Column) -> str:
    """What a key may hold, in words; used in reasons and in the record reference."""
    words = {
        "text": "text" if not column.low else "text that is not empty",
        "time": "a time such as 2026-06-09T14:22:31Z",
        "share": "a number from 0 to 1",
        "int": f"a whole number from {column.low or 0:.0f}"
        + (f" to {column.high:.0f}" if column.high is not None and column.high < 1000 else ""),
        "bool": "true or false",
        "choice": "one of " + ", ".join(column.choices),
        "map": "an object of case_id → pass or fail",
        "object": "an object",
        "any": "anything",
    }
    return words[column.kind]


def describe(value: Any) -> str:
    """A JSON value in words; a short one as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value[:40], ensure_ascii=False)
    return next((words for kind, words in _FOUND.items() if isinstance(value, kind)), f"{value!r}"[:40])
