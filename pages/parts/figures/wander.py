"""One loop's score by cycle, small enough to stand beside others: data in, Plotly figure out."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, GREY, ORANGE, PINK, VERMILION, hover_name, lay_out
from seam_core.views.wander import Curve, Cycle, Sheet
from seam_core.words import alike

HEIGHT = 150  # px
MARKS: tuple[tuple[str, str, str, int, Callable[[Cycle], bool]], ...] = (  # name, colour, symbol, size, which cycles
    ("dip", VERMILION, "triangle-down", 10, lambda one: one.is_dip),
    ("idle", ORANGE, "square-open", 11, lambda one: one.back_to is not None and one.idle),
    ("returned", PINK, "diamond-open", 13, lambda one: one.back_to is not None and not one.idle),
)


def curve(found: Curve, sheet: Sheet, *, depth_cap: int) -> go.Figure:
    """Score by position in the loop; dips, idle cycles and returns have marks of their own, the depth cap is a dashed line."""
    figure = go.Figure()
    figure.add_scatter(
        x=[one.position for one in found.cycles],
        y=[one.value for one in found.cycles],
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        marker={"size": 5, "color": BLUE},
        text=[_hover(one) for one in found.cycles],
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
    )
    for _, color, symbol, size, belongs in MARKS:
        marked = [one for one in found.cycles if belongs(one)]
        if marked:
            figure.add_scatter(
                x=[one.position for one in marked],
                y=[one.value for one in marked],
                mode="markers",
                marker={"symbol": symbol, "size": size, "color": color, "line": {"width": 2, "color": color}},
                hoverinfo="skip",
                cliponaxis=False,
            )
    last = found.row["cycles"]
    if last >= depth_cap:
        figure.add_vline(x=depth_cap, line={"color": GREY, "dash": "dash", "width": 1})
    lay_out(figure, height=HEIGHT, x_title="cycle", y_title="score")
    pad = 0.12 * (sheet.high - sheet.low)
    figure.update_yaxes(range=[sheet.low - pad, sheet.high + pad], tickvals=[sheet.low, sheet.high], tickformat=".1f")
    step = max(1, -(-last // 6))
    figure.update_xaxes(range=[0.5, last + 0.5], tick0=1 if step == 1 else step, dtick=step, showgrid=False, tickformat=",d")
    return figure


def _hover(one: Cycle) -> str:
    parts = [f"cycle {one.cycle:,}: {one.value:.3g}", hover_name(one.heal_id)]
    parts += ["a step down"] if one.is_dip else []
    if one.back_to is not None:
        back = "the text of the cycle before, unchanged" if one.idle else f"back to the text at position {one.back_to:,}"
        parts.append(back + (f" ({alike(one.similarity)})" if one.similarity is not None and not one.idle else ""))
    return "<br>".join([*parts, *(["retry only"] if not one.level else [])])
