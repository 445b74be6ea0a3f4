"""Deciding on a baseline: the desk, what one person chose so far, and the dialog in which a decision is written.

Choices are a draft: nobody's decision, kept on disk for one person and one run, and in the session alone where that cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from pages.parts import decisions, identity, memory
from pages.parts.decisions import State
from pages.parts.frame import View
from seam_core import escape
from seam_core.authority import Role
from seam_core.baseline.desk import Desk
from seam_core.baseline.drafts import Draft, DraftError, Drafts
from seam_core.baseline.submission import Written
from seam_core.errors import SeamError
from seam_core.ledger import Actor
from seam_core.ledger.kinds import COMMENT_MAX
from seam_core.notify.telling import after_decision
from seam_core.settings import ServerSettings, read_server_settings
from seam_core.words import capital

T = TypeVar("T")


@dataclass(frozen=True)
class Deciding:
    """Everything that deciding on a baseline needs, as of one run of the page."""

    view: View
    desk: Desk
    state: State
    role: Role
    server: ServerSettings
    drafts: Drafts

    @property
    def can_write(self) -> bool:
        """Whether a decision of this person about the baseline would be written."""
        return self.state.can_write and self.role.may_certify

    @property
    def why_not(self) -> str:
        """Why it would not."""
        if self.state.fault:
            return "Decisions cannot be written now; the reason stands above."
        return self.state.why_not or ("" if self.role.may_certify else f"You may not certify: {self.role.sentence}.")

    def ask(self, function: Callable[..., T], *args: Any) -> T:
        """What a core function says of the desk; computed once for all sessions, so never change what it returns."""
        found: T = memory.answer(self._key, self.desk, function, args, {})
        return found

    def ask_ledger(self, function: Callable[..., T], *args: Any) -> T:
        """The same of a function that also reads rows of the ledger which move no baseline."""
        head = "" if self.state.fault else self.state.ledger.chain().head
        found: T = memory.answer(f"{self._key} {head} {self.state.fault}", self.desk, function, args, {})
        return found

    @property
    def folder(self) -> Path:
        """Of the workspace."""
        return self.view.opened.store.workspace.folder

    @property
    def needs_two(self) -> bool:
        """Whether another person has to approve what one proposes."""
        return self.server.approvals_required > 1

    @property
    def _key(self) -> str:
        return f"{self.view.opened.key} {self.view.resolved.settings}"


@dataclass(frozen=True)
class Asked:
    """One decision that waits to be confirmed: what will be written, in sentences, and the words that the person types."""

    folder: Path  # of the workspace
    sentences: tuple[str, ...]
    reason: str
    words: str
    write: Callable[[Actor], Written]
    said: Callable[[Written], str]  # what was written, in words
    after: Callable[[], None]  # what to forget then


def gather(view: View) -> Deciding:
    """What deciding needs now."""
    server = read_server_settings()
    desk = memory.desk_of(view.opened, view.resolved, approvals_required=server.approvals_required)
    state = decisions.standing(view)
    return Deciding(view, desk, state, identity.who().role, server, Drafts(state.ledger.path))


def tell(deciding: Deciding) -> None:
    """Why nothing can be decided, where that is so, and what became of the draft."""
    decisions.tell(deciding.state)
    if deciding.state.can_write and not deciding.role.may_certify:
        st.info(escape.plain(deciding.why_not))
    fault = st.session_state.get("draft fault")
    if fault:
        st.warning(escape.plain(f"{capital(fault)}."))


def refuse(place: str, sentence: str) -> None:
    """A callback: nothing was changed, and why; it is said at the next run, where the button was."""
    st.session_state["choice fault"] = place, sentence


def complain(place: str) -> None:
    """Say at a place why the last choice made there was not taken."""
    where, said = st.session_state.get("choice fault", ("", ""))
    if where == place:
        del st.session_state["choice fault"]
        st.error(escape.plain(said))


def draft(deciding: Deciding, run_id: str) -> Draft:
    """What this person chose of one run so far."""
    actor = deciding.state.actor
    if actor is None:
        return Draft()
    unsaved: Draft | None = st.session_state.get(_name(actor, run_id))
    if unsaved is not None:
        return unsaved
    try:
        return deciding.drafts.get(actor, run_id)
    except DraftError as error:
        st.session_state["draft fault"] = str(error)
        return Draft()


def keep(deciding: Deciding, run_id: str, change: Callable[[Draft], Draft], *, place: str = "many") -> None:
    """A callback: change what this person chose, whoever that is now; on disk where that can be."""
    who, mine = identity.who(), deciding.state.actor
    if who.actor is None:
        refuse(place, who.why_not)
        return
    if mine is None or who.actor.key != mine.key:
        refuse(place, f"You are {who.actor.name} now; these were somebody else's choices. Nothing was changed.")
        return
    name, changed = _name(mine, run_id), change(draft(deciding, run_id))
    try:
        deciding.drafts.put(mine, run_id, changed)
    except DraftError as error:
        st.session_state["draft fault"], st.session_state[name] = str(error), changed
        return
    st.session_state.pop(name, None)
    st.session_state.pop("draft fault", None)


def forget(deciding: Deciding, run_id: str) -> None:
    """Take a draft away: it became a decision, or the person starts again."""
    actor = deciding.state.actor
    if actor is None:
        return
    st.session_state.pop(_name(actor, run_id), None)
    st.session_state["drafts forgotten"] = _n_forgotten() + 1
    try:
        deciding.drafts.forget(actor, run_id)
    except DraftError as error:
        st.session_state["draft fault"] = str(error)


def box(name: str, run_id: str) -> str:
    """The key of a text box that belongs to a draft. With another draft it is another box: the browser would send the old text again."""
    return f"{name} {_n_forgotten()} {run_id}"


def typed(key: str) -> str:
    """What stands in a text box; the browser keeps to the length that can be kept, and others may not."""
    found: str = st.session_state.get(key) or ""
    return found[:COMMENT_MAX]


def _n_forgotten() -> int:
    found: int = st.session_state.get("drafts forgotten", 0)
    return found


def _name(actor: Actor, run_id: str) -> str:
    return f"draft {actor.key} {run_id}"


def confirm(asked: Asked) -> None:
    """Open the dialog in which a decision is written."""
    for name in ("decision written", "decision refused", "typed words"):
        st.session_state.pop(name, None)
    _dialog(asked)


@st.dialog("Write it into the ledger", width="large", on_dismiss="rerun")
def _dialog(asked: Asked) -> None:
    written = st.session_state.get("decision written")
    if written:
        st.success(escape.plain(written))
        if st.button("Done", type="primary"):
            st.rerun()
        return
    st.text(escape.visible("\n".join(asked.sentences)))
    if asked.reason:
        st.caption("Why, as it will be kept")
        st.text(escape.visible(asked.reason))
    with st.form("confirmation", border=False):
        st.text_input(f"To confirm, type {escape.code(asked.words)}", key="typed words", autocomplete="off")
        refused = st.session_state.get("decision refused")
        if refused:
            st.error(escape.plain(refused))
        st.form_submit_button("Write", type="primary", on_click=_write, args=(asked,))


def _write(asked: Asked) -> None:
    """Write the decision. Nothing is drawn in here, so that no click can end it half-way."""
    if " ".join(st.session_state.get("typed words", "").split()).casefold() != asked.words.casefold():
        st.session_state["decision refused"] = f"Type {asked.words} to confirm. Nothing was written."
        return
    who = identity.who()
    if who.actor is None:
        st.session_state["decision refused"] = f"{who.why_not} Nothing was written."
        return
    try:
        written = asked.write(who.actor)
    except SeamError as error:
        said = str(error)
        st.session_state["decision refused"] = f"Not written: {said}{'' if said.endswith('.') else '.'}"
        return
    after_decision(asked.folder, written.row)
    asked.after()
    st.session_state["decision written"] = asked.said(written)
