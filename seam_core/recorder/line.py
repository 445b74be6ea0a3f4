"""A record as the line that is appended: plain JSON that the reader takes, or the reason why it would not.

A heal is worth more than one of its numbers: what is optional and wrong is left out, and the line says so under ``not_recorded``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .checking import Fault, Rules, judge_line
from .shape import Column

LINE_MAX = 64 * 2**20  # a longer line is not read
DEPTH_MAX = 100  # of lists and objects in each other; the reader takes 127
TEXT_MAX = 2_000  # characters of a value that JSON has no form for
LEFT_OUT = "not_recorded"


@dataclass(frozen=True)
class Line:
    """One line with its newline, what was left out of it and why; or the fault that makes a line of it impossible."""

    data: bytes
    left_out: dict[str, str] = field(default_factory=dict)
    fault: Fault | None = None


def line_of(record: Mapping[str, Any], rules: Rules, *, latest: datetime) -> Line:
    """The line of a record, judged as the reader judges it."""
    value = _plain(record)
    left_out: dict[str, str] = {}
    while True:
        data = _dumped(value | ({LEFT_OUT: left_out} if left_out else {}))
        fault = judge_line(data, rules, latest=latest)
        if fault is None and len(data) > LINE_MAX:
            fault = _longest(value, rules), f"the line would be longer than {LINE_MAX >> 20} MB"
        if fault is None:
            return Line(data, left_out)
        path = _optional(fault[0], value, rules)
        if path is None:
            return Line(data, left_out, fault)
        _drop(value, path)
        left_out[fault[0]] = fault[1]


def time_text(moment: datetime | str | None, *, now: datetime) -> str:
    """A time as it is logged. A datetime without an offset is taken as local time, as Python takes it."""
    moment = now if moment is None else moment
    if not isinstance(moment, datetime):
        return moment  # text, or what the rules will find to be none
    try:
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError):  # at the edge of the calendar
        return moment.isoformat()


def _dumped(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(", ", ": ")) + "\n").encode()


def _plain(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """A value as JSON has it: what is missing left out at the top, odd numbers and objects as text, no half of a surrogate pair."""
    try:
        return _converted(value, inside)
    except Exception:  # any object may come from the agent, and none may keep a heal from being logged
        return as_text(value)


def _converted(value: Any, inside: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else str.__str__(value)  # an Enum's value, not its name
    if isinstance(value, int):
        return int(value) if abs(value) < 10**300 else as_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if len(inside) > DEPTH_MAX or id(value) in inside:
        return f"a {type(value).__name__} nested too deeply"
    if isinstance(value, Mapping):
        inner = {str(_plain(key)): _plain(one, (*inside, id(value))) for key, one in value.items()}
        return {key: one for key, one in inner.items() if one is not None} if len(inside) < 2 else inner
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one, (*inside, id(value))) for one in value]
    if isinstance(value, datetime):
        return time_text(value, now=value)
    number = getattr(value, "item", None)  # NumPy's scalars
    plain = number() if callable(number) and getattr(value, "ndim", None) == 0 else value
    return as_text(value) if type(plain) is type(value) else _plain(plain)


def as_text(value: Any) -> str:
    """Any object in words, shortened; one that cannot say what it is does not matter."""
    try:
        text = f"a whole number of {value.bit_length():,} bits" if isinstance(value, int) else str(value)
    except Exception as error:
        text = f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text[:TEXT_MAX].encode("utf-8", "replace").decode()


def _optional(path: str, value: Mapping[str, Any], rules: Rules) -> tuple[str, ...] | None:
    """The key path that may be left out to mend a fault; None when the record is none without it."""
    for column in rules.columns:
        for n in range(1, len(column.path) + 1):
            whole = column.path[:n]
            if path == ".".join(whole) or (n == len(column.path) and path.startswith(".".join(whole) + ".")):
                return None if _is_needed(whole, rules.columns) or not _holds(value, whole) else whole
    return (path,) if path in value else None


def _is_needed(path: tuple[str, ...], columns: tuple[Column, ...]) -> bool:
    return any(column.required and column.path[: len(path)] == path for column in columns)


def _holds(value: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    inner: Any = value
    for part in path:
        if not isinstance(inner, Mapping) or part not in inner:
            return False
        inner = inner[part]
    return True


def _drop(value: dict[str, Any], path: tuple[str, ...]) -> None:
    inner = value
    for part in path[:-1]:
        inner = inner[part]
    del inner[path[-1]]


def _longest(value: Mapping[str, Any], rules: Rules) -> str:
    """The longest part that may be left out."""
    paths = {column.path for column in rules.columns if not column.required and _holds(value, column.path)}
    paths |= {(key,) for key in value if key not in rules.tree}
    longest: tuple[str, ...] = max(sorted(paths), key=lambda path: len(_dumped({"": _at(value, path)})), default=("",))
    return ".".join(longest)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        value = value[part]
    return value
