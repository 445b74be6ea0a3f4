"""Where the points of a score went: from 100 down to the score, a bar for each cause."""

from __future__ import annotations

import plotly.graph_objects as go

from pages.parts.figures.gauge import whisker
from pages.parts.figures.style import BLUE, GREY, VERMILION, draw_threshold, lay_out
from seam_core.views.losses import Sum

BAR = 34  # px a bar
NARROW = 12  # points; a narrower bar has its number beside it


def stairs(found: Sum, *, name: str, line: float, low: float | None = None, high: float | None = None) -> go.Figure:
    """A bar for each cause, each beginning where the one above ended, and the score that is left at the bottom, with its range."""
    figure = go.Figure()
    score = 100 * (found.score or 0)
    left, bars = 100.0, []
    for loss in found.losses:
        taken = 100 * loss.share
        left -= taken
        hover = f"{loss.label}: {taken:.1f} points<br>{loss.working}"
        bars.append((loss.label, left, taken, f"−{taken:.1f}" if round(taken, 1) else "0", hover))
    bars.append((f"{name} that is left", 0.0, score, f"{score:.1f}", f"{name}: {score:.1f} of 100 points"))
    figure.add_bar(
        orientation="h",
        y=[bar[0] for bar in bars],
        base=[bar[1] for bar in bars],
        x=[bar[2] for bar in bars],
        marker={
            "color": [VERMILION] * len(found.losses) + [BLUE],
            "pattern": {"shape": ["/"] * len(found.losses) + [""], "fillmode": "overlay", "fgcolor": "#FFFFFF", "solidity": 0.2},
        },
        customdata=[bar[4] for bar in bars],
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )
    across = whisker(score, None if low is None else 100 * low, None if high is None else 100 * high)
    if across:  # an invisible mark at the end of the last bar: bars that share a trace would share the whisker
        mark = {"mode": "markers", "marker": {"opacity": 0}, "hoverinfo": "skip", "cliponaxis": False}
        figure.add_scatter(x=[score], y=[bars[-1][0]], error_x=across, **mark)
    for label, base, length, said, _ in bars:
        if across and label == bars[-1][0] and length > NARROW:  # at the beginning of the bar: the whisker lies across its end
            figure.add_annotation(y=label, x=0, text=said, showarrow=False, xanchor="left", xshift=4, font={"color": "#FFFFFF"})
            continue
        has_room = base + length < 100 - NARROW
        inside = not has_room and length > NARROW  # white on the bar, else to the right of it, else to the left
        figure.add_annotation(
            y=label,
            x=base + length if has_room or inside else base,
            text=said,
            showarrow=False,
            xanchor="left" if has_room else "right",
            xshift=4 if has_room else -4,
            **({"font": {"color": "#FFFFFF"}} if inside else {}),
        )
    draw_threshold(figure, 100 * line, vertical=True)
    lay_out(figure, height=BAR * len(bars) + 60, x_title=f"points of {name} (dashed: alert below {100 * line:g})")
    figure.update_layout(bargap=0.35)
    figure.update_xaxes(range=[0, 100], tickvals=[0, 25, 50, 75, 100], showgrid=True, gridcolor=f"{GREY}33")
    figure.update_yaxes(autorange="reversed", ticklabelstandoff=6)
    return figure
