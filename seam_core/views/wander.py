"""What the Monotonicity page shows: what took the score down, what each loop was judged by, the loops and their curves, worst first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from seam_core.axes.monotonicity import CAP_COST, DIP_COST, REVISIT_COST
from seam_core.intervals import Interval, clustered
from seam_core.report import Audit, thresholds
from seam_core.summary import score_text
from seam_core.views.filters import Filters
from seam_core.views.losses import Loss, Sum, cost_in_points
from seam_core.words import count, listed

ROWS_MAX = 5_000  # loops in the table, the worst ones
PAGE = 12  # curves on one sheet
CYCLES_MAX = 150  # cycles of one curve that are drawn; a longer loop keeps the lowest and highest of each stretch
COSTS = (("extra dips", DIP_COST), ("returned", REVISIT_COST), ("idle", REVISIT_COST), ("at the cap", CAP_COST))
SHOWN = {  # what table and curves may be narrowed to → condition on the loops
    "all": "true",
    "extra dips": "extra_dips > 0",
    "returned": "returned > 0",
    "idle": "idle > 0",
    "at the cap": "capped",
}

# M_loop of each loop that has a score for every cycle, and what it lost before it was held at 0.
SCORED = """
create or replace temp table wander_loops as
with taken as (
    select *, $dip * extra_dips as for_dips, $revisit * returned as for_returned, $revisit * idle as for_idle,
           case when capped then $cap else 0 end as for_cap
    from loop_rows
)
select *, for_dips + for_returned + for_idle + for_cap as lost, 1 - least(lost, 1) as m_loop
from taken
"""

# What a loop lost beyond 1 nobody can lose: its causes share the 1 in proportion.
TOTALS = """
with scored as (select *, case when lost > 1 then 1 / lost else 1 end as kept from wander_loops where basis is not null)
select struct_pack(n := sum(extra_dips), took := fsum(for_dips * kept)),
       struct_pack(n := sum(returned), took := fsum(for_returned * kept)),
       struct_pack(n := sum(idle), took := fsum(for_idle * kept)),
       struct_pack(n := count(*) filter (capped), took := fsum(for_cap * kept)),
       count(*) filter (lost > 1 + 1e-9)
from scored
"""

LOOPS = """
with chosen as (select distinct loop_id from window_heals where {filtered})
select loop_id, n_cycles, basis, dips, extra_dips, returned, idle, capped, first_ts, last_ts, lost, m_loop, count(*) over () as n_found
from wander_loops semi join chosen using (loop_id)
where basis is not null and {shown}
order by round(lost, 9) desc, n_cycles desc, first_ts, loop_id
limit $most offset $skipped
"""

# Why a loop is not judged by a better score than it is.
BASES = """
with held_out as (
    select loop_id, count(score) as n_score, count(holdout_after) as n_held_out, count(visible_after) as n_visible
    from loop_heals group by loop_id
),
told as (
    select l.*, n_score, n_held_out, n_visible,
           case when basis = 'visible' and n_held_out = 0 then 'none'
                when basis = 'visible' and n_held_out < n_cycles then 'some'
                when basis = 'visible' then 'copied' end as held_out
    from wander_loops l join held_out using (loop_id)
)
"""
COUNT_BASES = (
    BASES
    + """
select basis, held_out, count(*), fsum(m_loop) / count(*), list(m_loop order by m_loop)
from told where basis is not null
group by basis, held_out
order by array_position(['score', 'holdout', 'visible'], basis), held_out
"""
)
LEFT_OUT = (
    BASES
    + """
select loop_id, n_cycles, n_score, n_held_out, n_visible, first_ts, last_ts, count(*) over () as n_found
from told semi join (select distinct loop_id from window_heals where {filtered}) using (loop_id)
where basis is null
order by n_cycles desc, first_ts, loop_id
limit $most
"""
)

# The cycles of some loops; of a long one the first, the last, and the lowest and highest of each stretch.
CURVES = """
with chosen as (
    select c.loop_id, c.position, c.value, h.cycle, h.heal_id, h.level, l.n_cycles,
           coalesce(c.value < lag(c.value) over by_loop - 1e-9, false) as is_dip,
           ((c.position - 1) * ($most // 2)) // l.n_cycles as stretch
    from cycles c join wander_loops l using (loop_id) join heals h using (row)
    where c.loop_id in (select unnest($loops))
    window by_loop as (partition by c.loop_id order by c.position)
),
found as (
    select loop_id, later as position, arg_max(earlier, (similarity, earlier)) as back_to, max(similarity) as similarity,
           bool_and(idle) as idle
    from revisit_rows where loop_id in (select unnest($loops))
    group by loop_id, later
)
select c.loop_id, c.position, c.value, c.cycle, c.heal_id, c.level, c.is_dip, f.back_to, f.similarity, coalesce(f.idle, false)
from chosen c left join found f using (loop_id, position)
qualify c.n_cycles <= $most or c.position = 1 or c.position = c.n_cycles
     or row_number() over (partition by loop_id, stretch order by value, position) = 1
     or row_number() over (partition by loop_id, stretch order by value desc, position) = 1
order by c.loop_id, c.position
"""


@dataclass(frozen=True)
class Rows:
    """Loops, the worst first, as rows of a table; `n_found` of them there are, of which `rows` holds some."""

    rows: tuple[dict[str, Any], ...]
    n_found: int


@dataclass(frozen=True)
class Basis:
    """How many loops are judged by which score, why by none better, and their mean M with its range; None for fewer than three loops."""

    words: str
    n_loops: int
    mean: float
    interval: Interval | None


@dataclass(frozen=True)
class Cycle:
    """One point of a curve. `back_to` is the position whose text it came back to; `idle` that nothing had changed."""

    position: int
    cycle: int
    heal_id: str
    value: float
    level: int
    is_dip: bool
    back_to: int | None
    similarity: float | None
    idle: bool


@dataclass(frozen=True)
class Curve:
    """One loop's score by cycle. Retries and idle cycles on a level stretch are folded away and counted."""

    row: dict[str, Any]
    cycles: tuple[Cycle, ...]
    n_folded: int
    n_thinned: int  # cycles of a long loop that are not drawn


@dataclass(frozen=True)
class Sheet:
    """Some curves, how many sheets there are, and the scores between which all curves of this sheet lie, in tenths."""

    curves: tuple[Curve, ...]
    n_sheets: int
    low: float
    high: float


def take_apart(audit: Audit) -> Sum:
    """What each kind of wandering took from the score; where a loop lost more than everything, the rest is given back."""
    m = audit.monotonicity
    _keep_loops(audit)
    if m.score is None:
        return Sum(None, (), ())
    *causes, n_below = audit.scope.one(TOTALS)
    losses = tuple(
        Loss(label, int(cause["n"]), f"{cost} × {int(cause['n']):,} ÷ {m.n:,}", cost * int(cause["n"]) / m.n, cause["took"] / m.n)
        for (label, cost), cause in zip(COSTS, causes, strict=True)
    )
    taken = " ".join(f"− {loss.share:.3f}" for loss in losses)
    line = f"M = 1 {taken} = {score_text(m.score, line=thresholds(audit.settings)['M'])}"
    note = ""
    if n_below:
        loops = f"{n_below:,} of {count(m.n, 'loop')} lost more than everything and {'counts' if n_below == 1 else 'count'} as 0"
        note = f"{loops}: the causes in such a loop share what it had in proportion."
    return Sum(m.score, (line,), losses, note)


def list_bases(audit: Audit) -> tuple[Basis, ...]:
    """Which score judged how many loops."""
    _keep_loops(audit)
    return tuple(
        Basis(WORDS[basis, held_out], n, mean, clustered([(value, 1) for value in values]))
        for basis, held_out, n, mean, values in audit.scope.query(COUNT_BASES)
    )


def list_left_out(audit: Audit, filters: Filters) -> Rows:
    """Loops that no score covers, with what each of them has."""
    _keep_loops(audit)
    condition, binds = filters.sql()
    found = audit.scope.query(LEFT_OUT.format(filtered=condition), most=ROWS_MAX, **binds)
    rows = tuple(
        {"loop": loop_id, "cycles": n, "has": _has(n, score, held_out, visible), "first": first, "last": last}
        for loop_id, n, score, held_out, visible, first, last, _ in found
    )
    return Rows(rows, found[0][-1] if found else 0)


def list_loops(audit: Audit, filters: Filters, shown: str = "all") -> Rows:
    """Scored loops, those that lost most first.  Raises KeyError for a word that is not in SHOWN."""
    return _loops(audit, filters, SHOWN[shown], most=ROWS_MAX)


def draw_curves(audit: Audit, filters: Filters, shown: str, sheet: int) -> Sheet:
    """The curves of one sheet (from 1). A loop of one cycle has no curve."""
    condition = f"{SHOWN[shown]} and n_cycles > 1"
    found = _loops(audit, filters, condition, most=PAGE, skipped=(sheet - 1) * PAGE)
    if not found.rows:
        n_found = _loops(audit, filters, condition, most=1).n_found if sheet > 1 else 0
        return Sheet((), -(-n_found // PAGE), 0, 1)
    names = [row["loop"] for row in found.rows]
    cycles: dict[str, list[Cycle]] = {name: [] for name in names}
    for loop_id, position, value, cycle, heal_id, level, is_dip, back_to, similarity, idle in audit.scope.query(
        CURVES, loops=names, most=CYCLES_MAX
    ):
        cycles[loop_id].append(Cycle(position, cycle, heal_id, value, level, is_dip, back_to, similarity, idle))
    values = [one.value for some in cycles.values() for one in some]
    low, high = math.floor(10 * min(values) + 1e-9) / 10, math.ceil(10 * max(values) - 1e-9) / 10
    if low == high:
        low, high = max(0.0, low - 0.1), min(1.0, high + 0.1)
    return Sheet(tuple(_curve(row, cycles[row["loop"]]) for row in found.rows), -(-found.n_found // PAGE), low, high)


WORDS = {
    ("score", None): "the loop's own cycle score",
    ("holdout", None): "held-out score, measured cycle by cycle",
    ("visible", "none"): "visible score: no held-out score is logged",
    ("visible", "some"): "visible score: held-out is missing on some cycle",
    ("visible", "copied"): "visible score: held-out was measured once for the whole loop",
}


def _keep_loops(audit: Audit) -> None:
    """Make ``wander_loops``."""
    audit.scope.query(SCORED, dip=DIP_COST, revisit=REVISIT_COST, cap=CAP_COST)


def _loops(audit: Audit, filters: Filters, shown: str, *, most: int, skipped: int = 0) -> Rows:
    _keep_loops(audit)
    condition, binds = filters.sql()
    found = audit.scope.query(LOOPS.format(filtered=condition, shown=shown), most=most, skipped=skipped, **binds)
    return Rows(tuple(_row(row, audit.monotonicity.n) for row in found), found[0][-1] if found else 0)


def _row(found: Sequence[Any], n_loops: int) -> dict[str, Any]:
    loop_id, n_cycles, basis, dips, extra_dips, returned, idle, capped, first, last, lost, m_loop, _ = found
    return {
        "loop": loop_id, "score": round(m_loop, 2), "cost": cost_in_points(100 * min(lost, 1) / n_loops), "lost": round(lost, 2),
        "why": _why(extra_dips, returned, idle, capped=capped), "cycles": n_cycles, "dips": dips, "extra_dips": extra_dips,
        "returned": returned, "idle": idle, "capped": "yes" if capped else "no", "basis": BASIS[basis], "first": first, "last": last,
    }  # fmt: skip


BASIS = {"score": "its own score", "holdout": "held-out score", "visible": "visible score"}


def _why(extra_dips: int, returned: int, idle: int, *, capped: bool) -> str:
    """What a loop lost its points to."""
    parts = [f"{n:,} × {what}" if n > 1 else what for n, what in ((extra_dips, "extra dip"), (returned, "returned"), (idle, "idle")) if n]
    return ", ".join([*parts, *(["at the cap"] if capped else [])]) or "nothing"


def _has(n_cycles: int, n_score: int, n_held_out: int, n_visible: int) -> str:
    parts = [f"{what} on {n:,}" for n, what in ((n_score, "score"), (n_held_out, "held-out"), (n_visible, "visible")) if n]
    return f"{listed(parts)} of {count(n_cycles, 'cycle')}" if parts else "no score at all"


def _curve(row: dict[str, Any], cycles: Sequence[Cycle]) -> Curve:
    drawn = [one for at, one in enumerate(cycles) if not _is_folded(cycles, at)]
    return Curve(row, tuple(drawn), len(cycles) - len(drawn), row["cycles"] - len(cycles))


def _is_folded(cycles: Sequence[Cycle], at: int) -> bool:
    """Whether a cycle says nothing: it changed nothing, and its score is that of both neighbours."""
    one = cycles[at]
    around: Iterable[Cycle] = (*cycles[at - 1 : at], *cycles[at + 1 : at + 2])
    return (one.idle or not one.level) and 0 < at < len(cycles) - 1 and all(other.value == one.value for other in around)
