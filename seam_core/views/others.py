"""The other workspaces of a folder: whether each can be opened, told from a look at its files and not from reading them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from seam_core.errors import SeamError
from seam_core.files import open_log
from seam_core.judge import judge, latest_time
from seam_core.lines import Block, pieces
from seam_core.records import HEALS
from seam_core.report import Audit
from seam_core.settings import resolve
from seam_core.words import count
from seam_core.workspace import workspace_of_folder, workspaces_in

LOOKED_AT = 200  # lines at the start of each heal log
START = 4 * 2**20  # bytes


@dataclass(frozen=True)
class Other:
    """One workspace: how large its heal log is, when it was last written, and what is wrong with it."""

    name: str
    n_bytes: int | None
    changed_at: datetime | None
    fault: str


def others(audit: Audit, root: str) -> tuple[Other, ...]:
    """Every workspace of a folder, broken ones first; empty where there is but one."""
    found = workspaces_in(Path(root))
    if len(found) < 2:
        return ()
    return tuple(sorted((_look(name, folder) for name, folder in found.items()), key=lambda one: (not one.fault, one.name)))


def _look(name: str, folder: Path) -> Other:
    n_bytes = changed_at = None
    try:
        workspace = workspace_of_folder(folder)
        stat = workspace.heals.stat()
        n_bytes, changed_at = stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC)
        fault = _fault(workspace.heals)
        resolve(workspace.settings_file)
    except SeamError as error:
        fault = str(error).removeprefix(f"{folder}: ").replace(f"{folder}/", "")
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    return Other(name, n_bytes, changed_at, fault)


def _fault(heals: Path) -> str:
    """Why there seems to be no heal in a log; "" when one of its first lines is a heal."""
    if heals.suffix in (".gz", ".zst"):
        return ""  # to look into it would be to unpack it
    log = open_log(heals)
    try:
        stop = min(log.n_bytes, START)
        lines = [
            line
            for block in log.blocks(0, log.tail_start(0) if stop == log.n_bytes else stop)
            if isinstance(block, Block)
            for _, line in pieces(block)
        ]
        latest = latest_time(datetime.now(UTC))
        looked_at = 0
        for line in islice(lines, LOOKED_AT):
            looked_at += 1
            if judge(line, HEALS, latest=latest) is None:
                return ""
        return f"none of its first {count(looked_at, 'line')} is a heal" if looked_at else "holds no heal yet"
    finally:
        log.close()
