"""``python -m seam_core simulate demo|workspace|bulk FOLDER``: writes a simulated workspace."""

from __future__ import annotations

from pathlib import Path

import click

from seam_core.commandline import PATH, Group, progress, say
from seam_core.errors import SettingsError
from seam_core.exitcodes import OK
from seam_core.simulate import write_bulk, write_demo, write_workspace

FOLDER = click.argument("folder", type=PATH, help="where to write it")
AT_LEAST_ONE = click.IntRange(min=1)
SEED = click.option("--seed", default=1, help="what the random choices start from")


@click.group(cls=Group)
def command() -> None:
    """Write a simulated workspace with planted, known faults: the demo, one of any size, or large logs."""


@command.command()
@FOLDER
def demo(*, folder: Path) -> int:
    """The demo: eight weeks with the opening story in the last one."""
    _check(folder)
    write_demo(folder)
    return _done(folder)


@command.command()
@FOLDER
@SEED
@click.option("--heals", type=AT_LEAST_ONE, default=240, help="how many")
@click.option("--weeks", type=AT_LEAST_ONE, default=8, help="how long")
@click.option("--story", is_flag=True, help="end with the demo's story week")
def workspace(*, folder: Path, seed: int, heals: int, weeks: int, story: bool) -> int:
    """A workspace with the default mix of planted faults."""
    _check(folder)
    try:
        write_workspace(folder, seed=seed, heals=heals, weeks=weeks, story=story)
    except ValueError as error:
        raise SettingsError(f"--heals {heals} --weeks {weeks}: {error}") from None
    return _done(folder)


@command.command()
@FOLDER
@click.option("--heals", type=AT_LEAST_ONE, default=100_000, help="how many")
@click.option("--record-bytes", type=click.IntRange(min=500), default=1000, help="about how long a line is")
@SEED
@click.option("--days", type=AT_LEAST_ONE, default=365, help="how long")
def bulk(*, folder: Path, heals: int, record_bytes: int, seed: int, days: int) -> int:
    """Large logs for benchmarks, without planted faults."""
    _check(folder)
    write_bulk(folder, heals=heals, record_bytes=record_bytes, seed=seed, days=days)
    return _done(folder)


def _check(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made ({error.strerror})") from None
    if show := progress():
        show(f"writing {folder}")


def _done(folder: Path) -> int:
    say(f"{folder}: written\n")
    return OK
