"""Gathering the heals of a loop: what a format knows of each, put together as our record, with what the caller said of the split."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from seam_core.importing.format import HEAL_LOG, Asked, Item, SourceError
from seam_core.importing.reading import kept
from seam_core.importing.runs import time_or_assumed


@dataclass(frozen=True)
class Healed:
    """One heal as its source tells it. Scores are by the source's own names, before and after."""

    heal_id: str
    loop_id: str
    cycle: int
    level: int
    signature: str
    target: str | None = None
    after_text: str | None = None
    evidence: Any = None
    before: dict[str, float | None] = field(default_factory=dict)
    after: dict[str, float | None] = field(default_factory=dict)
    ended: str | None = None
    more: dict[str, Any] = field(default_factory=dict)  # further keys of our record
    raw: Any = None


def check_split(asked: Asked, offered: Collection[str], source: str) -> None:
    """Raises SourceError unless the caller said which score the loop saw, and named scores that are there."""
    names = ", ".join(offered)
    if asked.visible is None:
        declare = f"give --visible NAME, and --holdout NAME if the loop never saw that one ({names})"
        raise SourceError(f"{source} does not say what the loop saw and what was held out: {declare}")
    for option, name in (("--visible", asked.visible), ("--holdout", asked.holdout)):
        if name is not None and name not in offered:
            raise SourceError(f"{option} {name}: there is no such score; there are {names}")
    if asked.visible == asked.holdout:
        raise SourceError(f"--visible and --holdout are both {asked.visible}: what the loop saw was not held out")


def heal_item(heal: Healed, asked: Asked, *, order: int, file: str, source: dict[str, Any]) -> Item:
    """A heal as our record.

    order: position in the source, for times that are assumed.  Raises SourceError when a time is missing and none is to be assumed.
    """
    when, is_assumed = time_or_assumed(heal.ended, asked, order=order)
    record: dict[str, Any] = {"heal_id": heal.heal_id, "ts": when, "loop_id": heal.loop_id, "cycle": heal.cycle, "level": heal.level}
    record["trigger"] = {"failure_signature": heal.signature} | ({} if heal.evidence is None else {"evidence": heal.evidence})
    change = {key: value for key, value in (("target", heal.target), ("after_text", heal.after_text)) if value is not None}
    record |= {"change": change} if change else {}
    for ours, theirs in (("visible", asked.visible), ("holdout", asked.holdout)):
        for side, scores in (("before", heal.before), ("after", heal.after)):
            score = scores.get(theirs) if theirs is not None else None
            record |= {} if score is None else {f"{ours}_{side}": score}
    record |= {key: value for key, value in heal.more.items() if value is not None}
    record |= {"ts_assumed": True} if is_assumed else {}
    record |= {} if heal.raw is None else {"raw": heal.raw}
    clean: dict[str, Any] = kept(record | {"imported_from": source})
    return Item(HEAL_LOG, clean, file)
