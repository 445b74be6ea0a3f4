"""Did held-out tasks gain as much as the metric the loop optimised? The score as a sum, the gap over time, and what leaked."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, efficacy, frame, gains, leaks, widening
from seam_core import escape, summary
from seam_core.words import capital

view = frame.view()
scored = view.audit.efficacy

said = view.ask(summary.axis_sentences)["E"]
if scored.score is None:
    st.info(escape.plain(f"Efficacy is not scored: {said}"))
else:
    st.markdown(f"**{escape.plain(capital(said))}**")

if scored.n or scored.n_loops:
    st.header("The score as a sum", anchor=False)
    efficacy.score(view)

st.header("The truth gap over time", anchor=False)
each = st.segmented_control("One mark for each", ("heal", "loop"), default="heal", required=True, key="each", bind="query-params")
chosen = address.get(each)
gains.missing(view, each, chosen)
gains.over_time(view, each, chosen)
st.subheader("Is it widening?", anchor=False)
widening.show(view)

if scored.n or scored.n_loops:
    st.header("Visible against held-out gain", anchor=False)
    gains.compared(view, each, chosen)
    st.subheader(f"{each.capitalize()}s, worst first", anchor=False)
    gains.worst(view, each)
    st.subheader("Loops that gained only where they look", anchor=False)
    gains.empty(view)

st.header("Heals left out", anchor=False)
efficacy.left_out(view)

st.header("Contamination: held-out cases in what heals added", anchor=False)
leaks.show(view)

st.header("Cost per real point", anchor=False)
efficacy.cost(view)
