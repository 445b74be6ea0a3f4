"""What is wrong with one line of a log, in words: the rules by which a line is read, and by which the recorder writes one."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from .shape import OUTCOMES, TIME_PATTERN, Column, describe, in_words

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
FUTURE = timedelta(days=1)  # a clock may run ahead by so much
DIGITS_MAX = 4300  # Python converts no longer integer
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAYBE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TIME = re.compile(TIME_PATTERN, re.ASCII)

Fault = tuple[str, str]  # key path inside the record, reason; the path is empty when the line is not a record at all
Tree = Mapping[str, "Column | Tree"]  # a record class as nested mappings


@dataclass(frozen=True)
class Rules:
    """The columns of one log, in the order of the reference and as nested mappings."""

    columns: tuple[Column, ...]
    tree: Tree

    @classmethod
    def of(cls, columns: Iterable[Column]) -> Rules:
        """The rules that some columns make."""
        columns = tuple(columns)
        tree: dict[str, Any] = {}
        for column in columns:
            inner = tree
            for part in column.path[:-1]:
                inner = inner.setdefault(part, {})
            inner[column.path[-1]] = column
        return cls(columns, tree)


class _NotJSONError(ValueError):
    pass


class JSONObject(dict[str, Any]):
    """A JSON object that remembers which keys stood twice in it."""

    twice: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> JSONObject:
        """The object of some pairs; a later value replaces an earlier one."""
        found = cls(pairs)
        if len(found) < len(pairs):
            found.twice = tuple(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        return found


def judge_line(line: bytes, rules: Rules, *, latest: datetime) -> Fault | None:
    """(key path, reason) of the first rule that a line breaks; None when it is a record by these rules, or nested too deeply to tell.

    latest: the newest time that is believed; see `latest_time`.
    """
    with_twice: list[JSONObject] = []
    try:
        text, value = _parsed(line, with_twice)
    except _NotJSONError as error:
        return "", str(error)
    except RecursionError:
        return None
    if not isinstance(value, JSONObject):
        return "", f"must be an object, found {describe(value)}"
    if with_twice and (twice := _key_twice(rules.columns, value)):
        return twice, "stands twice in one object"
    if _has_half_pair(text, value):
        return "", "not Unicode: half of a surrogate pair"
    if fault := _judge_object(value, rules.tree):
        return fault
    time = rules.tree.get("ts")
    return _judge_time(value["ts"], time, latest) if isinstance(time, Column) else None


def record_in(line: bytes, rules: Rules, *, latest: datetime) -> dict[str, Any] | None:
    """The record that a line is; None for a line that the reader rejects."""
    if judge_line(line, rules, latest=latest) is not None:
        return None
    try:
        found: dict[str, Any] = json.loads(line.decode("utf-8-sig"))
    except RecursionError:
        return None
    return found


def _parsed(line: bytes, with_twice: list[JSONObject]) -> tuple[str, Any]:
    """A line as text and as the value that it is; objects in which a key stands twice are noted.  Raises _NotJSONError, RecursionError."""

    def take(pairs: list[tuple[str, Any]]) -> JSONObject:
        found = JSONObject.of(pairs)
        if found.twice:
            with_twice.append(found)
        return found

    try:
        text = line.decode("utf-8-sig")
        return text, json.loads(text, object_pairs_hook=take, parse_constant=_no_constant, parse_int=whole_number)
    except UnicodeDecodeError as error:
        raise _NotJSONError(f"not UTF-8: byte {error.start + 1} of the line is {line[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        said = error.msg.rstrip(".").lower().removesuffix(" at")
        raise _NotJSONError(f"not JSON: {said} at character {error.pos + 1}") from None


def latest_time(now: datetime) -> datetime:
    """The newest time that a line may carry."""
    return now + min(FUTURE, datetime.max.replace(tzinfo=UTC) - now)


def whole_number(digits: str) -> int | float:
    """A JSON integer; infinite when it has more digits than Python converts."""
    return int(digits) if len(digits) <= DIGITS_MAX else float("inf")


def _judge_object(value: Mapping[str, Any], tree: Tree, path: tuple[str, ...] = ()) -> Fault | None:
    """The first fault in the order of the line, and then what is missing, in the order of the reference."""
    for key, inner in value.items():
        rule = tree.get(key)
        if rule is not None and (fault := _judge_value(inner, rule, (*path, key))):
            return fault
    for key, rule in tree.items():
        if key not in value and _is_required(rule):
            return ".".join((*path, key)), "is missing; every record needs it"
    return None


def _is_required(rule: Column | Tree) -> bool:
    return rule.required if isinstance(rule, Column) else any(_is_required(inner) for inner in rule.values())


def _judge_value(value: Any, rule: Column | Tree, path: tuple[str, ...]) -> Fault | None:
    if value is None and not _is_required(rule):
        return None
    kind, high = (rule.kind, rule.high) if isinstance(rule, Column) else ("object", None)
    if _is_number(value) and kind != "any" and (abs(value) == math.inf or (kind == "int" and value > (high or math.inf) >= 1000)):
        return ".".join(path), "is too large for a number"
    if not isinstance(rule, Column):
        return _judge_object(value, rule, path) if isinstance(value, dict) else _wrong(path, "an object", value)
    if rule.kind == "map" and isinstance(value, dict):
        case = next((case for case, outcome in value.items() if outcome not in OUTCOMES), None)
        return None if case is None else _wrong((*path, case), "pass or fail", value[case])
    if rule.kind == "object" and isinstance(value, dict):
        key = next((key for key in value if key in rule.inner and not isinstance(value[key], str | None)), None)
        return None if key is None else _wrong((*path, key), "text", value[key])
    return None if _fits(value, rule) else _wrong(path, in_words(rule), value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fits(value: Any, rule: Column) -> bool:
    if rule.kind in ("text", "time"):
        return isinstance(value, str) and len(value) >= (rule.low or 0)
    if rule.kind == "bool":
        return isinstance(value, bool)
    if rule.kind == "choice":
        return isinstance(value, str) and value in rule.choices
    if rule.kind in ("share", "int"):
        is_kind = _is_number(value) and (rule.kind == "share" or isinstance(value, int))
        return is_kind and (rule.low is None or value >= rule.low) and (rule.high is None or value <= rule.high)
    return rule.kind == "any"


def _wrong(path: tuple[str, ...], expected: str, value: Any) -> Fault:
    return ".".join(path), f"must be {expected}, found {describe(value)}"


def _has_half_pair(text: str, value: JSONObject) -> bool:
    return bool(_MAYBE_SURROGATE.search(text) and _SURROGATE.search(json.dumps(value, ensure_ascii=False)))


def _key_twice(columns: tuple[Column, ...], value: JSONObject) -> str | None:
    """The first key of this format that stands twice; what stands under keys we do not know is not ours to judge."""
    for column in columns:
        path = column.path
        inner: Any = value
        for part in path[:-1]:
            inner = inner.get(part) if isinstance(inner, dict) else None
        if column.keep != "skip" and isinstance(inner, JSONObject) and path[-1] in inner.twice:
            return ".".join(path)
        last = inner.get(path[-1]) if isinstance(inner, dict) else None
        if column.kind == "map" and isinstance(last, JSONObject) and last.twice:
            return f"{path[-1]}.{last.twice[0]}"
    return next((key for key in value.twice if key in {column.path[0] for column in columns if column.keep != "skip"}), None)


def _no_constant(name: str) -> Any:
    raise _NotJSONError(f"not JSON: {name} is not a number")


def _judge_time(text: str, column: Column, latest: datetime) -> Fault | None:
    if not _TIME.fullmatch(text):
        return _wrong(column.path, in_words(column), text)
    try:
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text.upper()))
    except ValueError:
        return "ts", f"is not a day and time of the calendar: {text[:40]}"
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        return "ts", f"{text[:40]} is outside the calendar"
    if moment < EARLIEST:
        return "ts", f"{text[:40]} is before the year 2000"
    if moment > latest:
        return "ts", f"{text[:40]} is more than a day after the clock ({(latest - FUTURE).isoformat(timespec='seconds')})"
    return None
