"""Cases as tables: what differs between two looks at the surface, with counts that filter, and cases over heals with the arrow keys."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import address, choice, copying, tables
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import case_grid, case_history, case_issues
from seam_core.views.case_diff import STATES, ComparedCase, Diff
from seam_core.views.case_grid import Column, Grid
from seam_core.views.case_history import Noise
from seam_core.words import count, cut

NOISE_MAX = 100  # changed cases of which the noise is looked up
# What a cell says and how it is tinted; the sign carries it, the colour only helps.
SIGNS = {"broke": "▼", "fixed": "▲", "lost": "▽", "failing": "✗", "passing": "·", "": ""}
TINTS = {"▼": "#D55E0080", "▲": "#009E7359", "▽": "#E69F0073", "✗": "#D55E0026"}
LEGEND = (
    "▼ broke · ▲ fixed · ▽ lost between heals · ✗ still failing · a dot: passing · blank: not run. "
    "A number with ! is hidden in the total: as many or more were fixed."
)
TOTALS = ("All that broke", "All fixed")  # the rows above the cases
NAME_LENGTH = 40  # characters of a case in the grid's margin
COLUMN_WIDTH, TALL = 46, 440  # px
FEW = 12  # columns; more fill the width


def open_case(case_id: str, run_id: str | None) -> None:
    """A callback: open a case below, at one run."""
    address.put("case", case_id)
    address.put("at", run_id)


def show(view: View, diff: Diff, *, name: str) -> None:
    """What was compared, what may mislead, and every case; the counts filter, a click opens the case below."""
    changed = tuple(case.case_id for case in diff.cases if case.state in ("broke", "fixed"))[:NOISE_MAX]
    noise = view.ask(case_history.own_noise, changed) if changed else {}
    broke = [noise[case.case_id] for case in diff.of("broke") if case.case_id in noise]
    st.text(escape.visible("\n".join([*diff.sentences, *case_history.noise_sentences(broke)])))
    if diff.warnings:
        st.warning(escape.plain(" ".join(diff.warnings)))
    options = {state.replace(" ", "-"): f"{state.capitalize()} {diff.counts[state]:,}" for state in STATES}
    state = choice.pills("only", "Show only cases that", options)
    cases = diff.of(state.replace("-", " ") if state else None)
    rows = [_row(case, noise.get(case.case_id)) for case in cases]
    columns = {
        "state": "What happened",
        "case_id": "Case",
        "safety": "Safety",
        "before": "Before",
        "after": "After",
        "flips": st.column_config.TextColumn("Flips by itself", help="Pairs of runs with no heal between them in which the case changed"),
        "component": "Component",
        "question": "Question",
        "before_run": "Before is from",
    }
    if not rows:
        st.text("No case did." if state else "Neither of the two has a case.")
    else:
        kept = {key: label for key, label in columns.items() if any(row[key] for row in rows)}  # most surfaces log no component
        if len({row["before_run"] for row in rows}) == 1:
            kept.pop("before_run", None)
        opens = lambda row: _open(name, diff, row)  # noqa: E731
        tables.show(rows, name=f"cases-{name}", alt="Cases before and after", columns=kept, open_row=opens)
    params = (
        {"heal": diff.heal.heal_id} if diff.heal else {"show": "runs", "run": diff.before and diff.before.run_id, "run2": diff.after.run_id}
    )
    copying.offer(case_issues.regression_issue(view.audit, diff, link=address.permalink("aftermath", **params)))


def grid(view: View) -> None:
    """Cases over heals: a click or the arrow keys open the case of the cell, at the heal's after run."""
    only_changed = choice.toggle("changed", "Only cases that ever changed", default=True)
    sheets = {"heal_sheet": address.number("heal_sheet") or 1, "case_sheet": address.number("case_sheet") or 1}
    found = view.ask(case_grid.grid, view.filters, only_changed=only_changed, **sheets)
    st.text(escape.visible("\n".join(found.sentences)))
    choice.sheet("heal_sheet", "Heals", found.heal_sheets)
    choice.sheet("case_sheet", "Cases", found.case_sheets)
    if not found.rows:
        st.text("No case changed in these heals." if found.n_cases else "Nothing to draw.")
        return
    key = f"grid {only_changed} {sheets} {len(found.columns)} {len(found.rows)}"
    if key not in st.session_state:
        _restore(found, key)
    st.dataframe(
        _styled(found),
        key=key,
        on_select=lambda: _picked(found, key),
        selection_mode="single-cell",
        width="stretch" if len(found.columns) > FEW else "content",
        height=TALL if len(found.rows) > 11 else "content",
        alt="Outcome of each case after each heal; safety cases on top, newest heal on the left",
        column_config={"kind": st.column_config.TextColumn("Kind", width=64, pinned=True)}
        | {
            str(at): st.column_config.TextColumn(_label(column), width=COLUMN_WIDTH, help=_help(column))
            for at, column in enumerate(found.columns)
        },
    )
    st.caption(LEGEND)


def _row(case: ComparedCase, noise: Noise | None) -> dict[str, Any]:
    return {
        "state": case.state,
        "case_id": case.case_id,
        "safety": "safety" if case.is_safety else "" if case.is_known else "not in surface.jsonl",
        "before": _word(case.passed_before),
        "after": _word(case.passed_after),
        "flips": noise.words if noise else "",
        "component": case.component or "",
        "question": case.question or "",
        "before_run": case.before_run or "",
        "after_run": case.after_run or "",
    }


def _word(passed: bool | None) -> str:  # noqa: FBT001 -- an outcome
    return "not run" if passed is None else "pass" if passed else "fail"


def _open(name: str, diff: Diff, row: Any) -> None:
    address.put("show", "heals" if name == "heal" else name)
    if diff.heal:
        address.put("heal", diff.heal.heal_id)
    elif diff.before:
        address.put("run", diff.before.run_id)
        address.put("run2", diff.after.run_id)
    open_case(row["case_id"], row["after_run"] or row["before_run"])


def _styled(found: Grid) -> Any:
    broke = [f"{column.n_regressed}{'!' if column.is_silent else ''}" if column.n_regressed else "" for column in found.columns]
    fixed = [str(column.n_fixed or "") for column in found.columns]
    cells = [["", *broke], ["", *fixed]]
    cells += [["safety" if row.is_safety else "", *(SIGNS[cell] for cell in row.cells)] for row in found.rows]
    names = [*TOTALS, *(escape.visible(cut(row.case_id, NAME_LENGTH)) for row in found.rows)]
    columns = ["kind", *(str(at) for at in range(len(found.columns)))]
    frame = pd.DataFrame(cells, index=pd.Index(names, name="Case"), columns=columns)
    unique = frame.index.is_unique  # a style needs it; two long ids may be alike once they are cut
    return frame.style.map(lambda sign: f"background-color:{TINTS[sign]}" if sign in TINTS else "") if unique else frame


def _label(column: Column) -> str:
    """A heal in a few letters: the day, and the end of its id."""
    return f"{escape.visible(column.heal_id)[-4:]}"


def _help(column: Column) -> str:
    hidden = " Hidden in the totals." if column.is_silent else ""
    safety = f", {count(column.n_safety, 'safety case')} among them" if column.n_safety else ""
    broke = f"broke {column.n_regressed:,} of {column.n_cases:,}{safety}, fixed {column.n_fixed:,}."
    return f"{escape.code(column.heal_id)} {column.ts:%Y-%m-%d %H:%M} UTC: {broke}{hidden}"


def _restore(found: Grid, key: str) -> None:
    """Mark the cell that the address names."""
    row = next((at for at, one in enumerate(found.rows) if one.case_id == address.get("case")), None)
    column = next((at for at, one in enumerate(found.columns) if one.after_run == address.get("at")), None)
    if row is not None and column is not None:
        st.session_state[key] = {"selection": {"cells": [(row + len(TOTALS), str(column))]}}


def _picked(found: Grid, key: str) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if not cells or cells[0][0] < len(TOTALS):
        return
    row, name = found.rows[cells[0][0] - len(TOTALS)], str(cells[0][1])
    address.put("show", "grid")
    open_case(row.case_id, found.columns[int(name)].after_run if name.isdecimal() else None)
