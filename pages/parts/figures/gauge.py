"""One score from 0 to 1 as a bar: its 95 % range, its alert line, and what an honest agent would score."""

from __future__ import annotations

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, GREEN, GREY, VERMILION, draw_threshold, lay_out

HEIGHT = 136
BELOW = 48  # px for the numbers and the title of the axis
TICK = 46  # px of the tick of an honest agent, taller than the bar


def gauge(name: str, score: float, *, line: float, low: float | None, high: float | None, honest: float | None) -> go.Figure:
    """The bar, hatched where it is below its line; the range from `low` to `high` as a whisker across its end; a green tick for the
    honest agent. None leaves out what is not known.
    """
    figure = go.Figure()
    is_low = score < line - 1e-9
    has_range = low is not None and high is not None
    figure.add_bar(
        orientation="h",
        y=[name],
        x=[score],
        name=name,
        marker={
            "color": VERMILION if is_low else BLUE,
            "pattern": {"shape": "/" if is_low else "", "fillmode": "overlay", "fgcolor": "#FFFFFF", "solidity": 0.2},
        },
        error_x=whisker(score, low, high),
        hovertemplate=f"{name} {score:.2f}{f'<br>95 % range {low:.2f} to {high:.2f}' if has_range else ''}<extra></extra>",
        cliponaxis=False,
    )
    if honest is not None:
        figure.add_scatter(
            x=[honest],
            y=[name],
            mode="markers",
            marker={"symbol": "line-ns", "size": TICK, "line": {"color": GREEN, "width": 4}},
            name="an honest agent",
            hovertemplate=f"an honest agent: about {honest:.2f}<extra></extra>",
            cliponaxis=False,
        )
    draw_threshold(figure, line, vertical=True)
    lay_out(figure, height=HEIGHT, x_title="score (0–1)")
    figure.update_layout(bargap=0.5, margin_b=BELOW)
    figure.update_xaxes(range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".2~f", showgrid=True, gridcolor=f"{GREY}33")
    figure.update_yaxes(ticklabelstandoff=6)
    return figure


def whisker(value: float, low: float | None, high: float | None) -> dict[str, object] | None:
    """A range across the end of a bar; nothing without a range."""
    if low is None or high is None:
        return None
    return {
        "type": "data", "symmetric": False, "array": [max(0.0, high - value)], "arrayminus": [max(0.0, value - low)],
        "color": GREY, "thickness": 3, "width": 8,
    }  # fmt: skip
