"""The vector: S, E, A, M side by side and what needs a person, in words. Never one combined number."""

from __future__ import annotations

import streamlit as st

from pages.parts import address
from pages.parts.frame import View
from seam_core import escape, summary
from seam_core.doubt import in_short
from seam_core.report import AXES, thresholds
from seam_core.views import baseline_in_force, integrity
from seam_core.words import AXIS_NAMES, count, named

PAGES = {"S": "axes/signal.py", "E": "axes/efficacy.py", "A": "axes/aftermath.py", "M": "axes/monotonicity.py"}
WIDTH = 145  # px; five stand side by side on a small desktop, two on a phone


def show(view: View) -> None:
    """The strip above every page: four scores, each a link to its page, and beside them what is due."""
    with st.container(horizontal=True, border=True, gap="xsmall"):
        for axis in AXES:
            with st.container(width=WIDTH, gap=None):
                score = "" if view.audit.scores[axis] is None else struck(view, axis)  # "not scored" would be cut off there
                address.link(PAGES[axis], f"**{axis} {AXIS_NAMES[axis]}** {score}".rstrip())
                st.caption(escape.plain(state(view, axis)))
                if settled := _settled(view, axis):
                    st.caption(settled)
        due = notices(view)
        if due:
            with st.container(width=WIDTH, gap=None):
                for page, notice in due:
                    address.link(page, f"**{escape.plain(notice)}**")


def notices(view: View) -> list[tuple[str, str]]:
    """(page, words) of what is due beside the scores; nothing when there is nothing."""
    counts = view.audit.counts
    found = [("decide/recertify.py", "RECERTIFY due")] if view.audit.aftermath.drift.due else []
    found += [("decide/gates.py", count(counts["blocked"], "gate block"))] if counts["blocked"] else []
    found += [("trust/integrity.py", said)] if (said := integrity.notice(view.audit)) else []
    found += [("trust/data.py", count(counts["rejected"], "rejected line"))] if counts["rejected"] else []
    return found


def banners(view: View) -> None:
    """The same at length, each with what it means."""
    audit = view.audit
    if audit.aftermath.drift.due:
        st.error(escape.plain(f"RECERTIFY is due: {view.ask(summary.drift_sentence)} A person has to review it."))
        address.link("decide/recertify.py", "Review it and certify, or roll back")
    if proposed := baseline_in_force.waiting(view.opened.store.ledger):
        st.info(escape.plain(proposed))
        address.link("decide/recertify.py", "Approve it, or veto it")
    if audit.counts["blocked"]:
        heals = list(dict.fromkeys(row["heal_id"] for row in view.rows("blocked_rows")))
        what = f"The boundary gate stopped {count(len(heals), 'heal')}: {named(heals)}."
        st.error(escape.plain(f"{what} {'It is' if len(heals) == 1 else 'They are'} not scored; a person has to look."))
        address.link("decide/gates.py", "Look at what was stopped")
    if withheld := integrity.withheld_sentence(audit):
        st.error(escape.plain(withheld))
        address.link("trust/integrity.py", "Look at the findings")
    rejects = view.opened.store.rejects() if audit.counts["rejected"] else []
    if rejects:
        first = rejects[0]
        where = f"{first.path} " if first.path else ""
        what = f"{count(audit.counts['rejected'], 'line')} of the logs could not be used"
        st.warning(escape.plain(f"{what}; the first is {first.file}, line {first.line}: {where}{first.reason}."))
        address.link("trust/data.py", "Look at the lines")


def value(view: View, axis: str) -> str:
    """The score, or that there is none."""
    score = view.audit.scores[axis]
    return "not scored" if score is None else summary.score_text(score, line=thresholds(view.audit.settings)[axis])


def struck(view: View, axis: str) -> str:
    """The score for a place that reads Markdown, struck through when it is withheld."""
    return f"~~{value(view, axis)}~~" if axis in view.audit.withheld else value(view, axis)


def state(view: View, axis: str) -> str:
    """What alerts about the axis, or that nothing does, in words; why it is not scored."""
    if view.audit.scores[axis] is None:
        return f"not scored: {view.audit.reasons[axis]}"
    return "; ".join(states(view, axis))


def _settled(view: View, axis: str) -> str:
    """The range and what it settles; nothing for an axis that is not scored."""
    return in_short(view.audit.doubt[axis], early=is_early(view, axis))


def is_early(view: View, axis: str) -> bool:
    """Whether the score can only fall from here: no healed failure has had its days to come back."""
    return axis == "S" and summary.is_early(view.audit)


def states(view: View, axis: str) -> list[str]:
    """The same of a scored axis, one by one."""
    withheld = [f"withheld: {', '.join(rules)}"] if (rules := view.audit.withheld.get(axis)) else []
    return withheld + _alarms(view, axis)


def _alarms(view: View, axis: str) -> list[str]:
    calm = "early: ok so far" if is_early(view, axis) else "ok"
    return summary.alarms(view.audit, axis) or [f"{calm} (line {thresholds(view.audit.settings)[axis]:.2f})"]
