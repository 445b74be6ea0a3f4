"""What one window of one workspace holds: the heals in it, their loops up to its end, and what the boundary gate stopped.

A scope owns a cursor with its own temporary tables and views, which the axes read and add to:

=================  =================================================================================================
``span``           one row: start, stop, the window's bounds
``blocked``        row, protected_id: heals that the boundary gate stopped, of all that were looked at
``touched``        row: every heal up to the end of the window of every loop that is touched in it, blocked or not
``window_heals``   heals with start < ts ≤ stop that were not blocked
``loop_heals``     heals with ts ≤ stop, not blocked, of every loop with a heal in ``window_heals``
=================  =================================================================================================
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import duckdb

from seam_core.settings import Settings
from seam_core.store import Store
from seam_core.texts import Edit, Remembered
from seam_core.window import Window

COPY_MAX = 100_000  # windows up to so many heals are copied out once; more are filtered anew at each use, which keeps memory flat
AT_ONCE = 5_000  # rows of a stream
FLAGGED = ("gate", "E", "A", "M")  # what flags are about, in the order in which they are read
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)

WINDOW_HEALS = """
select h.* from heals h anti join blocked using (row)
where h.ts > (select start from span) and h.ts <= (select stop from span)
"""

# By row first: few rows are then looked at, and not every heal's loop.
LOOP_HEALS = """
select h.* from heals h
semi join touched using (row)
semi join (select distinct loop_id from window_heals) scored using (loop_id)
anti join blocked using (row)
"""

TOUCHED = """
with loops as (
    select distinct loop_id from heals where ts > (select start from span) and ts <= (select stop from span)
)
select h.row from heals h semi join loops using (loop_id) where h.ts <= (select stop from span)
"""

# In all of history every loop is touched, and each of its heals lies in the window.
ALL_TOUCHED = "select row from heals where ts <= (select stop from span)"
ALL_LOOP_HEALS = "from window_heals"


@dataclass
class Scope:
    """One store seen through one window with one set of settings."""

    store: Store
    window: Window
    settings: Settings
    con: duckdb.DuckDBPyConnection
    flags: dict[str, list[str]] = field(default_factory=lambda: {part: [] for part in FLAGGED})
    is_large: bool = False  # too many heals to copy any of it
    kept: set[str] = field(default_factory=set)  # tables that `keep` made
    _edits: Remembered = field(init=False)  # several axes read the same ones

    def __post_init__(self) -> None:
        self._edits = Remembered(self.store.edits)

    @property
    def start(self) -> datetime:
        """The window's start, or the beginning of time."""
        return self.window.start or BEGINNING

    def query(self, sql: str, **binds: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.store.lock:  # one connection serves one call at a time, and pages share an audit
            return self.con.execute(sql, binds or None).fetchall()

    def stream(self, sql: str, n_rows: int = AT_ONCE, **binds: Any) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query some thousand at a time, to keep memory flat. Nothing else may be asked of the scope meanwhile."""
        with self.store.lock:
            result = self.con.execute(sql, binds or None)
            while rows := result.fetchmany(n_rows):
                yield rows

    def one(self, sql: str, **binds: Any) -> tuple[Any, ...]:
        """The single row of a query."""
        return self.query(sql, **binds)[0]

    def keep(self, name: str, sql: str, **binds: Any) -> None:
        """Keep a query's result as a temporary table."""
        self.query(f"create or replace temp table {name} as {sql}", **binds)
        self.kept.add(name)

    def keep_once(self, name: str, sql: str, **binds: Any) -> None:
        """Keep a query's result as a temporary table, unless there is one of that name."""
        if name not in self.kept:
            self.keep(name, sql, **binds)

    def show(self, name: str, sql: str, **binds: float) -> None:
        """Keep rows that a page may open one by one: as a table, or where there are too many as a view that is computed when asked."""
        if self.is_large:
            sql = re.sub(r"\$(\w+)", lambda found: repr(binds[found.group(1)]), sql)
            self.query(f"create or replace temp view {name} as {sql}")
        else:
            self.keep(name, sql, **binds)

    def columns(self, sql: str, **binds: Any) -> list[list[Any]]:
        """The columns of a query as lists, in its order; of numbers and booleans only."""
        with self.store.lock:
            result = self.con.execute(sql, binds or None)
            if self.is_large:  # far cheaper than a tuple a row, once NumPy is loaded
                return [column.tolist() for column in result.fetchnumpy().values()]
            columns = [list(column) for column in zip(*result.fetchall(), strict=True)]
            return columns or [[] for _ in result.description or ()]

    def numbers(self, sql: str) -> list[array[int]]:
        """The same of a query that returns nothing but whole numbers (bigint, no null), with no object for each."""
        if self.is_large:
            with self.store.lock:
                return [array("q", column.tobytes()) for column in self.con.execute(sql).fetchnumpy().values()]
        return [array("q", column) for column in self.columns(sql)]

    def edits(self, rows: Iterable[int]) -> Iterator[Edit]:
        """What each heal's line says of its change, in the order of the rows; asked for again it comes from memory, as far as that goes."""
        return self._edits(rows)

    def texts(self, rows: Iterable[int]) -> Iterator[str | None]:
        """The same of the texts alone."""
        return (edit.after_text for edit in self._edits(rows))

    def text(self, row: int) -> str | None:
        """One heal's text."""
        return next(self.texts([row]))

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A kept table as one dict a row, in its order."""
        with self.store.lock:
            result = self.con.execute(f"from {name}")
            names = [column[0] for column in result.description or []]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def close(self) -> None:
        """Give the temporary tables back."""
        with self.store.lock:
            self.con.close()


def open_scope(store: Store, window: Window, settings: Settings) -> Scope:
    """A scope over a store; nothing is blocked yet and the views are not there yet (`define_heals`)."""
    scope = Scope(store, window, settings, store.cursor())
    scope.keep("span", "select $start::timestamptz as start, $stop::timestamptz as stop", start=scope.start, stop=window.end)
    scope.keep("touched", ALL_TOUCHED if window.start is None else TOUCHED)
    scope.con.execute("create or replace temp table blocked (row bigint, protected_id varchar)")
    return scope


def define_heals(scope: Scope) -> None:
    """Make ``window_heals`` and ``loop_heals`` from what is blocked so far."""
    in_window = "select count(*) from heals where ts > (select start from span) and ts <= (select stop from span)"
    scope.is_large = int(scope.one(in_window)[0]) > COPY_MAX
    kind = "view" if scope.is_large else "table"
    loop_heals = ALL_LOOP_HEALS if scope.window.start is None else LOOP_HEALS
    for name, sql in (("window_heals", WINDOW_HEALS), ("loop_heals", loop_heals)):
        scope.con.execute(f"create or replace temp {kind} {name} as {sql}")


def insert_rows(scope: Scope, table: str, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert tuples into a temporary table in one statement."""
    lists = [list(column) for column in zip(*rows, strict=True)]
    if lists:
        names = ", ".join(f"unnest(${name})" for name in columns.replace(" ", "").split(","))
        binds = dict(zip(columns.replace(" ", "").split(","), lists, strict=True))
        scope.con.execute(f"insert into {table} ({columns}) select {names}", binds)
