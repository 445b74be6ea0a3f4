"""What was stopped before it was scored, what is protected, and which heals cost more than their task is worth."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, gates

view = frame.view()
if not view.audit.counts["heals"]:
    st.info("This window holds no heal. Choose a longer one, or another end, in the sidebar.")

st.header("Stopped by the boundary gate", anchor=False)
gates.stopped(view)
st.header("Protected blocks in force", anchor=False)
gates.blocks(view)
st.header("Budget", anchor=False)
gates.spending(view)
gates.limits(view)
