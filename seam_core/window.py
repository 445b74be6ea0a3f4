"""The stretch of time a report speaks of: start < ts ≤ end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from seam_core.errors import WindowError
from seam_core.judge import EARLIEST
from seam_core.words import cut

_SPAN = re.compile(r"([1-9]\d{0,4})([hdw])", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
ALL = "all"


@dataclass(frozen=True)
class Window:
    """start < ts ≤ end; `start` is None for all of history, and `label` is ``START-DATE .. END-DATE``."""

    start: datetime | None
    end: datetime
    first: datetime | None = None  # the first heal, for the label of an unbounded window

    @property
    def label(self) -> str:
        """The window as the report prints it."""
        start = self.start or self.first or self.end
        return f"{start.date().isoformat()} .. {self.end.date().isoformat()}"

    def shifted(self, by: timedelta) -> Window:
        """The same length of time, moved."""
        return Window(self.start + by if self.start else None, self.end + by, self.first)

    @property
    def previous(self) -> Window | None:
        """The window of the same length just before; None for all of history, or when the calendar does not go back so far."""
        if self.start is None:
            return None
        try:
            return self.shifted(self.start - self.end)
        except OverflowError:
            return None


def parse_span(text: str) -> timedelta | None:
    """Length of ``7d``, ``24h`` or ``4w``; None for ``all``.  Raises WindowError."""
    if text == ALL:
        return None
    found = _SPAN.fullmatch(text)
    if not found:
        raise WindowError(f"--window {text}: write it as 7d, 24h, 4w or all")
    return int(found.group(1)) * _UNITS[found.group(2)]


def parse_end(text: str) -> datetime:
    """The moment named by a date (its last moment, UTC) or an RFC 3339 time (no offset: UTC).  Raises WindowError."""
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), time.max, UTC)
        if not _TIME.fullmatch(text):
            raise ValueError(text)
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text.upper()))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise WindowError(f"{cut(text) or 'an empty text'} is no time: write it as 2026-06-09 or 2026-06-09T14:22:31Z") from None


def make_window(span: str, *, end: datetime, first: datetime | None = None) -> Window:
    """The window of a length (``7d``, ``all`` …) that ends at `end`.  Raises WindowError."""
    length = parse_span(span)
    if end < EARLIEST:
        raise WindowError(f"a window that ends on {end.date().isoformat()} ends before the year 2000, when no heal is believed")
    try:
        return Window(end - length if length else None, end, first)
    except OverflowError:
        raise WindowError(f"--window {span}: starts before the calendar does") from None


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)
