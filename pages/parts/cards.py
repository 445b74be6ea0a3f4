"""The four axes large with their last windows, the weakest of them over time, and what the repairs cost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from pages.parts import address, strip
from pages.parts.figures import windows
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from pages.parts.memory import Past
from seam_core import costs, escape, summary
from seam_core.doubt import range_cell, range_text, sentence, tag
from seam_core.report import AXES, Audit, thresholds
from seam_core.views import cases, honest
from seam_core.window import Window
from seam_core.words import AXIS_NAMES, capital, count

TO_DRAW = 2  # scored windows from which a line says something


def show(view: View, sentences: dict[str, str]) -> dict[str, DeltaGenerator]:
    """The four axes large: score, alert line, change against the window before, and what moved it. Returns a place for each chart."""
    before = view.previous()
    places = {}
    for pair in (AXES[:2], AXES[2:]):
        for column, axis in zip(st.columns(2), pair, strict=True):
            with column, st.container(border=True, height="stretch"):
                _number_of(view, axis, before)
                places[axis] = st.container()
                st.text(escape.visible(capital(sentences[axis])))
                address.link(strip.PAGES[axis], f"Open {AXIS_NAMES[axis]}")
    return places


def _number_of(view: View, axis: str, before: Past | None) -> None:
    if view.audit.scores[axis] is None:
        st.markdown(f":small[{axis} {AXIS_NAMES[axis]}]")
        st.badge("not scored", color="gray")
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        st.metric(f"{axis} {AXIS_NAMES[axis]}", strip.struck(view, axis), width="content", **_change(view, axis, before))
        for state in strip.states(view, axis):
            st.badge(state, color="red" if summary.alarms(view.audit, axis) or axis in view.audit.withheld else "gray")
    line = thresholds(view.audit.settings)[axis]
    st.caption(escape.plain(sentence(view.audit.doubt[axis], line, early=strip.is_early(view, axis))))
    floor = view.ask(honest.honest_efficacy) if axis == "E" else None
    if floor and floor.efficacy is not None:
        st.caption(escape.plain(floor.sentence(line)))
    covered = view.ask(summary.coverage).get(axis)
    if covered:
        st.caption(escape.plain(covered))


def fill(view: View, places: dict[str, DeltaGenerator], past: list[Past]) -> None:
    """Draw each axis's last windows into its place, and below Aftermath's what its cases do by themselves."""
    for axis, line in thresholds(view.audit.settings).items():
        points = [_point(one, axis) for one in past]
        if sum(point.score is not None for point in points) >= TO_DRAW:
            alt = f"{AXIS_NAMES[axis]} in the last {len(points)} windows; alert below {line:.2f}"
            figure = view.ask(_history, tuple(points), line)
            places[axis].plotly_chart(figure, key=f"history {axis}", config=NO_BAR, alt=alt)
    noise = view.ask(cases.beside_noise)
    if noise:
        places["A"].caption(escape.plain(noise))


def _history(_audit: Audit, points: tuple[windows.Point, ...], line: float) -> Figure:
    return windows.score_history(points, line=line)


def _weakest(_audit: Audit, points: tuple[windows.Point, ...]) -> Figure:
    return windows.weakest_history(points)


def weakest(view: View, past: list[Past]) -> None:
    """The weakest axis of each of the last windows."""
    points = []
    for one in past:
        scored = {axis: value for axis, value in one.scores.items() if value is not None}
        axis = min(scored, key=lambda name: scored[name], default="")
        points.append(_point(one, axis, mark=axis))
    if sum(point.score is not None for point in points) < TO_DRAW:
        st.text("The line starts once two windows are scored.")
        return
    alt = f"Score of the weakest axis in the last {len(points)} windows"
    st.plotly_chart(view.ask(_weakest, tuple(points)), key="weakest", config=NO_BAR, alt=alt)


def budget(view: View) -> None:
    """How many heals cost more than they should, and what a real point cost. Unknown is not zero."""
    audit, settings = view.audit, view.audit.settings
    if audit.budget.unknown < audit.counts["scored"]:
        low, high = f"{settings.budget_elevated:g}", f"{settings.budget_escalated:g}"
        with st.container(horizontal=True):
            st.metric(f"Elevated: {low}–{high} ×", count(audit.budget.elevated, "heal"), width="content")
            st.metric(f"Escalated: over {high} ×", count(audit.budget.escalated, "heal"), width="content")
    unknown, cost = view.ask(costs.budget_unknown), view.ask(costs.cost_per_real_point)
    if unknown:
        where = "Not known everywhere" if audit.budget.unknown < audit.counts["scored"] else "Not known"
        st.text(f"{where}: {unknown}.")
    if cost is not None:
        st.metric("Cost per real point (tokens)", f"{cost:,.0f}")
        st.caption(escape.plain(view.ask(costs.cost_sentence)))
    else:
        st.text(f"Cost per real point is not known: {view.ask(costs.cost_sentence)}.")


def numbers(past: list[Past]) -> list[dict[str, str | int]]:
    """The numbers behind the charts, newest window first."""
    return [
        {
            "Window": one.window.label,
            "Heals scored": one.n_heals,
            **{name: cell for axis in AXES for name, cell in _cells(one, axis).items()},
            "Weakest": _number(one.minimum),
        }
        for one in reversed(past)
    ]


def _cells(one: Past, axis: str) -> dict[str, str]:
    name = f"{axis} {AXIS_NAMES[axis]}"
    return {name: _number(one.scores[axis]), f"{axis} 95 % range": range_cell(one.doubt[axis])}


def _number(value: float | None) -> str:
    return "not scored" if value is None else f"{value:.2f}"


def _point(one: Past, axis: str, *, mark: str = "") -> windows.Point:
    value = one.scores.get(axis)
    said = f"{AXIS_NAMES[axis]} {value:.2f}" if value is not None else "not scored"
    doubt = one.doubt.get(axis)
    settled = f"<br>95 % range {range_text(doubt)}, {tag(doubt)}" if doubt and doubt.interval else ""
    hover = f"{one.window.label}<br>{said}, {count(one.n_heals, 'heal')}{settled}"
    interval = doubt.interval if doubt else None
    has_span = interval is not None and value is not None and interval.low <= value <= interval.high  # 0 by rule lies outside
    span = (interval.low, interval.high) if interval and has_span else None
    return windows.Point(_label(one.window), value, hover, mark, span)


def _label(window: Window) -> str:
    """The window's end, as finely as its length needs to tell it from its neighbours."""
    length = window.end - (window.start or window.end)
    pattern = "%d %b %H:%M" if length < timedelta(days=1) else "%d %b" if length < timedelta(days=45) else "%d %b %Y"
    return f"{window.end:{pattern}}"


def _change(view: View, axis: str, before: Past | None) -> dict[str, Any]:
    """The metric's arguments for the difference to the window before, and that window's value."""
    if before is None:
        return {}
    old, new = before.scores[axis], view.audit.scores[axis]
    if old is None or new is None:
        return {"delta": "was not scored", "delta_color": "off", "delta_arrow": "off"}
    change = round(round(new, 2) - round(old, 2), 2)
    return {"delta": _signed(change), "delta_description": f"was {old:.2f}", **_direction(change)}


def _signed(change: float) -> str:
    """A change of a score with a real minus sign, which Streamlit does not read: see `_direction`."""
    return f"{change:+.2f}".replace("-", "−") if change else "0.00"


def _direction(change: float) -> dict[str, Any]:
    if not change:
        return {"delta_color": "off", "delta_arrow": "off"}
    return {"delta_color": "green", "delta_arrow": "up"} if change > 0 else {"delta_color": "red", "delta_arrow": "down"}
