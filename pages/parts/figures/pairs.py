"""One heal's four scores as two lines from before to after, with what of the visible gain is not real shaded."""

from __future__ import annotations

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, GREEN, VERMILION, lay_out
from seam_core.views.dossier import Pair, Scores
from seam_core.words import points

HEIGHT = 210
BEFORE, AFTER = 0, 1
LEAST_SPAN = 0.3  # of the score axis, so that a point does not look like a cliff


def before_after(scores: Scores) -> go.Figure:
    """Two lines, visible and held-out; the wedge between the visible line and one that gains as much as the held-out one is the gap."""
    figure = go.Figure()
    pairs = [(scores.visible, "visible", BLUE, "circle", "solid"), (scores.held_out, "held-out", GREEN, "square", "dash")]
    for pair, name, color, symbol, dash in pairs:
        other = scores.held_out if pair is scores.visible else scores.visible
        figure.add_scatter(
            x=[BEFORE, AFTER],
            y=[pair.before, pair.after],
            name=f"{name}, whole loop" if name == "held-out" and scores.whole_loop else name,
            mode="lines+markers+text",
            line={"color": color, "width": 2, "dash": dash},
            marker={"size": 10, "symbol": symbol, "color": color},
            text=["" if value is None else f"{value:.2f}" for value in (pair.before, pair.after)],
            textposition=[_beside("left", pair.before, other.before, name), _beside("right", pair.after, other.after, name)],
            hovertemplate=f"{name} %{{x}}: %{{y:.3f}}<extra></extra>",
            cliponaxis=False,
        )
    _shade(figure, scores)
    lay_out(figure, height=HEIGHT, y_title="score (0–1)", legend=True)
    figure.update_xaxes(tickvals=[BEFORE, AFTER], ticktext=["before the heal", "after the heal"], range=[-0.35, 1.35], showgrid=False)
    figure.update_yaxes(range=_range(scores), tickformat=".2~f")
    return figure


def _shade(figure: go.Figure, scores: Scores) -> None:
    """The wedge of the gap, where there is one of a whole point and the two pairs span the same time."""
    visible, held_out = scores.visible, scores.held_out
    if not scores.gap or scores.splits or points(scores.gap) < 1 or visible.before is None or visible.after is None:
        return
    real = visible.before + (held_out.gain or 0)
    figure.add_scatter(
        x=[BEFORE, AFTER, AFTER, BEFORE],
        y=[visible.before, visible.after, real, visible.before],
        fill="toself",
        fillcolor="rgba(213, 94, 0, 0.22)",
        line={"color": VERMILION, "width": 1, "dash": "dot"},
        mode="lines",
        name="not real",
        hoverinfo="skip",
    )


def _beside(side: str, value: float | None, other: float | None, name: str) -> str:
    """Where a number stands so that two close ones do not cover each other."""
    if value is None or other is None or abs(value - other) > 0.04:
        return f"middle {side}"
    above = value > other or (value == other and name == "visible")
    return f"{'top' if above else 'bottom'} {side}"


def _range(scores: Scores) -> list[float]:
    values = [value for pair in (scores.visible, scores.held_out) for value in (pair.before, pair.after) if value is not None]
    low, high = min(values), max(values)
    pad = max(0.06, (LEAST_SPAN - (high - low)) / 2)
    return [low - pad, high + pad]


def has_points(pair: Pair) -> bool:
    """Whether there is anything of the pair to draw."""
    return pair.before is not None or pair.after is not None


def alt_text(scores: Scores) -> str:
    """The chart in words."""
    return f"Scores before and after the heal: {_said(scores.visible)} visible, {_said(scores.held_out)} held-out; {scores.said}"


def _said(pair: Pair) -> str:
    before, after = ("not logged" if value is None else f"{value:.2f}" for value in (pair.before, pair.after))
    return f"{before} to {after}"
