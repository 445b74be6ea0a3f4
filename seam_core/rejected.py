"""A line of a log that could not be used, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reject:
    """One line that was not loaded: where it stands and why."""

    file: str
    line: int  # physical line number, from 1
    path: str  # key path inside the record; empty when the line is not a record at all
    reason: str
