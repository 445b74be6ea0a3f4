"""What an importer fills in: what it reads, what the caller has to declare, and the function that gives our records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from seam_core.errors import SeamError
from seam_core.records import LOGS, Log

HEAL_LOG, FAILURE_LOG, RUN_LOG = LOGS[0], LOGS[1], LOGS[2]
CASE_LOGS = {log.table: log for log in LOGS if log.table in ("surface", "holdout", "practice")}

RUN_OPTIONS = ("suite", "phase", "heal_id", "night", "run_id", "errors", "with_cases")
HEAL_OPTIONS = ("visible", "holdout", "loop_id")


class SourceError(SeamError):
    """One file cannot be imported; the sentence says why and what to do."""


@dataclass(frozen=True)
class Asked:
    """What the caller declared, because no foreign file says it. Names are those of the options."""

    suite: str | None = None
    phase: str | None = None
    heal_id: str | None = None
    night: str | None = None
    run_id: str | None = None
    errors: Literal["fail", "leave-out"] = "fail"
    with_cases: bool = False
    merge: bool = False
    instances: frozenset[str] | None = None
    score: str | None = None
    case_key: str | None = None
    pass_at: float | None = None
    pass_label: str | None = None
    visible: str | None = None
    holdout: str | None = None
    loop_id: str | None = None
    max_reflections: int | None = None
    assume_ts: datetime | None = None


@dataclass(frozen=True)
class Item:
    """One record of ours, not yet checked."""

    log: Log
    record: dict[str, Any]
    file: str  # where it was read


@dataclass(frozen=True)
class Left:
    """Something in a file that became no record, and why."""

    file: str
    where: str
    reason: str
    is_fault: bool = True  # false for what the source itself says does not count: skipped cases, solved at once


Found = Item | Left


@dataclass(frozen=True)
class Format:
    """One foreign format. `read` may raise SourceError before its first record of a file."""

    reads: str  # in a few words, for the list of formats
    options: tuple[str, ...]  # names of `Asked` that it takes
    read: Callable[[Sequence[Path], Asked], Iterator[Found]]
    needs: tuple[str, ...] = ()


def each(read_one: Callable[[Path, Asked], Iterable[Found]]) -> Callable[[Sequence[Path], Asked], Iterator[Found]]:
    """A reader of many files from a reader of one: a file that cannot be imported is listed, and the others are read."""

    def read(paths: Sequence[Path], asked: Asked) -> Iterator[Found]:
        for path in paths:
            try:
                yield from read_one(path, asked)
            except SourceError as error:
                yield Left(name_of(path), "", str(error))

    return read


def name_of(path: Path) -> str:
    """A file's name as a record may carry it: without its folder, and as Unicode text."""
    return path.name.encode("utf-8", "backslashreplace").decode()
