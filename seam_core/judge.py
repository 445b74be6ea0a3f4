"""What is wrong with one line, in words. Slow and exact; used only for lines that the fast load did not accept."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec

from seam_core.columns import TIME_PATTERN, Column, columns_of
from seam_core.records import Log

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
FUTURE = timedelta(days=1)  # a clock may run ahead by so much
DIGITS_MAX = 4300  # Python converts no longer integer
# What DuckDB takes for JSON and the standard does not: a comma before a closing bracket, nan and inf, odd white space. One expression
# each, since one that starts with a single character is found fast.
_NO_NUMBER = rb"-?(?:[nN][aA][nN]|[iI][nN][fF])"
_ODD = tuple(
    re.compile(start + rb"\s*" + rest)
    for start, rest in ((b",", rb"(?:[}\]]|" + _NO_NUMBER + b")"), (b":", _NO_NUMBER), (rb"\[", _NO_NUMBER))
)
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_TIME = re.compile(TIME_PATTERN, re.ASCII)
_MISSING = re.compile(r"missing required field `(\w+)`")
_AT = re.compile(r" - at `\$\.?(.*)`$")
_FOUND: dict[type, str] = {dict: "an object", list: "a list", type(None): "null"}


@dataclass(frozen=True)
class Reject:
    """One line that was not loaded: where it stands and why."""

    file: str
    line: int  # physical line number, from 1
    path: str  # key path inside the record; empty when the line is not a record at all
    reason: str


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


def judge(line: bytes, log: Log, *, latest: datetime) -> tuple[str, str] | None:
    """(key path, reason) of the first rule that a line breaks; None when it is a record of this log, or nested too deeply to tell.

    latest: the newest time that is believed; see `latest_time`.
    """
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return "", f"not UTF-8: byte {error.start + 1} of the line is {line[error.start]:#04x}"
    try:
        value = json.loads(text, object_pairs_hook=JSONObject.of, parse_constant=_no_constant, parse_int=whole_number)
    except _NotJSONError as error:
        return "", str(error)
    except json.JSONDecodeError as error:
        return "", f"not JSON: {_plain(error.msg).removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        return None
    if not isinstance(value, JSONObject):
        return "", f"must be an object, found {describe(value)}"
    if twice := _key_twice(log, value):
        return twice, "stands twice in one object"
    try:
        _decoder(log).decode(text)
    except msgspec.ValidationError as error:
        path, reason = _in_words(error, log, value)
        if not _is_free(log, path):
            return path, reason
    except msgspec.DecodeError as error:
        return "", "not Unicode: half of a surrogate pair" if _HALF_PAIR.search(text) else f"not JSON: {_plain(str(error))}"
    return _judge_times(log, value, latest)


def is_odd(data: bytes) -> bool:
    """Whether some bytes of a log may hold what DuckDB takes for JSON and the standard does not."""
    return b"\x0b" in data or b"\x0c" in data or any(pattern.search(data) for pattern in _ODD)


def whole_number(digits: str) -> int | float:
    """A JSON integer; infinite when it has more digits than Python converts."""
    return int(digits) if len(digits) <= DIGITS_MAX else float("inf")


def latest_time(now: datetime) -> datetime:
    """The newest time that a line may carry."""
    return now + min(FUTURE, datetime.max.replace(tzinfo=UTC) - now)


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


@cache
def _decoder(log: Log) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(log.record)


@cache
def _columns(log: Log) -> dict[tuple[str, ...], Column]:
    return {column.path: column for column in columns_of(log)}


def _key_twice(log: Log, value: JSONObject) -> str | None:
    """The first key of this format that stands twice; what stands under keys we do not know is not ours to judge."""
    for path, column in _columns(log).items():
        inner: Any = value
        for part in path[:-1]:
            inner = inner.get(part) if isinstance(inner, dict) else None
        if column.keep != "skip" and isinstance(inner, JSONObject) and path[-1] in inner.twice:
            return ".".join(path)
        last = inner.get(path[-1]) if isinstance(inner, dict) else None
        if column.kind == "map" and isinstance(last, JSONObject) and last.twice:
            return f"{path[-1]}.{last.twice[0]}"
    return next((key for key in value.twice if key in {path[0] for path, column in _columns(log).items() if column.keep != "skip"}), None)


def _is_free(log: Log, path: str) -> bool:
    """Whether a key may hold anything, even a number that overflows."""
    return any(column.keep == "skip" and f"{path}.".startswith(".".join(column.path) + ".") for column in _columns(log).values())


def _no_constant(name: str) -> Any:
    raise _NotJSONError(f"not JSON: {name} is not a number")


def _plain(message: str) -> str:
    return message.removeprefix("JSON is malformed: ").rstrip(".").lower()


def _in_words(error: msgspec.ValidationError, log: Log, value: dict[str, Any]) -> tuple[str, str]:
    message = str(error)
    at = _AT.search(message)
    where = at.group(1) if at else ""
    path = tuple(part for part in where.removesuffix("[...]").split(".") if part)
    if missing := _MISSING.search(message):
        return ".".join((*path, missing.group(1))), "is missing; every record needs it"
    if where.endswith("[...]"):
        name, outcome = next(((k, v) for k, v in value.get(path[0], {}).items() if v not in ("pass", "fail")), ("", None))
        return f"{path[0]}.{name}", f"must be pass or fail, found {describe(outcome)}"
    inner: Any = value
    for part in path:
        inner = inner.get(part) if isinstance(inner, dict) else None
    column = _columns(log).get(path)
    high = column.high if column and column.kind == "int" and column.high else math.inf
    if isinstance(inner, (int, float)) and (abs(inner) == math.inf or inner > high >= 1000):
        return ".".join(path), "is too large for a number"
    parent = _columns(log).get(path[:-1])
    expected = in_words(column) if column else "text" if parent else "an object"
    return ".".join(path), f"must be {expected}, found {describe(inner)}"


def _judge_times(log: Log, value: dict[str, Any], latest: datetime) -> tuple[str, str] | None:
    if "ts" not in value:
        return None
    text = value["ts"]
    if not _TIME.fullmatch(text):
        return "ts", f"must be {in_words(_columns(log)[('ts',)])}, found {describe(text)}"
    try:
        moment = datetime.fromisoformat(_microseconds(text.upper()))
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


def _microseconds(text: str) -> str:
    return re.sub(r"(\.\d{6})\d+", r"\1", text)
