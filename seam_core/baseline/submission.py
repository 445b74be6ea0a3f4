"""What somebody sends to be decided, what came of it, and what can be said against it without looking at more than a review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seam_core.baseline.copies import Copy
from seam_core.baseline.faults import BaselineError
from seam_core.baseline.reviewing import Review
from seam_core.ledger import Row
from seam_core.ledger.kinds import COMMENT_MAX, Proposal
from seam_core.words import cut, named

KEY_MAX = 200


@dataclass(frozen=True)
class Submission:
    """A decision as it was sent. `version` and `digest` are those that were shown; the same `key` is the same decision, however often."""

    run_id: str
    digest: str
    version: int
    reason: str
    key: str
    accepted: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    safety_reasons: Mapping[str, str] = field(default_factory=dict)  # accepted safety case → why it, of all, may change


@dataclass(frozen=True)
class Written:
    """The row that says so, whether it was there already, and what became of certified.json."""

    row: Row
    copy: Copy
    is_repeat: bool = False
    bundle: Path | None = None

    @property
    def is_proposal(self) -> bool:
        """Whether another person has to approve before anything is decided."""
        return self.row.kind == Proposal.kind


def is_said(reason: str) -> bool:
    """Whether there is anything to see of a reason."""
    return any(one.isprintable() and not one.isspace() for one in reason)


def check_plain(reason: str, key: str, *more_reasons: str) -> None:
    """Raises BaselineError for a decision without a reason or a key, and for texts that are too long to keep."""
    if not is_said(reason):
        raise BaselineError("say why in a sentence; a decision without a reason is not taken down")
    for text in (reason, *more_reasons):
        if len(text) > COMMENT_MAX:
            raise BaselineError(f"a reason has {len(text):,} characters; {COMMENT_MAX:,} are kept, so shorten it")
    if not key or len(key) > KEY_MAX:
        raise BaselineError(f"a decision is sent with a key of 1 to {KEY_MAX} characters, so that it is taken down once")


def check_cases(sent: Submission, review: Review) -> None:
    """Raises BaselineError for choices that are not those of the review, and for safety cases without a reason of their own."""
    differing = {case.case_id for case in review.cases}
    if unknown := sorted((sent.accepted | sent.rejected) - differing):
        raise BaselineError(f"{named(unknown)}: not among the cases that differ in run {cut(sent.run_id)}; nothing was written")
    if both := sorted(sent.accepted & sent.rejected):
        raise BaselineError(f"{named(both)}: both accepted and rejected; nothing was written")
    safety = sent.accepted & review.safety_cases
    if bare := sorted(case_id for case_id in safety if not is_said(sent.safety_reasons.get(case_id, ""))):
        raise BaselineError(f"{named(bare)}: a safety case is accepted one by one, with a reason of its own; nothing was written")
    if extra := sorted(sent.safety_reasons.keys() - safety):
        raise BaselineError(f"{named(extra)}: a reason of its own is for a safety case that is accepted; nothing was written")
