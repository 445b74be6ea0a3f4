"""What is wrong with one line, in words. Slow and exact; used only for lines that the fast load did not accept.

The rules are `seam_core.recorder.checking`, which the recorder carries with it: a line is written and read by the same ones.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from seam_core.columns import columns_of
from seam_core.recorder.checking import EARLIEST, Fault, JSONObject, Rules, judge_line, latest_time, whole_number
from seam_core.recorder.shape import describe, in_words
from seam_core.records import Log

__all__ = ["EARLIEST", "JSONObject", "describe", "in_words", "is_odd", "judge", "latest_time", "whole_number"]

# What DuckDB takes for JSON and the standard does not: a comma before a closing bracket, nan and inf, odd white space. One expression
# each, since one that starts with a single character is found fast.
_NO_NUMBER = rb"-?(?:[nN][aA][nN]|[iI][nN][fF])"
_ODD = tuple(
    re.compile(start + rb"\s*" + rest)
    for start, rest in ((b",", rb"(?:[}\]]|" + _NO_NUMBER + b")"), (b":", _NO_NUMBER), (rb"\[", _NO_NUMBER))
)


def judge(line: bytes, log: Log, *, latest: datetime) -> Fault | None:
    """(key path, reason) of the first rule that a line breaks; None when it is a record of this log, or nested too deeply to tell.

    latest: the newest time that is believed; see `latest_time`.
    """
    return judge_line(line, _rules(log), latest=latest)


def is_odd(data: bytes) -> bool:
    """Whether some bytes of a log may hold what DuckDB takes for JSON and the standard does not."""
    return b"\x0b" in data or b"\x0c" in data or any(pattern.search(data) for pattern in _ODD)


@cache
def _rules(log: Log) -> Rules:
    return Rules.of(columns_of(log))
