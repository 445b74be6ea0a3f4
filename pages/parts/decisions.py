"""The ledger as pages use it: one object per file, what was decided as of now, and who may decide. Reading writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from pages.parts import identity
from pages.parts.frame import View
from seam_core import escape
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


def state(view: View) -> State:
    """What was decided up to now, by everybody; asked anew at each run, so that two people see each other's decisions."""
    ledger = _ledger(str(ledger_file(view.opened.store.workspace.folder, read_server_settings())))
    who = identity.who()
    try:
        chain = ledger.chain()
        found = _decided(str(ledger.path), chain.head, view.opened.key, ledger, view.opened.store)
    except LedgerError as error:
        return State(ledger, who.actor, who.why_not, str(error), who.may_sign_in)
    return State(ledger, who.actor, who.why_not, "" if chain.holds else chain.sentence, who.may_sign_in, found)


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


@st.cache_resource(max_entries=20, show_spinner=False)
def _ledger(path: str) -> Ledger:
    return Ledger(Path(path))


@st.cache_resource(max_entries=20, show_spinner="Reading what was decided …")
def _decided(path: str, head: str | None, key: str, _ledger: Ledger, _store: Store) -> Decided:
    return verdicts.decided(_ledger, _store)
