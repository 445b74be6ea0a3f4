"""``python -m seam_core import FORMAT FILE… --workspace DIR``: what other tools wrote, as our records.

Exit codes: 0 everything that counts at its source is in the workspace · 1 something could not be read or is there with other content ·
3 nothing could be imported, or the arguments cannot be used · 4 a fault of the program.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from seam_core.commandline import PATH, Group, progress, say
from seam_core.errors import SettingsError, UnreadableLogError
from seam_core.escape import visible
from seam_core.exitcodes import ALERT, OK
from seam_core.importing.format import Format, Left, SourceError
from seam_core.importing.formats import FORMATS, format_named
from seam_core.importing.options import asked_of, option_of
from seam_core.importing.writing import Written, write
from seam_core.window import parse_end
from seam_core.words import count, cut, named

REASONS_SHOWN = 20

FILES = click.Argument(["files"], type=PATH, nargs=-1, required=True, metavar="FILE...", help="what the tool wrote")
FOLDER = click.Option(["--workspace"], type=PATH, required=True, help="the folder of the agent, which init makes")
LIST = click.Option(["--list", "list_file"], type=PATH, help="write all that was left out there, as JSON Lines")
NOW = click.Option(["--now"], help="the clock, for repeatable runs: later times are refused")


@click.group(cls=Group)
def command() -> None:
    """Bring in what other tools wrote: test reports, evals, scores, logs of repair loops, traces."""


def run_import(
    name: str, form: Format, *, files: Sequence[Path], workspace: Path, list_file: Path | None, now: str | None, **declared: Any
) -> int:
    """Import files into a workspace, say what became of them, and return the exit code."""
    asked = asked_of(form, name, declared)
    moment = parse_end(now) if now is not None else datetime.now(UTC)
    if not workspace.is_dir():
        what = "is not a folder" if workspace.exists() else "there is no such folder; `python -m seam_core init` makes one"
        raise UnreadableLogError(f"{workspace}: {what}")
    if list_file is not None:
        _write_list(list_file, [])  # a file that cannot be written is better known before
    written, left = write(workspace, form.read(files, asked), now=moment, tell=progress())
    if list_file is not None:
        _write_list(list_file, left)
    faults = [one for one in left if one.is_fault]
    if not any(one.new or one.there for one in written) and (faults or not left):
        raise SourceError(_nothing(faults, files))
    say("".join(f"{line}\n" for line in [*_counts(written), *_reasons(left, is_listed=list_file is not None)]))
    return ALERT if faults else OK


def _nothing(faults: Sequence[Left], files: Sequence[Path]) -> str:
    """Why there is nothing to import, in one sentence."""
    if not faults:
        return f"{named([str(path) for path in files])}: nothing in there to import"
    first = next((one for one in faults if not one.where), faults[0])  # what is said of a whole file says most
    place = f"{first.file}: " + (f"{cut(first.where)} " if first.where else "")
    more = f" (and {count(len(faults) - 1, 'more fault')}; --list FILE writes all of them)" if len(faults) > 1 else ""
    return f"{place}{first.reason}{more}"


def _counts(written: Sequence[Written]) -> list[str]:
    return [f"{one.file}: {one.new:,} new, {one.there:,} already there, {one.refused:,} refused" for one in written] or ["no record"]


def _reasons(left: Sequence[Left], *, is_listed: bool) -> list[str]:
    """One line for each reason, with the first few places that it holds for."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for one in left:
        place = f"{one.file} {one.where}".strip() if one.is_fault else one.where or one.file
        groups.setdefault((one.is_fault, one.reason), []).append(visible(place))
    lines = []
    for (is_fault, reason), places in sorted(groups.items(), key=lambda group: (not group[0][0], -len(group[1]))):
        kind = "could not be read" if is_fault else "left out"
        lines.append(f"{kind}: {len(places):,} × {visible(cut(reason, 300))} ({named(places)})")
    if len(lines) > REASONS_SHOWN:
        lines = [
            *lines[:REASONS_SHOWN],
            f"and {len(lines) - REASONS_SHOWN:,} more reasons" + ("" if is_listed else "; --list FILE writes all"),
        ]
    return lines


def _write_list(path: Path, left: Sequence[Left]) -> None:
    try:
        with path.open("w", encoding="ascii") as file:
            for one in left:
                line = {"file": one.file, "where": one.where, "reason": one.reason, "left_out": not one.is_fault}
                file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise SettingsError(f"--list {path}: cannot be written ({error.strerror})") from None


def _command_of(name: str, form: Format) -> click.Command:
    """The command of one format: the options that all have, and its own."""
    params = [FILES, FOLDER, *(option_of(key) for key in form.options), LIST, NOW]
    return click.Command(name, callback=partial(run_import, name, form), params=params, help=form.reads)


for _name in FORMATS:
    command.add_command(_command_of(_name, format_named(_name)))
