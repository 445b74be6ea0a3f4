"""The parts of the Monotonicity page: the sum, the curves of the loops, the loops in a table, and what each was judged by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.parts import address, losses, memory, tables
from pages.parts.figures import wander as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.axes.monotonicity import CAP_COST, DIP_COST, REVISIT_COST
from seam_core.doubt import interval_text
from seam_core.views import wander
from seam_core.views.wander import Curve, Sheet
from seam_core.words import count, cut

COLUMNS = 3  # curves side by side
ID_LENGTH, ID_HEAD = 26, 6  # characters of an id over a curve, and those of its beginning
MOMENT = {"format": "YYYY-MM-DD HH:mm", "timezone": "UTC"}


def score(view: View) -> None:
    """M step by step, and what its points were lost to."""
    settings = view.audit.settings
    free = (
        "every dip"
        if not settings.free_dips
        else f"each dip after the first {settings.free_dips if settings.free_dips > 1 else ''}".strip()
    )
    why = (
        f"M of a loop = 1 − {DIP_COST} for {free} − {REVISIT_COST} for each return to an earlier text − {CAP_COST} from "
        f"{settings.depth_cap:,} cycles on, never below 0. M is the mean over the loops. A return is idle when nothing had changed "
        "since the cycle before."
    )
    losses.show(view, view.ask(wander.take_apart), axis="M", why=why)


def choose_shown() -> str:
    """What curves and table are narrowed to."""
    options = list(wander.SHOWN)
    chosen = st.segmented_control(
        "Show", options, default="all", required=True, key="loops", bind="query-params", on_change=lambda: address.put("sheet", None)
    )
    return str(chosen)


def curves(view: View, shown: str) -> None:
    """The loops' curves, a sheet at a time, worst first. The name over a curve opens its loop."""
    asked = max(1, address.number("sheet") or 1)
    sheet = view.ask(wander.draw_curves, view.filters, shown, asked)
    if not sheet.curves and sheet.n_sheets:
        asked = sheet.n_sheets
        sheet = view.ask(wander.draw_curves, view.filters, shown, asked)
    found = sheet.curves
    if not found:
        st.text("No loop of two cycles or more passes: a loop of one cycle can neither dip nor return.")
        return
    st.caption(
        "▼ dip · ◇ returned to an earlier text · □ idle · dashed: the depth cap. All curves here share one scale. A name opens its loop."
    )
    for at in range(0, len(found), COLUMNS):
        for place, one in zip(st.columns(COLUMNS), found[at : at + COLUMNS], strict=False):
            with place, st.container(border=True, gap="xsmall", height="stretch"):
                _tile(view, one, sheet)
    if sheet.n_sheets > 1:
        key = f"sheet {shown}"
        st.pagination(sheet.n_sheets, default=asked, key=key, on_change=lambda: address.put("sheet", st.session_state[key]))


def _tile(view: View, one: Curve, sheet: Sheet) -> None:
    row = one.row
    address.link("review/loop.py", escape.plain(_short(row["loop"])), hint=escape.plain(row["loop"]), loop=row["loop"])
    st.caption(f"M {row['score']:.2f} · {row['basis']} · {count(row['cycles'], 'cycle')}")
    alt = f"Score by cycle of loop {escape.visible(cut(row['loop']))}: lost to {row['why']}"
    figure = memory.draw(figures.curve, one, sheet, depth_cap=view.audit.settings.depth_cap)
    st.plotly_chart(figure, key=f"curve {row['loop']}", config=NO_BAR, alt=alt)
    said = [f"lost to {row['why']}" if row["lost"] else "lost nothing"]
    said += [f"{count(one.n_folded, 'unchanged cycle')} folded"] if one.n_folded else []
    said += [f"{one.n_thinned:,} cycles not drawn"] if one.n_thinned else []
    st.caption(" · ".join(said))


def _short(loop_id: str) -> str:
    """An id that fits over a curve: its end tells loops apart."""
    line = " ".join(loop_id.split())
    return line if len(line) <= ID_LENGTH else f"{line[:ID_HEAD]}…{line[ID_HEAD + 1 - ID_LENGTH :]}"


def table(view: View, shown: str) -> None:
    """The loops in a table; a click opens one."""
    found = view.ask(wander.list_loops, view.filters, shown)
    columns = {
        "loop": st.column_config.TextColumn("Loop", width=320), "score": st.column_config.NumberColumn("M of the loop", format="%.2f"),
        "cost": losses.cost_column("Costs M (points)", found.rows), "why": "Lost to", "cycles": "Cycles", "dips": "Dips",
        "extra_dips": "Extra dips", "returned": "Returned", "idle": "Idle", "capped": "At the cap", "basis": "Judged by",
        "first": st.column_config.DatetimeColumn("First heal", **MOMENT), "last": st.column_config.DatetimeColumn("Last heal", **MOMENT),
    }  # fmt: skip
    note = f"the worst of {found.n_found:,}" if found.n_found > len(found.rows) else None
    tables.show(found.rows, name="loops", alt="Loops, worst first", columns=columns, open_row=_open_loop, note=note)


def _open_loop(row: Mapping[str, Any]) -> None:
    address.go_later("review/loop.py", loop=row["loop"])


def bases(view: View) -> None:
    """Which score judged how many loops, and the loops that none covers."""
    found = view.ask(wander.list_bases)
    if found:
        shown = {
            "Judged by": [one.words for one in found],
            "Loops": [one.n_loops for one in found],
            "Mean M": [f"{one.mean:.2f}" for one in found],
            "95 % range": [interval_text(one.interval) or "too few loops" for one in found],
        }
        numbers = {"Loops": st.column_config.NumberColumn(format="localized")}
        st.dataframe(shown, hide_index=True, height="content", alt="Loops by the score that judged them", column_config=numbers)
    left_out = view.ask(wander.list_left_out, view.filters)
    if not left_out.rows:
        st.caption("No loop is left out.")
        return
    st.text(
        f"{count(left_out.n_found, 'loop')} left out: a loop is judged by one score from its first cycle to its last, and none of the "
        "three covers every cycle. Log score, holdout_after or visible_after on every heal."
    )
    columns = {
        "loop": st.column_config.TextColumn("Loop", width=320), "cycles": "Cycles", "has": "What is logged",
        "first": st.column_config.DatetimeColumn("First heal", **MOMENT), "last": st.column_config.DatetimeColumn("Last heal", **MOMENT),
    }  # fmt: skip
    tables.show(left_out.rows, name="loops-left-out", alt="Loops left out of M", columns=columns, open_row=_open_loop)
