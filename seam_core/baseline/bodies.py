"""What a decision on a baseline becomes in the ledger: the row's body, made from what was sent and from the review that it was made on."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from seam_core.baseline.bundle import Bundle
from seam_core.baseline.copies import copy_bytes
from seam_core.baseline.reviewing import Review
from seam_core.baseline.submission import Submission
from seam_core.baseline.versions import Versions, in_words, outcomes_digest
from seam_core.ledger.checkpoint import digest_files
from seam_core.ledger.kinds import Certification, FileDigest, NotRestored, Proposal, Rollback
from seam_core.records import CERTIFIED_FILE
from seam_core.workspace import Workspace


def certification_of(
    sent: Submission, review: Review, versions: Versions, workspace: Workspace, *, proposal: int | UnsetType = UNSET
) -> Certification:
    """The next version of the baseline, whole, with digests of all logs and of the copy that is written afterwards."""
    before = review.version
    outcomes = dict(before.outcomes) if before else dict(review.outcomes)
    outcomes |= {case.case_id: case.passed for case in review.cases if case.case_id in sent.accepted}
    copy = copy_bytes(outcomes)
    noted = digest_files(workspace, but=CERTIFIED_FILE)
    return Certification(
        **_common(sent, review, number=review.version_number + 1),
        **_choices(sent, review),
        files=noted.files | {CERTIFIED_FILE: FileDigest(len(copy), sha256(copy).hexdigest())},
        safety=noted.safety,
        baseline=in_words(outcomes),
        baseline_sha256=outcomes_digest(outcomes),
        first_baseline=in_words(before.outcomes) if before and not versions else UNSET,
        proposal=proposal,
    )


def rollback_of(
    sent: Submission,
    review: Review,
    bundle: Bundle,
    workspace: Workspace,
    *,
    heal_id: str,
    folder: str,
    proposal: int | UnsetType = UNSET,
) -> Rollback:
    """The way back to one heal, with the digests of the texts that restore it."""
    noted = digest_files(workspace)
    return Rollback(
        **_common(sent, review, number=review.version_number),
        heal_id=heal_id,
        files=noted.files,
        safety=noted.safety,
        restored={one.target: one.sha256 for one in bundle.restored},
        not_restored=[NotRestored(one.target, one.reason) for one in bundle.not_restored],
        bundle=folder,
        bundle_sha256=bundle.sha256,
        proposal=proposal,
    )


def proposal_of(sent: Submission, review: Review, *, asks: Literal["certification", "rollback"], heal_id: str | None = None) -> Proposal:
    """What another person has to approve."""
    number = review.version_number + (asks == "certification")
    return Proposal(**_common(sent, review, number=number), **_choices(sent, review), asks=asks, heal_id=heal_id)


def same_decision(sent: Submission) -> dict[str, Any]:
    """What a row says that this was sent for, whatever it decides."""
    return {"run_id": sent.run_id, "shown_sha256": sent.digest, "reason": sent.reason.strip()}


def same_choices(sent: Submission) -> dict[str, Any]:
    """What it says of the cases."""
    return {
        "accepted": sorted(sent.accepted),
        "rejected": sorted(sent.rejected),
        "safety_reasons": {case_id: reason.strip() for case_id, reason in sorted(sent.safety_reasons.items())},
    }


def _common(sent: Submission, review: Review, *, number: int) -> dict[str, Any]:
    return {
        **same_decision(sent),
        "version": number,
        "key": sent.key,
        "run_ts": review.run.stamp,
        "run_sha256": review.run.record_sha256,
        "drift": review.drift,
        "before_version": review.version_number,
        "before_sha256": review.version.sha256 if review.version else None,
    }


def _choices(sent: Submission, review: Review) -> dict[str, Any]:
    return {
        **same_choices(sent),
        "left": sorted({case.case_id for case in review.cases} - sent.accepted - sent.rejected),
    }
