"""Deciding on a baseline: the desk, who is there and what they may do, and why nothing can be decided where that is so."""

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
from seam_core.baseline.drafts import Drafts
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
