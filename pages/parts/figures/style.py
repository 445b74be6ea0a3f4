"""What all charts share: Okabe–Ito colours, sizes, and a layout without wasted margin. Shape and words carry what colour does."""

from __future__ import annotations

import plotly.graph_objects as go

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
GREY = "#7A828A"
NO_BAR = {"displayModeBar": False}
SMALL, MEDIUM, LARGE = 140, 220, 400  # heights, px


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


def draw_threshold(figure: go.Figure, value: float, *, words: str = "", vertical: bool = False) -> None:
    """A dashed line at a threshold, with what it means written at its end."""
    line = {"color": GREY, "dash": "dash", "width": 1}
    note = {"annotation_text": words, "annotation_font_color": GREY, "annotation_position": "top right"} if words else {}
    if vertical:
        figure.add_vline(x=value, line=line, **note)
    else:
        figure.add_hline(y=value, line=line, **note)
