"""One loop drawn: its scores cycle by cycle, what happened at each, the returns as arcs above, tokens below."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.figures.style import BLUE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION, draw_threshold, lay_out
from seam_core import escape
from seam_core.views.loop import Arc, Story, most_alike
from seam_core.views.loop_cycles import Cycle
from seam_core.views.loop_events import BASES, KINDS, Kind
from seam_core.views.loop_texts import Pair, previous
from seam_core.words import alike, count, cut, signed, times
from seam_core.words import points as whole_points

HEIGHT, TOKENS_HEIGHT = 420, 110  # px
BAND = 0.32  # height of the arcs above the plot, as a share of its own
SPAN_MIN = 0.2  # of the score axis: a wobble of a point shall not fill the chart
LINE = 200  # characters of one line of a hover
ARCS_MAX = 100  # arcs in one chart
LABELS_MAX = 12  # arcs and dips up to which each is written out
TICKS_MAX = 20  # cycles up to which each has its own tick
MARKS: dict[Kind, tuple[str, str]] = {
    "blocked": ("x", GREY),
    "returned": ("star", PINK),
    "dip": ("triangle-down", VERMILION),
    "gap": ("square", ORANGE),
    "idle": ("circle-open", GREY),
    "retry": ("cross", GREY),
    "flat": ("circle", GREY),
    "rose": ("triangle-up-open", SKY),
    "gain": ("triangle-up", GREEN),
    "unknown": ("circle-dot", GREY),
}


def loop_curve(
    told: Story, chosen: Pair | None, shorts: Mapping[int, Sequence[str]], *, first: int = 1, last: int | None = None
) -> go.Figure:
    """The curve of one loop, or of its cycles `first` to `last`. The custom data of a mark is the pair that a click compares."""
    whole, told = told, _cut_out(told, first, last or len(told.taken))
    has_tokens = any(one.tokens is not None for one in told.taken)
    figure = make_subplots(rows=1 + has_tokens, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.78, 0.22][: 1 + has_tokens])
    low, high = _range(told)
    _lines(figure, told)
    _cycles(figure, told, shorts, low=low)
    top = high + (high - low) * BAND * bool(told.arcs)
    _arcs(figure, told.arcs, chosen, low=high, high=top)
    bottom = low - (high - low) * 0.08 * bool(told.still)
    _still(figure, told, bottom)
    _cap(figure, whole, high)
    if chosen:
        for position in (chosen.earlier, chosen.later):
            if position:
                figure.add_vline(x=position, line={"color": PINK, "width": 1, "dash": "dot"}, row=1, col=1)
    lay_out(figure, height=HEIGHT + TOKENS_HEIGHT * has_tokens, legend=True)
    figure.update_yaxes(
        title="score (0–1)", range=[bottom - 0.05 * (high - low), top + (0.16 if told.arcs else 0.06) * (high - low)], row=1, col=1
    )
    figure.update_yaxes(tickvals=_ticks(low, high), tickformat=".2~f", row=1, col=1)
    if has_tokens:
        _tokens(figure, told)
    last = first + len(told.taken) - 1
    figure.update_xaxes(range=[first - 1.5, last + 0.7], showgrid=False)
    figure.update_xaxes(title="cycle", row=1 + has_tokens, col=1)
    if last <= TICKS_MAX:
        figure.update_xaxes(tickvals=list(range(last + 1)), ticktext=["start", *(str(place) for place in range(1, last + 1))])
    return figure


def loop_overview(told: Story, *, first: int, last: int) -> go.Figure:
    """All cycles of a long loop small, with the stretch that the large chart shows."""
    figure = go.Figure()
    for name, color, dash, score in (("visible score", BLUE, "solid", "visible_after"), ("held-out score", GREEN, "dash", "holdout_after")):
        y = [getattr(one, score) for one in told.taken]
        if any(value is not None for value in y):
            line = {"color": color, "dash": dash, "width": 1}
            figure.add_scatter(x=[one.place for one in told.taken], y=y, mode="lines", name=name, line=line, hoverinfo="skip")
    figure.add_vrect(x0=first - 0.5, x1=last + 0.5, fillcolor=GREY, opacity=0.3, line_width=0)
    lay_out(figure, height=SMALL, x_title="cycle", y_title="score (0–1)")
    figure.update_yaxes(nticks=4)
    return figure


def _cut_out(told: Story, first: int, last: int) -> Story:
    """The story with the cycles, returns and standstills of one stretch; returns are so many that each can be seen."""
    inside = [arc for arc in told.arcs if arc.earlier >= first and arc.later <= last]
    still = [
        replace(one, first=max(one.first, first), last=min(one.last, last)) for one in told.still if one.first <= last and one.last >= first
    ]
    return replace(
        told,
        cycles=tuple(one for one in told.cycles if first <= one.place < last + 1),
        taken=told.taken[first - 1 : last],
        arcs=most_alike(inside, ARCS_MAX),
        still=tuple(still),
    )


def alt(told: Story) -> str:
    """The chart in a sentence, for who cannot see it."""
    dips = told.sum.dips if told.sum else 0
    found = f"{count(dips, 'dip')}, {count(told.n_arcs, 'return')}"
    return f"Scores of {count(len(told.taken), 'cycle')}: {found}; the table below has the numbers"


def _lines(figure: go.Figure, told: Story) -> None:
    """Visible, held-out and own score. A pair that is the whole loop's is drawn from its start to its end."""
    own = [one.own_score for one in told.taken]
    seen = [one.visible_after for one in told.taken]
    is_own_seen = own == seen
    judged = told.sum.basis if told.sum else None
    named = {name: f"{words}{' (judges the loop)' if name == judged else ''}" for name, words in BASES.items()}
    if is_own_seen and judged == "score":
        named["visible"] = "visible = own score (judges the loop)"
    _line(figure, told, named["visible"], told.gain.visible, "visible", each=told.measured.visible, style=(BLUE, "solid", "circle"))
    _line(figure, told, named["holdout"], told.gain.held_out, "holdout", each=told.measured.held_out, style=(GREEN, "dash", "square"))
    if not is_own_seen and any(value is not None for value in own):
        places = [one.place for one in told.taken]
        line = {"color": GREY, "dash": "dashdot", "width": 2}
        figure.add_scatter(x=places, y=own, mode="lines", name=named["score"], line=line, hoverinfo="skip", row=1, col=1)


def _line(
    figure: go.Figure,
    told: Story,
    name: str,
    ends: tuple[float | None, float | None],
    score: str,
    *,
    each: bool,
    style: tuple[str, str, str],
) -> None:
    color, dash, symbol = style
    x: list[float] = [one.place for one in told.taken]
    y: list[float | None] = [getattr(one, f"{score}_after") for one in told.taken]
    if not each:
        x, y, name, dash = [0, told.n_cycles], list(ends), f"{name}, of the whole loop", "dot"
    elif x and x[0] == 1:
        x, y = [0, *x], [ends[0], *y]
    if any(value is not None for value in y[-len(told.taken) :]):
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            name=name,
            line={"color": color, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 6},
            hovertemplate=f"{name}: %{{y:.2f}}<extra></extra>",
            row=1,
            col=1,
        )


def _cycles(figure: go.Figure, told: Story, shorts: Mapping[int, Sequence[str]], *, low: float) -> None:
    """One marker a cycle, by what happened, on the score that judges the loop."""
    by_kind: dict[Kind, list[Cycle]] = {}
    for one in told.cycles:
        by_kind.setdefault(one.kind, []).append(one)
    for kind, (symbol, color) in MARKS.items():
        some = by_kind.get(kind, [])
        if some:
            figure.add_scatter(
                x=[one.place for one in some],
                y=[_height(one, low) for one in some],
                mode="markers",
                name=KINDS[kind],
                marker={"symbol": symbol, "color": color, "size": 13, "line": {"width": 2 if "open" in symbol else 0, "color": color}},
                customdata=[previous(told, one).key if one.position and one.has_text else "" for one in some],
                text=[_hover(one, shorts.get(one.row, ())) for one in some],
                hovertemplate="%{text}<extra></extra>",
                cliponaxis=False,
                row=1,
                col=1,
            )
    dips = [one for one in told.taken if one.is_dip]
    if len(dips) <= LABELS_MAX:
        for one in dips:
            fell = whole_points(one.change or 0)
            said = signed(fell) if fell else "<1"
            figure.add_annotation(
                x=one.place, y=one.value, text=html.escape(said), showarrow=False, yshift=-16, font={"color": VERMILION}, row=1, col=1
            )


def _height(one: Cycle, low: float) -> float:
    """Where a cycle stands: on the score that judges, else on any that it has, else at the bottom."""
    found = (one.value, one.own_score, one.visible_after, one.holdout_after)
    return low if one.position is None else next((value for value in found if value is not None), low)


def _arcs(figure: go.Figure, arcs: Sequence[Arc], chosen: Pair | None, *, low: float, high: float) -> None:
    """Returns as arcs in a band above the plot, each with a diamond on top to click."""
    if not arcs:
        return
    longest = max(arc.later - arc.earlier for arc in arcs)
    tops = [low + (high - low) * (0.35 + 0.65 * (arc.later - arc.earlier) / longest) for arc in arcs]
    for is_chosen in (False, True):
        x: list[float | None] = []
        y: list[float | None] = []
        for arc, top in zip(arcs, tops, strict=True):
            if (chosen is not None and chosen.key == arc.pair) == is_chosen:
                xs, ys = zip(*_bow(arc, low, top), strict=True)
                x += [*xs, None]
                y += [*ys, None]
        if x:
            line = {"color": PINK, "width": 4 if is_chosen else 1.5}
            figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, cliponaxis=False, row=1, col=1)
    figure.add_scatter(
        x=[(arc.earlier + arc.later) / 2 for arc in arcs],
        y=tops,
        mode="markers+text" if len(arcs) <= LABELS_MAX else "markers",
        name="return: click to compare",
        marker={"symbol": "diamond", "size": 12, "color": PINK},
        text=[_percent(arc) for arc in arcs],
        textposition="top center",
        customdata=[arc.pair for arc in arcs],
        hovertext=[f"cycle {arc.later} came back to cycle {arc.earlier}: {alike(arc.similarity)}<br>click to compare" for arc in arcs],
        hoverinfo="text",
        cliponaxis=False,
        row=1,
        col=1,
    )


def _bow(arc: Arc, low: float, top: float) -> Iterator[tuple[float, float]]:
    """Points of a half ellipse over the two cycles."""
    middle, half = (arc.earlier + arc.later) / 2, (arc.later - arc.earlier) / 2
    for step in range(17):
        angle = math.pi * (1 - step / 16)
        yield middle + half * math.cos(angle), low + (top - low) * math.sin(angle)


def _percent(arc: Arc) -> str:
    return "identical" if arc.similarity >= 1 else alike(arc.similarity).removesuffix(" alike")


def _still(figure: go.Figure, told: Story, low: float) -> None:
    """Stretches in which the text did not move, as a bar along the bottom."""
    if not told.still:
        return
    x: list[float | None] = []
    words: list[str | None] = []
    for one in told.still:
        said = f"cycles {one.first}–{one.last}: {'the same text' if one.is_same else 'the text hardly changed'}"
        x += [one.first, one.last, None]
        words += [said, said, None]
    figure.add_scatter(
        x=x,
        y=[None if place is None else low for place in x],
        mode="lines+markers",
        name="text stands still",
        line={"color": GREY, "width": 7},
        marker={"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": GREY}},
        text=words,
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
        row=1,
        col=1,
    )


def _cap(figure: go.Figure, told: Story, high: float) -> None:
    if len(told.taken) >= told.depth_cap:
        draw_threshold(figure, told.depth_cap - 0.5, words=f"depth cap: {told.depth_cap} cycles", vertical=True)
        figure.layout.annotations[-1].update(yanchor="top", y=high, yref="y", xanchor="left")


def _tokens(figure: go.Figure, told: Story) -> None:
    """Tokens of each cycle; what the budget does not allow has a pattern and says its multiple."""
    known = [one for one in told.taken if one.tokens is not None]
    patterns = {"elevated": "/", "escalated": "x"}
    colors = {"elevated": ORANGE, "escalated": VERMILION}
    over = [
        f"{times(one.ratio)} ×" if one.budget in patterns and one.ratio is not None and len(known) <= TICKS_MAX else "" for one in known
    ]
    figure.add_bar(
        x=[one.place for one in known],
        y=[one.tokens for one in known],
        marker={
            "color": [colors.get(one.budget or "", GREY) for one in known],
            "pattern": {"shape": [patterns.get(one.budget or "", "") for one in known]},
        },
        text=over,
        textposition="outside",
        customdata=[f"{count(one.tokens or 0, 'token')}{f', {times(one.ratio)} × the task' if one.ratio else ''}" for one in known],
        hovertemplate="cycle %{x}: %{customdata}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
        width=0.6,
        row=2,
        col=1,
    )
    figure.update_yaxes(title="tokens", nticks=3, rangemode="tozero", row=2, col=1)


def _range(told: Story) -> tuple[float, float]:
    """Bounds of the score axis: what is drawn, and never so little that a wobble looks like a fall."""
    values = [value for one in told.taken for value in (one.visible_after, one.holdout_after, one.own_score) if value is not None]
    values += [value for value in (told.gain.visible[0], told.gain.held_out[0]) if value is not None]
    if not values:
        return 0.0, 1.0
    low, high = max(0.0, math.floor(10 * min(values) - 0.2) / 10), min(1.0, math.ceil(10 * max(values) + 0.2) / 10)
    high = min(1.0, max(high, low + SPAN_MIN))
    return max(0.0, min(low, high - SPAN_MIN)), high


def _ticks(low: float, high: float) -> list[float]:
    step = 0.25 if high - low > 0.6 else 0.1 if high - low > 0.3 else 0.05
    return [round(step * n, 2) for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _hover(one: Cycle, lines: Sequence[str]) -> str:
    """A cycle and what changed in it. Plotly reads a bit of HTML, so that every word goes through `_safe`."""
    said = [f"{one.name}: {cut(one.heal_id)}", f"{one.ts:%Y-%m-%d %H:%M} UTC, level {one.level}", *one.said.split("; ")]
    said += [f"target {cut(one.target)}"] if one.target else []
    said += ["", *lines] if lines else []
    return "<br>".join(_safe(line) for line in said)


def _safe(text: str) -> str:
    is_plain = text.isascii() and text.isprintable() and len(text) <= LINE  # most are, and a thousand cycles have thousands of lines
    return html.escape(text if is_plain else escape.visible(text, length=LINE))
