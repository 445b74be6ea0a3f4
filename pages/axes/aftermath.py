"""What did the repair break? The score as a sum, each heal's damage case by case, cases over heals, one case's history, the drift."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, aftermath, choice, frame, surface_cases
from seam_core import escape, summary
from seam_core.errors import SeamError
from seam_core.words import capital

LOOKS = {
    "heals": ("Heals", aftermath.heals),
    "grid": ("Cases × heals", aftermath.grid),
    "case": ("One case", surface_cases.choose),
    "runs": ("Two runs", aftermath.runs),
    "drift": ("Drift", aftermath.drift),
}


def named() -> str:
    """The look that the address asks for, or that what it names is seen in."""
    asked = address.get("show")
    implied = "heals" if address.get("heal") else "runs" if address.get("run") else "case" if address.get("case") else "heals"
    return asked if asked in LOOKS else implied


@st.fragment
def look(view: frame.View) -> None:
    """What was chosen, and below it the case that was opened; a choice in here draws nothing else again."""
    if not view.is_current():
        st.rerun()
    shown = choice.segments("show", "Look at", {name: title for name, (title, _) in LOOKS.items()}, named())
    try:
        LOOKS[shown][1](view)
        surface_cases.show(view)
    except SeamError as error:
        st.error(escape.plain(str(error)))


view = frame.view()
said = view.ask(summary.axis_sentences)["A"]
if view.audit.aftermath.score is None:
    st.info(escape.plain(f"Aftermath is not scored: {said}"))
else:
    st.markdown(f"**{escape.plain(capital(said))}**")
aftermath.call_for_review(view)
aftermath.score(view)
if aftermath.has_runs(view):
    look(view)
else:
    aftermath.how_to_fill()
