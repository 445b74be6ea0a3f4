"""Which heals need a person? The queue, worst first, and beside it everything about one heal, to be decided."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, copying, decisions, dossier, frame, queue, review
from seam_core import escape
from seam_core.errors import SeamError
from seam_core.views import heal, issue_text, verdicts

view = frame.view()


def one(state: decisions.State, lines: queue.Lines, heal_id: str, at: int | None) -> None:
    """The heal chosen: what it is, what people say, what is known."""
    found = view.ask(heal.dossier, heal_id)
    desk = review.gather(view, state, lines, heal_id, at)
    if at is None and found.in_window:
        st.caption("The filters of the list leave this heal out.")
    dossier.head(found)
    review.bar(desk)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        review.moves(lines, heal_id, at)
        address.link("review/loop.py", "Open loop", loop=found.loop_id)
        review.hand_over(state, heal_id)
    review.history(state, heal_id)
    queue.members(view, lines, at, heal_id)
    dossier.show(found)
    link = address.permalink("heals", heal=heal_id)
    copying.offer(lambda: view.ask(issue_text.heal_issue, heal_id, link=link), key=f"issue {heal_id}")
    dossier.record(found)


@st.fragment
def work() -> None:
    """List and heal. Keys and clicks run this part of the page alone, and the whole page when others have had the logs read anew."""
    if not view.is_current():
        st.rerun()
    state = decisions.state(view)
    decisions.tell(state)
    lines = queue.choose(view, state.decided)
    st.markdown(f"**{verdicts.progress_sentence(state.decided, lines.found.ids)}**")
    asked = address.get("heal") or next(iter(lines.heal_ids), None)
    at = lines.at(asked)
    left, right = st.columns([6, 7], gap="medium")
    with left:
        queue.show(view, lines, state.decided, at)
        with st.container(horizontal=True):
            review.decide_many(view, state, lines, at)
            queue.download(view, lines)
    with right:
        try:
            if asked:
                one(state, lines, asked, at)
        except SeamError as error:
            st.warning(escape.plain(str(error)))
            st.button("Show the first of the list", on_click=queue.open_heal, args=(None,))


work()
