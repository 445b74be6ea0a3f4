"""A folder of pytest runs: one file of ``--junitxml`` for each, in a folder that keeps them.

What a run was for stands in its name, since the caller gives the files their names: ``h_0042.before.xml`` and ``h_0042.after.xml`` belong
to heal h_0042, ``2026-06-09.nightly.xml`` to that night, ``anything.control.xml`` to nothing. Other names need ``--phase``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from seam_core.importing import junit
from seam_core.importing.format import RUN_OPTIONS, Asked, Format, Found, Left, SourceError, name_of
from seam_core.importing.options import CHOICES, OF_HEALS


def _read(paths: Sequence[Path], asked: Asked) -> Iterator[Found]:
    for folder in paths:
        if not folder.is_dir():
            what = "is a file; name the folder, or import it as junit" if folder.exists() else "no such folder"
            yield Left(name_of(folder), "", what)
            continue
        try:
            files = sorted(path for path in folder.iterdir() if path.suffix == ".xml")
        except OSError as error:
            yield Left(name_of(folder), "", f"cannot be read ({error.strerror})")
            continue
        if not files:
            yield Left(name_of(folder), "", "holds no .xml file; write one for each run with pytest --junitxml")
        for path in files:
            try:
                declared = _declared(path, asked)
            except SourceError as error:
                yield Left(name_of(path), "", str(error))
                continue
            yield from junit.FORMAT.read([path], declared)


def _declared(path: Path, asked: Asked) -> Asked:
    """What the name of a file says it is, over what the caller said of all of them."""
    owner, _, phase = path.stem.rpartition(".")
    if phase in CHOICES["phase"] and owner:
        if phase in OF_HEALS:
            return replace(asked, phase=phase, heal_id=owner)
        return replace(asked, phase=phase, heal_id=None, night=_night(owner) if phase == "nightly" else None)
    if asked.phase is None:
        names = "HEAL.before.xml, HEAL.after.xml or DATE.nightly.xml"
        raise SourceError(f"its name does not say what the run was for: call it {names}, or give --phase")
    if asked.phase in OF_HEALS:
        raise SourceError(f"its name does not say which heal it belongs to: call it HEAL.{asked.phase}.xml")
    return asked


def _night(text: str) -> str | None:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


OPTIONS = tuple(name for name in RUN_OPTIONS if name not in ("heal_id", "night", "run_id"))
FORMAT = Format("a folder of pytest runs (--junitxml), one file a run", (*OPTIONS, "assume_ts"), _read, needs=("suite",))
