"""What can be decided: one class a kind. A row's body is the canonical JSON of one of these."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

COMMENT_MAX = 2000  # characters
NAME_MAX = 200
MERGED_MAX = 50  # failure signatures that one decision may cover

Comment = Annotated[str, Meta(max_length=COMMENT_MAX)]
Reason = Annotated[str, Meta(min_length=1, max_length=COMMENT_MAX)]
Verdict = Literal["real", "not_real", "skip"]
Outcome = Literal["pass", "fail"]
Likeness = Literal["same", "different"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every decision. A key that is UNSET is not in the body."""

    kind: ClassVar[str]
    clock: str | UnsetType = UNSET  # what the clock said, when it was behind the row before; the row's ts is then that row's


class ReviewDecision(Decision, frozen=True, kw_only=True):
    """What one person says about one heal, and a digest of what there was to see of it."""

    kind: ClassVar[str] = "review"
    heal_id: str
    verdict: Verdict
    comment: Comment
    evidence_sha256: str
    record_sha256: str
    runs_sha256: str
    n_runs: int
    undoes: int | UnsetType = UNSET  # seq of the row that this one takes back


class ReviewCleared(Decision, frozen=True, kw_only=True):
    """One person takes back what they said about one heal."""

    kind: ClassVar[str] = "review_cleared"
    heal_id: str
    undoes: int | UnsetType = UNSET


class Assignment(Decision, frozen=True, kw_only=True):
    """A heal handed to a person or a team; to nobody, when it is handed back."""

    kind: ClassVar[str] = "assignment"
    heal_id: str
    to: Annotated[str, Meta(max_length=NAME_MAX)] | None
    note: Comment


class SignatureMerge(Decision, frozen=True, kw_only=True):
    """One person says that failure signatures are one failure under several names, or that they are several failures."""

    kind: ClassVar[str] = "signature_merge"
    verdict: Likeness
    signatures: Annotated[list[str], Meta(min_length=2, max_length=MERGED_MAX)]  # the first stands for all
    why_suggested: Comment  # what SEAM said for it; empty when it suggested nothing
    normaliser_version: int  # of the rules by which signatures were compared then
    comment: Comment


class SignatureMergeTakenBack(Decision, frozen=True, kw_only=True):
    """One person takes back what they said about failure signatures."""

    kind: ClassVar[str] = "signature_merge_taken_back"
    merge: int  # seq of the row


class FileDigest(msgspec.Struct, frozen=True):
    """The bytes of one file, unpacked."""

    n_bytes: int
    sha256: str


class Checkpoint(Decision, frozen=True, kw_only=True):
    """Sizes and digests of a workspace's logs and fixtures, by the plain name of the file, and the safety cases of its surface."""

    kind: ClassVar[str] = "checkpoint"
    files: dict[str, FileDigest]
    safety: list[str] | UnsetType = UNSET  # ids, when there is a surface


class BaselineDecision(Decision, frozen=True, kw_only=True):
    """What a person decided after they reviewed one full run of the surface, and what the logs looked like then."""

    version: int  # of the baseline that is in force from that run on
    key: str  # one decision, however often it is sent
    run_id: str
    run_ts: str
    run_sha256: str  # of the run's record
    shown_sha256: str  # of everything that the reviewer was shown
    drift: float | None
    reason: Reason
    before_version: int  # of the baseline that the run was held against; 0 when there was none
    before_sha256: str | None


class Certification(BaselineDecision, frozen=True, kw_only=True):
    """A new version of the baseline, whole. Rejected cases and those left for later keep their old outcome."""

    kind: ClassVar[str] = "certification"
    accepted: list[str]
    rejected: list[str]
    left: list[str]
    safety_reasons: dict[str, Reason]
    files: dict[str, FileDigest]
    safety: list[str] | UnsetType = UNSET
    baseline: dict[str, Outcome]
    baseline_sha256: str
    proposal: int | UnsetType = UNSET  # seq of the row in which somebody else proposed it
    first_baseline: dict[str, Outcome] | UnsetType = UNSET  # version 1, when it was kept in certified.json alone


class NotRestored(msgspec.Struct, frozen=True):
    """A target whose text the log does not hold."""

    target: str
    reason: str


class Rollback(BaselineDecision, frozen=True, kw_only=True):
    """The agent is to go back to what it was after one heal. The baseline stays; the bundle holds the texts."""

    kind: ClassVar[str] = "rollback"
    heal_id: str
    files: dict[str, FileDigest]
    safety: list[str] | UnsetType = UNSET
    restored: dict[str, str]  # target → sha256 of its text
    not_restored: list[NotRestored]
    bundle: str  # name of the folder
    bundle_sha256: str  # of its manifest
    proposal: int | UnsetType = UNSET


class Proposal(BaselineDecision, frozen=True, kw_only=True):
    """What one person would decide, where two have to: nothing is decided until another person approves."""

    kind: ClassVar[str] = "proposal"
    asks: Literal["certification", "rollback"]
    accepted: list[str]
    rejected: list[str]
    left: list[str]
    safety_reasons: dict[str, Reason]
    heal_id: str | None  # the heal to go back to


class Veto(Decision, frozen=True, kw_only=True):
    """A proposal is refused by another reviewer, or taken back by the one who made it."""

    kind: ClassVar[str] = "veto"
    proposal: int  # seq of its row
    key: str
    reason: Reason


KINDS: tuple[type[Decision], ...] = (
    ReviewDecision,
    ReviewCleared,
    Assignment,
    SignatureMerge,
    SignatureMergeTakenBack,
    Checkpoint,
    Certification,
    Rollback,
    Proposal,
    Veto,
)
_BY_NAME = {kind.kind: kind for kind in KINDS}


def kind_of(name: str) -> type[Decision] | None:
    """The class of a kind; None for one that this version does not know."""
    return _BY_NAME.get(name)


def checked(decision: Decision) -> dict[str, Any]:
    """The decision as plain values.  Raises msgspec.ValidationError when it breaks its own rules."""
    values: dict[str, Any] = msgspec.to_builtins(decision)
    msgspec.convert(values, type(decision))
    return values
