"""One audited agent's folder: where its logs, fixtures and settings are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from seam_core.errors import UnreadableLogError
from seam_core.files import SUFFIXES, find_log, stat_log
from seam_core.records import HEALS, Log

SETTINGS_FILE = "seam.toml"
FIXTURES_FOLDER = "fixtures"


@dataclass(frozen=True)
class Workspace:
    """Where one agent's files are. `fixtures` is one folder, chosen whole."""

    heals: Path
    fixtures: Path
    fixtures_label: str  # how the report names that folder

    @property
    def folder(self) -> Path:
        """The folder that holds the logs."""
        return self.heals.parent

    @property
    def settings_file(self) -> Path:
        """Where this workspace's thresholds would be."""
        return self.folder / SETTINGS_FILE

    def file_of(self, log: Log) -> Path | None:
        """The file of one log, plain or packed; None when the workspace has none."""
        if log == HEALS:
            return self.heals
        return find_log(self.fixtures if log.fixture else self.folder, log.file)


def workspace_of_log(heals: Path, *, fixtures: Path | None = None) -> Workspace:
    """The workspace around one heal log: other logs beside it, fixtures in `fixtures`, else in a ``fixtures`` folder beside it
    that holds no heal log of its own, else beside it.

    Raises UnreadableLogError when the log, or a fixtures folder given by name, is not there.
    """
    stat_log(heals)
    if fixtures is not None:
        _check_folder(fixtures)
        return Workspace(heals, fixtures, str(fixtures))
    beside = fixtures_of(heals.parent)
    return Workspace(heals, beside, FIXTURES_FOLDER if beside != heals.parent else ".")


def fixtures_of(folder: Path) -> Path:
    """The folder of the fixtures of a workspace: ``fixtures`` in it when that holds no heal log of its own, else the workspace itself."""
    beside = folder / FIXTURES_FOLDER
    return beside if beside.is_dir() and not holds_heal_log(beside) else folder


def workspace_of_folder(folder: Path) -> Workspace:
    """The workspace in one folder.  Raises UnreadableLogError when it holds no heal log."""
    _check_folder(folder)
    heals = find_log(folder, HEALS.file)
    if heals is None:
        raise UnreadableLogError(f"{folder}: holds no {HEALS.file}; let the agent append its heals there")
    return workspace_of_log(heals)


def workspaces_in(folder: Path) -> dict[str, Path]:
    """Name → folder of every workspace that `folder` offers: itself when it holds a heal log, else its sub-folders that do."""
    if holds_heal_log(folder) or not folder.is_dir():
        return {folder.name: folder}
    found = {child.name: child for child in sorted(folder.iterdir()) if child.is_dir() and holds_heal_log(child)}
    return found or {folder.name: folder}


def holds_heal_log(folder: Path) -> bool:
    """Whether a folder has a heal log of its own, readable or not."""
    return any(os.path.lexists(folder / (HEALS.file + suffix)) for suffix in SUFFIXES)


def _check_folder(path: Path) -> None:
    try:
        if not path.is_dir():
            raise UnreadableLogError(f"{path}: {'is not a folder' if path.exists() else 'no such folder'}")
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
