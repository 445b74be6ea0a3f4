"""Two texts of a loop to compare: a cycle's, and that of another cycle, of the loop's start, or of the state that was certified.

A pair stands in an address as ``3-7``, ``start-7`` or ``certified-7``; the numbers are positions in the loop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.views import worddiff
from seam_core.views.earlier import earlier_text
from seam_core.views.loop import Story
from seam_core.views.loop_cycles import Cycle
from seam_core.words import alike, count, cut

RETURNS_OFFERED = 3  # of one cycle, beside the other things that it can be compared with
SHORT_DIFFS = 60  # cycles whose change a chart tells in short
SHORT_TEXT = 20_000  # characters of a text up to which it is told in short
NOT_CERTIFIED = (
    "No certified state can be shown: certified.json holds outcomes of cases, not the run or the time that they were reviewed at, "
    "so nothing says which text was in force."
)

Base = Literal["cycle", "start", "certified"]
_PAIR = re.compile(r"(start|certified|[1-9]\d{0,8})-([1-9]\d{0,8})", re.ASCII)

HEAL = "select row, ts, heal_id, loop_id, target, has_after_text from heals where heal_id = $heal_id"
FIRST = "select ts, heal_id from heals where loop_id = $loop_id order by ts, heal_id limit 1"
BETWEEN = """
select count(*), count(distinct loop_id), min(loop_id) from heals anti join blocked using (row)
where target = $target and has_after_text and loop_id <> $loop_id
  and (ts, heal_id) > ($from_ts, $from_id) and (ts, heal_id) < ($to_ts, $to_id)
"""


@dataclass(frozen=True)
class Pair:
    """The later cycle by its position, and what it is compared with."""

    base: Base
    earlier: int | None  # position, when the base is a cycle
    later: int

    @property
    def key(self) -> str:
        """As it stands in the address."""
        return f"{self.earlier if self.base == 'cycle' else self.base}-{self.later}"


@dataclass(frozen=True)
class Texts:
    """Two texts with their headings. `why` says why there is nothing to compare; `notes` what to know when there is."""

    old: str | None
    new: str | None
    old_label: str
    new_label: str
    notes: tuple[str, ...] = ()
    why: str | None = None


def parse_pair(asked: str | None, told: Story) -> Pair | None:
    """The pair that an address names; None when it names none of this loop."""
    found = _PAIR.fullmatch((asked or "").replace("→", "-").replace(" ", ""))
    if not found:
        return None
    base, later = found.group(1), int(found.group(2))
    if later > len(told.taken):
        return None
    if base == "start":
        return Pair("start", None, later)
    if base == "certified":
        return Pair("certified", None, later)
    return Pair("cycle", int(base), later) if int(base) < later else None


def first_pair(told: Story) -> Pair | None:
    """What to look at when nothing is asked for: the closest return, else the deepest dip, else the last text."""
    with_text = [one for one in told.taken if one.has_text]
    if not with_text:
        return None
    if told.arcs:
        best = max(told.arcs, key=lambda arc: (arc.similarity, arc.later))
        return Pair("cycle", best.earlier, best.later)
    dips = [one for one in with_text if one.is_dip]
    return previous(told, min(dips, key=lambda one: one.change or 0) if dips else with_text[-1])


def previous(told: Story, one: Cycle) -> Pair:
    """A cycle against the cycle before it on the same target, or against the loop's start where it is the first there."""
    assert one.position is not None
    earlier = reversed(told.taken[: one.position - 1])
    before = next((other.position for other in earlier if other.has_text and other.target is not None and other.target == one.target), None)
    return Pair("cycle", before, one.position) if before else Pair("start", None, one.position)


def choices(told: Story) -> dict[str, str]:
    """Pair → its words, for a list: each cycle with a text against the one before, and every return that is drawn."""
    found: dict[str, str] = {}
    arcs: dict[int, list[str]] = {}
    for arc in told.arcs:
        arcs.setdefault(arc.later, []).append(arc.pair)
        found[arc.pair] = f"{arc.earlier} → {arc.later}: a return, {alike(arc.similarity)}"
    listed: dict[str, str] = {}
    for one in told.taken:
        assert one.position is not None
        if one.has_text:
            pair = previous(told, one)
            listed[pair.key] = f"{pair.earlier or 'start'} → {one.position}: {one.said.split('; ')[0]}"
        listed |= {key: found[key] for key in arcs.get(one.position, ())}
    return listed


def bases(told: Story, later: int) -> dict[str, str]:
    """Pair → its words: everything that one cycle can be compared with."""
    one = told.taken[later - 1]
    before = previous(told, one)
    found = {before.key: f"cycle {before.earlier}, before it"} if before.base == "cycle" else {}
    returns = sorted((arc for arc in told.arcs if arc.later == later), key=lambda arc: (-arc.similarity, -arc.earlier))
    found |= {arc.pair: f"cycle {arc.earlier}, come back to" for arc in returns[:RETURNS_OFFERED]}
    return found | {f"start-{later}": "loop's start", f"certified-{later}": "certified state"}


def texts(audit: Audit, heal_id: str, base: Base, base_heal_id: str | None = None) -> Texts:
    """The text of one heal and the one that it is compared with; both ids are of heals that are in the log."""
    with audit.scope.store.lock:
        scope = audit.scope
        row, ts, _, loop_id, target, has_text = scope.query(HEAL, heal_id=heal_id)[0]
        label = f"{cut(heal_id)}, {ts:%Y-%m-%d %H:%M} UTC"
        if not has_text:
            return Texts(None, None, "", label, why="This cycle logs no text (change.after_text), so there is nothing to compare.")
        new = scope.text(row) or ""
        if base == "certified":
            return Texts(None, new, "", label, why=NOT_CERTIFIED)
        if base == "start":
            return _against_start(scope, new, label, loop_id=loop_id, target=target)
        assert base_heal_id is not None
        old_row, old_ts, _, _, old_target, old_has_text = scope.query(HEAL, heal_id=base_heal_id)[0]
        old_label = f"{cut(base_heal_id)}, {old_ts:%Y-%m-%d %H:%M} UTC"
        if not old_has_text:
            return Texts(
                None, new, old_label, label, why="The earlier cycle logs no text (change.after_text): it has nothing to compare with."
            )
        if old_target != target:
            notes = [f"Two different targets are compared: {cut(old_target or 'none logged')} and {cut(target or 'none logged')}."]
        else:
            notes = _between(scope, loop_id, target, (old_ts, base_heal_id), (ts, heal_id))
        return Texts(scope.text(old_row) or "", new, old_label, label, tuple(notes))


def short_diffs(audit: Audit, pairs: Sequence[tuple[int, int]]) -> dict[int, list[str]]:
    """Row of the later heal → its change in a few lines, for (earlier row, later row) pairs; the first ones, and short texts only."""
    found: dict[int, list[str]] = {}
    with audit.scope.store.lock:
        for earlier, later in pairs[:SHORT_DIFFS]:
            old, new = audit.scope.text(earlier) or "", audit.scope.text(later) or ""
            if max(len(old), len(new)) <= SHORT_TEXT:
                found[later] = worddiff.in_short(worddiff.compare(old, new))
    return found


def steps(told: Story, first: int = 1, last: int | None = None) -> tuple[tuple[int, int], ...]:
    """(row of the text before, row) of every cycle from `first` to `last` that changed its target's text within the loop."""
    found = []
    for one in told.taken[first - 1 : last]:
        pair = previous(told, one) if one.has_text and one.kind != "idle" else None
        if pair and pair.earlier:
            found.append((told.taken[pair.earlier - 1].row, one.row))
    return tuple(found)


def _against_start(scope: Scope, new: str, label: str, *, loop_id: str, target: str | None) -> Texts:
    if target is None:
        return Texts(None, new, "", label, why="This cycle names no target (change.target), so no earlier text of it can be looked for.")
    first_ts, first_id = scope.one(FIRST, loop_id=loop_id)
    found = earlier_text(scope, target, first_ts, first_id)
    if found is None:
        why = f"The log holds no text of {cut(target)} from before this loop. All of this text is new to it."
        return Texts(None, new, "", label, why=why)
    return Texts(found.text, new, f"before the loop: {cut(found.heal_id)} of {cut(found.loop_id)}, {found.ts:%Y-%m-%d %H:%M} UTC", label)


def _between(scope: Scope, loop_id: str, target: str | None, start: tuple[datetime, str], end: tuple[datetime, str]) -> list[str]:
    """Whether other loops changed the target between two cycles: the diff then shows their work, too."""
    if target is None:
        return []
    binds = {"from_ts": start[0], "from_id": start[1], "to_ts": end[0], "to_id": end[1]}
    n_heals, n_loops, first = scope.one(BETWEEN, target=target, loop_id=loop_id, **binds)
    if not n_heals:
        return []
    who = cut(first) if n_loops == 1 else count(n_loops, "other loop")
    return [f"In between, {who} changed {cut(target)} {count(n_heals, 'time')}; what came of that is part of this comparison."]
