"""Was every line read? Each file, every line that was not taken and why, any line as it was written, and what is missing."""

from __future__ import annotations

import streamlit as st

from pages.parts import data, frame

view = frame.view()
st.header("Files", anchor=False)
data.overview(view)
st.header("Lines that were not taken", anchor=False)
data.rejected(view)
st.header("One line, as it was written", anchor=False)
data.one_line(view)
st.header("What is not there", anchor=False)
data.missing(view)
data.workspaces(view)
