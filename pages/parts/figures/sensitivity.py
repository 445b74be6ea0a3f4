"""What a fifth more or less of each threshold does: the score's range in it, against the line it is held to, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, GREY, ORANGE, VERMILION, lay_out
from seam_core.views.sensitivity import Strip
from seam_core.words import AXIS_NAMES

ROW = 30  # px a threshold


def moving(strips: Sequence[Strip]) -> list[Strip]:
    """Those of the thresholds that move a score or its alert line, and so are drawn."""
    return [one for one in strips if one.acts in ("score", "line") and one.score is not None]


def strip_rows(found: Sequence[Strip]) -> go.Figure:
    """One row a threshold that moves a score or its alert line: scores and lines as they are, a fifth lower and a fifth higher."""
    figure, strips = go.Figure(), moving(found)
    names = [_label(one) for one in strips]
    for one, name in zip(strips, names, strict=True):
        scores, lines = _scores(one), _lines(one)
        for values, color, width in ((scores, BLUE, 6), (lines, GREY, 6)):
            if len(values) > 1:
                figure.add_scatter(
                    x=[min(values), max(values)], y=[name, name], mode="lines", line={"color": color, "width": width}, opacity=0.35,
                    hoverinfo="skip", showlegend=False,
                )  # fmt: skip
    now = [one for one in strips if one.score is not None]
    _marks(
        figure, "score as it is", [(one.score, _label(one), f"{_label(one)}<br>score {one.score:.3f}") for one in now], BLUE, "circle", 12
    )
    for words, side, symbol in (
        ("threshold a fifth lower", "low", "triangle-left"),
        ("threshold a fifth higher", "high", "triangle-right"),
    ):
        found = [(one, getattr(one, side)) for one in strips if getattr(one, side)]
        for flips, color in ((False, ORANGE), (True, VERMILION)):
            marks = [
                (
                    other.score if one.acts == "score" else other.line,
                    _label(one),
                    f"{one.name} = {other.value:g}<br>{other.said}<br>{other.flip}",
                )
                for one, other in found
                if bool(other.flip) == flips
            ]
            _marks(figure, f"{words}{': another verdict' if flips else ''}", marks, color, f"{symbol}{'' if flips else '-open'}", 13)
    lines_now = [(one.line, _label(one), f"{_label(one)}<br>alert line {one.line:.2f}") for one in strips if one.line is not None]
    _marks(figure, "alert line", lines_now, GREY, "line-ns-open", 16)
    lay_out(figure, height=ROW * len(strips) + 110, x_title="score, and the line below which it alerts (0–1)", legend=True)
    figure.update_layout(margin_t=64)
    figure.update_xaxes(range=[-0.03, 1.03], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1], gridcolor=f"{GREY}33")
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], ticklabelstandoff=6, gridcolor=f"{GREY}22")
    return figure


def _scores(one: Strip) -> list[float]:
    sides = [side.score for side in (one.low, one.high) if side and side.score is not None]
    return [*([one.score] if one.score is not None else []), *sides] if one.acts == "score" else []


def _lines(one: Strip) -> list[float]:
    return [side.line for side in (one.low, one.high) if side and side.line is not None] if one.acts == "line" else []


def _label(one: Strip) -> str:
    return f"{AXIS_NAMES[one.axis]}: {one.name}"


def _marks(figure: go.Figure, name: str, marks: Sequence[tuple[float | None, str, str]], color: str, symbol: str, size: int) -> None:
    if marks:
        figure.add_scatter(
            name=name,
            x=[mark[0] for mark in marks],
            y=[mark[1] for mark in marks],
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": size, "line": {"width": 2, "color": color}},
            customdata=[mark[2] for mark in marks],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
