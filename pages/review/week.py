"""Did this week's repairs hold? The four axes, the heals to look at first, what is due, what it cost."""

from __future__ import annotations

import streamlit as st

from pages.parts import cards, downloads, findings, frame, strip, tables
from seam_core import escape, summary

view = frame.view()
audit = view.audit

start = f"{audit.window.start:%Y-%m-%d %H:%M}" if audit.window.start else "Everything"
more = " ".join(view.ask(summary.window_sentences))
st.markdown(f"**{escape.plain(view.ask(summary.verdict))}**")
st.caption(escape.plain(f"{start} to {audit.window.end:%Y-%m-%d %H:%M} UTC{f': {more}' if more else ''}"))
strip.banners(view)
if not audit.counts["scored"]:
    st.info("Nothing is scored in this window. Choose a longer one, or another end, in the sidebar.")

charts = cards.show(view, view.ask(summary.axis_sentences))
first, second = st.columns([3, 2], gap="medium")
with first:
    st.header("Look at these first", anchor=False)
    findings.show(view.findings())
with second:
    st.header("Weakest axis", anchor=False)
    trend = st.container()
    st.header("Budget", anchor=False)
    cards.budget(view)
    st.header("Downloads", anchor=False)
    downloads.show(view)
with st.expander(f"Notes on these numbers ({len(audit.flags)})"):
    for flag in audit.flags:
        st.text(escape.visible(flag))

past = view.history()  # the dear part: everything else is already on the screen
cards.fill(view, charts, past)
with trend:
    cards.weakest(view, past)
with st.expander("The numbers behind the charts"):
    tables.show(cards.numbers(past), name="windows", alt="Scores of the last windows")
