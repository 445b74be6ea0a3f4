"""A score taken apart: the steps as a sum, and where its points went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts import memory, sureness, tables
from pages.parts.figures import losses as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core.report import thresholds
from seam_core.views.losses import TENTH, Sum, loss_rows


def show(view: View, found: Sum, *, axis: str, why: str) -> None:
    """The working, how sure it is, and below it what was lost to which cause as numbers and bars. `why` explains the sum in a sentence."""
    if found.lines:
        st.code("\n".join(found.lines), language=None, wrap_lines=True)
    st.caption(why)
    sureness.tell(view, axis)
    if not found.losses:
        return
    left, right = st.columns(2, gap="medium")
    with right:
        alt = f"Points of {axis} lost to each cause; the table beside it has the numbers"
        low, high = sureness.span_of(view, axis)
        figure = memory.draw(figures.stairs, found, name=axis, line=thresholds(view.audit.settings)[axis], low=low, high=high)
        st.plotly_chart(figure, key=f"losses {axis}", config=NO_BAR, alt=alt)
        if low is not None:
            st.caption(f"Whisker: the 95 % range of {axis}.")
    with left:
        rows = loss_rows(found)
        points = st.column_config.NumberColumn("Points", format="%.1f")
        n = st.column_config.NumberColumn("How many", format="localized")
        columns = {"cause": "Lost to", "n": n, "took": points, "working": "Working"}
        st.dataframe(
            tables.frame_of([{key: row.get(key) for key in columns} for row in rows]),
            hide_index=True,
            height="content",
            column_config=columns,
            alt=f"Points that each cause took from {axis}",
        )
        st.caption(f"Together {100 * sum(loss.share for loss in found.losses):.1f} points of 100. {found.note}")


def cost_column(label: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """The column of what one row costs: two decimals, unless there are so many rows that each costs less than a tenth of a point."""
    dearest = max((row["cost"] or 0 for row in rows), default=0)
    return st.column_config.NumberColumn(label, format="%.2f" if dearest >= TENTH else None)
