"""What a workspace's files looked like at one moment, and whether they still begin with those bytes.

Logs are only added to, so their first bytes never change; packed ones are digested unpacked. Fixtures may be replaced for good
reasons, so for them it is only said whether they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from seam_core.errors import UnreadableLogError
from seam_core.files import find_log, open_log
from seam_core.ledger.kinds import Certification, Checkpoint, FileDigest, Rollback
from seam_core.ledger.rows import Row
from seam_core.lines import BLOCK_BYTES, BOM, LogFile
from seam_core.records import CERTIFIED_FILE, HEALS, LOGS, SurfaceCase
from seam_core.workspace import FIXTURES_FOLDER, Workspace, holds_heal_log, workspace_of_folder

FIXTURES = {CERTIFIED_FILE, *(log.file for log in LOGS if log.fixture)}
SURFACE_FILE = next(log.file for log in LOGS if log.record is SurfaceCase)
NAMES = (*(log.file for log in LOGS), CERTIFIED_FILE)
CHECKPOINTS = (Checkpoint.kind, Certification.kind, Rollback.kind)  # rows that note what the files look like
State = Literal["unchanged", "changed", "not checkable"]
Found = Literal["same", "grown", "changed", "shorter", "gone", "cannot be read"]
FINE: tuple[Found, ...] = ("same", "grown")


_decode_case = msgspec.json.Decoder(SurfaceCase).decode


@dataclass(frozen=True)
class History:
    """Whether the logs still begin as they did at the newest checkpoint, and what became of each file."""

    state: State
    seq: int | None
    ts: str | None
    files: dict[str, Found]

    @property
    def sentence(self) -> str:
        """The state in words."""
        if self.seq is None:
            return "history is not checkable: there is no checkpoint yet"
        changed = [f"{name} {_WORDS[found]}" for name, found in self.files.items() if name not in FIXTURES and found not in FINE]
        if not changed:
            return f"the logs still begin as they did at the checkpoint of row {self.seq}"
        return f"history was changed since the checkpoint of row {self.seq}: {', '.join(changed)}"


_WORDS = {
    "changed": "does not begin with the same bytes",
    "shorter": "is shorter than it was",
    "gone": "is gone",
    "cannot be read": "cannot be read",
}


def digest_files(workspace: Workspace, *, but: str = "") -> Checkpoint:
    """Sizes and digests of every log and fixture that the workspace has; of one perhaps not. With the safety cases of its surface.

    Raises UnreadableLogError when a file cannot be read.
    """
    files: dict[str, FileDigest] = {}
    for name in (each for each in NAMES if each != but):
        with _opened(workspace, name) as log:
            if log is not None:
                files[name] = FileDigest(log.n_bytes, _digest(log, log.n_bytes))
    return Checkpoint(files=files, safety=_safety_cases(workspace))


def _safety_cases(workspace: Workspace) -> list[str] | UnsetType:
    """Ids of the safety cases in surface.jsonl; of several lines on one case the first counts, as in the store."""
    with _opened(workspace, SURFACE_FILE) as log:
        if log is None:
            return UNSET
        lines = log.read(0, log.n_bytes).removeprefix(BOM).splitlines()
    found: dict[str, bool] = {}
    for line in lines:
        try:
            case = _decode_case(line)
        except (msgspec.DecodeError, RecursionError):
            continue  # rejected by the store, too
        found.setdefault(case.id, bool(case.safety))
    return sorted(case_id for case_id, is_safety in found.items() if is_safety)


def compare_files(workspace: Workspace, newest: Row | None) -> History:
    """The files against the newest checkpoint."""
    if newest is None:
        return History("not checkable", None, None, {})
    noted = newest.decision
    assert isinstance(noted, (Checkpoint, Certification, Rollback))
    files = {name: _compare(workspace, name, before) for name, before in sorted(noted.files.items())}
    is_changed = any(found not in FINE for name, found in files.items() if name not in FIXTURES)
    return History("changed" if is_changed else "unchanged", newest.seq, newest.ts, files)


def file_stamps(workspace: Workspace) -> tuple[tuple[int, ...] | None, ...]:
    """What changes whenever a log or fixture does: its place on the disk, size and times. The time of change cannot be set by hand."""
    stamps: list[tuple[int, ...] | None] = []
    for name in NAMES:
        try:
            path = find_log(workspace.fixtures if name in FIXTURES else workspace.folder, name)
            found = path.stat() if path else None
        except (OSError, UnreadableLogError):
            found = None
        stamps.append(found and (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    return tuple(stamps)


def workspace_for_ledger(folder: Path) -> Workspace:
    """The workspace in a folder, which may have lost its heal log: its decisions can be looked at all the same.

    Raises UnreadableLogError when there is no such folder.
    """
    if not folder.is_dir():
        return workspace_of_folder(folder)
    beside = folder / FIXTURES_FOLDER
    fixtures, label = (beside, FIXTURES_FOLDER) if beside.is_dir() and not holds_heal_log(beside) else (folder, ".")
    return Workspace(folder / HEALS.file, fixtures, label)


@contextmanager
def _opened(workspace: Workspace, name: str) -> Iterator[LogFile | None]:
    """The file of a log or fixture, by its plain name; None when the workspace has none."""
    path = find_log(workspace.fixtures if name in FIXTURES else workspace.folder, name)
    log = open_log(path) if path else None
    try:
        yield log
    finally:
        if log:
            log.close()


def _compare(workspace: Workspace, name: str, before: FileDigest) -> Found:
    try:
        with _opened(workspace, name) as log:
            if log is None:
                return "gone"
            if log.n_bytes < before.n_bytes:
                return "shorter"
            if _digest(log, before.n_bytes) != before.sha256:
                return "changed"
            return "grown" if log.n_bytes > before.n_bytes else "same"
    except UnreadableLogError:
        return "cannot be read"


def _digest(log: LogFile, n_bytes: int) -> str:
    """sha256 of the first bytes of a file."""
    found, at = sha256(), 0
    while at < n_bytes:
        data = log.read(at, min(BLOCK_BYTES, n_bytes - at))
        if not data:
            raise UnreadableLogError(f"{log.path}: became shorter while it was being read; read it again")
        found.update(data)
        at += len(data)
    return found.hexdigest()
