"""How far heals went over the cost of the task itself, on a logarithmic axis, with both limits drawn."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, GREY, MEDIUM, ORANGE, VERMILION, draw_threshold, lay_out
from seam_core.views.budget import Bar, Ratios
from seam_core.words import count

VERDICTS = (("normal", BLUE, ""), ("elevated", ORANGE, "/"), ("escalated", VERMILION, "x"))
TICKS = (0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 1000)


def ratio_bars(found: Ratios, *, elevated: float, escalated: float) -> go.Figure:
    """Heals by ratio, stacked by verdict; a tenth of a factor of ten a bar."""
    figure = go.Figure()
    for verdict, color, shape in VERDICTS:
        bars = [bar for bar in found.bars if getattr(bar, verdict)]
        figure.add_bar(
            name=verdict,
            x=[(math.log10(bar.low) + math.log10(bar.high)) / 2 for bar in bars],
            y=[getattr(bar, verdict) for bar in bars],
            width=[math.log10(bar.high) - math.log10(bar.low) for bar in bars],
            marker={
                "color": color,
                "pattern": {"shape": shape, "fillmode": "overlay", "fgcolor": "#FFFFFF", "solidity": 0.2},
                "line": {"color": "#FFFFFF", "width": 1},
            },
            customdata=[f"{said(bar)}<br>{count(getattr(bar, verdict), 'heal')} {verdict}" for bar in bars],
            hovertemplate="%{customdata}<extra></extra>",
        )
    for limit, words in ((elevated, f"{elevated:g} ×"), (escalated, f"{escalated:g} ×")):
        draw_threshold(figure, math.log10(limit), words=words, vertical=True)
    lay_out(figure, height=MEDIUM + 40, x_title="tokens spent ÷ the task's own tokens (logarithmic)", y_title="heals", legend=True)
    low = min([bar.low for bar in found.bars] + [elevated]) / 1.3
    high = max([bar.high for bar in found.bars] + [escalated]) * 1.3
    ticks = [tick for tick in TICKS if low <= tick <= high]
    figure.update_layout(barmode="stack", margin_t=44, legend_traceorder="normal")
    figure.update_xaxes(
        range=[math.log10(low), math.log10(high)], tickvals=[math.log10(tick) for tick in ticks], ticktext=[f"{tick:g}" for tick in ticks]
    )
    figure.update_yaxes(rangemode="tozero", gridcolor=f"{GREY}33", tickformat=",d")
    return figure


def said(bar: Bar) -> str:
    """What a bar holds, in words."""
    if bar.is_open:
        return f"below {bar.high:.2g} times" if bar.high < 1 else f"{bar.low:,.0f} times and more"
    return f"{_rounded(bar.low)} to {_rounded(bar.high)} times"


def _rounded(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"
