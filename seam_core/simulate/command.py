"""``python -m seam_core simulate demo|workspace|bulk FOLDER``: writes a simulated workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seam_core.commandline import new_app, progress, say
from seam_core.errors import SettingsError
from seam_core.simulate import write_bulk, write_demo, write_workspace

HELP = "Write a simulated workspace with planted, known faults: the demo, one of any size, or large logs."

Folder = Annotated[Path, typer.Argument(help="where to write it", readable=False)]
Seed = Annotated[int, typer.Option(help="what the random choices start from")]

app = new_app()


@app.callback(help=HELP, no_args_is_help=True)
def _simulate() -> None:
    """Write a simulated workspace."""


@app.command()
def demo(folder: Folder) -> None:
    """The demo: eight weeks with the opening story in the last one."""
    _check(folder)
    write_demo(folder)
    _done(folder)


@app.command()
def workspace(
    folder: Folder,
    seed: Seed = 1,
    heals: Annotated[int, typer.Option(min=1, help="how many")] = 240,
    weeks: Annotated[int, typer.Option(min=1, help="how long")] = 8,
    story: Annotated[bool, typer.Option("--story", help="end with the demo's story week")] = False,  # noqa: FBT002
) -> None:
    """A workspace with the default mix of planted faults."""
    _check(folder)
    write_workspace(folder, seed=seed, heals=heals, weeks=weeks, story=story)
    _done(folder)


@app.command()
def bulk(
    folder: Folder,
    heals: Annotated[int, typer.Option(min=1, help="how many")] = 100_000,
    record_bytes: Annotated[int, typer.Option(min=500, help="about how long a line is")] = 1000,
    seed: Seed = 1,
    days: Annotated[int, typer.Option(min=1, help="how long")] = 365,
) -> None:
    """Large logs for benchmarks, without planted faults."""
    _check(folder)
    write_bulk(folder, heals=heals, record_bytes=record_bytes, seed=seed, days=days)
    _done(folder)


def _check(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made ({error.strerror})") from None
    if show := progress():
        show(f"writing {folder}")


def _done(folder: Path) -> None:
    say(f"{folder}: written\n")
