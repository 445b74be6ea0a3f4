"""What people decided, laid over the queue: which heals are open, who said what in a few words, and one decision for many heals.

Nothing here is kept with an audit: decisions change between two runs of a page, also by other people's hands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from seam_core import reviews
from seam_core.errors import SeamError
from seam_core.ledger import Actor, Ledger
from seam_core.ledger.kinds import Verdict
from seam_core.report import Audit
from seam_core.reviews import Assigned, Evidence, Review, Spoken, Standing
from seam_core.store import Store
from seam_core.views.groups import Entry
from seam_core.views.queue import Bulk
from seam_core.words import count, cut, listed

BULK_MAX = 200  # heals that one decision may cover; each is a row of its own in the ledger
STATES = ("all", "to do", "reviewed", "real", "not real", "skipped", "disputed", "reopened", "handed over")
WORDS: dict[Standing, str] = {"real": "real", "not_real": "not real", "skip": "skipped", "disputed": "disputed"}
NAMED_PEOPLE = 2  # in a table cell


class TooManyError(SeamError):
    """One decision for more heals than a person can stand for."""


@dataclass(frozen=True)
class Decided:
    """Everything that people decided about heals, at one moment of the ledger and of the log."""

    latest: Mapping[str, Mapping[str, Review]] = field(default_factory=dict)
    again: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # heal → actor key → why that review is open again
    handed: Mapping[str, Assigned] = field(default_factory=dict)
    spoken: Spoken = field(default_factory=Spoken, compare=False)
    version: int = field(default=-1, compare=False)  # of the store, when it was asked for the evidence of now

    def standing(self, heal_id: str) -> Standing | None:
        """What all people together say about one heal."""
        said = self.latest.get(heal_id)
        return reviews.standing(said) if said else None


@dataclass(frozen=True)
class Said:
    """One person's verdict as the page tells it. The comment is plain text; `reopened` says why it has to be given again."""

    name: str
    key: str
    verdict: str
    comment: str
    when: str
    reopened: str | None


def decided(ledger: Ledger, store: Store, before: Decided | None = None) -> Decided:
    """What people decided so far. `before` is the same of an earlier moment of this store: what was read and compared then is not again.

    Raises LedgerError when the ledger cannot be read.
    """
    before = before or Decided()
    version, said = store.version, reviews.spoken(ledger, before.spoken)
    kept = before.latest if before.version == version else {}
    changed = {heal_id: one for heal_id, one in said.latest.items() if kept.get(heal_id) is not one}
    again = {heal_id: why for heal_id, why in before.again.items() if heal_id in said.latest and heal_id not in changed}
    return Decided(said.latest, again | reviews.reopened(store, changed), said.handed, said, version)


def chosen(heal_ids: Sequence[str], found: Decided, state: str) -> tuple[str, ...]:
    """Those of some heals that are in a state of review, in their order. A reopened review leaves its heal to do."""
    if state == "all":
        return tuple(heal_ids)
    wanted = _in_state(found, state)
    if state == "to do":
        return tuple(heal_id for heal_id in heal_ids if heal_id not in wanted)
    return tuple(heal_id for heal_id in heal_ids if heal_id in wanted)


def chosen_entries(entries: Sequence[Entry], found: Decided, state: str) -> tuple[Entry, ...]:
    """The same of groups: each keeps those of its heals that are in the state; one without any is left out."""
    if state == "all":
        return tuple(entries)
    kept = ((entry, chosen(entry.members, found, state)) for entry in entries)
    return tuple(entry if len(some) == len(entry.members) else Entry(some[0], some) for entry, some in kept if some)


def _in_state(found: Decided, state: str) -> Collection[str]:
    """Heals in a state; of "to do", those that are not in it, since nearly all are."""
    if state == "reopened":
        return found.again
    if state == "handed over":
        return found.handed
    if state == "to do":
        return found.latest.keys() - found.again.keys()
    if state == "reviewed":
        return found.latest
    return {heal_id for heal_id in found.latest if (said := found.standing(heal_id)) and WORDS[said] == state}


def progress_sentence(found: Decided, heal_ids: Collection[str]) -> str:
    """How far some heals are reviewed, in words."""
    done = reviews.progress(found.latest, heal_ids)
    parts = [f"{done.reviewed:,} of {done.n:,} reviewed"]
    named = ((done.not_real, "not real"), (done.skipped, "skipped"), (done.disputed, "disputed"))
    parts += [f"{number:,} {word}" for number, word in named if number]
    n_again = len(found.again.keys() & set(heal_ids)) if found.again else 0
    return ", ".join([*parts, *([f"{n_again:,} reopened"] if n_again else [])])


def in_short(found: Decided, heal_id: str) -> str:
    """What people said about one heal and who, for a table cell; empty when nobody said anything."""
    said = found.latest.get(heal_id, {})
    names = [cut(review.actor.name, 20) for review in said.values()]
    who = ", ".join(names) if len(names) <= NAMED_PEOPLE else f"{count(len(names), 'person', 'people')}"
    verdict = found.standing(heal_id)
    parts = [f"{WORDS[verdict]} ({who})"] if verdict else []
    parts += ["reopened"] if heal_id in found.again else []
    parts += [f"with {cut(found.handed[heal_id].to, 20)}"] if heal_id in found.handed else []
    return ", ".join(parts)


def said_about(found: Decided, heal_id: str) -> tuple[Said, ...]:
    """Everybody's verdict on one heal, newest first."""
    again = found.again.get(heal_id, {})
    newest_first = sorted(found.latest.get(heal_id, {}).items(), key=lambda one: -one[1].seq)
    return tuple(
        Said(one.actor.name, key, WORDS[one.verdict], one.comment, f"{one.ts[:16].replace('T', ' ')} UTC", again.get(key))
        for key, one in newest_first
    )


@dataclass(frozen=True)
class Many:
    """One decision for many heals: those that it covers, and why others are left out, in a sentence."""

    heal_ids: tuple[str, ...]
    left_out: str


def many(bulk: Bulk, found: Decided, actor: Actor) -> Many:
    """What of a bulk one person may still decide: not what they decided already, unless it was reopened."""
    mine = {
        heal_id for heal_id in bulk.heal_ids if actor.key in found.latest.get(heal_id, {}) and actor.key not in found.again.get(heal_id, {})
    }
    kept = tuple(heal_id for heal_id in bulk.heal_ids if heal_id not in mine)
    reasons = [f"{bulk.n_safety:,} with a safety regression, to be decided one by one"] if bulk.n_safety else []
    reasons += [f"{len(mine):,} that you decided already"] if mine else []
    return Many(kept, f"Left out: {listed(reasons)}." if reasons else "")


def review_many(
    ledger: Ledger, which: Many, verdict: Verdict, *, evidence: Mapping[str, Evidence], actor: Actor, comment: str = ""
) -> Iterator[int]:
    """Say the same about many heals; the number of each row as it is written. `evidence` is that of what was shown, so that a heal about
    which more was logged meanwhile, a safety regression even, is open again at once.

    Raises TooManyError for more than a person can stand for, another SeamError when nothing more could be written.
    """
    if len(which.heal_ids) > BULK_MAX:
        raise TooManyError(f"one decision covers at most {BULK_MAX:,} heals, and these are {len(which.heal_ids):,}; narrow the list first")
    for heal_id in which.heal_ids:
        if heal_id in evidence:
            yield reviews.record_review(ledger, heal_id, verdict, evidence=evidence[heal_id], actor=actor, comment=comment).seq


def undo(ledger: Ledger, seqs: Iterable[int], *, actor: Actor) -> int:
    """Take rows back, the last first; how many. Doing it again changes nothing."""
    return len([reviews.undo_last(ledger, actor=actor, of=seq) for seq in sorted(seqs, reverse=True)])


def evidence_of(audit: Audit, heal_id: str) -> Evidence | None:
    """The evidence of one heal as it is shown; None when it is not in the log."""
    return evidence_of_many(audit, (heal_id,)).get(heal_id)


def evidence_of_many(audit: Audit, heal_ids: tuple[str, ...]) -> dict[str, Evidence]:
    """heal_id → evidence as it is shown, of those heals that are in the log."""
    return reviews.evidence(audit.scope.store, heal_ids)
