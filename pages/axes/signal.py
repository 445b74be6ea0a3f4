"""Was the failure real? Signal as a sum, the signatures behind it over time, what came back, and whose word the labels are."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, labels, merges, signal
from seam_core import escape, summary
from seam_core.words import capital

view = frame.view()
sentence = view.ask(summary.axis_sentences)["S"]
st.markdown(f"**{escape.plain(capital(sentence))}**")
if not view.audit.counts["scored"]:
    st.info("Nothing is scored in this window. Choose a longer one, or another end, in the sidebar.")

st.header("The score as a sum", anchor=False)
verdicts = labels.compared(view)
signal.score(view, verdicts)
st.header("Signatures over time", anchor=False)
shown = signal.choose_shown()
signal.over_time(view, shown)
st.header("Signatures, worst first", anchor=False)
signal.table(view, shown, verdicts)
st.header("Did the failures stay away?", anchor=False)
signal.stayed_away(view)
st.header("Who said what was real", anchor=False)
labels.show(view, verdicts)
st.header("Probably one failure", anchor=False)
merges.show(view)
