"""The widening test on a page: what it says, both evaluations with their loops, the rule, and the same to copy."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages.parts import address, copying, tables
from pages.parts.figures import efficacy as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.report import Audit
from seam_core.views import widening
from seam_core.words import count, points


def show(view: View) -> None:
    """State in words, and the points of both evaluations, drawn alike so that they can be compared."""
    found, charts = view.ask(widening.look_twice), view.ask(_figures)
    st.markdown(f"**{escape.plain(found.sentence)}**")
    for at, (column, look) in enumerate(zip(st.columns(2, gap="medium"), found.looks, strict=True)):
        with column:
            numbers = "" if look.rise is None or look.p is None else f": rise {widening.rise_said(look.rise)}, p {widening.p_said(look.p)}"
            st.markdown(f"{'Now' if at == 0 else 'A week before'}, {look.moment:%Y-%m-%d %H:%M} UTC{numbers}. **{look.why.capitalize()}**")
            if look.loops:
                alt = f"Mean gap of {count(len(look.loops), 'loop')} up to {look.moment:%Y-%m-%d}, oldest first; {look.why}"
                st.plotly_chart(charts[at], key=f"widening {at}", config=NO_BAR, alt=alt)
    st.caption(escape.plain(found.rule))
    if not any(look.loops for look in found.looks):
        return
    with st.expander("The loops behind these charts"):
        rows = [
            {"evaluated": look.moment, "place": at, "loop": loop.loop_id, "until": loop.ts, "gap": points(loop.gap)}
            for look in found.looks
            for at, loop in enumerate(look.loops, start=1)
        ]
        when = st.column_config.DatetimeColumn
        columns = {
            "evaluated": when("Evaluated (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
            "place": "Place",
            "loop": "Loop",
            "until": when("Last scored heal (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
            "gap": "Mean gap (points)",
        }
        open_loop = lambda row: address.go_later("review/loop.py", loop=row["loop"])  # noqa: E731
        tables.show(rows, name="widening-loops", alt="Loops of the widening test", columns=columns, open_row=open_loop)
    copying.offer(view.ask(widening.issue, link=address.permalink("efficacy")))


def _figures(audit: Audit) -> tuple[go.Figure, ...]:
    """Both evaluations, with the same reach."""
    looks, gap_max = widening.look_twice(audit).looks, audit.settings.gap_max
    extent = figures.extent(looks, gap_max=gap_max)
    return tuple(figures.widening_loops(look, gap_max=gap_max, extent=extent) for look in looks)
