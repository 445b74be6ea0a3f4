"""Could the log be lying? Findings with what proves them, what could not be checked and why, and what no rule can catch."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, integrity

view = frame.view()
integrity.headline(view)
st.header("Findings", anchor=False)
integrity.findings(view)
st.header("Not checkable", anchor=False)
integrity.rules(view)
st.header("What no rule can catch", anchor=False)
integrity.limits()
