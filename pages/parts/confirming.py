"""The dialog in which a decision is written: what will be written, the words that confirm it, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.parts import identity
from seam_core import escape
from seam_core.baseline.submission import Written
from seam_core.errors import SeamError
from seam_core.ledger import Actor
from seam_core.notify.telling import after_decision


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


def ask(asked: Asked) -> None:
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
