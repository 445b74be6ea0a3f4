"""One case under review: its question, both outcomes with what is on record, since when, and the choice about it.

A safety case is accepted here and nowhere else, with a reason of its own.
"""

from __future__ import annotations

import streamlit as st

from pages.parts import address, drafts, surface_cases
from pages.parts.deciding import Deciding
from seam_core import escape
from seam_core.baseline.drafts import Draft
from seam_core.baseline.reviewing import DifferingCase
from seam_core.ledger.kinds import COMMENT_MAX
from seam_core.views import baseline_agenda, case_sides
from seam_core.views.baseline_agenda import Agenda, Choice
from seam_core.views.baseline_runs import Against
from seam_core.views.case_sides import Side
from seam_core.words import cut

WORDS: dict[Choice, str] = {"accepted": "accepted", "rejected": "rejected", "left": ""}
VERBS: dict[Choice, str] = {"accepted": "Accept", "rejected": "Reject", "left": "Leave"}
HEALS_LINKED = 5
EVERY = "all"  # groups, as it stands in the address


def show(desk: Deciding, found: Agenda, draft: Draft, against: Against, *, safety: bool) -> None:
    """The case that the address names, where its table is."""
    case = found.cases.get(address.get("case") or "")
    if case is None or case.is_safety != safety:
        return
    with st.container(border=True):
        st.markdown(f"**{'Safety case' if safety else 'Case'}** {escape.code(case.case_id)}")
        _what_changed(case, against)
        _sides(desk, found, case)
        run_id = found.review.run.run_id
        with st.container(horizontal=True):
            address.link("axes/aftermath.py", "Its whole history", show="case", case=case.case_id, at=run_id)
            for heal_id in case.origin.heals[:HEALS_LINKED] if case.origin else ():
                address.link("review/heals.py", f"Open heal {escape.code(heal_id)}", heal=heal_id)
        if safety:
            _reason(desk, run_id, draft, case)
        _verdict(desk, found, draft, case)


def _what_changed(case: DifferingCase, against: Against) -> None:
    if case.question:
        st.text(escape.visible(case.question))
    before = "Not in the baseline" if case.certified is None else f"Certified as {word(case.certified)}"
    said = [f"{before}, and {word(case.passed)} in this run."]
    said += [case.origin.sentence] if case.origin else []
    said.append(
        f"It flips by itself in {case.noise.words} pairs of runs." if case.noise.n_pairs else "Whether it flips by itself is unknown."
    )
    said += [f"Component: {cut(case.component)}."] if case.component else []
    newer = against.moved.get(case.case_id)
    said += [f"A newer run, {cut(newer)}, has another outcome: it cannot be accepted on this one."] if newer else []
    st.text(escape.visible("\n".join(said)))


def _sides(desk: Deciding, found: Agenda, case: DifferingCase) -> None:
    """Both outcomes, with what was put on record about each."""
    version = found.review.version
    sides = desk.view.ask(
        case_sides.sides,
        case.case_id,
        run_id=found.review.run.run_id,
        certified=case.certified,
        certified_on=version.run_id if version else None,
        origin=case.origin.run_id if case.origin else None,
    )
    for column, heading, side in zip(st.columns(2), ("Certified", "In this run"), (sides.then, sides.now), strict=True):
        with column:
            _side(heading, side, case.certified if side is sides.then else case.passed)
            if sides.again is not None and side is sides.now:
                st.caption(f"The newest output with this outcome is of {_seen(sides.again)}")
                surface_cases.show_output(sides.again.output)


def _side(heading: str, side: Side | None, passed: bool | None) -> None:  # noqa: FBT001 -- an outcome
    st.markdown(f"**{heading}: {word(passed)}**")
    if side is None:
        st.caption("No earlier run on record has this outcome." if passed is not None else "The baseline does not know this case.")
        return
    st.caption(f"as in {_seen(side)}")
    surface_cases.show_output(side.output)


def _seen(side: Side) -> str:
    return f"{escape.code(side.seen.run_id)} · {escape.plain(side.seen.phase)} · {side.seen.ts:%Y-%m-%d %H:%M} UTC"


def _reason(desk: Deciding, run_id: str, draft: Draft, case: DifferingCase) -> None:
    key = drafts.box(f"why {case.case_id}", run_id)
    st.text_area(
        "Why this safety case, of all, may change",
        value=draft.safety_reasons.get(case.case_id, ""),
        key=key,
        height=68,
        max_chars=COMMENT_MAX,
        disabled=not desk.can_write,
        on_change=lambda: drafts.keep(desk, run_id, lambda kept: baseline_agenda.explain(kept, case.case_id, drafts.typed(key))),
    )


def _verdict(desk: Deciding, found: Agenda, draft: Draft, case: DifferingCase) -> None:
    """The choice for the one case that is open, and the way to the next."""
    run_id, mine = found.review.run.run_id, baseline_agenda.choice_of(draft, case.case_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for chosen, label in VERBS.items():
            on_click, args = choose, (desk, run_id, (case.case_id,), chosen, case.case_id)
            if case.is_safety and chosen == "accepted":
                on_click, args = _accept_safety, (desk, run_id, case.case_id)
            kind = "primary" if mine == chosen and mine != "left" else "secondary"
            st.button(
                f"{label} this case", key=f"{chosen} {case.case_id}", on_click=on_click, args=args, type=kind, disabled=not desk.can_write
            )
        following = baseline_agenda.next_open(found, draft, case)
        st.button("Next one still left", key=f"next {case.case_id}", on_click=_open, args=(found, following), disabled=following is None)
    drafts.complain(case.case_id)
    st.caption(f"Your choice: {WORDS[mine] or 'left for later'}.")


def _accept_safety(desk: Deciding, run_id: str, case_id: str) -> None:
    """Accept one safety case, with the reason that stands in its box."""
    reason = drafts.typed(drafts.box(f"why {case_id}", run_id))
    if not reason.strip():
        drafts.refuse(case_id, f"{cut(case_id)} is a safety case: write why it may change, then accept it. Nothing was changed.")
        return
    drafts.keep(desk, run_id, lambda draft: baseline_agenda.accept_safety(draft, case_id, reason), place=case_id)


def _open(found: Agenda, case_id: str | None) -> None:
    """A callback: open a case; its heal's table comes along."""
    address.put("case", case_id)
    if case_id is not None and not found.cases[case_id].is_safety and address.get("group") != EVERY:
        address.put("group", found.group_of[case_id].key)


def choose(desk: Deciding, run_id: str, case_ids: tuple[str, ...], chosen: Choice, place: str) -> None:
    """A callback: one choice for some cases. `place`: where it is said why it was not taken."""
    drafts.keep(desk, run_id, lambda draft: baseline_agenda.choose(draft, case_ids, chosen), place=place)


def word(passed: bool | None) -> str:  # noqa: FBT001 -- an outcome
    """An outcome in a word."""
    return "not certified" if passed is None else "pass" if passed else "fail"
