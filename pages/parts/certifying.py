"""What a certification will write, the reason for it, and the way to write it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import streamlit as st
from msgspec.structs import replace

from pages.parts import confirming, drafts, identity, tables
from pages.parts.confirming import Asked
from pages.parts.deciding import Deciding
from seam_core import escape
from seam_core.baseline.drafts import Draft
from seam_core.baseline.submission import Submission, Written
from seam_core.ledger import Actor
from seam_core.ledger.kinds import COMMENT_MAX
from seam_core.views import baseline_agenda, baseline_in_force
from seam_core.views.baseline_agenda import Agenda, Outlook
from seam_core.views.baseline_runs import Against
from seam_core.words import capital, cut


def show(desk: Deciding, found: Agenda, draft: Draft, against: Against) -> None:
    """The outlook, the reason box and the button."""
    st.header("What will be written", anchor=False)
    outlook, run_id = baseline_agenda.outlook(found, draft, line=desk.view.audit.settings.drift_max), found.review.run.run_id
    st.text(escape.visible("\n".join(outlook.sentences)))
    if outlook.safety:
        _safety(outlook)
    reason_box(desk, run_id, draft, f"Why version {outlook.version}? Kept with it for good")
    st.caption("Digest of what this page shows of the run; it stands in the ledger, and a decision on anything else is refused")
    st.code(found.review.digest, language=None, wrap_lines=True)
    with st.container(horizontal=True):
        label = f"{'Propose' if desk.needs_two else 'Certify'} version {outlook.version} …"
        is_ready = desk.can_write and not against.regressed
        if st.button(label, key="certify", type="primary", disabled=not is_ready):
            _ask(desk, found, run_id)
        if draft.accepted or draft.rejected:
            st.button("Forget my choices", on_click=drafts.forget, args=(desk, run_id))
    if against.regressed:
        st.caption("A newer run shows a new safety regression: this one cannot be certified.")
    why_not(desk)


def why_not(desk: Deciding) -> None:
    """Why a button that writes cannot be pressed."""
    if not desk.can_write:
        st.caption(escape.plain(desk.why_not))


def reason_box(desk: Deciding, run_id: str, draft: Draft, label: str) -> None:
    """The reason for the decision, part of the draft."""
    key = drafts.box("reason", run_id)
    st.text_area(
        label,
        value=draft.reason,
        key=key,
        max_chars=COMMENT_MAX,
        height=90,
        disabled=not desk.can_write,
        on_change=lambda: drafts.keep(desk, run_id, lambda kept: replace(kept, reason=drafts.typed(key))),
    )


def _safety(outlook: Outlook) -> None:
    rows: list[dict[str, Any]] = [
        {"case_id": case.case_id, "now": "pass" if case.passed else "fail", "reason": reason} for case, reason in outlook.safety
    ]
    columns = {"case_id": "Safety case accepted", "now": "Certified from now on as", "reason": "Because"}
    tables.show(rows, name="accepted-safety", alt="Safety cases that are accepted, with their reasons", columns=columns)


def _ask(desk: Deciding, found: Agenda, run_id: str) -> None:
    """Open the dialog on what is chosen now; or say what is still missing."""
    draft = drafts.load(desk, run_id)
    outlook = baseline_agenda.outlook(found, draft, line=desk.view.audit.settings.drift_max)
    if outlook.faults:
        for fault in outlook.faults:
            st.error(escape.plain(fault))
        return
    sent = baseline_agenda.submission(found, draft, key=uuid4().hex)  # one key for one dialog, however often it is sent
    because = [f"{cut(case.case_id)}, a safety case, may change: {reason}" for case, reason in outlook.safety]
    confirming.ask(
        Asked(
            desk.folder,
            (*outlook.sentences, *because, f"Digest {found.review.digest}"),
            draft.reason.strip(),
            f"version {outlook.version}",
            lambda actor: _certify(desk, sent, actor),
            written,
            lambda: drafts.forget(desk, run_id),
        )
    )


def _certify(desk: Deciding, sent: Submission, actor: Actor) -> Written:
    return desk.desk.certify(sent, actor=actor, check=identity.may_certify_now)


def written(found: Written) -> str:
    """What was written, in words."""
    copy = f" {found.copy.fault or found.copy.sentence}." if not found.copy.is_fine else ""
    again = " It was written before; this was the same decision." if found.is_repeat else ""
    more = " Another reviewer has to approve it before anything is decided." if found.is_proposal else ""
    row = found.row
    whose = f"by {row.by.name} at {baseline_in_force.when(row.ts)}"
    return f"{capital(baseline_in_force.what(row))} {whose}: row {row.seq} of the ledger, sha256 {row.sha256}.{more}{again}{copy}"
