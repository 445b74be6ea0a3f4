"""What people said about heals, read from the ledger: each person's latest word, what they say together, what is open again, and
Signal with their verdicts in place of labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from seam_core.axes import signal
from seam_core.axes.signal import Signal
from seam_core.evidence import Evidence, difference, evidence
from seam_core.ledger import Actor, Ledger, Row
from seam_core.ledger.kinds import Assignment, ReviewCleared, ReviewDecision, Verdict
from seam_core.scope import Scope
from seam_core.store import Store

REVIEWS = (ReviewDecision.kind, ReviewCleared.kind)
Standing = Literal["real", "not_real", "skip", "disputed"]


@dataclass(frozen=True)
class Review:
    """The latest that one person says about one heal."""

    heal_id: str
    verdict: Verdict
    comment: str
    evidence: Evidence
    actor: Actor
    ts: str
    seq: int


@dataclass(frozen=True)
class Assigned:
    """Who has a heal in hand now."""

    heal_id: str
    to: str
    note: str
    actor: Actor
    ts: str
    seq: int


@dataclass(frozen=True)
class Progress:
    """How far some heals are reviewed. `skipped` and `disputed` are among the reviewed."""

    n: int
    reviewed: int
    real: int
    not_real: int
    skipped: int
    disputed: int

    @property
    def open(self) -> int:
        """Heals that nobody has said anything about."""
        return self.n - self.reviewed


@dataclass(frozen=True)
class Disagreement:
    """A heal of which people say different things, and who says what."""

    heal_id: str
    verdicts: dict[str, Verdict]  # actor key → verdict, without those who skipped


@dataclass(frozen=True)
class Reviewed:
    """Signal with people's verdicts in place of the labels they were given for."""

    signal: Signal
    n_judged: int  # heals of the window whose label was replaced
    disagreements: tuple[Disagreement, ...]  # heals of the window that count as unlabelled


@dataclass(frozen=True)
class Spoken:
    """What everybody said up to one row of the ledger: heal_id → actor key → the latest that this person says about that heal, and
    heal_id → who has it in hand. What was cleared or handed back is not in it.
    """

    latest: Mapping[str, Mapping[str, Review]] = field(default_factory=dict)
    handed: Mapping[str, Assigned] = field(default_factory=dict)
    seq: int = 0  # of the last row that was read
    sha256: str = ""


def spoken(ledger: Ledger, before: Spoken | None = None) -> Spoken:
    """What people said up to now. Of a ledger that still has the last row of `before`, only what was added since is read; what is said
    about a heal that none of that names is then the same object.
    """
    before = before or Spoken()
    rows = ledger.rows(*REVIEWS, Assignment.kind, after=max(before.seq - 1, 0))
    if before.seq:
        if not rows or (rows[0].seq, rows[0].sha256) != (before.seq, before.sha256):
            return spoken(ledger)
        rows = rows[1:]
    if not rows:
        return before
    latest, handed = dict(before.latest), dict(before.handed)
    for row in rows:
        said = row.decision
        if isinstance(said, Assignment):
            _hand(handed, said, row)
        elif isinstance(said, (ReviewDecision, ReviewCleared)):
            _take_down(latest, said, row)
    return Spoken(latest, handed, rows[-1].seq, rows[-1].sha256)


def _take_down(latest: dict[str, Mapping[str, Review]], said: ReviewDecision | ReviewCleared, row: Row) -> None:
    people, by = dict(latest.get(said.heal_id, {})), row.by
    if isinstance(said, ReviewDecision):
        seen = Evidence(said.record_sha256, said.runs_sha256, said.n_runs)
        people[by.key] = Review(said.heal_id, said.verdict, said.comment, seen, by, row.ts, row.seq)
    else:
        people.pop(by.key, None)
    latest[said.heal_id] = people
    if not people:
        del latest[said.heal_id]


def _hand(handed: dict[str, Assigned], said: Assignment, row: Row) -> None:
    if said.to is not None:
        handed[said.heal_id] = Assigned(said.heal_id, said.to, said.note, row.by, row.ts, row.seq)
    else:
        handed.pop(said.heal_id, None)


def latest_reviews(ledger: Ledger) -> Mapping[str, Mapping[str, Review]]:
    """heal_id → actor key → the latest that this person says about that heal. Cleared ones are not in it."""
    return spoken(ledger).latest


def latest_assignments(ledger: Ledger) -> Mapping[str, Assigned]:
    """heal_id → who has it in hand. What was handed back is not in it."""
    return spoken(ledger).handed


def reopened(store: Store, latest: Mapping[str, Mapping[str, Review]]) -> dict[str, dict[str, str]]:
    """heal_id → actor key → why that review is open again: the evidence is no longer the one it was given on."""
    now = evidence(store, latest)
    again: dict[str, dict[str, str]] = {}
    for heal_id, reviews in latest.items():
        for key, review in reviews.items():
            if reason := difference(review.evidence, now.get(heal_id)):
                again.setdefault(heal_id, {})[key] = reason
    return again


def standing(reviews: Mapping[str, Review]) -> Standing | None:
    """What people say about one heal together: their verdict, ``disputed`` when they differ, ``skip`` when all skipped, None when
    nobody said anything.
    """
    verdicts = {review.verdict for review in reviews.values()}
    said = verdicts - {"skip"}
    if len(said) > 1:
        return "disputed"
    return next(iter(said or verdicts), None)


def progress(latest: Mapping[str, Mapping[str, Review]], heal_ids: Collection[str], *, actor: Actor | None = None) -> Progress:
    """How far some heals are reviewed, by everybody or by one person."""
    counts = dict.fromkeys(("real", "not_real", "skip", "disputed"), 0)
    for heal_id in heal_ids:
        said = latest.get(heal_id, {})
        verdict = standing(said if actor is None else {key: review for key, review in said.items() if key == actor.key})
        if verdict:
            counts[verdict] += 1
    return Progress(len(heal_ids), sum(counts.values()), counts["real"], counts["not_real"], counts["skip"], counts["disputed"])


def score_reviewed(scope: Scope, latest: Mapping[str, Mapping[str, Review]]) -> Reviewed:
    """Signal over a window that was scored, with agreeing verdicts in place of labels; heals in dispute count as unlabelled. Keeps
    ``signal_reviewed_rows``.

    A review that is open again counts until its author speaks again: else an agent could void a verdict by logging one more run.
    """
    found = {heal_id: standing(reviews) for heal_id, reviews in latest.items()}
    labels = {heal_id: None if said == "disputed" else said == "real" for heal_id, said in found.items() if said not in (None, "skip")}
    with scope.store.lock:
        result, judged = signal.score_with(scope, labels)
    disputed = sorted(heal_id for heal_id in judged if labels[heal_id] is None)
    return Reviewed(result, len(judged) - len(disputed), tuple(Disagreement(heal_id, _votes(latest[heal_id])) for heal_id in disputed))


def _votes(reviews: Mapping[str, Review]) -> dict[str, Verdict]:
    return {key: review.verdict for key, review in sorted(reviews.items()) if review.verdict != "skip"}
