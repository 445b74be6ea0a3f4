"""Contamination on a page: the rate in words, the cases found, one of them in full, and those that cannot be tested."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, copying, tables
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import leaks
from seam_core.views.leaks import CaseLeak, Leak, Leaks
from seam_core.words import count, cut


def show(view: View) -> None:
    """Sentences, the cases found as a table, the chosen one in full."""
    found = view.ask(leaks.find_leaks)
    st.text(escape.visible(" ".join(found.sentences)))
    everything = (*found.contaminated, *found.touched)
    if everything:
        _choose(view, everything)
        _tables(found)
    for kind in found.untestable:
        with st.expander(f"Cases {kind.why} ({kind.n:,})"):
            st.text(escape.visible(", ".join(cut(case) for case in kind.case_ids), length=20_000))


def _choose(view: View, everything: tuple[Leak, ...]) -> None:
    """The case of the address, else the worst; the picker is the keyboard's way as well."""
    known = {leak.case_id: leak for leak in everything}
    asked = address.get("case")
    if asked and asked not in known:
        st.warning(escape.plain(f"Nothing of a held-out case {cut(asked)} was found in what heals of this window added."))
    st.session_state["leaked case"] = asked if asked in known else everything[0].case_id
    st.selectbox(
        "Held-out case",
        list(known),
        format_func=lambda case: f"{escape.visible(cut(case))}: {leaks.share_said(known[case])}",
        key="leaked case",
        on_change=lambda: address.put("case", st.session_state["leaked case"]),
    )
    case = view.ask(leaks.open_case, st.session_state["leaked case"])
    if case:
        _one(case)
        link = address.permalink("efficacy", case=case.leak.case_id)
        text = view.ask(leaks.issue, case.leak.case_id, link=link)
        copying.offer(text or "")


def _one(case: CaseLeak) -> None:
    """The case beside the lines that hold it, and the heals that added them."""
    first, second = st.columns(2, gap="medium")
    with first:
        st.markdown("**The case**")
        st.code(escape.visible(case.text), language=None, wrap_lines=True)
        if case.leak.coverage < 1:
            st.markdown("**Longest passage found**, in plain words")
            st.code(escape.visible(case.leak.passage), language=None, wrap_lines=True)
    with second:
        for place in case.places:
            target = escape.code(place.target) if place.target is not None else "its text"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**Added** to {target} on {place.ts:%Y-%m-%d %H:%M} UTC by", width="content")
                address.link("review/heals.py", f"Heal {escape.code(place.heal_id)}", heal=place.heal_id)
            st.code(escape.visible("\n".join(place.lines)) or "(its lines are not found any more)", language=None, wrap_lines=True)
            if place.n_more:
                st.caption(f"and {count(place.n_more, 'more line')}")
        n_more = len(case.leak.heals) - len(case.places)
        if n_more:
            st.caption(f"and {count(n_more, 'more heal')}")


def _tables(found: Leaks) -> None:
    for title, some, n in (
        ("All contaminated cases", found.contaminated, len(found.contaminated)),
        ("Cases of which only a few words stand there: no leak by the rule", found.touched, found.n_touched),
    ):
        if some:
            with st.expander(f"{title} ({n:,})"):
                tables.show(
                    [_row(leak) for leak in some],
                    name="contaminated" if some is found.contaminated else "touched-cases",
                    alt=title,
                    columns={"case": "Case", "coverage": "Found (% of its sequences)", "heals": "Heals", "passage": "Longest passage"},
                    open_row=lambda row: address.put("case", row["case"]),
                )


def _row(leak: Leak) -> dict[str, object]:
    return {"case": leak.case_id, "coverage": round(100 * leak.coverage), "heals": ", ".join(leak.heals), "passage": leak.passage}
