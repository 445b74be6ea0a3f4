"""What one person chose so far: a draft, nobody's decision. It is kept on disk for one person and one run.

Where that cannot be written it lives in the session alone, and the page says so; a choice that is not taken says why where it was made.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import identity
from pages.parts.deciding import Deciding
from seam_core import escape
from seam_core.baseline.drafts import Draft, DraftError
from seam_core.ledger import Actor
from seam_core.ledger.kinds import COMMENT_MAX


def load(deciding: Deciding, run_id: str) -> Draft:
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


def others(deciding: Deciding, run_id: str) -> tuple[str, ...]:
    """Other runs about which this person chose something and has not sent it, the last one first."""
    if deciding.state.actor is None:
        return ()
    try:
        return tuple(one for one in deciding.drafts.runs(deciding.state.actor) if one != run_id)
    except DraftError:  # the draft itself has said so
        return ()


def keep(deciding: Deciding, run_id: str, change: Callable[[Draft], Draft], *, place: str = "many") -> None:
    """A callback: change what this person chose, whoever that is now; on disk where that can be."""
    who, mine = identity.who(), deciding.state.actor
    if who.actor is None:
        refuse(place, who.why_not)
        return
    if mine is None or who.actor.key != mine.key:
        refuse(place, f"You are {who.actor.name} now; these were somebody else's choices. Nothing was changed.")
        return
    name, changed = _name(mine, run_id), change(load(deciding, run_id))
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


def refuse(place: str, sentence: str) -> None:
    """A callback: nothing was changed, and why; it is said at the next run, where the button was."""
    st.session_state["choice fault"] = place, sentence


def complain(place: str) -> None:
    """Say at a place why the last choice made there was not taken."""
    where, said = st.session_state.get("choice fault", ("", ""))
    if where == place:
        del st.session_state["choice fault"]
        st.error(escape.plain(said))
