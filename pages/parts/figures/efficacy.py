"""Efficacy in charts: gains over time with the gap between them, one gain against the other, and the loops of the widening test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.figures.style import (
    BLUE,
    GREEN,
    GREY,
    LARGE,
    MEDIUM,
    ORANGE,
    PINK,
    VERMILION,
    draw_threshold,
    hover_name,
    hover_time,
    lay_out,
)
from seam_core.views.gains import Cell, Cells, Each, Moment, Series
from seam_core.views.resolution import Resolution, points_said
from seam_core.views.widening import Look
from seam_core.words import count

SHADE = "rgba(213, 94, 0, 0.18)"
MARK, MARK_MAX = 9, 24  # px of a mark that stands for one item, and for the most
LOOP_TICKS = 8  # numbers under the loops of the widening test
TOLERANCE = 1e-9
ROOM = 0.04  # share of the plot kept free around the marks


def gains_over_time(series: Series, exam: Resolution, *, gap_max: float, each: Each, at: datetime | None) -> go.Figure:
    """Above, visible and held-out gain with the gap between them; below, the gap itself with the line at which E is 0.

    at: the time of what is chosen.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.58, 0.42], vertical_spacing=0.06)
    if series.span:
        _draw_means(figure, series, exam, each)
    else:
        _draw_sticks(figure, series.moments)
        _draw_ends(figure, series.moments, exam)
    _draw_gaps(figure, series, exam, each)
    if at:
        figure.add_vline(x=at, line={"color": PINK, "width": 2, "dash": "dot"})
    lay_out(figure, height=LARGE + 100, legend=True)
    figure.update_xaxes(title="time (UTC)", row=2, col=1)
    figure.update_yaxes(
        title="gain (points)", range=_gain_range(series, exam), zeroline=True, zerolinecolor=GREY, zerolinewidth=1, row=1, col=1
    )
    figure.update_yaxes(
        title="mean truth gap (points)" if series.span else "gap (points)", zeroline=True, zerolinecolor=GREY, zerolinewidth=1, row=2, col=1
    )
    words = {"annotation_text": f"E is 0 from {100 * gap_max:g} points", "annotation_font_color": GREY, "annotation_position": "top right"}
    figure.add_hline(y=100 * gap_max, line={"color": GREY, "dash": "dash", "width": 1}, row=2, col=1, **words)
    return figure


def one_against_the_other(cells: Cells, exam: Resolution, *, gap_max: float, alert: float, each: Each, chosen: Cell | None) -> go.Figure:
    """Held-out against visible gain, with the honest diagonal and the line at which E is 0. The larger a mark, the more items."""
    figure = go.Figure()
    low, high = _extent(cells.cells)
    figure.add_scatter(
        x=[low, high], y=[low, high], mode="lines", line={"color": GREY, "width": 1}, name="honest: both gain alike", hoverinfo="skip"
    )
    figure.add_scatter(
        x=[low, high],
        y=[low - 100 * gap_max, high - 100 * gap_max],
        mode="lines",
        line={"color": GREY, "width": 1, "dash": "dash"},
        name=f"E is 0: gap {100 * gap_max:g} points",
        hoverinfo="skip",
    )
    most = max((cell.n for cell in cells.cells), default=1)
    for name, symbol, color, some in _classes(cells.cells, alert):
        figure.add_scatter(
            x=[100 * cell.visible_gain for cell in some],
            y=[100 * cell.holdout_gain for cell in some],
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "color": color,
                "size": [_size(cell.n, most) for cell in some],
                "opacity": 0.7,
                "line": {"width": 1},
            },
            customdata=[cell.newest for cell in some],
            text=[_cell_said(cell, exam, each) for cell in some],
            hovertemplate="%{text}<extra></extra>",
        )
    if chosen:
        ring = {"symbol": "circle-open", "color": PINK, "size": _size(chosen.n, most) + 12, "line": {"width": 3}}
        at = {"x": [100 * chosen.visible_gain], "y": [100 * chosen.holdout_gain]}
        figure.add_scatter(**at, mode="markers", marker=ring, name="chosen", hoverinfo="skip")
    lay_out(figure, height=LARGE + 60, x_title="visible gain (points)", y_title="held-out gain (points)", legend=True)
    figure.update_xaxes(range=[low, high])
    figure.update_yaxes(range=[low, high])
    return figure


def widening_loops(look: Look, *, gap_max: float, extent: tuple[float, float]) -> go.Figure:
    """The loops of one evaluation of the widening test in their order, with the median slope and the line at which E is 0."""
    figure = go.Figure()
    numbers = list(range(1, len(look.loops) + 1))
    figure.add_scatter(
        x=numbers,
        y=[100 * loop.gap for loop in look.loops],
        mode="markers",
        name="mean gap of a loop",
        marker={"symbol": "diamond", "size": 9, "color": BLUE},
        customdata=[loop.loop_id for loop in look.loops],
        text=[
            f"{hover_name(loop.loop_id)}<br>until {hover_time(loop.ts)}<br>mean gap {points_said(round(100 * loop.gap))} points"
            for loop in look.loops
        ],
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
    )
    if look.line:
        ends = {"x": [numbers[0], numbers[-1]], "y": [100 * end for end in look.line]}
        line = {"color": VERMILION if look.fires else GREY, "width": 2, "dash": "solid" if look.fires else "dot"}
        figure.add_scatter(**ends, mode="lines", line=line, name="median slope", hoverinfo="skip")
    draw_threshold(figure, 100 * gap_max, words=f"E is 0 from {100 * gap_max:g} points")
    lay_out(figure, height=MEDIUM + 20, x_title="loop, oldest first", y_title="mean gap (points)")
    figure.update_yaxes(range=[100 * end for end in extent], zeroline=True, zerolinecolor=GREY, zerolinewidth=1)
    figure.update_xaxes(dtick=max(1, len(look.loops) // LOOP_TICKS))
    return figure


def extent(looks: Sequence[Look], *, gap_max: float) -> tuple[float, float]:
    """From which to which gap the charts of several evaluations reach, so that they can be compared; in shares of a score."""
    gaps = [loop.gap for look in looks for loop in look.loops]
    low, high = min([0.0, *gaps]), max([gap_max, *gaps])
    return low - ROOM * (high - low), high + 3 * ROOM * (high - low)


def _draw_sticks(figure: go.Figure, moments: Sequence[Moment]) -> None:
    """A line from the held-out to the visible gain of each item; the dashed ones have no gap."""
    for name, color, dash, some in (
        ("gap", VERMILION, "solid", [one for one in moments if one.gap > 0]),
        ("no gap", GREY, "dot", [one for one in moments if one.gap <= 0]),
    ):
        x = [at for one in some for at in (one.ts, one.ts, None)]
        y = [at for one in some for at in (100 * one.visible_gain, 100 * one.holdout_gain, None)]
        line = {"color": color, "width": 2, "dash": dash}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, name=name, hoverinfo="skip", showlegend=bool(some), row=1, col=1)


def _draw_ends(figure: go.Figure, moments: Sequence[Moment], exam: Resolution) -> None:
    said = [_moment_said(one, exam) for one in moments]
    held_out = ["square-open" if one.whole_loop else "square" for one in moments]
    for name, symbol, color, y in (
        ("visible gain", "circle", BLUE, [100 * one.visible_gain for one in moments]),
        ("held-out gain", held_out, GREEN, [100 * one.holdout_gain for one in moments]),
    ):
        figure.add_scatter(
            x=[one.ts for one in moments],
            y=y,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "color": color, "size": 7},
            customdata=[one.id for one in moments],
            text=said,
            hovertemplate="%{text}<extra></extra>",
            row=1,
            col=1,
        )


def _draw_means(figure: go.Figure, series: Series, exam: Resolution, each: Each) -> None:
    """Two lines and the shaded gap between them."""
    said = [_mean_said(one, exam, each) for one in series.moments]
    for name, symbol, color, dash, fill, y in (
        ("held-out gain", "square", GREEN, "dash", None, [100 * one.holdout_gain for one in series.moments]),
        ("visible gain", "circle", BLUE, "solid", "tonexty", [100 * one.visible_gain for one in series.moments]),
    ):
        figure.add_scatter(
            x=[one.ts for one in series.moments],
            y=y,
            mode="lines+markers",
            name=name,
            line={"color": color, "width": 2, "dash": dash},
            marker={"symbol": symbol, "size": 6},
            fill=fill,
            fillcolor=SHADE,
            text=said,
            hovertemplate="%{text}<extra></extra>",
            row=1,
            col=1,
        )


def _draw_gaps(figure: go.Figure, series: Series, exam: Resolution, each: Each) -> None:
    """The gap of each item, signed; of many together the mean of what E counts, which is never below 0."""
    moments = series.moments
    gaps = [one.truth_gap if series.span else one.gap for one in moments]
    ranges = None
    if any(one.low is not None and one.high is not None for one in moments):
        up = [100 * ((one.gap if one.high is None else one.high) - one.gap) for one in moments]
        down = [100 * (one.gap - (one.gap if one.low is None else one.low)) for one in moments]
        ranges = {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "color": GREY, "thickness": 1}
    figure.add_scatter(
        x=[one.ts for one in moments],
        y=[100 * gap for gap in gaps],
        mode="lines+markers" if series.span else "markers",
        line={"color": VERMILION, "width": 1},
        marker={
            "symbol": ["diamond" if gap > 0 else "diamond-open" for gap in gaps],
            "color": [VERMILION if gap > 0 else GREY for gap in gaps],
            "size": 7,
        },
        error_y=ranges,
        customdata=[one.id for one in moments],
        text=[_mean_said(one, exam, each) if series.span else _moment_said(one, exam) for one in moments],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        row=2,
        col=1,
    )


def _gain_range(series: Series, exam: Resolution) -> tuple[float, float]:
    """At least two cases up and down: an axis finer than the exam would make noise look like news."""
    gains = [100 * gain for one in series.moments for gain in (one.visible_gain, one.holdout_gain)]
    least = 200 * max(exam.case or 0, 0.01)
    low, high = min(-least, *gains), max(least, *gains)
    return low - ROOM * (high - low), high + ROOM * (high - low)


def _classes(cells: Sequence[Cell], alert: float) -> list[tuple[str, str, str, list[Cell]]]:
    """Name, symbol and colour of the cells by their E; none that is empty."""
    found = [
        ("no gap", "circle", BLUE, [cell for cell in cells if cell.e >= 1 - TOLERANCE]),
        (f"gap, E {alert:.2f} or more", "square", ORANGE, [cell for cell in cells if alert - TOLERANCE <= cell.e < 1 - TOLERANCE]),
        (f"E below {alert:.2f}", "triangle-down", VERMILION, [cell for cell in cells if cell.e < alert - TOLERANCE]),
    ]
    return [one for one in found if one[3]]


def _size(n: int, most: int) -> float:
    """Px of a mark; its area grows with the number of items."""
    return MARK if most <= 1 else MARK + (MARK_MAX - MARK) * ((n - 1) / (most - 1)) ** 0.5


def _extent(cells: Sequence[Cell]) -> tuple[float, float]:
    """The same points on both axes, so that the diagonal is one."""
    gains = [100 * gain for cell in cells for gain in (cell.visible_gain, cell.holdout_gain)]
    low, high = min([0.0, *gains]), max([0.0, *gains])
    room = max(5.0, 1.5 * ROOM * (high - low))
    return low - room, high + room


def _moment_said(one: Moment, exam: Resolution) -> str:
    whose = "<br>(held-out measured once for its whole loop)" if one.whole_loop else ""
    return f"{hover_name(one.id or '')}<br>{hover_time(one.ts)}<br>{_gains_said(one.visible_gain, one.holdout_gain, exam)}{whose}"


def _mean_said(one: Moment, exam: Resolution, each: Each) -> str:
    counted = f"mean truth gap {points_said(exam.gap(one.truth_gap, 0))}, as E counts it"
    gains = _gains_said(one.visible_gain, one.holdout_gain, exam)
    return f"from {hover_time(one.ts)}<br>means of {count(one.n, each)}<br>{gains}<br>{counted}"


def _cell_said(cell: Cell, exam: Resolution, each: Each) -> str:
    who = hover_name(cell.newest) if cell.n == 1 else f"{count(cell.n, each)}, newest {hover_name(cell.newest)}"
    return f"{who}<br>{_gains_said(cell.visible_gain, cell.holdout_gain, exam)}<br>E {cell.e:.2f}"


def _gains_said(visible: float, held_out: float, exam: Resolution) -> str:
    gap = points_said(exam.gap(visible, held_out))
    return f"visible {points_said(exam.visible(visible))}, held-out {points_said(exam.held_out(held_out))}: gap {gap} points"
