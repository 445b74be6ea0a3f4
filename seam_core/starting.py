"""``python -m seam_core init FOLDER``: a workspace to begin with, whose settings say what can be set.

Exit codes: 0 the workspace is there · 3 it cannot be made there · 4 a fault of the program.
"""

from __future__ import annotations

from pathlib import Path

import click

from seam_core.commandline import PATH, say
from seam_core.errors import SettingsError
from seam_core.exitcodes import OK
from seam_core.files import find_log, is_there, own_file
from seam_core.records import HEALS
from seam_core.settings import bounds
from seam_core.words import listed
from seam_core.workspace import FIXTURES_FOLDER, SETTINGS_FILE

PLAIN_UNITS = ("", "score", "share", "similarity", "p")  # the bounds say enough


@click.command()
@click.argument("folder", type=PATH, help="the workspace to make; what is in there already stays")
def command(*, folder: Path) -> int:
    """Make a workspace: a folder with an empty heal log and a seam.toml that explains every threshold."""
    if folder.exists() and not folder.is_dir():
        raise SettingsError(f"{folder}: is there and is no folder; name another")
    made = []
    try:
        _look(folder)
        for place in (folder, folder / FIXTURES_FOLDER):
            place.mkdir(parents=True, exist_ok=True)
        # No empty failure log: it would say that nothing failed. Such logs are made by whoever records.
        for name, text in ((HEALS.file, ""), (SETTINGS_FILE, commented_settings())):
            if name == HEALS.file and find_log(folder, name):
                continue
            if not is_there(folder / name):
                with (folder / name).open("x", encoding="utf-8") as file:
                    file.write(text)
                made.append(name)
    except OSError as error:
        raise SettingsError(f"{folder}: no workspace can be made there ({error.strerror})") from None
    became = f"made {listed(made)}" if made else "is a workspace already; nothing was changed"
    command = "python -m seam_core"
    say(
        f"{folder}: {became}\n"
        f"next: let the agent append its heals to {folder / HEALS.file}, or bring in what you have: {command} import --help\n"
        f"then: {command} doctor {folder}\n"
    )
    return OK


def _look(folder: Path) -> None:
    """Raises SettingsError where the name of a file that a workspace begins with is taken by something else."""
    for path in (find_log(folder, HEALS.file), folder / SETTINGS_FILE):
        if path and (wrong := own_file(path)) not in ("", "none"):
            raise SettingsError(f"{path}: is {wrong} where a workspace has a file; move it away, or name another folder")


def commented_settings() -> str:
    """A ``seam.toml`` with every threshold at its default, commented out, so that it changes nothing until somebody edits it."""
    lines = ["# Thresholds of this workspace. A line without its # is in force; a flag of the command line wins over it.", ""]
    for name, (default, bound) in bounds().items():
        if isinstance(default, str):
            lines += [f"# {bound.meaning}", f'#{name} = "{default}"', ""]
            continue
        stricter = "" if bound.stricter == "same" else f"; {bound.stricter} is stricter"
        unit = f" {bound.unit}" if bound.unit not in PLAIN_UNITS else ""
        above = "above " if bound.above_low else ""
        lines += [f"# {bound.meaning} ({above}{bound.low:g} to {bound.high:g}{unit}{stricter})", f"#{name} = {default}", ""]
    return "\n".join(lines)
