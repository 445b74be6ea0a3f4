"""How to compute a packet's report again: which window, clock and settings, from which files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

import msgspec

from seam_core import VERSION, meaning
from seam_core.certified import unread
from seam_core.errors import SeamError
from seam_core.ledger import Noted, noted
from seam_core.ledger.looking import FILE as LEDGER
from seam_core.merges import merged_for_report
from seam_core.report import Audit, audit, to_json, window_of
from seam_core.settings import ServerSettings, check_threshold, resolve
from seam_core.store import Store
from seam_core.window import parse_end
from seam_core.workspace import FIXTURES_FOLDER, SETTINGS_FILE, Workspace

FORMAT = "seam-evidence-packet/1"
MANIFEST = "manifest.json"
REPORT = "report.json"
DIGEST = "digest.md"
SETTINGS = "settings.json"
INPUTS = "inputs"
SEAM = "seam"  # among the versions
LIBRARIES = ("click", "duckdb", "msgspec", "rapidfuzz", "zstandard")  # what a report needs; DuckDB's version is part of its digest
CERTIFIED = "certified"  # the baseline, beside the tables of the logs


class PacketError(SeamError):
    """A file is no evidence packet, or not all of one."""


class Recipe(msgspec.Struct, frozen=True):
    """Everything that a report depends on besides the bytes of its files."""

    heals: str  # name of the heal log among the inputs
    window: str
    as_of: str
    now: str
    fixtures_label: str
    fixtures_apart: bool  # whether the fixtures lie in a folder of their own
    require: tuple[str, ...] = ()
    flags: dict[str, Any] = {}
    server_thresholds: dict[str, Any] = {}
    unreadable: dict[str, str] = {}  # table, or CERTIFIED → why its file could not be read
    has_ledger: bool = False  # whether the report names the head of the ledger …
    ledger_fault: str = ""  # … and why it could not be read


class InputFile(msgspec.Struct, frozen=True):
    """One file that the report was computed from."""

    member: str
    path: str
    bytes_used: int
    bytes_read: int  # unpacked
    sha256: str | None
    how: str
    in_packet: bool
    error: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """What is in a packet, and how it was made."""

    format: str
    versions: dict[str, str]
    recipe: Recipe
    note: str
    inputs: list[InputFile]
    made: dict[str, str]  # member → sha256 of what was computed


def versions() -> dict[str, str]:
    """Versions of SEAM, of Python and of what a report needs."""
    found = {SEAM: VERSION, "python": python_version()}
    for name in (*LIBRARIES, *(meaning.LIBRARIES if meaning.is_installed() else ())):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a library that was put there by hand
            found[name] = "unknown"
    return found


@dataclass(frozen=True)
class Computed:
    """An audit, and what its report and settings need besides."""

    audit: Audit
    server: ServerSettings
    ledger: Noted | None = None
    decisions: Path | None = None  # the copy of the ledger

    def report(self) -> bytes:
        """The report as the command line prints it."""
        merged = merged_for_report(self.audit.scope, self.decisions)
        return to_json(self.audit, ledger=self.ledger, merged=merged).encode("utf-8", "backslashreplace")


@contextmanager
def recomputed(folder: Path, recipe: Recipe) -> Iterator[Computed]:
    """What comes out of the inputs in a folder, as long as the block runs.  Raises a SeamError when they cannot be read."""
    fixtures = folder / FIXTURES_FOLDER if recipe.fixtures_apart else folder
    fixtures.mkdir(exist_ok=True)
    store = Store(
        Workspace(folder / recipe.heals, fixtures, recipe.fixtures_label), now=parse_end(recipe.now), ledger=_place(folder, recipe)
    )
    try:
        store.refresh()
        for table, sentence in recipe.unreadable.items():
            if table == CERTIFIED:
                store.certified = unread(sentence)
            else:
                store.states[table].error = sentence
        held = {key: check_threshold(key, value, where=MANIFEST) for key, value in recipe.server_thresholds.items()}
        server = ServerSettings(thresholds=held)
        resolved = resolve(folder / SETTINGS_FILE, flags=recipe.flags, server=server)
        window = window_of(store, span=recipe.window, as_of=recipe.as_of)
        yield Computed(audit(store, window, resolved, require=recipe.require), server, _ledger(folder, recipe), _place(folder, recipe))
    finally:
        store.close()


def _place(folder: Path, recipe: Recipe) -> Path | None:
    return folder / LEDGER if recipe.has_ledger and not recipe.ledger_fault else None


def _ledger(folder: Path, recipe: Recipe) -> Noted | None:
    if recipe.ledger_fault:
        return Noted(head=None, rows=None, fault=recipe.ledger_fault)
    return noted(folder / LEDGER) if recipe.has_ledger else None


def stamp(moment: datetime) -> str:
    """A moment as text that `parse_end` reads."""
    return moment.isoformat().replace("+00:00", "Z")


def sha256(data: bytes) -> str:
    """Hexadecimal sha256."""
    return hashlib.sha256(data).hexdigest()


def differing(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Libraries whose version is another one now, in words."""
    return [f"{name} {then[name]} then, {now.get(name, 'none')} now" for name in then if then[name] != now.get(name)]
