"""Times of other tools, as the logs write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from seam_core.importing.reading import number_in
from seam_core.importing.runs import rfc3339


def moment_in(value: Any) -> str | None:
    """A time in RFC 3339, or in ISO 8601 near enough to it, as the source wrote it; None for what is none. Nothing is added to it."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    text = re.sub(r"(\.\d{6})\d+", r"\1", value.strip())
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not re.search(r"\d[T ]\d\d", text):
        return None  # a date alone is no time of day
    return moment.isoformat().replace("+00:00", "Z")


def of_unix(seconds: Any) -> str | None:
    """The time of a number of seconds since 1970; None for what is none."""
    number = number_in(seconds)
    try:
        return rfc3339(datetime.fromtimestamp(number, UTC)) if number is not None and number > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def of_nanoseconds(value: Any) -> str | None:
    """The time of a number of nanoseconds since 1970, which may be written as text; None for what is none."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 25:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return None
    try:
        return rfc3339(datetime.fromtimestamp(value // 10**9, UTC).replace(microsecond=value % 10**9 // 1000))
    except (ValueError, OverflowError, OSError):
        return None
