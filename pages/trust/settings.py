"""Which thresholds are in force, who set them, and would another verdict come out if they were a little different?"""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, settings

view = frame.view()
st.header("Thresholds in force", anchor=False)
settings.in_force(view)
st.header("What hangs on a threshold", anchor=False)
settings.strips(view)
st.header("The server", anchor=False)
settings.server(view)
