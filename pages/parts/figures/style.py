"""What all charts share: Okabe–Ito colours, sizes, and a layout without wasted margin. Shape and words carry what colour does."""

from __future__ import annotations

import html
from datetime import datetime

import plotly.graph_objects as go

from seam_core import escape

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
GREY = "#7A828A"
NO_BAR = {"displayModeBar": False}
SMALL, MEDIUM, LARGE = 140, 220, 400  # heights, px
NAME_LENGTH = 60  # characters of an id in a hover


def lay_out(figure: go.Figure, *, height: int = MEDIUM, x_title: str = "", y_title: str = "", legend: bool = False) -> None:
    """Axes with titles, small margins, no dragging and no zooming; the legend, where there is one, in a row above the plot."""
    figure.update_layout(
        height=height,
        margin={"t": 34 if legend else 14, "b": 4, "l": 4, "r": 8},
        dragmode=False,
        hovermode="closest",
        showlegend=legend,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    figure.update_xaxes(title=x_title or None, fixedrange=True, zeroline=False)
    figure.update_yaxes(title=y_title or None, fixedrange=True, zeroline=False)


def draw_threshold(figure: go.Figure, value: float, *, words: str = "", vertical: bool = False, at: str = "top right") -> None:
    """A dashed line at a threshold, with what it means written at its end, or where else `at` says."""
    line = {"color": GREY, "dash": "dash", "width": 1}
    note = {"annotation_text": words, "annotation_font_color": GREY, "annotation_position": at} if words else {}
    if vertical:
        figure.add_vline(x=value, line=line, **note)
    else:
        figure.add_hline(y=value, line=line, **note)


def hover_name(text: str) -> str:
    """An agent's words for Plotly, which reads a bit of HTML: on one line, cut, invisible signs written out, no markup."""
    return html.escape(escape.visible(" ".join(text.split()), length=NAME_LENGTH))


def hover_time(ts: datetime) -> str:
    """A moment in a hover."""
    return f"{ts:%Y-%m-%d %H:%M} UTC"
