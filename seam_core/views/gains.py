"""Visible against held-out gains, one item a heal or a loop: rows worst first, over time, and against each other.

Charts hold every item as long as a reader can tell them apart; beyond that they hold means over equal spans of time, or over equal
gains, made in SQL, and say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from seam_core import escape
from seam_core.report import Audit
from seam_core.views.filters import Filters
from seam_core.views.resolution import find_resolution, points_said
from seam_core.words import cut

Each = Literal["heal", "loop"]
ALL = Filters()  # nothing is filtered

ROWS_MAX = 2_000  # rows of a table
DRAWN_MAX = 400  # heals or loops drawn one by one over time
BINS_MAX = 130  # spans of time drawn instead
CELLS_MAX = 1_000  # different pairs of gains drawn against each other
SAME_MAX = 50  # items named that share a place in a chart
OFFERED_MAX = 300  # items to choose from by name

# What a table, a point or a name stands for; the same columns for both.
ITEMS: Mapping[Each, str] = {
    "heal": """
select heal_id as id, loop_id, ts, cycle, 1 as n_heals, visible_before, visible_after, holdout_before, holdout_after,
       visible_gain, holdout_gain, signed_gap, e_heal as e, coalesce(holdout_scope = 'loop', false) as whole_loop, tokens_spent
from efficacy_rows
where {filters}
""",
    "loop": """
select loop_id as id, loop_id, last_ts as ts, null::integer as cycle, n_heals, visible_before, visible_after, holdout_before, holdout_after,
       visible_after - visible_before as visible_gain, holdout_after - holdout_before as holdout_gain, signed_gap, e_loop as e,
       false as whole_loop, tokens_spent
from efficacy_loops
where loop_id in (select loop_id from window_heals where {filters})
""",
}
COLUMNS = (
    "id, loop_id, ts, cycle, n_heals, visible_before, visible_after, holdout_before, holdout_after, signed_gap, e, whole_loop, tokens_spent"
)
WORST_FIRST = "round(e, 9), signed_gap desc, ts desc, id"

ROWS = f"with items as ({{items}}) select {COLUMNS} from items order by {WORST_FIRST} limit $n"
HOW_MANY = "with items as ({items}) select count(*), min(ts), max(ts) from items"

# A loop that looks better where it looks, and is not: visible up by a whole point or more, held-out by less.
EMPTY = f"""
with items as ({{items}}),
rose as (
    select *, round(round(100 * holdout_gain, 6)) < 1 as is_empty from items where round(round(100 * visible_gain, 6)) >= 1
)
select {COLUMNS}, is_empty, count(*) filter (is_empty) over (), count(*) over ()
from rose
order by is_empty desc, {WORST_FIRST}
limit $n
"""

IN_TIME = """
with items as ({items})
select ts, 1, visible_gain, holdout_gain, signed_gap, greatest(0, signed_gap), id, whole_loop from items order by ts, id
"""
BINNED = """
with items as ({items})
select time_bucket(to_seconds($seconds), ts) as start, count(*), avg(visible_gain), avg(holdout_gain), avg(signed_gap),
       avg(greatest(0, signed_gap)), null, bool_or(whole_loop)
from items group by start order by start
"""

CELLS = """
with items as ({items})
select avg(visible_gain), avg(holdout_gain), count(*), arg_max(id, (ts, id)), avg(e), bool_and(whole_loop)
from items group by round(visible_gain / $grid), round(holdout_gain / $grid)
order by round(visible_gain / $grid), round(holdout_gain / $grid)
"""
HOW_MANY_CELLS = """
with items as ({items})
select count(distinct (round(visible_gain / $grid), round(holdout_gain / $grid))) from items
"""
SAME_PLACE = f"""
with items as ({{items}}), one as (select visible_gain, holdout_gain from items where id = $id)
select {COLUMNS}
from items
where round(visible_gain / $grid) = (select round(visible_gain / $grid) from one)
  and round(holdout_gain / $grid) = (select round(holdout_gain / $grid) from one) and id <> $id
order by {WORST_FIRST}
limit $n
"""

HOUR = 3600
SPANS = (
    (HOUR, "hour"), (6 * HOUR, "6 hours"), (24 * HOUR, "day"), (7 * 24 * HOUR, "week"),
    (28 * 24 * HOUR, "4 weeks"), (364 * 24 * HOUR, "52 weeks"), (3640 * 24 * HOUR, "520 weeks"),
)  # fmt: skip
GRIDS = (0.01, 0.02, 0.05, 0.1, 0.25)  # how close two pairs of gains are one place, in shares of a score


@dataclass(frozen=True)
class Item:
    """A heal, or a loop from its first scores to its last ones. Scores, gaps and E are shares; `gap` is signed.

    `whole_loop`: this heal's held-out pair was measured once for its whole loop.
    """

    id: str
    loop_id: str
    ts: datetime
    cycle: int | None
    n_heals: int
    visible_before: float
    visible_after: float
    holdout_before: float
    holdout_after: float
    gap: float
    e: float
    whole_loop: bool
    tokens: float | None

    @property
    def visible_gain(self) -> float:
        """What the loop's own metric gained."""
        return self.visible_after - self.visible_before

    @property
    def holdout_gain(self) -> float:
        """What held-out tasks gained."""
        return self.holdout_after - self.holdout_before


Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """Items worst first, the same as rows of a table with gains in points, and how many items there are in all."""

    items: tuple[Item, ...]
    table: tuple[Row, ...]
    n: int


@dataclass(frozen=True)
class Moment:
    """One item, or the means of those of one span of time. `gap` is signed, `truth_gap` never below 0: its mean is what E counts.

    `low`, `high`: a range of the gap, for when there is one to show.
    """

    ts: datetime
    n: int
    visible_gain: float
    holdout_gain: float
    gap: float
    truth_gap: float
    id: str | None
    whole_loop: bool
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """Gains in time order; `span` is the word for the time that each moment stands for, None when each is one item."""

    moments: tuple[Moment, ...]
    n: int
    span: str | None


@dataclass(frozen=True)
class Cell:
    """Items with the same two gains: their means, how many, and the newest of them."""

    visible_gain: float
    holdout_gain: float
    n: int
    newest: str
    e: float
    whole_loop: bool


@dataclass(frozen=True)
class Cells:
    """Places in the chart of visible against held-out gain; `grid` is how wide one is, as a share of a score."""

    cells: tuple[Cell, ...]
    n: int
    grid: float


@dataclass(frozen=True)
class EmptyGains:
    """Loops whose visible score rose and whose held-out score did not, worst first, as rows of a table with gains in points."""

    table: tuple[Row, ...]
    n_empty: int
    n_rose: int


def rows(audit: Audit, each: Each, filters: Filters = ALL) -> Rows:
    """The worst items; at most ROWS_MAX of them."""
    sql, binds = sql_of(each, filters)
    items = tuple(Item(*row) for row in audit.scope.query(ROWS.format(items=sql), n=ROWS_MAX, **binds))
    return Rows(items, table_of(audit, items), audit.scope.one(HOW_MANY.format(items=sql), **binds)[0])


def offered(audit: Audit, each: Each, filters: Filters = ALL) -> dict[str, str]:
    """Name → words of the worst items, for a list to choose from."""
    table = rows(audit, each, filters).table[:OFFERED_MAX]
    return {row["id"]: f"{escape.visible(cut(row['id']))}: gap {points_said(row['gap'])}, E {row['e']:.2f}" for row in table}


def series(audit: Audit, each: Each, filters: Filters = ALL) -> Series:
    """Gains over time: one by one up to DRAWN_MAX items, else means of at most BINS_MAX spans."""
    sql, binds = sql_of(each, filters)
    n, first, last = audit.scope.one(HOW_MANY.format(items=sql), **binds)
    if n <= DRAWN_MAX:
        return Series(tuple(Moment(*row) for row in audit.scope.query(IN_TIME.format(items=sql), **binds)), n, None)
    length = (last - first).total_seconds()
    seconds, span = next((one for one in SPANS if length / one[0] < BINS_MAX), SPANS[-1])
    found = audit.scope.query(BINNED.format(items=sql), seconds=seconds, **binds)
    return Series(tuple(Moment(*row) for row in found), n, span)


def cells(audit: Audit, each: Each, filters: Filters = ALL) -> Cells:
    """Visible against held-out gain; items closer than `grid` share a place, which grows until CELLS_MAX places do."""
    sql, binds = sql_of(each, filters)
    n = audit.scope.one(HOW_MANY.format(items=sql), **binds)[0]
    counted = ((grid, audit.scope.one(HOW_MANY_CELLS.format(items=sql), grid=grid, **binds)[0]) for grid in GRIDS)
    grid = next((grid for grid, n_cells in counted if n_cells <= CELLS_MAX), GRIDS[-1])
    found = audit.scope.query(CELLS.format(items=sql), grid=grid, **binds)
    return Cells(tuple(Cell(*row) for row in found), n, grid)


def place_of(found: Cells, item: Item) -> Cell | None:
    """The place of an item in the chart; None when filters keep it out."""
    near = [
        cell
        for cell in found.cells
        if max(abs(cell.visible_gain - item.visible_gain), abs(cell.holdout_gain - item.holdout_gain)) < found.grid
    ]
    return min(near, key=lambda cell: abs(cell.visible_gain - item.visible_gain) + abs(cell.holdout_gain - item.holdout_gain), default=None)


def same_place(audit: Audit, each: Each, name: str, grid: float, filters: Filters = ALL) -> tuple[Row, ...]:
    """Other items with the same two gains as rows of a table, worst first; at most SAME_MAX."""
    sql, binds = sql_of(each, filters)
    found = audit.scope.query(SAME_PLACE.format(items=sql), id=name, grid=grid, n=SAME_MAX, **binds)
    return table_of(audit, tuple(Item(*row) for row in found))


def empty_gains(audit: Audit, filters: Filters = ALL) -> EmptyGains:
    """Loops that look better where they look, and are not."""
    sql, binds = sql_of("loop", filters)
    found = audit.scope.query(EMPTY.format(items=sql), n=ROWS_MAX, **binds)
    table = table_of(audit, tuple(Item(*row[:-3]) for row in found if row[-3]))
    return EmptyGains(table, *(found[0][-2:] if found else (0, 0)))


def table_of(audit: Audit, items: tuple[Item, ...]) -> tuple[Row, ...]:
    """Items as rows of a table: gains in points that are no finer than the exam, E with two decimals."""
    exam = find_resolution(audit)
    return tuple(
        {
            "id": item.id,
            "loop": item.loop_id,
            "cycle": item.cycle,
            "heals": item.n_heals,
            "time": item.ts,
            "visible": exam.visible(item.visible_gain),
            "held_out": exam.held_out(item.holdout_gain),
            "gap": exam.gap(item.visible_gain, item.holdout_gain),
            "e": round(item.e, 2),
            "measured": "its whole loop" if item.whole_loop else "this heal",
            "tokens": item.tokens,
        }
        for item in items
    )


def sql_of(each: Each, filters: Filters = ALL) -> tuple[str, dict[str, Any]]:
    """The items as SQL, and what to bind."""
    condition, binds = filters.sql()
    return ITEMS[each].format(filters=condition), dict(binds)
