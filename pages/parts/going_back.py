"""Rolling back: a heal to go back to, which texts that restores and which it cannot, where the folder goes, and the way to write it."""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from pages.parts import address, certifying, choice, confirming, deciding, drafts, identity, recertify, tables
from pages.parts.confirming import Asked
from pages.parts.deciding import Deciding
from pages.parts.frame import View
from seam_core import escape
from seam_core.baseline.bundle import rollback_folder
from seam_core.baseline.faults import BaselineError
from seam_core.baseline.submission import Submission, Written, is_said
from seam_core.ledger import Actor
from seam_core.ledger.kinds import Rollback
from seam_core.views import baseline_rollback
from seam_core.views.baseline_agenda import Agenda
from seam_core.views.baseline_rollback import Plan
from seam_core.words import capital, count, cut

WORDS = "roll back"


def show(view: View) -> None:
    """Everything about going back."""
    found = recertify.pinned(view)
    if found is None:
        return
    st.text(
        "A rollback says that the agent is to go back to what it was right after one heal. It changes no baseline and writes nothing into"
        " the agent: it takes the decision down, and writes a folder with each target's text as it was then, and a manifest with digests."
    )
    st.caption(f"Reviewed run: {escape.code(found.review.run.run_id)}")
    desk = deciding.gather(view)
    deciding.tell(desk)
    _choose(desk)
    heal_id = address.get("heal")
    if not heal_id:
        st.text("Choose the heal to go back to.")
        return
    try:
        plan = desk.ask(baseline_rollback.plan, heal_id, found.review.run.run_id)
    except BaselineError as error:
        st.info(escape.plain(f"{capital(str(error))}."))
        return
    _plan(plan)
    st.header("What will be written", anchor=False)
    _write(desk, found, plan)


def _choose(desk: Deciding) -> None:
    offered = {one.heal_id: one.words for one in desk.ask(baseline_rollback.stops)}
    words = lambda name: escape.visible(offered.get(name, cut(name)))  # noqa: E731
    choice.by_name("heal", "Back to the state right after", list(offered), address.get("heal"), words)
    if len(offered) >= baseline_rollback.HEALS_OFFERED:
        st.caption(f"The newest {len(offered):,} heals are offered; type the whole id of an older one.")


def _plan(plan: Plan) -> None:
    st.text(escape.visible(plan.sentence))
    if plan.restored:
        rows = [vars(one) for one in plan.restored]
        columns = {"target": "Target", "heal_id": "Text as left by heal", "n_bytes": "Bytes", "file": "File", "sha256": "sha256"}
        tables.show(rows, name="rollback-restores", alt="Targets that would be restored", columns=columns)
    if plan.lost:
        columns = {"target": "Cannot be restored", "reason": "Why"}
        tables.show([vars(one) for one in plan.lost], name="rollback-cannot", alt="Targets that cannot be restored", columns=columns)
    address.link("review/heals.py", f"Open heal {escape.code(plan.heal_id)}", heal=plan.heal_id)


def _write(desk: Deciding, found: Agenda, plan: Plan) -> None:
    run_id = found.review.run.run_id
    draft = drafts.load(desk, run_id)
    root = rollback_folder(desk.folder, "").parent
    what = "A proposal to roll back" if desk.needs_two else "A rollback"
    folder = "once another reviewer approves, a new folder" if desk.needs_two else "a new folder"
    st.text(escape.visible(f"{what} to heal {cut(plan.heal_id)} after run {cut(run_id)}, and {folder} in {root}."))
    certifying.reason_box(desk, run_id, draft, "Why go back? Kept with it for good")
    label = "Propose to roll back …" if desk.needs_two else "Roll back …"
    if st.button(label, key="roll back", type="primary", disabled=not desk.can_write):
        _ask(desk, found, plan)
    certifying.why_not(desk)


def _ask(desk: Deciding, found: Agenda, plan: Plan) -> None:
    review = found.review
    reason = drafts.load(desk, review.run.run_id).reason.strip()
    if not is_said(reason):
        st.error("Say why in a sentence.")
        return
    sent = Submission(review.run.run_id, review.digest, review.version_number, reason, uuid4().hex)
    place = rollback_folder(desk.folder, sent.key)
    sentences = [f"Go back to what the agent was right after heal {cut(plan.heal_id)}. {plan.sentence}"]
    sentences += ["Another reviewer has to approve it."] if desk.needs_two else [f"The texts go to {place}."]

    def write(actor: Actor) -> Written:
        return desk.desk.roll_back(sent, heal_id=plan.heal_id, place=place, actor=actor, check=identity.may_certify_now)

    forget = lambda: drafts.forget(desk, sent.run_id)  # noqa: E731
    confirming.ask(Asked(desk.folder, (*sentences, f"Digest {review.digest}"), reason, WORDS, write, written, forget))


def written(found: Written) -> str:
    """What was written, and where the texts are."""
    said = found.row.decision
    if not isinstance(said, Rollback):
        return certifying.written(found)
    folder = f"The texts of {count(len(said.restored), 'target')} are in {found.bundle or said.bundle}."
    return f"{certifying.written(found)} {folder} Its manifest has sha256 {said.bundle_sha256}."
