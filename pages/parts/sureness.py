"""How sure a score is, on its own page: drawn as a bar with its range, and in words."""

from __future__ import annotations

import streamlit as st

from pages.parts import memory, strip
from pages.parts.figures import gauge as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.doubt import range_text, sentence
from seam_core.report import thresholds
from seam_core.words import AXIS_NAMES, capital, listed


def show(view: View, axis: str, *, honest: float | None = None) -> None:
    """The score as a bar with its range, its line and what an honest agent would score; below it the range in words."""
    score, doubt, line = view.audit.scores[axis], view.audit.doubt[axis], thresholds(view.audit.settings)[axis]
    if score is None:
        return
    if doubt.by_rule:  # nothing to draw: the rule leaves neither a bar nor a range of its own
        tell(view, axis)
        return
    said = f", 95 % range {range_text(doubt)}" if doubt.interval else ""
    tick = f"; an honest agent would score about {honest:.2f}" if honest is not None else ""
    alt = f"{AXIS_NAMES[axis]} {score:.2f}{said}; alert below {line:.2f}{tick}"
    low, high = span_of(view, axis)
    name = f"{axis}, withheld" if axis in view.audit.withheld else f"{axis} {AXIS_NAMES[axis]}"
    figure = memory.draw(figures.gauge, name, score, line=line, low=low, high=high, honest=honest)
    st.plotly_chart(figure, key=f"gauge {axis}", config=NO_BAR, alt=alt)
    drawn = [f"dashed: alert below {line:.2f}", *(["whisker: 95 % range"] if low is not None else [])]
    st.caption(capital(" · ".join([*drawn, *(["green tick: an honest agent"] if honest is not None else [])])))
    tell(view, axis)


def tell(view: View, axis: str) -> None:
    """The range in words, what it settles, and what would settle it; nothing for an axis that is not scored."""
    said = sentence(view.audit.doubt[axis], thresholds(view.audit.settings)[axis], early=strip.is_early(view, axis))
    withheld = f"Withheld by {listed(view.audit.withheld[axis])}. " if axis in view.audit.withheld else ""
    if said:
        st.caption(escape.plain(f"{withheld}{said}"))


def span_of(view: View, axis: str) -> tuple[float | None, float | None]:
    """The ends of the range that may be drawn around the score; None where there is none, or where the score is 0 by rule."""
    doubt = view.audit.doubt[axis]
    return (doubt.interval.low, doubt.interval.high) if doubt.interval and not doubt.by_rule else (None, None)
