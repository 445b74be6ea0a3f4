"""What people say about heals: was the failure real? Who said it, on which evidence, and whether that is still the evidence.

A person's verdict stands beside the label in the log, never over it. Every function here that decides is one transaction of the ledger;
those that only look come from ``verdicts.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import get_args

from msgspec import UNSET, UnsetType, structs

from seam_core.errors import SeamError
from seam_core.evidence import Evidence, evidence
from seam_core.ledger import Actor, History, Ledger, Row
from seam_core.ledger.kinds import COMMENT_MAX, NAME_MAX, Assignment, Decision, ReviewCleared, ReviewDecision, Verdict
from seam_core.verdicts import (
    REVIEWS,
    Assigned,
    Disagreement,
    Progress,
    Review,
    Reviewed,
    Spoken,
    Standing,
    latest_assignments,
    latest_reviews,
    progress,
    reopened,
    score_reviewed,
    spoken,
    standing,
)

__all__ = [
    "COMMENT_MAX", "NAME_MAX", "VERDICTS", "Assigned", "Disagreement", "Evidence", "Progress", "Review", "ReviewError", "Reviewed",
    "Spoken", "Standing", "Verdict", "assign", "clear_review", "evidence", "last_of", "latest_assignments", "latest_reviews", "progress",
    "record_review", "reopened", "score_reviewed", "spoken", "standing", "undo_last",
]  # fmt: skip

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class ReviewError(SeamError):
    """A review that cannot be taken down."""


def record_review(ledger: Ledger, heal_id: str, verdict: Verdict, *, evidence: Evidence, actor: Actor, comment: str = "") -> Row:
    """The row that says what one person thinks of one heal. `evidence` is that of what was shown. Saying the same again adds no row.

    Raises ReviewError for a verdict that is none or a comment that is too long, LedgerError when it was not written.
    """
    if verdict not in VERDICTS:
        raise ReviewError(f"{verdict!r} is no verdict; it must be one of {', '.join(VERDICTS)}")
    said = ReviewDecision(
        heal_id=_heal(heal_id),
        verdict=verdict,
        comment=_bounded(comment, COMMENT_MAX, "comment"),
        evidence_sha256=evidence.sha256,
        record_sha256=evidence.record_sha256,
        runs_sha256=evidence.runs_sha256,
        n_runs=evidence.n_runs,
    )
    return ledger.write(said, actor=actor, unless=lambda history: _repeat(next(_own(history, actor, heal_id), None), said))


def clear_review(ledger: Ledger, heal_id: str, *, actor: Actor) -> Row:
    """The row that takes back what one person said about one heal; doing it again adds no row.

    Raises ReviewError when they said nothing, LedgerError when it was not written.
    """
    cleared = ReviewCleared(heal_id=heal_id)

    def unless(history: History) -> Row | None:
        latest = next(_own(history, actor, heal_id), None)
        if latest is None:
            raise ReviewError(f"{heal_id}: there is no review of yours to clear")
        return latest if latest.kind == cleared.kind else None

    return ledger.write(cleared, actor=actor, unless=unless)


def undo_last(ledger: Ledger, *, actor: Actor, of: int | None = None) -> Row:
    """The row that puts back what one person had said about a heal before their last review or clearing. `of` is the seq that the caller
    means to take back: when it was taken back already, the row that did so, and nothing is written.

    Raises ReviewError when there is nothing to undo, or `of` is not the last; LedgerError when it was not written.
    """

    def what(history: History) -> Decision | Row:
        if of is not None:
            since = takewhile(lambda row: row.seq > of, _own(history, actor))
            if undone := next((row for row in since if _undoes(row) == of), None):
                return undone
        target = _undoable(history, actor)
        if target is None:
            raise ReviewError("there is no review of yours to undo")
        if of is not None and target.seq != of:
            raise ReviewError(f"row {of} is not your last review; look again at what there is to undo")
        return _before(history, actor, target)

    return ledger.decide(what, actor=actor)


def last_of(ledger: Ledger, actor: Actor) -> Row | None:
    """The row that `undo_last` would take back; None when there is none."""
    return ledger.ask(lambda history: _undoable(history, actor))


def assign(ledger: Ledger, heal_id: str, *, to: str | None, actor: Actor, note: str = "") -> Row:
    """The row that hands a heal to a person or a team, or with `to=None` hands it back. Saying the same again adds no row.

    Raises ReviewError for an empty or long name or when there is nothing to hand back, LedgerError when it was not written.
    """
    name = None if to is None else _bounded(to, NAME_MAX, "name")
    if name == "":
        raise ReviewError("name the person or the team that the heal is handed to")
    said = Assignment(heal_id=_heal(heal_id), to=name, note=_bounded(note, COMMENT_MAX, "note"))

    def unless(history: History) -> Row | None:
        latest = next(history.on_heal(heal_id, Assignment.kind), None)
        if latest is None and name is None:
            raise ReviewError(f"{heal_id}: is handed to nobody")
        return _repeat(latest, said) if latest and latest.by.key == actor.key else None

    return ledger.write(said, actor=actor, unless=unless)


def _own(history: History, actor: Actor, heal_id: str | None = None) -> Iterator[Row]:
    """One person's reviews and clearings, on one heal or on all, from the newest back."""
    rows: Iterable[Row] = history.newest_first(*REVIEWS) if heal_id is None else history.on_heal(heal_id, *REVIEWS)
    return (row for row in rows if row.by.key == actor.key)


def _undoes(row: Row) -> int | UnsetType:
    said = row.decision
    return said.undoes if isinstance(said, (ReviewDecision, ReviewCleared)) else UNSET


def _effective(rows: Iterable[Row]) -> Iterator[Row]:
    """What is left of one person's rows, from the newest back, when each undoing and what it undid are taken away."""
    undone: set[int] = set()
    for row in rows:
        target = _undoes(row)
        if isinstance(target, int):
            undone.add(target)
        elif row.seq not in undone:
            yield row


def _undoable(history: History, actor: Actor) -> Row | None:
    return next(_effective(_own(history, actor)), None)


def _before(history: History, actor: Actor, target: Row) -> Decision:
    """The decision that puts back what a person had said about a heal before one of their rows."""
    said = target.decision
    assert isinstance(said, (ReviewDecision, ReviewCleared))
    earlier = (row.decision for row in _effective(_own(history, actor, said.heal_id)) if row.seq < target.seq)
    before = next(earlier, None)
    if isinstance(before, ReviewDecision):
        return structs.replace(before, undoes=target.seq, clock=UNSET)
    return ReviewCleared(heal_id=said.heal_id, undoes=target.seq)


def _repeat(latest: Row | None, said: Decision) -> Row | None:
    """The row that says the same already, if it is the latest of its author."""
    if latest is None or latest.kind != said.kind:
        return None
    before = latest.decision
    plain = structs.replace(before, clock=UNSET, **({"undoes": UNSET} if hasattr(before, "undoes") else {}))
    return latest if plain == said else None


def _heal(heal_id: str) -> str:
    try:
        heal_id.encode()
    except UnicodeEncodeError:
        raise ReviewError("no heal is called that: half of a surrogate pair is no text") from None
    return heal_id


def _bounded(text: str, longest: int, what: str) -> str:
    plain = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").strip()  # halves that belong together become one
    if len(plain) > longest:
        raise ReviewError(f"the {what} has {len(plain):,} characters; {longest:,} are kept, so shorten it")
    return plain
