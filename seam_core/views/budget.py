"""What heals cost against the task they repaired: how the ratios lie, who is over a limit, who lifted one and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from seam_core.lines import BOM
from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.views.filters import Filters
from seam_core.words import capital, count

ROWS_SHOWN = 2_000  # heals listed; the packet has all
PER_DECADE = 10  # bars for a factor of ten
LOW, HIGH = -2, 3  # decades drawn; what lies beyond is counted in the outermost bars

BARS = """
select greatest($low, least($high, floor($per_decade * log10(ratio))))::integer as bar,
       count(*) filter (verdict = 'normal'), count(*) filter (verdict = 'elevated'), count(*) filter (verdict = 'escalated')
from budget_rows b join window_heals h using (row)
where ratio > 0 and {filter}
group by bar
order by bar
"""

TOTALS = """
select count(*), count(*) filter (ratio = 0), count(*) filter (verdict = 'elevated'), count(*) filter (verdict = 'escalated'),
       median(ratio), max(ratio), count(ratio),
       count(*) filter (b.tokens_spent is null and b.task_tokens is null),
       count(*) filter (b.tokens_spent is null and b.task_tokens is not null),
       count(*) filter (b.tokens_spent is not null and b.task_tokens is null),
       count(*) filter (b.tokens_spent is not null and b.task_tokens = 0),
       count(*) filter (b.has_break_glass)
from budget_rows b join window_heals h using (row)
where {filter}
"""

ROWS = """
select b.heal_id, b.ts, b.loop_id, h.cycle, h.level, b.target, b.tokens_spent, b.task_tokens, b.ratio, b.verdict, b.has_break_glass, b.row
from budget_rows b join window_heals h using (row)
where {which} and {filter}
order by b.ratio desc nulls last, b.ts, b.heal_id
limit $n
"""


@dataclass(frozen=True)
class Bar:
    """Heals whose ratio lies from `low` up to `high`, by verdict."""

    low: float
    high: float
    normal: int
    elevated: int
    escalated: int
    is_open: bool = False  # the outermost bars also hold what lies beyond


@dataclass(frozen=True)
class Ratios:
    """How the ratios of the window lie. `unknown` says why some are not known, most often first."""

    n: int
    n_known: int
    n_free: int  # spent nothing: no place on a logarithmic axis
    elevated: int
    escalated: int
    median: float | None
    largest: float | None
    n_lifted: int
    unknown: tuple[tuple[str, int], ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Spent:
    """One heal's cost. `by` and `reason` say who lifted the limit, where somebody did."""

    heal_id: str
    ts: datetime
    loop_id: str
    cycle: int
    level: int
    target: str | None
    tokens: int | None
    task_tokens: int | None
    ratio: float | None
    verdict: str
    is_lifted: bool
    by: str = ""
    reason: str = ""


def ratios(audit: Audit, filters: Filters) -> Ratios:
    """How the ratios of the window's heals lie, as far as the filters let them through."""
    condition, binds = filters.sql("h")
    scope = audit.scope
    n, free, elevated, escalated, median, largest, known, neither, spent, task, no_task, lifted = scope.one(
        TOTALS.format(filter=condition), **binds
    )
    limits = {"low": LOW * PER_DECADE, "high": HIGH * PER_DECADE - 1, "per_decade": PER_DECADE}
    bars = [_bar(*row) for row in scope.query(BARS.format(filter=condition), **limits, **binds)]
    why = [
        ("neither tokens_spent nor task_tokens is logged", neither),
        ("tokens_spent is not logged", spent),
        ("task_tokens is not logged", task),
        ("task_tokens is 0, and nothing can be divided by it", no_task),
    ]
    unknown = tuple(sorted(((reason, n_heals) for reason, n_heals in why if n_heals), key=lambda one: -one[1]))
    return Ratios(n, known, free, elevated, escalated, median, largest, lifted, unknown, tuple(bars))


def _bar(place: int, normal: int, elevated: int, escalated: int) -> Bar:
    is_open = place in (LOW * PER_DECADE, HIGH * PER_DECADE - 1)
    return Bar(10 ** (place / PER_DECADE), 10 ** ((place + 1) / PER_DECADE), normal, elevated, escalated, is_open)


def over(audit: Audit, filters: Filters) -> tuple[Spent, ...]:
    """Elevated and escalated heals, dearest first, at most ROWS_SHOWN."""
    return _rows(audit.scope, "b.verdict in ('elevated', 'escalated')", filters)


def lifted(audit: Audit, filters: Filters) -> tuple[Spent, ...]:
    """Heals for which somebody lifted the limit, dearest first, at most ROWS_SHOWN."""
    return _rows(audit.scope, "b.has_break_glass", filters)


def unknown(audit: Audit, filters: Filters) -> tuple[Spent, ...]:
    """Heals of unknown cost, at most ROWS_SHOWN."""
    return _rows(audit.scope, "b.verdict = 'unknown'", filters)


def in_words(found: Ratios, audit: Audit) -> str:
    """The budget in one sentence."""
    low, high = audit.settings.budget_elevated, audit.settings.budget_escalated
    if not found.n_known:
        return f"The cost of none of {count(found.n, 'heal')} is known." if found.n else "No heal to tell the cost of."
    over = (
        [f"{count(found.escalated, 'heal')} went over {high:g} times the task's own tokens, where a person has to look"]
        if found.escalated
        else []
    )
    over += [f"{count(found.elevated, 'heal')} over {low:g} times"] if found.elevated else []
    told = "; ".join(over) or f"no heal went over {low:g} times the task's own tokens"
    return f"{capital(told)}. The median is {found.median:.1f} times, the largest {found.largest:,.1f}."


def _rows(scope: Scope, which: str, filters: Filters) -> tuple[Spent, ...]:
    condition, binds = filters.sql("h")
    rows = scope.query(ROWS.format(which=which, filter=condition), n=ROWS_SHOWN, **binds)
    reasons = _reasons(scope, [row[-1] for row in rows if row[-2]])
    return tuple(
        Spent(heal_id, ts, loop_id, cycle, level, target, spent, task, ratio, verdict, is_lifted, *reasons.get(row, ("", "")))
        for heal_id, ts, loop_id, cycle, level, target, spent, task, ratio, verdict, is_lifted, row in rows
    )


def _reasons(scope: Scope, rows: list[int]) -> dict[int, tuple[str, str]]:
    """Row → who lifted the limit, and why, from the lines as they were written."""
    return {row: _reason(line) for row, line in zip(rows, scope.store.lines("heals", rows) if rows else (), strict=True)}


def _reason(line: bytes) -> tuple[str, str]:
    try:
        found: Any = json.loads(line.removeprefix(BOM))["break_glass"]
    except (ValueError, RecursionError, KeyError):  # a line that only DuckDB reads
        return "cannot be shown", ""
    return found.get("by") or "nobody named", found.get("reason") or "no reason given"
