"""Did the loops converge? Monotonicity as a sum, the loops' curves side by side, worst first, and what each loop was judged by."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, wander
from seam_core import escape, summary
from seam_core.words import capital

view = frame.view()
sentence = view.ask(summary.axis_sentences)["M"]
st.markdown(f"**{escape.plain(capital(sentence))}**")
if not view.audit.counts["scored"]:
    st.info("Nothing is scored in this window. Choose a longer one, or another end, in the sidebar.")

st.header("The score as a sum", anchor=False)
wander.score(view)
st.header("Loops, worst first", anchor=False)
shown = wander.choose_shown()
wander.curves(view, shown)
st.header("The loops as a table", anchor=False)
wander.table(view, shown)
st.header("What each loop was judged by", anchor=False)
wander.bases(view)
