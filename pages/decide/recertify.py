"""Is this still the agent that was signed off? What changed since, heal by heal, to certify or to roll back, and who did so before."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, authority, baseline_history, choice, frame, going_back, recertify
from seam_core import escape
from seam_core.errors import SeamError

LOOKS = {
    "review": ("Review", recertify.review),
    "back": ("Roll back", going_back.show),
    "history": ("History", baseline_history.show),
    "who": ("Who may decide", lambda _view: authority.show()),
}


@st.fragment
def look(view: frame.View) -> None:
    """What was chosen to be looked at."""
    if not view.is_current():
        st.rerun()
    asked = address.get("show")
    shown = choice.segments("show", "Look at", {name: title for name, (title, _) in LOOKS.items()}, asked if asked in LOOKS else "review")
    try:
        LOOKS[shown][1](view)
    except SeamError as error:
        st.error(escape.plain(str(error)))


view = frame.view()
recertify.watch(view)
look(view)
