"""The cycles of one loop, in the order of its heals: what the log says of each, and what happened there."""

from __future__ import annotations

import itertools
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from seam_core.scope import Scope
from seam_core.settings import Settings
from seam_core.similarity import similarity
from seam_core.views import record
from seam_core.views.loop_events import TOLERANCE, Kind, Measured, Revisit, what_happened

CYCLES = """
select h.row, h.heal_id, h.ts, h.cycle, h.level, h.failure_signature, h.target, h.visible_before, h.visible_after, h.holdout_before,
       h.holdout_after, h.holdout_scope, h.score, h.was_real_failure, h.label_source, h.tokens_spent, h.task_tokens,
       h.has_after_text, h.after_text_hash, h.row in (select row from blocked) as is_blocked
from heals h
where h.loop_id = $loop_id and h.ts <= (select stop from span)
order by h.cycle, h.ts, h.heal_id
"""

BLOCKS = """
select b.row, list(distinct b.protected_id order by b.protected_id)
from blocked b join heals h using (row) where h.loop_id = $loop_id group by b.row
"""

# Positions with a revisit, those just before them, and the text just before each, where that is of the same target.
STEPS = """
with later as (select distinct later from revisit_rows where loop_id = $loop_id)
select c.position, c.row, b.row
from cycles c join cycles b on b.loop_id = c.loop_id and b.position = c.position - 1 and b.target = c.target
where c.loop_id = $loop_id and (c.position in (from later) or c.position + 1 in (from later))
order by c.position
"""

REVISITS = "select earlier, later, idle, similarity from revisit_rows where loop_id = $loop_id order by later, earlier"


@dataclass(frozen=True)
class Cycle:
    """One heal of a loop. Scores, gaps and changes are in [0, 1]; what is missing is None."""

    position: int | None  # from 1, among those that the gate let through; None for a heal that it stopped
    place: float  # the same for a chart, where a stopped heal stands between its neighbours
    run: int  # number of the run of identical texts that it belongs to
    row: int
    heal_id: str
    ts: datetime
    cycle: int  # as logged
    level: int
    signature: str
    target: str | None
    visible_before: float | None
    visible_after: float | None
    holdout_before: float | None
    holdout_after: float | None
    own_score: float | None
    value: float | None  # of the measure that the loop is judged by
    change: float | None  # since the position before
    is_still: bool  # its text is the one before it, or changed by next to nothing
    kind: Kind
    said: str
    label: str | None
    tokens: int | None
    task_tokens: int | None
    budget: str | None  # normal, elevated, escalated; None when it is not known
    has_text: bool
    actor: str | None
    evidence: str | None

    @property
    def ratio(self) -> float | None:
        """Tokens spent, as a multiple of what the task costs."""
        return self.tokens / self.task_tokens if self.tokens is not None and self.task_tokens else None

    @property
    def is_dip(self) -> bool:
        """Whether the measure fell."""
        return self.change is not None and self.change < -TOLERANCE

    @property
    def name(self) -> str:
        """What a reader calls it."""
        if self.position is None:
            return f"a stopped heal, logged as cycle {self.cycle:,}"
        return f"cycle {self.position:,}" + (f" (logged as {self.cycle:,})" if self.cycle != self.position else "")


def read_cycles(
    scope: Scope, loop_id: str, basis: str | None, revisits: Sequence[Revisit], near: Container[int]
) -> tuple[tuple[Cycle, ...], Measured]:
    """The loop's heals up to the end of the scope's window, stopped ones in their places, and what was measured at each of them."""
    rows = _dicts(scope, CYCLES, loop_id=loop_id)
    blocks = dict(scope.query(BLOCKS, loop_id=loop_id))
    lines = scope.store.lines("heals", [row["row"] for row in rows])
    measured = what_is_measured(rows)
    by_later = {later: list(some) for later, some in itertools.groupby(revisits, key=lambda one: one.later)}
    names = {position: row["cycle"] for position, row in enumerate((row for row in rows if not row["is_blocked"]), 1)}
    found: list[Cycle] = []
    previous: dict[str, Any] | None = None
    position = run = 0
    for row, line in zip(rows, lines, strict=True):
        logged = record.decode(line)
        row["value"] = None if row["is_blocked"] else _value(row, basis)
        idle = not row["is_blocked"] and previous is not None and _same_text(row, previous)
        if not row["is_blocked"]:
            position += 1
            run += not idle
        change = _change(row, previous)
        alike_to = [one for one in by_later.get(position, ()) if not one.idle and not row["is_blocked"]]
        kind, said = what_happened(
            row,
            change=change,
            idle=idle,
            near=position in near,
            revisits=alike_to,
            basis=basis,
            measured=measured,
            blocks=blocks.get(row["row"], ()),
            names=names,
        )
        found.append(
            Cycle(
                position=None if row["is_blocked"] else position,
                place=position + 0.5 if row["is_blocked"] else position,
                run=run,
                row=row["row"],
                heal_id=row["heal_id"],
                ts=row["ts"],
                cycle=row["cycle"],
                level=row["level"],
                signature=row["failure_signature"],
                target=row["target"],
                visible_before=row["visible_before"],
                visible_after=row["visible_after"],
                holdout_before=row["holdout_before"],
                holdout_after=row["holdout_after"],
                own_score=row["score"],
                value=row["value"],
                change=change,
                is_still=idle or (position in near and not row["is_blocked"]),
                kind=kind,
                said=said,
                label=_label(row),
                tokens=row["tokens_spent"],
                task_tokens=row["task_tokens"],
                budget=_budget(row, scope.settings),
                has_text=row["has_after_text"],
                actor=record.shown(logged.get("actor")),
                evidence=record.shown(record.inner(logged, "trigger").get("evidence")),
            )
        )
        previous = previous if row["is_blocked"] else row
    return tuple(found), measured


def read_revisits(scope: Scope, loop_id: str) -> tuple[list[Revisit], set[int]]:
    """The loop's revisits as its score counts them, in order; and the positions whose text is all but the one just before."""
    steps: dict[int, float] = {}
    for position, row, before in scope.query(STEPS, loop_id=loop_id):
        old, new = scope.texts([before, row])
        method, least = scope.settings.similarity_method, scope.settings.paraphrase_min
        steps[position] = similarity(old or "", new or "", method=method, paraphrase_min=least)
    found = []
    for earlier, later, idle, value in scope.query(REVISITS, loop_id=loop_id):
        found.append(Revisit(earlier, later, idle, value, steps.get(later)))
    near = {position for position, step in steps.items() if step > scope.settings.similarity_min + TOLERANCE}
    return found, near - {one.later for one in found if one.is_return}


def what_is_measured(rows: Sequence[Mapping[str, Any]]) -> Measured:
    """Whether visible and held-out pairs were measured at each cycle: not said to be the loop's, and not one pair on every heal."""
    taken = [row for row in rows if not row["is_blocked"]]
    whole_loop = any(row["holdout_scope"] == "loop" for row in taken)
    visible = [(row["visible_before"], row["visible_after"]) for row in taken]
    held_out = [(row["holdout_before"], row["holdout_after"]) for row in taken]
    moved = any(before != after for before, after in visible)  # the same pair on every heal, as if each had begun anew
    return Measured(visible=not (_is_copied(visible) and moved), held_out=not whole_loop and not _is_copied(held_out))


def _is_copied(pairs: Sequence[tuple[float | None, float | None]]) -> bool:
    return len(pairs) > 1 and None not in pairs[0] and len(set(pairs)) == 1


def _value(row: Mapping[str, Any], basis: str | None) -> float | None:
    column = {"score": "score", "holdout": "holdout_after", "visible": "visible_after"}.get(basis or "")
    value: float | None = row[column] if column else None
    return value


def _change(row: Mapping[str, Any], previous: Mapping[str, Any] | None) -> float | None:
    if previous is None or row["value"] is None or previous["value"] is None:
        return None
    return float(row["value"] - previous["value"])


def _same_text(row: Mapping[str, Any], previous: Mapping[str, Any]) -> bool:
    return (
        row["has_after_text"]
        and previous["has_after_text"]
        and row["target"] is not None
        and row["target"] == previous["target"]
        and row["after_text_hash"] == previous["after_text_hash"]
    )


def _label(row: Mapping[str, Any]) -> str | None:
    if row["was_real_failure"] is None:
        return None
    return ("real" if row["was_real_failure"] else "not real") + (f", {row['label_source']}" if row["label_source"] else "")


def _budget(row: Mapping[str, Any], settings: Settings) -> str | None:
    if row["tokens_spent"] is None or not row["task_tokens"]:
        return None
    ratio = row["tokens_spent"] / row["task_tokens"] - TOLERANCE
    return "escalated" if ratio > settings.budget_escalated else "elevated" if ratio > settings.budget_elevated else "normal"


def _dicts(scope: Scope, sql: str, **binds: Any) -> list[dict[str, Any]]:
    result = scope.con.execute(sql, binds)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
