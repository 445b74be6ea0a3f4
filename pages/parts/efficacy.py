"""Efficacy on a page beside its charts: the score as a sum that can be redone, the heals left out, what a real point cost."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, sureness, tables
from pages.parts.frame import View
from seam_core import escape
from seam_core.doubt import interval_text, range_text
from seam_core.summary import score_text
from seam_core.views import efficacy, honest, slices
from seam_core.views.resolution import find_resolution
from seam_core.words import count, listed


def score(view: View) -> None:
    """E per heal and by loop, side by side, each as a sum that a reader can redo, and why they differ."""
    apart, settings = view.ask(efficacy.take_apart), view.audit.settings
    floor = view.ask(honest.honest_efficacy)
    if apart.heals.mean is not None:
        sureness.show(view, "E", honest=floor.efficacy)
        st.caption(escape.plain(floor.sentence(settings.alert_e)))
    line = f"1 − min(gap ÷ {settings.gap_max:g}, 1), where gap = visible gain − held-out gain, and 0 when that is negative"
    st.text(f"E of one heal, or of one loop from its first scores to its last, is {line}. E is their mean.")
    sides = (("Per heal: the score E", "heals", apart.heals), ("By loop: beside it, never instead", "loops", apart.loops))
    for column, (title, noun, one) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            value = "not scored" if one.mean is None else score_text(one.mean, line=settings.alert_e)
            value = f"~~{value}~~" if "E" in view.audit.withheld and one.mean is not None else value
            told = interval_text(apart.loops_range) if noun == "loops" else range_text(view.audit.doubt["E"])
            st.markdown(f"**{title}** {value}{f' (95 % range {told})' if told and one.mean is not None else ''}")
            if one.mean is not None:
                st.code(efficacy.formula(one, settings), language=None, wrap_lines=True)
                rows = efficacy.bands(one, settings)
                names, ns, totals = zip(*rows, strict=True)
                shown = {"Truth gap": names, noun.capitalize(): ns, "E added up": totals}
                number = {"E added up": st.column_config.NumberColumn(format="%.2f")}
                alt = f"{noun.capitalize()} by truth gap, with their E added up"
                st.dataframe(shown, hide_index=True, height="content", column_config=number, alt=alt)
    for reason in apart.why:
        st.text(f"• {reason}")
    for sentence in slices.sentences(view.ask(slices.by_slice)):
        st.text(f"• {sentence}")
    exam = view.ask(find_resolution)
    worth = f" That is up to {min(exam.case / settings.gap_max, 1):.2g} of a heal's E." if exam.case else ""
    st.caption(escape.plain(exam.sentence + worth))


def left_out(view: View) -> None:
    """Which heals have no E, by the scores that they lack."""
    found = view.ask(efficacy.left_out)
    if not found:
        st.text(f"None: every heal of this window logs all four scores ({count(view.audit.efficacy.n, 'heal')}).")
        return
    n = sum(one.n_heals for one in found)
    st.text(
        f"{n:,} of {count(view.audit.counts['scored'], 'heal')} {'has' if n == 1 else 'have'} no E, because a score is missing in the log."
    )
    rows = [{"missing": listed(one.missing), "heals": one.n_heals, "newest": one.newest} for one in found]
    columns = {"missing": "Missing", "heals": "Heals", "newest": "The newest of them"}
    open_newest = lambda row: address.go_later("review/heals.py", heal=row["newest"])  # noqa: E731
    tables.show(rows, name="left-out", alt="Heals without E by missing scores", columns=columns, open_row=open_newest)


def cost(view: View) -> None:
    """What a real point cost, or why that is not known, and what was spent for nothing."""
    found = view.ask(efficacy.cost)
    if found.per_point is not None:
        st.metric("Tokens per held-out point", f"{found.per_point:,.0f}")
    for sentence in found.sentences:
        st.text(sentence)
