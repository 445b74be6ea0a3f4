"""What can be decided: one class a kind. A row's body is the canonical JSON of one of these."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

COMMENT_MAX = 2000  # characters
NAME_MAX = 200

Comment = Annotated[str, Meta(max_length=COMMENT_MAX)]
Verdict = Literal["real", "not_real", "skip"]


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


class FileDigest(msgspec.Struct, frozen=True):
    """The bytes of one file, unpacked."""

    n_bytes: int
    sha256: str


class Checkpoint(Decision, frozen=True, kw_only=True):
    """Sizes and digests of a workspace's logs and fixtures, by the plain name of the file."""

    kind: ClassVar[str] = "checkpoint"
    files: dict[str, FileDigest]


KINDS: tuple[type[Decision], ...] = (ReviewDecision, ReviewCleared, Assignment, Checkpoint)
_BY_NAME = {kind.kind: kind for kind in KINDS}


def kind_of(name: str) -> type[Decision] | None:
    """The class of a kind; None for one that this version does not know."""
    return _BY_NAME.get(name)


def checked(decision: Decision) -> dict[str, Any]:
    """The decision as plain values.  Raises msgspec.ValidationError when it breaks its own rules."""
    values: dict[str, Any] = msgspec.to_builtins(decision)
    msgspec.convert(values, type(decision))
    return values
