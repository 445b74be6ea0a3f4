"""The small charts of the last windows: one axis with its alert line, and the weakest axis of each window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, MEDIUM, SMALL, VERMILION, draw_threshold, lay_out

TICKS_APART = 0.15  # closer labels would overlap in a small chart


@dataclass(frozen=True)
class Point:
    """One window in a small chart: its end as a label, the score in [0, 1] or None, and what the hover says."""

    label: str
    score: float | None
    hover: str
    mark: str = ""
    span: tuple[float, float] | None = None  # its 95 % range


def score_history(points: Sequence[Point], *, line: float) -> go.Figure:
    """One axis over its last windows, with the alert line. A window that is not scored is a gap."""
    figure = go.Figure()
    low = [point.score is not None and point.score < line for point in points]
    figure.add_scatter(
        x=[point.label for point in points],
        y=[point.score for point in points],
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        marker={"size": 8, "color": [VERMILION if one else BLUE for one in low], "symbol": ["x" if one else "circle" for one in low]},
        text=[point.hover for point in points],
        hovertemplate="%{text}<extra></extra>",
        error_y=_whiskers(points),
        cliponaxis=False,
    )
    draw_threshold(figure, line)
    _lay_out(figure, height=SMALL, ticks=[0, line, 1] if line <= 1 - TICKS_APART else [0, line], n_labels=len(points))
    return figure


def _whiskers(points: Sequence[Point]) -> dict[str, object]:
    """The 95 % range of each window, drawn from its score up and down; none where there is no range."""
    ends = [(point.score, *point.span) if point.score is not None and point.span else (0.0, 0.0, 0.0) for point in points]
    up, down = [max(0.0, high - score) for score, _, high in ends], [max(0.0, score - low) for score, low, _ in ends]
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1, "width": 3, "color": BLUE}


def weakest_history(points: Sequence[Point]) -> go.Figure:
    """The least score of each window, each point marked with the axis that was weakest."""
    figure = go.Figure()
    figure.add_scatter(
        x=[point.label for point in points],
        y=[point.score for point in points],
        mode="lines+markers+text",
        line={"color": BLUE, "width": 2},
        marker={"size": 22, "color": BLUE},
        text=[point.mark for point in points],
        textfont={"color": "#FFFFFF", "size": 12},
        customdata=[point.hover for point in points],
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )
    _lay_out(figure, height=MEDIUM, ticks=[0, 0.5, 1], n_labels=len(points))
    return figure


def _lay_out(figure: go.Figure, *, height: int, ticks: list[float], n_labels: int) -> None:
    lay_out(figure, height=height, x_title="window ending", y_title="score (0–1)")
    figure.update_yaxes(range=[-0.06, 1.1], tickvals=ticks, tickformat=".2~f")
    figure.update_xaxes(type="category", tickangle=0, nticks=min(n_labels, 4), showgrid=False)
