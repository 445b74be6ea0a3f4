"""Settings on a page: what is in force and who set it, what hangs on each threshold, and what the server says about people."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import identity, memory, tables
from pages.parts.figures import sensitivity as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape, summary
from seam_core.settings import read_server_settings
from seam_core.views import sensitivity
from seam_core.views.in_force import DEFAULT, Threshold, thresholds_in_force
from seam_core.views.other_values import Side
from seam_core.views.sensitivity import Strip
from seam_core.views.server_words import facts
from seam_core.words import AXIS_NAMES


def in_force(view: View) -> None:
    """Every threshold, those that somebody set first."""
    found = thresholds_in_force(view.resolved, read_server_settings())
    changed = [one for one in found if not one.is_default]
    loosened = view.ask(summary.loosened)
    st.text(_how_many(len(changed), len(found)))
    for sentence in loosened:
        st.warning(escape.plain(f"Looser than the default: {sentence}"))
    for note in view.resolved.notes:
        st.warning(escape.plain(f"Not followed: {note}."))
    columns = {
        "name": "Threshold",
        "value": "In force",
        "default": "Default",
        "unit": "Unit",
        "set_by": "Set by",
        "held": "Held by the server at",
        "meaning": "Meaning",
        "allowed": "May be",
        "stricter": "Stricter is",
    }
    if not any(one.held is not None for one in found):
        del columns["held"]
    rows = [_row(one) for one in sorted(found, key=lambda one: (one.is_default, one.set_by == DEFAULT))]
    tables.show(rows, name="thresholds", alt="Thresholds in force", columns=columns)
    st.caption(
        "A flag of the command line wins over seam.toml, and that over the server settings; neither may loosen what the server holds."
    )


def _how_many(n_changed: int, n: int) -> str:
    if not n_changed:
        return f"All {n} thresholds are at their default."
    return f"{n_changed} of {n} thresholds {'is' if n_changed == 1 else 'are'} not at the default."


def _row(one: Threshold) -> dict[str, Any]:
    return {
        "name": one.name,
        "value": _plainly(one.value),
        "default": _plainly(one.default),
        "unit": one.unit,
        "set_by": one.set_by,
        "held": "" if one.held is None else _plainly(one.held),
        "meaning": one.meaning,
        "allowed": one.allowed,
        "stricter": one.stricter,
    }


def _plainly(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def strips(view: View) -> None:
    """Each threshold a fifth lower and a fifth higher: drawn where it moves a score or its line, and all of them as a table."""
    found = view.ask(sensitivity.strips)
    st.text(sensitivity.summary(found))
    st.caption("One threshold at a time, the others as they are. Scores are computed again exactly, from the rows that the axes keep.")
    drawn = figures.moving(found)
    if drawn:
        alt = f"Scores with each of {len(drawn)} thresholds a fifth lower and a fifth higher, and the lines they are held to"
        st.plotly_chart(memory.draw(figures.strip_rows, found), key="strips", config=NO_BAR, alt=alt)
    rows = [_strip_row(view, one) for one in sorted(found, key=lambda one: not one.flips)]
    columns = {
        "axis": "Acts on",
        "name": "Threshold",
        "flips": "Another verdict",
        "low": "A fifth lower gives",
        "now": "As it is",
        "high": "A fifth higher gives",
    }
    tables.show(rows, name="sensitivity", alt="Each threshold a fifth lower and a fifth higher", columns=columns)
    unknown: dict[str, list[str]] = {}
    for one in found:
        if one.why:
            unknown.setdefault(one.why, []).append(one.name)
    with st.expander(f"Not computed, or not in both directions ({sum(map(len, unknown.values()))})"):
        for why, names in unknown.items():
            st.text(escape.visible(f"{', '.join(names)}: {why}."))
        for name in ("similarity_method", "paraphrase_min", "suspect_min", "surface_sample"):
            st.text(f"{name}: {sensitivity.NOT_COMPUTED[name]}.")


def _strip_row(view: View, one: Strip) -> dict[str, Any]:
    return {
        "axis": AXIS_NAMES.get(one.axis, one.axis.capitalize()),
        "name": one.name,
        "flips": "; ".join(one.flips),
        "low": _at(one.low),
        "now": f"{one.value:g}: {sensitivity.as_now(view.audit, one)}",
        "high": _at(one.high),
    }


def _at(side: Side | None) -> str:
    return f"{side.value:g}: {side.said}" if side else "not computed"


def server(view: View) -> None:
    """Who may loosen what, where decisions are kept, who decides; what somebody can get round is marked."""
    providers = identity.names_of_providers()
    found = facts(
        read_server_settings(),
        view.opened.store.workspace.folder,
        signs_in=providers is not None,
        n_providers=len(providers or ()),
    )
    for fact in found:
        said = escape.plain(f"{fact.name}: {fact.said}")
        if fact.is_warning:
            st.warning(said)
        else:
            st.text(escape.visible(f"{fact.name}: {fact.said}"))
    st.text(escape.visible(f"You: {identity.who().sentence}"))
