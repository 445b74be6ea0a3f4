"""Cases × heals: what each case did after each heal, so that one look shows which heal broke much and which case breaks often."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from seam_core.report import Audit
from seam_core.views.filters import Filters
from seam_core.words import count, named

CASES_SHOWN, HEALS_SHOWN = 200, 100

# Heals with an after run, the newest first.
HEALS = """
select a.heal_id, a.ts, r.run_id, a.n_cases, a.n_regressed, a.n_fixed, a.n_safety
from aftermath_rows a join window_heals h using (heal_id) join heal_runs o using (heal_id) join surface_runs r on r.run = o.after_run
where {condition}
order by a.ts desc, a.heal_id desc
"""

# Safety cases first, then those that broke most often. A case has changed when its outcomes in these heals are not all the same.
CASES = """
with found as (
    select c.case_id, count(*) filter (passed_before and not passed_after) as n_broke,
           count(*) filter (passed_before <> passed_after) as n_changes,
           n_changes > 0 or (bool_or(passed_after) and not bool_and(passed_after)) as has_changed
    from surface_cases c semi join case_grid_heals using (heal_id)
    group by c.case_id
)
select f.case_id, coalesce(s.safety, false) as is_safety, s.component, f.n_broke, f.n_changes, f.has_changed
from found f left join surface s on s.id = f.case_id
order by is_safety desc, n_broke desc, n_changes desc, f.case_id
"""

# What the case did after the heal before, among those shown, tells whether it was lost in between.
CELLS = """
select c.case_id, c.heal_id, c.passed_before, c.passed_after,
       lag(c.passed_after) over (partition by c.case_id order by c.ts, c.heal_id) as passed_last
from surface_cases c semi join case_grid_sheet using (heal_id) semi join case_grid_cases using (case_id)
"""


@dataclass(frozen=True)
class Column:
    """One heal."""

    heal_id: str
    ts: datetime
    after_run: str
    n_cases: int
    n_regressed: int
    n_fixed: int
    n_safety: int

    @property
    def is_silent(self) -> bool:
        """Cases broke, and as many or more were fixed: the number of passing cases does not show it."""
        return 0 < self.n_regressed <= self.n_fixed


@dataclass(frozen=True)
class Row:
    """One case and its cells, in the order of the columns: broke, fixed, lost, failing, passing, or nothing where it was not run.

    *lost* is a case that already failed before this heal, though it passed after the last one: no heal broke it.
    """

    case_id: str
    is_safety: bool
    component: str | None
    n_broke: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """One sheet of the grid. Columns run from the newest heal to the oldest; sheets are numbered from 1."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    n_heals: int
    n_cases: int  # with the cases that never changed
    n_changed: int
    heal_sheets: int
    case_sheets: int
    sentences: tuple[str, ...]


def grid(audit: Audit, filters: Filters, *, only_changed: bool = True, heal_sheet: int = 1, case_sheet: int = 1) -> Grid:
    """One sheet of cases × heals over the window's heals that have an after run and that the filters let through."""
    scope = audit.scope
    condition, binds = filters.sql("h")
    columns = [Column(*row) for row in scope.query(HEALS.format(condition=condition), **binds)]
    scope.keep("case_grid_heals", "select unnest($ids::varchar[]) as heal_id", ids=[column.heal_id for column in columns])
    every = scope.query(CASES)
    kept = [row for row in every if row[-1] or not only_changed]
    shown_columns, heal_sheets = _sheet(columns, heal_sheet, HEALS_SHOWN)
    shown_cases, case_sheets = _sheet(kept, case_sheet, CASES_SHOWN)
    cells = _cells(audit, [column.heal_id for column in shown_columns], [row[0] for row in shown_cases])
    rows = [
        Row(case_id, is_safety, component, n_broke, tuple(cells.get((case_id, column.heal_id), "") for column in shown_columns))
        for case_id, is_safety, component, n_broke, _, _ in shown_cases
    ]
    n_changed = sum(row[-1] for row in every)
    found = Grid(tuple(shown_columns), tuple(rows), len(columns), len(every), n_changed, heal_sheets, case_sheets, ())
    return Grid(**{**vars(found), "sentences": tuple(_sentences(found, columns, only_changed=only_changed))})


def _sheet(rows: list[Any], number: int, size: int) -> tuple[list[Any], int]:
    """The rows of one sheet, and how many sheets there are; a number too high is the last one."""
    n_sheets = max(-(-len(rows) // size), 1)
    first = (min(max(number, 1), n_sheets) - 1) * size
    return rows[first : first + size], n_sheets


def _cells(audit: Audit, heals: list[str], cases: list[str]) -> dict[tuple[str, str], str]:
    audit.scope.keep("case_grid_sheet", "select unnest($ids::varchar[]) as heal_id", ids=heals)
    audit.scope.keep("case_grid_cases", "select unnest($ids::varchar[]) as case_id", ids=cases)
    return {(case_id, heal_id): _cell(was, now, last) for case_id, heal_id, was, now, last in audit.scope.query(CELLS)}


def _cell(was: bool | None, now: bool, last: bool | None) -> str:  # noqa: FBT001 -- outcomes as logged
    if was is not None and was != now:
        return "fixed" if now else "broke"
    if not now:
        return "lost" if last else "failing"
    return "passing"


def _sentences(found: Grid, columns: list[Column], *, only_changed: bool) -> list[str]:
    """What is shown and what is left out, and the heals whose damage the totals hide."""
    if not columns:
        return ["No heal of this window has a surface run after it that could be compared."]
    shown = f"{count(len(found.rows), 'case')} × {count(len(found.columns), 'heal')}, newest heal on the left, safety cases on top."
    said = [shown]
    left_out = []
    if only_changed and found.n_changed < found.n_cases:
        n = found.n_cases - found.n_changed
        left_out.append(f"{count(n, 'case')} that never changed")
    n_kept = found.n_changed if only_changed else found.n_cases
    if len(found.rows) < n_kept:
        left_out.append(f"{count(n_kept - len(found.rows), 'case')} on other sheets")
    if len(found.columns) < found.n_heals:
        left_out.append(f"{count(found.n_heals - len(found.columns), 'heal')} on other sheets")
    said += [f"Not shown: {', '.join(left_out)}."] if left_out else []
    silent = [column.heal_id for column in columns if column.is_silent]
    if silent:
        which = "heal" if len(silent) == 1 else "heals"
        said.append(f"Hidden in the totals: {len(silent):,} {which} broke cases while as many or more were fixed ({named(silent)}).")
    n_lost = sum(cell == "lost" for row in found.rows for cell in row.cells)
    if n_lost:
        cells = "1 cell is" if n_lost == 1 else f"{n_lost:,} cells are"
        said.append(f"{cells} marked lost: the case passed after one heal and failed before the next began.")
    return said
