"""``python -m seam_core doctor FOLDER``: what a workspace has, what each missing file would add, and which axis it would switch on.

Exit codes: 0 all four axes can be scored · 1 one cannot yet, or lines could not be read · 3 there is no such folder, or its heal log
cannot be read · 4 a fault of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from seam_core.commandline import PATH, progress, say
from seam_core.errors import UnreadableLogError
from seam_core.escape import visible
from seam_core.exitcodes import ALERT, OK
from seam_core.files import find_log
from seam_core.inputs import ADDS, missing_inputs
from seam_core.records import CERTIFIED_FILE, HEALS, LOGS
from seam_core.rejected import Reject
from seam_core.report import AXES, Audit, audit, window_of
from seam_core.settings import read_server_settings, resolve
from seam_core.store import Store
from seam_core.views import files
from seam_core.window import ALL, parse_end
from seam_core.words import AXIS_NAMES, capital, count
from seam_core.workspace import SETTINGS_FILE, fixtures_of, workspace_of_log

REJECTS_SHOWN = 3
WIDTH = 20


@click.command()
@click.argument("folder", type=PATH, help="the workspace")
@click.option("--now", help="the clock, for repeatable runs: later times are not believed")
def command(*, folder: Path, now: str | None) -> int:
    """Say what a workspace has, and what each missing file or key would switch on. Exits 1 until all four axes can be scored."""
    if not folder.is_dir():
        raise UnreadableLogError(f"{folder}: {'is not a folder' if folder.exists() else 'no such folder'}")
    heals = find_log(folder, HEALS.file)
    moment = parse_end(now) if now is not None else datetime.now(UTC)
    found = _audited(folder, heals, moment) if heals else None
    if isinstance(found, Audit):
        say("".join(f"{visible(line)}\n" for line in _of_audit(found)))
        is_well = all(score is not None for score in found.scores.values()) and not found.scope.store.rejects()
        return OK if is_well else ALERT
    say("".join(f"{visible(line)}\n" for line in _without_heals(folder, heals, found or [])))
    return ALERT


def _audited(folder: Path, heals: Path, now: datetime) -> Audit | list[Reject]:
    """The audit of all history; the lines that cannot be read when there is no heal."""
    workspace = workspace_of_log(heals)
    store = Store(workspace, now=now, tell=progress())
    store.refresh()
    if not store.cursor().execute("select count(*) from heals").fetchall()[0][0]:
        return store.rejects()
    resolved = resolve(folder / SETTINGS_FILE, server=read_server_settings())
    return audit(store, window_of(store, span=ALL), resolved)


def _of_audit(found: Audit) -> Iterator[str]:
    yield "Files"
    for file in files.files(found):
        yield f"  {file.name:{WIDTH}} {_content(file)}"
    missing = files.missing(found)
    if missing:
        yield "Missing, and what each would add"
        yield from (f"  {one.name:{WIDTH}} {one.adds}" for one in missing)
    yield "Axes over all history"
    told = missing_inputs(found)
    for axis in AXES:
        score = found.scores[axis]
        yield f"  {AXIS_NAMES[axis]:{WIDTH}} {'can be scored' if score is not None else f'not scored: {told[axis]}'}"
    absent = [key for key in files.keys(found) if not key.n]
    if absent:
        yield "Keys of heal_events.jsonl that no heal carries, and what they feed"
        yield from (f"  {key.name:{WIDTH}} {key.feeds}" for key in absent)
    yield from _rejects(found.scope.store.rejects())
    yield from (f"Note: {flag}" for flag in found.flags)


def _content(file: files.FileState) -> str:
    """What is in one file, in a few words."""
    parts = [count(file.kept, "record") if file.lines else "empty"] if file.name not in (CERTIFIED_FILE, SETTINGS_FILE) else ["there"]
    parts += [f"from {file.first:%Y-%m-%d} to {file.last:%Y-%m-%d}"] if file.first and file.last else []
    parts += [f"{file.rejected:,} rejected"] if file.rejected else []
    parts += [f"{file.rewritten:,} rewritten"] if file.rewritten else []
    parts += [f"{file.assumed_time:,} with an assumed time"] if file.assumed_time else []
    return ", ".join([*parts, *file.notes])


def _rejects(rejects: list[Reject]) -> Iterator[str]:
    if rejects:
        yield f"{capital(count(len(rejects), 'line'))} could not be read"
    for one in rejects[:REJECTS_SHOWN]:
        yield f"  {one.file}:{one.line} {f'{one.path} ' if one.path else ''}{one.reason}"
    if len(rejects) > REJECTS_SHOWN:
        yield f"  and {len(rejects) - REJECTS_SHOWN:,} more: python run_seam.py --rejects FILE writes them all"


def _without_heals(folder: Path, heals: Path | None, rejects: list[Reject]) -> Iterator[str]:
    """What a folder holds in which there is no heal to score."""
    what = "holds no heal" if heals else "missing"
    yield f"{HEALS.file}: {what}, and without one nothing is scored; let the agent append its heals, or import them"
    yield from _rejects(rejects)
    fixtures = fixtures_of(folder)
    there = {log.file: find_log(fixtures if log.fixture else folder, log.file) is not None for log in LOGS if log != HEALS}
    there[CERTIFIED_FILE] = (fixtures / CERTIFIED_FILE).exists()
    yield from (f"  {name:{WIDTH}} there" for name, is_there in there.items() if is_there)
    yield "Missing, and what each would add"
    yield from (f"  {name:{WIDTH}} {adds}" for name, adds in ADDS.items() if not there[name])
