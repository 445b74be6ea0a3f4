"""Did this loop converge or wander? Its scores cycle by cycle, its returns, what each cycle changed, its M as a sum to redo."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, loops
from seam_core import escape
from seam_core.views.loop import NoSuchLoopError, story

view = frame.view()
loop_id = loops.choose(view)
if loop_id is None:
    st.stop()
try:
    told = view.ask(story, loop_id)
except NoSuchLoopError as error:
    st.error(escape.plain(str(error)))
    st.stop()

loops.judged(told)
pair = loops.asked_pair(told)
if told.taken:
    loops.curve(view, told, pair)
    st.header("What changed", anchor=False)
    loops.compare(view, told, pair)
st.header("Cycle by cycle", anchor=False)
loops.cycles(told)
first, second = st.columns(2, gap="medium")
with first:
    st.header("What M is made of", anchor=False)
    loops.terms(told)
    st.header("Did it get better?", anchor=False)
    loops.gap(view, told)
    st.header("What it cost", anchor=False)
    loops.cost(told)
with second:
    st.header("Loops on the same failure", anchor=False)
    loops.same_failure(told)
loops.issue(view, told)
