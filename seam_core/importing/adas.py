"""An archive of ADAS: a JSON list of agent programs. Each one that the search proposed is a heal of one loop.

Its cycle is the generation in the archive, which has gaps where nothing was kept. Before it stands the incumbent: the entry with the best
visible score among the ones given at the start and those of earlier generations. Scores are texts with a bootstrap interval, of which the
median is taken; the texts are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seam_core.importing.format import HEAL_OPTIONS, Asked, Format, Found, Left, SourceError, each, name_of
from seam_core.importing.heals import Healed, check_split, heal_item
from seam_core.importing.reading import digest_of, number_in, read_json, text_in

INITIAL = "initial"
MEDIAN = re.compile(r"Median:\s*([0-9]+(?:\.[0-9]+)?)\s*%", re.ASCII)


@dataclass(frozen=True)
class _Entry:
    place: int  # in the archive, from 0
    generation: int  # 0 for those given at the start
    scores: dict[str, float | None]
    told: Mapping[str, Any]


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    file = name_of(path)
    archive = read_json(path)
    if not isinstance(archive, list) or not any(isinstance(one, dict) and "fitness" in one for one in archive):
        raise SourceError("is no archive of ADAS: it must be a list of entries with code, generation and fitness")
    names = list(dict.fromkeys(key for one in archive if isinstance(one, dict) for key in one if "fitness" in key))
    check_split(asked, names, "ADAS")
    entries: list[_Entry] = []
    for place, told in enumerate(archive):
        entry = _entry(place, told, names)
        if isinstance(entry, str):
            yield Left(file, f"entry {place}", entry)
        else:
            entries.append(entry)
    loop_id = asked.loop_id or file.removesuffix(".json")
    source = {"format": "adas", "file": file, "sha256": digest_of(path)}
    order = 0
    for entry in sorted(entries, key=lambda one: (one.generation, one.place)):
        if entry.generation == 0:
            yield Left(file, f"entry {entry.place}", "was given at the start, and no heal made it", is_fault=False)
            continue
        earlier = [one for one in entries if one.generation < entry.generation and one.scores[str(asked.visible)] is not None]
        incumbent = max(earlier, key=lambda one: (one.scores[str(asked.visible)], -one.place), default=None)
        heal = Healed(
            heal_id=f"{loop_id}#{entry.place}",
            loop_id=loop_id,
            cycle=entry.generation,
            level=2,
            signature=f"low_score:adas:{loop_id}",
            target="agent_program",
            after_text=entry.told.get("code") if isinstance(entry.told.get("code"), str) else None,
            evidence=text_in(entry.told.get("thought")),
            before=incumbent.scores if incumbent else {},
            after=entry.scores,
            raw={key: value for key, value in entry.told.items() if key not in ("code", "thought")},
        )
        yield heal_item(heal, asked, order=order, file=file, source=source | {"entry": entry.place})
        order += 1


def _entry(place: int, told: Any, names: list[str]) -> _Entry | str:
    """One entry of the archive, or why it is none."""
    if not isinstance(told, dict):
        return "is no object"
    generation = text_in(told.get("generation"))
    if generation != INITIAL and not (generation and generation.isdecimal() and len(generation) < 9 and int(generation) > 0):
        return f"its generation is neither {INITIAL} nor a number from 1"
    return _Entry(place, 0 if generation == INITIAL else int(generation or 0), {name: _score(told.get(name)) for name in names}, told)


def _score(value: Any) -> float | None:
    """The median of a score written as text with its interval, or a plain number, as a share; None when there is neither."""
    if isinstance(value, str):
        found = MEDIAN.search(value)
        return round(float(found[1]) / 100, 6) if found else None
    return number_in(value)


FORMAT = Format("ADAS: the archive of a search for agents", (*HEAL_OPTIONS, "assume_ts"), each(_read_one))
