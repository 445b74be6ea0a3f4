"""Signatures over time, and how many came back: data in, Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import plotly.graph_objects as go

from pages.parts.figures.style import BLUE, GREY, ORANGE, VERMILION, draw_threshold, hover_name, lay_out
from seam_core.views.signal import Back, days_in_words
from seam_core.views.signal_timeline import Healed, Timeline

LANE = 46  # px a signature
BELOW = 0.3  # failures stand below the heals of their lane
HEALS = (  # label → name in the legend, colour, symbol
    (True, "heal, labelled real", BLUE, "circle"),
    (False, "heal, labelled not real", VERMILION, "x"),
    (None, "heal without a label", GREY, "circle-open"),
)


def timeline(found: Timeline, *, has_failures: bool) -> go.Figure:
    """A lane for each signature: heals by label, failures below them, and from each heal a line to what came back after it."""
    figure = go.Figure()
    _draw_returns(figure, found, name="failure came back" if has_failures else "healed again by another loop")
    for label, name, color, symbol in HEALS:
        marks = [(at, one) for at, lane in enumerate(found.lanes) for one in lane.heals if one.label is label]
        if marks:
            figure.add_scatter(
                x=[one.ts for _, one in marks],
                y=[-at for at, _ in marks],
                mode="markers",
                name=name,
                marker={"symbol": symbol, "size": 10, "color": color, "opacity": [1 if one.inside else 0.4 for _, one in marks]},
                text=[_hover(one) for _, one in marks],
                customdata=[[at, one.heal_id] for at, one in marks],
                hovertemplate="%{text}<extra></extra>",
                cliponaxis=False,
            )
    failures = [(at, one) for at, lane in enumerate(found.lanes) for one in lane.failures if one.healed_ts is None]
    if failures:
        figure.add_scatter(
            x=[one.ts for _, one in failures],
            y=[-at - BELOW for at, _ in failures],
            mode="markers",
            name="failure logged",
            marker={"symbol": "line-ns-open", "size": 11, "color": ORANGE, "line": {"width": 2}},
            customdata=[[at, ""] for at, _ in failures],
            hovertemplate="%{x|%Y-%m-%d %H:%M} failure logged<extra></extra>",
            cliponaxis=False,
        )
    for at, lane in enumerate(found.lanes):
        figure.add_annotation(
            text=hover_name(lane.signature), x=0, xref="paper", xanchor="left", y=-at, yshift=17, showarrow=False, font={"size": 12}
        )
    if found.until > found.stop:
        draw_threshold(figure, found.stop.timestamp() * 1000, words="window ends", vertical=True)
    lay_out(figure, height=LANE * max(2, len(found.lanes)) + 110, x_title="time (UTC)", legend=True)
    figure.update_layout(margin={"t": 44, "l": 8, "r": 14})
    pad = max((found.until - (found.start or _first(found))) / 50, timedelta(minutes=1))
    figure.update_xaxes(range=[(found.start or _first(found)) - pad, found.until + pad], showgrid=True, gridcolor=f"{GREY}33", nticks=6)
    figure.update_yaxes(range=[-len(found.lanes) + 0.4, 0.75], visible=False)
    return figure


def returns(found: Sequence[Back]) -> go.Figure:
    """For each horizon a bar of all healed signatures: came back, stayed away, and too early to say."""
    figure = go.Figure()
    labels = [days_in_words(one.days) + (" (in S)" if one.is_scored else "") for one in found]
    parts = (
        ("came back", [one.n_back for one in found], VERMILION, "/"),
        ("stayed away", [one.n_followed - one.n_followed_back for one in found], BLUE, ""),
        ("time not over", [one.n_open for one in found], GREY, "."),
    )
    for name, counts, color, shape in parts:
        figure.add_bar(
            orientation="h",
            y=labels,
            x=counts,
            name=name,
            marker={"color": color, "pattern": {"shape": shape, "fillmode": "overlay", "fgcolor": "#FFFFFF", "solidity": 0.2}},
            hovertemplate="%{y}: %{x} signatures " + name + "<extra></extra>",
        )
    lay_out(figure, height=34 * len(found) + 96, x_title="healed signatures", legend=True)
    figure.update_layout(barmode="stack", bargap=0.35)
    figure.update_legends(traceorder="normal")
    figure.update_xaxes(tickformat=",d", nticks=6)
    figure.update_yaxes(autorange="reversed", ticklabelstandoff=6)
    return figure


def _draw_returns(figure: go.Figure, found: Timeline, *, name: str) -> None:
    pairs = [(at, healed, back) for at, lane in enumerate(found.lanes) for healed, back in lane.again]
    if not pairs:
        return
    figure.add_scatter(
        x=[moment for _, healed, back in pairs for moment in (healed, back, None)],
        y=[place for at, _, _ in pairs for place in (-at, -at - BELOW, None)],
        mode="lines",
        line={"color": VERMILION, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=[back for _, _, back in pairs],
        y=[-at - BELOW for at, _, _ in pairs],
        mode="markers",
        name=name,
        marker={"symbol": "triangle-down", "size": 10, "color": VERMILION},
        legendrank=2000,
        customdata=[[at, ""] for at, _, _ in pairs],
        hovertemplate="%{x|%Y-%m-%d %H:%M} " + name + "<extra></extra>",
        cliponaxis=False,
    )


def _first(found: Timeline):  # noqa: ANN202 -- a moment
    return min((one.ts for lane in found.lanes for one in (*lane.heals, *lane.failures)), default=found.stop)


def _hover(one: Healed) -> str:
    said = {True: "labelled real", False: "labelled not real", None: "no label"}[one.label]
    source = f" by {one.source}" if one.source else ""
    late = "" if one.inside else ", after the window"
    where = f"{hover_name(one.heal_id)}<br>{hover_name(one.loop_id)}, cycle {one.cycle:,}"
    return f"{one.ts:%Y-%m-%d %H:%M} heal {where}<br>{said}{source}{late}"
