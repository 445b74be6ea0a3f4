"""Aftermath in charts: each heal's score over time, drift from the certified baseline, and one case's outcomes run by run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from pages.parts.figures.style import (
    BLUE,
    GREEN,
    GREY,
    MEDIUM,
    ORANGE,
    PINK,
    SMALL,
    VERMILION,
    draw_threshold,
    hover_name,
    hover_time,
    lay_out,
)
from seam_core.views.case_drift import DriftMark, DriftSeries
from seam_core.views.case_history import History, Seen
from seam_core.views.cases import Mark
from seam_core.words import count

NAMED_CERTIFICATIONS = 4  # flags with their words; more would overlap


def scores_over_time(marks: Sequence[Mark], *, alert: float, chosen: str | None) -> go.Figure:
    """A_heal of each heal, with the alert line; heals that broke a safety case stand out. A mark's customdata is its heal."""
    figure = go.Figure()
    classes: list[tuple[str, str, str, Callable[[Mark], bool]]] = [
        ("broke a safety case: 0", VERMILION, "x", lambda one: one.n_safety > 0),
        ("below the alert line", ORANGE, "diamond", lambda one: one.n_safety == 0 and one.a_heal < alert - 1e-9),
        ("at or above it", BLUE, "circle", lambda one: one.n_safety == 0 and one.a_heal >= alert - 1e-9),
    ]
    for name, color, symbol, belongs in classes:
        some = [mark for mark in marks if belongs(mark)]
        if some:
            figure.add_scatter(
                x=[mark.ts for mark in some],
                y=[mark.a_heal for mark in some],
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": 10 if symbol == "x" else 8},
                name=f"{name} ({len(some):,})",
                text=[_score_said(mark) for mark in some],
                customdata=[mark.heal_id for mark in some],
                hovertemplate="%{text}<extra></extra>",
                cliponaxis=False,
            )
    for mark in marks:
        if mark.heal_id == chosen:
            figure.add_vline(x=mark.ts, line={"color": PINK, "width": 2, "dash": "dot"})
    draw_threshold(figure, alert, words="")
    lay_out(figure, height=MEDIUM, x_title="heal ended (UTC)", y_title="A of the heal (0–1)", legend=True)
    figure.update_yaxes(range=[-0.06, 1.06], tickvals=[0, 0.5, alert, 1] if alert <= 0.85 else [0, 0.5, alert], tickformat=".2~f")
    return figure


def drift(series: DriftSeries, *, at: str | None = None) -> go.Figure:
    """Share of cases off the certified baseline, run by run, with the line at which a person has to look; certifications as flags, and
    the run `at` which somebody looks.
    """
    figure = go.Figure()
    over = [mark.drift >= series.line - 1e-9 for mark in series.marks]
    figure.add_scatter(
        x=[mark.ts for mark in series.marks],
        y=[100 * mark.drift for mark in series.marks],
        mode="lines+markers",
        line={"color": BLUE, "width": 1.5, "shape": "hv"},
        marker={
            "color": [VERMILION if one else BLUE for one in over],
            "symbol": ["x" if one else "circle" for one in over],
            "size": [9 if one else 4 for one in over],
        },
        text=[_drift_said(mark) for mark in series.marks],
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
    )
    for place, flag in enumerate(series.certifications):
        figure.add_vline(x=flag.ts, line={"color": GREEN, "width": 2, "dash": "dot"})
        if len(series.certifications) - place <= NAMED_CERTIFICATIONS:
            figure.add_annotation(
                x=flag.ts, y=1, yref="paper", text=hover_name(flag.label), showarrow=False, xanchor="left", font={"color": GREEN}
            )
    for mark in series.marks:
        if mark.run_id == at:
            figure.add_vline(x=mark.ts, line={"color": PINK, "width": 2, "dash": "dot"})
    draw_threshold(figure, 100 * series.line, words=f"RECERTIFY from {100 * series.line:g} %", at="top left")  # drift ends at the line
    lay_out(figure, height=MEDIUM, x_title="full run (UTC)", y_title="cases off the baseline (%)")
    top = max([*(100 * mark.drift for mark in series.marks), 100 * series.line])
    figure.update_yaxes(range=[0, 1.2 * top], ticksuffix=" %")
    return figure


def case_history(history: History, *, at: str | None) -> go.Figure:
    """Pass or fail in every run, as steps; changes with a heal between and changes with none have shapes of their own."""
    figure, drawn = go.Figure(), history.drawn()
    figure.add_scatter(
        x=[one.ts for one in drawn],
        y=[int(one.passed) for one in drawn],
        mode="lines",
        line={"color": GREY, "width": 1.5, "shape": "hv"},
        hoverinfo="skip",
        showlegend=False,
    )
    classes: list[tuple[str, str, str, int, Callable[[Seen], bool]]] = [
        ("broke", VERMILION, "triangle-down", 11, lambda one: one.has_changed and not one.is_quiet and not one.passed),
        ("fixed", GREEN, "triangle-up", 11, lambda one: one.has_changed and not one.is_quiet and one.passed),
        ("flipped with no heal between", PINK, "diamond", 10, lambda one: one.has_changed and one.is_quiet),
        ("unchanged", BLUE, "circle", 5, lambda one: not one.has_changed),
    ]
    for name, color, symbol, size, belongs in classes:
        some = [one for one in drawn if belongs(one)]
        if some:
            figure.add_scatter(
                x=[one.ts for one in some],
                y=[int(one.passed) for one in some],
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": size},
                name=f"{name} ({len(some):,})",
                text=[_seen_said(one) for one in some],
                customdata=[one.run_id for one in some],
                hovertemplate="%{text}<extra></extra>",
                cliponaxis=False,
            )
    shown = history.at(at)
    if shown:
        figure.add_vline(x=shown.ts, line={"color": PINK, "width": 2, "dash": "dot"})
    lay_out(figure, height=SMALL + 30, x_title="run (UTC)", legend=True)
    figure.update_yaxes(range=[-0.3, 1.3], tickvals=[0, 1], ticktext=["fail", "pass"])
    return figure


def _score_said(mark: Mark) -> str:
    worst = f"<br>the worst of {count(mark.n_heals, 'heal')} then" if mark.n_heals > 1 else ""
    safety = f", {count(mark.n_safety, 'safety case')} among them" if mark.n_safety else ""
    broke = f"broke {mark.n_regressed:,} of {count(mark.n_cases, 'case')}{safety}; fixed {mark.n_fixed:,}"
    return f"{hover_name(mark.heal_id)}, {hover_time(mark.ts)}<br>{broke}<br>A of the heal {mark.a_heal:.2f}{worst}"


def _drift_said(mark: DriftMark) -> str:
    after = f"<br>after heal {hover_name(mark.heal_id)}" if mark.heal_id else ""
    differ = f"{mark.n_differ:,} of {count(mark.n_cases, 'case')} off the baseline"
    return f"{hover_name(mark.run_id)}, {hover_time(mark.ts)}{after}<br>{differ}: {mark.n_worse:,} worse, {mark.n_better:,} better"


def _seen_said(one: Seen) -> str:
    heal = f" {hover_name(one.heal_id)}" if one.heal_id else ""
    change = " after the change" if one.has_changed else ""
    quiet = "<br>no heal since the run compared with" if one.has_changed and one.is_quiet else ""
    return f"{'pass' if one.passed else 'fail'}{change}, {hover_time(one.ts)}<br>{one.phase}{heal}<br>{hover_name(one.run_id)}{quiet}"
