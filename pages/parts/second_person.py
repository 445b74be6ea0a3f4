"""Where two people have to agree: what one proposed, with every reason, and another's approval or veto."""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from pages.parts import address, baseline_history, confirming, drafts, going_back, identity
from pages.parts.confirming import Asked
from pages.parts.deciding import Deciding
from seam_core import escape
from seam_core.baseline.approvals import Pending
from seam_core.baseline.bundle import rollback_folder
from seam_core.baseline.submission import Written, is_said
from seam_core.ledger import Actor
from seam_core.ledger.kinds import COMMENT_MAX
from seam_core.views import baseline_in_force
from seam_core.words import capital, cut


def show(desk: Deciding, run_id: str) -> None:
    """The proposal that waits for another person, if there is one, and what can be done about it."""
    pending = None if desk.state.fault else desk.desk.pending()
    if pending is None:
        return
    what = f"{capital(baseline_in_force.what(pending.row))} by {baseline_in_force.who(pending.row)}"
    is_mine = desk.state.actor is not None and desk.state.actor.key == pending.row.by.key
    if pending.lapsed:
        st.warning(escape.plain(f"{what}. It lapsed and cannot be approved any more: {pending.lapsed}."))
    else:
        more = "another reviewer has to approve it" if is_mine else "it waits for another reviewer"
        st.info(escape.plain(f"{what}: {more}."))
    baseline_history.one(pending.row)
    if pending.said.run_id != run_id:
        st.button("Review the run it is about", on_click=address.put, args=("run", pending.said.run_id))
    key = f"second reason {pending.seq}"
    st.text_area("Why you approve or veto it; kept for good", key=key, max_chars=COMMENT_MAX, height=68, disabled=not desk.can_write)
    with st.container(horizontal=True):
        if not is_mine:
            is_ready = desk.can_write and not pending.lapsed
            if st.button("Approve …", key=f"approve {pending.seq}", type="primary", disabled=not is_ready):
                _ask(desk, pending, drafts.typed(key), "approve")
        label = "Take it back …" if is_mine else "Veto …"
        if st.button(label, key=f"veto {pending.seq}", disabled=not desk.can_write):
            _ask(desk, pending, drafts.typed(key), "veto")


def _ask(desk: Deciding, pending: Pending, reason: str, words: str) -> None:
    """Open the dialog in which a proposal is approved or vetoed."""
    if not is_said(reason):
        st.error("Say why in a sentence.")
        return
    once = uuid4().hex  # one key for one dialog, however often it is sent
    what = f"{baseline_in_force.what(pending.row)} by {pending.row.by.name} on run {cut(pending.said.run_id)}"
    because, digest = f"Its reason: {pending.said.reason}", f"Digest {pending.said.shown_sha256}"
    sentences = (f"{capital(words)} row {pending.seq}: {what}.", because, digest)

    def write(actor: Actor) -> Written:
        options = {"reason": reason, "key": once, "actor": actor, "check": identity.may_certify_now}
        if words == "veto":
            return desk.desk.veto(pending.seq, **options)
        return desk.desk.approve(pending.seq, place=rollback_folder(desk.folder, once), **options)

    confirming.ask(Asked(desk.folder, sentences, reason.strip(), words, write, going_back.written, lambda: None))
