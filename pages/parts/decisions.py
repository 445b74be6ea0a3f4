"""The ledger as pages use it: one object per file, what was decided as of now, and who may decide. Reading writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import streamlit as st

from pages.parts import identity
from pages.parts.frame import View
from seam_core import escape
from seam_core.errors import SeamError
from seam_core.ledger import Actor, Ledger, LedgerError, ledger_file
from seam_core.settings import read_server_settings
from seam_core.store import Store
from seam_core.views import verdicts
from seam_core.views.verdicts import Decided


@dataclass(frozen=True)
class State:
    """What was decided, and who may decide now. `fault`: the ledger cannot be trusted or read, in one sentence."""

    ledger: Ledger
    actor: Actor | None
    why_not: str
    fault: str = ""
    may_sign_in: bool = False
    decided: Decided = field(default_factory=Decided)

    @property
    def can_write(self) -> bool:
        """Whether a decision of this person would be written."""
        return self.actor is not None and not self.fault


@dataclass
class Newest:
    """What was decided when somebody last asked: the next asks only for what was added since."""

    found: Decided | None = None


def state(view: View) -> State:
    """What was decided up to now, by everybody; asked anew at each run, so that two people see each other's decisions."""
    found = standing(view)
    try:
        head = found.ledger.chain().head
        path, store = str(found.ledger.path), view.opened.store
        return replace(found, decided=_decided(path, head, view.opened.key, found.ledger, store, _newest(path, view.opened.born)))
    except LedgerError as error:
        return replace(found, fault=found.fault or str(error))


def standing(view: View) -> State:
    """Who may decide now, and whether the ledger holds; nothing of what was decided about heals is read for it."""
    ledger = _ledger(str(ledger_file(view.opened.store.workspace.folder, read_server_settings())))
    who = identity.who()
    try:
        chain = ledger.chain()
        fault = "" if chain.holds else chain.sentence
    except LedgerError as error:
        fault = str(error)
    return State(ledger, who.actor, who.why_not, fault, who.may_sign_in)


def tell(found: State) -> None:
    """Why nothing can be decided, where that is so. Draws the whole page anew when its sidebar names somebody else than who is here."""
    if not identity.is_as_shown():
        st.rerun()
    if found.fault:
        st.error(escape.plain(f"Decisions cannot be written: {found.fault}"))
    if found.why_not:
        st.info(escape.plain(found.why_not))
    if found.may_sign_in:
        identity.offer_sign_in("to decide")


def written(write: Callable[[Actor], str | None], *, of: str) -> bool:
    """Whether a decision of whoever is here now was written. What a reader must know of it is left for the next run, under ``OF fault``
    or ``OF note``. For callbacks.
    """
    who = identity.who()
    if who.actor is None:
        st.session_state[f"{of} fault"] = f"Not written: {who.why_not.removeprefix(identity.READ_ONLY)}"
        return False
    try:
        note = write(who.actor)
    except SeamError as error:
        st.session_state[f"{of} fault"] = f"Not written: {error}"
        return False
    st.session_state[f"{of} note"] = note
    return True


@st.cache_resource(max_entries=20, show_spinner=False)
def _ledger(path: str) -> Ledger:
    return Ledger(Path(path))


@st.cache_resource(max_entries=20, show_spinner=False)
def _newest(path: str, born: str) -> Newest:
    return Newest()


@st.cache_resource(max_entries=20, show_spinner="Reading what was decided …")
def _decided(path: str, head: str | None, key: str, _ledger: Ledger, _store: Store, _newest: Newest) -> Decided:
    _newest.found = verdicts.decided(_ledger, _store, _newest.found)
    return _newest.found
