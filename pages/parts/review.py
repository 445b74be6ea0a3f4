"""Deciding: real, not real or skip, with a comment; the keys for it; undo; one decision for many; handing a heal to somebody.

Everything is written in callbacks, each by one call of the core, with what was shown as arguments: no key press can hit another heal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import streamlit as st

from pages.parts import decisions
from pages.parts.decisions import State
from pages.parts.frame import View
from pages.parts.queue import Lines, open_heal
from seam_core import escape, reviews
from seam_core.ledger import Actor, Ledger, Row
from seam_core.ledger.kinds import ReviewCleared, ReviewDecision, Verdict
from seam_core.views import queue, verdicts
from seam_core.views.verdicts import BULK_MAX, Many
from seam_core.words import count, cut


class Key(NamedTuple):
    """A button and its key: what the page shows and what it listens to come from here alone."""

    label: str
    key: str


DECIDE: dict[Verdict, Key] = {"real": Key("Real", "Y"), "not_real": Key("Not real", "N"), "skip": Key("Skip", "S")}
NEXT, PREVIOUS, UNDO = Key("Next", "J"), Key("Previous", "K"), Key("Undo", "U")


class Desk(NamedTuple):
    """What deciding about one heal needs, gathered before anything is drawn: heading and buttons then change in one stroke."""

    state: State
    heal_id: str
    evidence: reviews.Evidence | None
    after: str | None  # the heal shown next
    last: Row | None  # what this person decided last


def gather(view: View, state: State, lines: Lines, heal_id: str, at: int | None) -> Desk:
    """What is needed to decide about the heal that is shown from now on."""
    st.session_state["heal shown"] = heal_id
    last = reviews.last_of(state.ledger, state.actor) if state.actor and state.can_write else None
    return Desk(state, heal_id, view.ask(verdicts.evidence_of, heal_id), _neighbour(lines, at, 1), last)


def bar(desk: Desk) -> None:
    """The verdict buttons, always in the same place, what was decided last, and the comment."""
    state, heal_id = desk.state, desk.heal_id
    st.markdown("**Was the failure real?**")
    with st.container(horizontal=True, gap="xsmall"):
        for verdict, key in DECIDE.items():
            st.button(
                key.label,
                key=f"{verdict} {heal_id}",
                shortcut=key.key,
                on_click=_decide,
                args=(state.ledger, heal_id, verdict, desk.evidence, desk.after or heal_id),
                disabled=not state.can_write or desk.evidence is None,
            )
        last = _undo_button(desk)
    for name, show in (("review fault", st.error), ("review note", st.info)):
        said = st.session_state.pop(name, None)
        if said:
            show(escape.plain(said))
    st.caption(escape.plain(last))
    mine = state.decided.latest.get(heal_id, {}).get(state.actor.key) if state.actor else None
    st.text_area(
        "Comment, kept with the verdict",
        value=mine.comment if mine else "",
        key=f"comment {heal_id}",
        height=68,
        max_chars=reviews.COMMENT_MAX,
        disabled=not state.can_write,
        placeholder="Plain text. Keys type letters while the cursor is in here.",
    )


def moves(lines: Lines, heal_id: str, at: int | None) -> None:
    """The way to the heals before and after."""
    for key, step in ((PREVIOUS, -1), (NEXT, 1)):
        to = _neighbour(lines, at, step)
        st.button(key.label, key=f"{key.label} {heal_id}", shortcut=key.key, on_click=open_heal, args=(to,), disabled=to is None)


def _neighbour(lines: Lines, at: int | None, step: int) -> str | None:
    """The heal one line on or back; from a heal that is not in the list, its first."""
    to = 0 if at is None else at + step
    return lines.heal_ids[to] if 0 <= to < len(lines.heal_ids) else None


def _undo_button(desk: Desk) -> str:
    """The way to take back what this person decided last; returns what that was, in words."""
    state, row = desk.state, desk.last
    if row is None:
        st.button(UNDO.label, key="undo nothing", disabled=True)
        return "You have not decided anything yet." if state.can_write else ""
    said = row.decision
    assert isinstance(said, (ReviewDecision, ReviewCleared))
    many: list[int] = st.session_state.get("review many", [])
    seqs = many if many and many[-1] == row.seq else [row.seq]
    st.button(UNDO.label, key=f"undo {row.seq}", shortcut=UNDO.key, on_click=_undo, args=(state.ledger, seqs, said.heal_id))
    verdict = verdicts.WORDS[said.verdict] if isinstance(said, ReviewDecision) else "taken back"
    return f"Your last: {count(len(seqs), 'heal') if len(seqs) > 1 else cut(said.heal_id)} {verdict}."


def history(state: State, heal_id: str) -> None:
    """Who said what about the heal, and why a verdict is open again."""
    for said in verdicts.said_about(state.decided, heal_id):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{escape.code(said.name)} **{said.verdict}**", width="content")
            st.caption(said.when, width="content")
            if state.actor and said.key == state.actor.key and state.can_write:
                args = (state.ledger, heal_id)
                st.button("Take back", key=f"clear {heal_id}", type="tertiary", on_click=_clear, args=args)
        if said.reopened:
            st.warning(escape.plain(f"Open again: {said.reopened} since {said.name} decided."))
        if said.comment:
            st.text(escape.visible(said.comment, length=reviews.COMMENT_MAX))
    handed = state.decided.handed.get(heal_id)
    if handed:
        st.markdown(f"With {escape.code(handed.to)}, handed over by {escape.code(handed.actor.name)}")
        if handed.note:
            st.text(escape.visible(handed.note, length=reviews.COMMENT_MAX))


def hand_over(state: State, heal_id: str) -> None:
    """Give the heal to a named person or team, with a note; or take it back."""
    box = st.popover("Hand over", key=f"handing {heal_id}", on_change="rerun", disabled=not state.can_write)
    with box, st.form(f"hand over {heal_id}", border=False):
        handed = state.decided.handed.get(heal_id)
        st.text_input("Person or team", key=f"to {heal_id}", max_chars=reviews.NAME_MAX, value=handed.to if handed else "")
        st.text_area("Note", key=f"note {heal_id}", max_chars=reviews.COMMENT_MAX, height=68)
        with st.container(horizontal=True):
            st.form_submit_button("Hand over", on_click=_assign, args=(state.ledger, heal_id), kwargs={"back": False})
            if handed:
                st.form_submit_button("Nobody's any more", on_click=_assign, args=(state.ledger, heal_id), kwargs={"back": True})


def decide_many(view: View, state: State, lines: Lines, at: int | None) -> None:
    """One verdict for the group chosen, or for the whole list."""
    with st.popover("Decide many", disabled=not state.can_write or len(lines.all_heals) < 2):
        if state.actor is None:
            return
        group = lines.heals_of(at) if at is not None and lines.entries is not None else ()
        offered = {"This group": group} if len(group) > 1 else {}
        offered |= {"The whole list": lines.all_heals}
        which = st.radio(
            "Which heals",
            list(offered),
            index=None if len(group) == 1 else 0,  # who looks at a group of one did not ask for all of them
            format_func=lambda name: f"{name} ({len(offered[name]):,})",
            key=f"many of {len(offered)} {len(group) == 1}",
        )
        if which is None:
            return
        safe = queue.bulk(offered[which], view.ask(queue.unsafe))
        chosen = verdicts.many(safe, state.decided, state.actor)
        if chosen.left_out:
            st.text(chosen.left_out)
        if len(chosen.heal_ids) > BULK_MAX:
            st.text(f"That leaves {len(chosen.heal_ids):,}. One decision covers at most {BULK_MAX:,} heals: narrow the list first.")
            return
        asked = safe.heal_ids if len(safe.heal_ids) <= BULK_MAX else chosen.heal_ids  # the first stay the same while heals are decided
        evidence = view.ask(verdicts.evidence_of_many, asked)
        st.text_area("Comment for all of them", key="many comment", max_chars=reviews.COMMENT_MAX, height=68)
        with st.container(horizontal=True):
            for verdict in ("real", "not_real"):
                st.button(
                    f"{count(len(chosen.heal_ids), 'heal')} {verdicts.WORDS[verdict]}",
                    key=f"many {verdict}",
                    on_click=_decide_many,
                    args=(state.ledger, chosen, verdict, evidence),
                    disabled=not chosen.heal_ids,
                )


def _decide(ledger: Ledger, heal_id: str, verdict: Verdict, evidence: reviews.Evidence, after: str) -> None:
    """Write the verdict and go on. A second press that was meant for what came next, but hit the old button, decides nothing. It came
    with the old address, too, and must not lead back.
    """
    shown = st.session_state.get("heal shown")
    if shown != heal_id:
        open_heal(shown)
        return
    comment = st.session_state.get(f"comment {heal_id}", "")

    def write(actor: Actor) -> str | None:
        return reviews.record_review(ledger, heal_id, verdict, evidence=evidence, actor=actor, comment=comment).note

    if _written(write):
        st.session_state["heal shown"] = after
        open_heal(after)


def _decide_many(ledger: Ledger, which: Many, verdict: Verdict, evidence: Mapping[str, reviews.Evidence]) -> None:
    comment = st.session_state.get("many comment", "")
    seqs: list[int] = []

    def write(actor: Actor) -> str | None:
        seqs.extend(verdicts.review_many(ledger, which, verdict, evidence=evidence, actor=actor, comment=comment))
        return f"{count(len(seqs), 'heal')} {verdicts.WORDS[verdict]}. {which.left_out}"

    if _written(write):
        st.session_state["many comment"] = ""
    elif seqs:
        st.session_state["review note"] = (
            f"{count(len(seqs), 'heal')} of {len(which.heal_ids):,} {verdicts.WORDS[verdict]}; not the others."
        )
    st.session_state["review many"] = seqs


def _undo(ledger: Ledger, seqs: list[int], heal_id: str) -> None:
    def write(actor: Actor) -> str | None:
        verdicts.undo(ledger, seqs, actor=actor)
        return None

    if _written(write) and len(seqs) == 1:
        open_heal(heal_id)


def _clear(ledger: Ledger, heal_id: str) -> None:
    _written(lambda actor: reviews.clear_review(ledger, heal_id, actor=actor).note)


def _assign(ledger: Ledger, heal_id: str, *, back: bool) -> None:
    to, note = (st.session_state.get(f"{name} {heal_id}", "") for name in ("to", "note"))
    if back:
        to, note = None, ""
    if _written(lambda actor: reviews.assign(ledger, heal_id, to=to, actor=actor, note=note).note):
        st.session_state[f"handing {heal_id}"] = False  # done: the box closes


def _written(write: Callable[[Actor], str | None]) -> bool:
    return decisions.written(write, of="review")
