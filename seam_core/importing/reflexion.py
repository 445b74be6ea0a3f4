"""Reflexion's logs of programming tasks: JSON Lines, one task a line. Each stored reflection is a heal of the task's own loop.

The log holds no time, and the program of each cycle only where it has ``implementations``. Two scores can be declared as visible or held
out:

- ``is_solved``: the log's verdict on the last program. It is known after the last cycle only.
- ``own_tests``: whether the loop's own tests passed, as its exit rule shows: it writes a reflection only after they failed, so it is 0
  before each cycle, and 1 after the last one of a task that stopped before its limit. At the limit nothing shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seam_core.importing.format import HEAL_OPTIONS, Asked, Format, Found, Left, SourceError, each, name_of
from seam_core.importing.heals import Healed, check_split, heal_item
from seam_core.importing.reading import digest_of, json_lines, text_in
from seam_core.importing.runs import shortened

SOLVED, OWN_TESTS = "is_solved", "own_tests"


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    check_split(asked, (SOLVED, OWN_TESTS), "Reflexion")
    file = name_of(path)
    most = max((len(task["reflections"]) for _, task in _tasks(path) if isinstance(task, dict)), default=None)
    if most is None:
        raise SourceError("is no log of Reflexion: no line holds a name and a list of reflections")
    limit = asked.max_reflections or most
    source = {"format": "reflexion", "file": file, "sha256": digest_of(path)}
    prefix, order = asked.loop_id or file.partition(".")[0], 0
    seen: set[str] = set()
    for line, task in _tasks(path):
        if isinstance(task, SourceError):
            yield Left(file, f"line {line}", str(task))
            continue
        name = str(text_in(task["name"]))
        if name in seen:
            yield Left(file, name, "stands twice in the log; the first one was taken")
            continue
        seen.add(name)
        if not task["reflections"]:
            yield Left(file, name, "has no reflection: nothing was healed", is_fault=False)
        for heal in _heals(task, f"{prefix}/{name}", name, limit):
            yield heal_item(heal, asked, order=order, file=file, source=source | {"line": line})
            order += 1


def _tasks(path: Path) -> Iterator[tuple[int, Any]]:
    """(line number, task) of the log; a SourceError for a line that holds none."""
    for line, task in json_lines(path):
        if isinstance(task, SourceError):
            yield line, task
        elif not isinstance(task, dict) or text_in(task.get("name")) is None:
            yield line, SourceError("is no task: it has no name")
        elif not isinstance(task.get("reflections"), list):
            yield line, SourceError("is no task of Reflexion: it has no list of reflections")
        elif not all(isinstance(one, str) for one in task["reflections"]):
            yield line, SourceError("has a reflection that is no text")
        else:
            yield line, task


def _heals(task: Mapping[str, Any], loop_id: str, name: str, limit: int) -> Iterator[Healed]:
    reflections: list[str] = task["reflections"]
    feedback = task.get("test_feedback")
    for cycle, reflection in enumerate(reflections, start=1):
        is_last = cycle == len(reflections)
        passed = 0.0 if not is_last else 1.0 if cycle < limit else None
        solved = float(task["is_solved"]) if is_last and isinstance(task.get("is_solved"), bool) else None
        told = feedback[cycle - 1] if isinstance(feedback, list) and len(feedback) >= cycle else None
        yield Healed(
            heal_id=f"{loop_id}#{cycle}",
            loop_id=loop_id,
            cycle=cycle,
            level=1,
            signature=f"tests_failed:reflexion:{name}",
            target=f"reflection:{name}",
            after_text=reflection,
            evidence=shortened(told) if isinstance(told, str) else None,
            before={OWN_TESTS: 0.0},
            after={OWN_TESTS: passed, SOLVED: solved},
            raw={"is_solved": task.get("is_solved"), "solution": task.get("solution")} if is_last else None,
        )


FORMAT = Format("Reflexion: the log of programming tasks, JSON Lines", (*HEAL_OPTIONS, "max_reflections", "assume_ts"), each(_read_one))
