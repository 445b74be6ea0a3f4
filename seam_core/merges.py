"""Which failure signatures people hold for one failure under several names. SEAM only suggests (`signatures.py`); a merge is a decision.

S is always that of the signatures as they were logged. S with the merges stands beside it and never replaces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import get_args

from seam_core.axes import signal
from seam_core.axes.signal import Signal
from seam_core.errors import SeamError
from seam_core.ledger import Actor, History, Ledger, LedgerError, Row
from seam_core.ledger.kinds import COMMENT_MAX, MERGED_MAX, Likeness, SignatureMerge, SignatureMergeTakenBack
from seam_core.scope import Scope
from seam_core.signatures import NORMALISER_VERSION
from seam_core.words import cut

MERGES = (SignatureMerge.kind, SignatureMergeTakenBack.kind)


class MergeError(SeamError):
    """A decision about signatures that cannot be taken down."""


@dataclass(frozen=True)
class Merge:
    """What one person says about some signatures, and has not taken back."""

    seq: int
    verdict: Likeness
    signatures: tuple[str, ...]
    why_suggested: str
    comment: str
    actor: Actor
    ts: str


@dataclass(frozen=True)
class Merges:
    """What everybody says about signatures, in the order in which it was said.

    Two signatures are merged when somebody says that they are the same, unless that would put two in one group of which somebody says
    that they are different. Of one person the latest word on two signatures counts.
    """

    said: tuple[Merge, ...] = ()

    @cached_property
    def names(self) -> dict[str, str]:
        """Merged signature → the name that stands for it and for others."""
        return {name: group[0] for group in self.groups for name in group}

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Signatures that count as one, the name that stands for them first."""
        return self._joined[0]

    @cached_property
    def disputed(self) -> frozenset[int]:
        """Rows that say "the same" of signatures which somebody's word keeps apart."""
        return self._joined[1]

    @cached_property
    def apart(self) -> dict[str, set[str]]:
        """Signature → those that somebody says are another failure."""
        found: dict[str, set[str]] = {}
        for merge in self.said:
            for first, second in self._last_words(merge, combinations(merge.signatures, 2)) if merge.verdict == "different" else ():
                found.setdefault(first, set()).add(second)
                found.setdefault(second, set()).add(first)
        return found

    def is_settled(self, first: str, second: str) -> bool:
        """Whether people have said what these two are."""
        merged = self.names.get(first)
        return second in self.apart.get(first, ()) or (merged is not None and merged == self.names.get(second))

    @cached_property
    def _joined(self) -> tuple[tuple[tuple[str, ...], ...], frozenset[int]]:
        groups: dict[str, dict[str, None]] = {}  # name → the names of its group, in their order
        disputed = set()
        for merge in self.said:
            leader = merge.signatures[0]
            pairs = ((leader, other) for other in merge.signatures[1:])
            for _, other in self._last_words(merge, pairs) if merge.verdict == "same" else ():
                mine, theirs = groups.setdefault(leader, {leader: None}), groups.setdefault(other, {other: None})
                if mine is theirs:
                    continue
                few, many = sorted((mine, theirs), key=len)
                if any(name in many for one in few for name in self.apart.get(one, ())):
                    disputed.add(merge.seq)
                    continue
                mine |= theirs
                groups.update(dict.fromkeys(theirs, mine))
        found = {id(group): group for group in groups.values() if len(group) > 1}
        return tuple(tuple(group) for group in found.values()), frozenset(disputed)

    @cached_property
    def _by_name(self) -> dict[str, list[Merge]]:
        found: dict[str, list[Merge]] = {}
        for merge in self.said:
            for name in merge.signatures:
                found.setdefault(name, []).append(merge)
        return found

    def _last_words(self, merge: Merge, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Those of some pairs of a merge about which its author has said nothing since."""
        for first, second in pairs:
            rarer = min(self._by_name[first], self._by_name[second], key=len)
            both = (one for one in reversed(rarer) if first in one.signatures and second in one.signatures)
            if next(one for one in both if one.actor.key == merge.actor.key) is merge:
                yield first, second


@dataclass(frozen=True)
class Merged:
    """Signal with merged signatures, and how many names count as how many failures."""

    signal: Signal
    n_names: int
    n_failures: int


def say_same(
    ledger: Ledger, signatures: Sequence[str], *, actor: Actor, verdict: Likeness = "same", why_suggested: str = "", comment: str = ""
) -> Row:
    """The row that says of two and more signatures that they are one failure, the first standing for all; or with the verdict
    "different" that each is another. Saying the same again adds no row.

    Raises MergeError for what cannot be said, LedgerError when it was not written.
    """
    if verdict not in get_args(Likeness):
        raise MergeError(f"{verdict!r} is no verdict; it must be one of {', '.join(get_args(Likeness))}")
    names = list(dict.fromkeys(signatures))
    if len(names) < 2:
        raise MergeError("a merge takes two different signatures at least")
    if len(names) > MERGED_MAX:
        raise MergeError(f"one decision covers at most {MERGED_MAX} signatures, and these are {len(names):,}; decide on fewer at a time")
    if any(not name or not _is_text(name) for name in names):
        raise MergeError("no signature is called that: it is empty, or half of a surrogate pair")
    if len(comment.strip()) > COMMENT_MAX:
        raise MergeError(f"the comment has {len(comment.strip()):,} characters; {COMMENT_MAX:,} are kept, so shorten it")
    said = SignatureMerge(
        verdict=verdict,
        signatures=names,
        why_suggested=why_suggested[:COMMENT_MAX],
        normaliser_version=NORMALISER_VERSION,
        comment=comment.strip(),
    )

    def unless(history: History) -> Row | None:
        mine = (row for row in _in_force(history) if row.by.key == actor.key)
        latest = next((row for row in mine if len(set(names).intersection(_said(row).signatures)) > 1), None)
        return latest if latest and _says(latest) == (verdict, frozenset(names)) else None

    return ledger.write(said, actor=actor, unless=unless)


def take_back(ledger: Ledger, seq: int, *, actor: Actor) -> Row:
    """The row that takes back what one person said about signatures in row `seq`; doing it again adds no row.

    Raises MergeError when that row is not theirs, LedgerError when it was not written.
    """

    def unless(history: History) -> Row | None:
        for row in history.newest_first(*MERGES):
            said = row.decision
            if isinstance(said, SignatureMergeTakenBack) and said.merge == seq and row.by.key == actor.key:
                return row
            if row.seq == seq and isinstance(said, SignatureMerge) and row.by.key == actor.key:
                return None
        raise MergeError(f"row {seq} of the ledger is no word of yours on signatures; only who said it takes it back")

    return ledger.write(SignatureMergeTakenBack(merge=seq), actor=actor, unless=unless)


def merges_of(ledger: Ledger) -> Merges:
    """What people say about signatures up to now.  Raises LedgerError when the ledger cannot be read."""
    rows = ledger.rows(*MERGES)
    return Merges(tuple(_merge(row) for row in reversed(list(_standing(reversed(rows))))))


def score_merged(scope: Scope, merges: Merges) -> Merged:
    """Signal over a window that was scored, with merged signatures taken for one. Keeps ``signal_merged_rows``."""
    with scope.store.lock:
        return Merged(signal.score_merged(scope, merges.names), len(merges.names), len(merges.groups))


def merged_for_report(scope: Scope, path: Path | None) -> Merged | None:
    """The same for a report, from the ledger at `path`; None where nobody merged anything, or the ledger cannot be believed."""
    if path is None:
        return None
    try:
        ledger = Ledger(path)
        merges = merges_of(ledger)
        return score_merged(scope, merges) if merges.groups and ledger.chain().holds else None
    except LedgerError:
        return None  # the report says so beside the head


def _in_force(history: History) -> Iterator[Row]:
    """Rows that say something about signatures and were not taken back, from the newest back."""
    return _standing(history.newest_first(*MERGES))


def _standing(newest_first: Iterable[Row]) -> Iterator[Row]:
    gone: set[tuple[int, str]] = set()
    for row in newest_first:
        said = row.decision
        if isinstance(said, SignatureMergeTakenBack):
            gone.add((said.merge, row.by.key))
        elif (row.seq, row.by.key) not in gone:
            yield row


def _said(row: Row) -> SignatureMerge:
    said = row.decision
    assert isinstance(said, SignatureMerge)
    return said


def _says(row: Row) -> tuple[Likeness, frozenset[str]]:
    said = _said(row)
    return said.verdict, frozenset(said.signatures)


def _merge(row: Row) -> Merge:
    said = _said(row)
    return Merge(row.seq, said.verdict, tuple(said.signatures), said.why_suggested, said.comment, row.by, row.ts)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def in_short(names: Sequence[str], *, shown: int = 3) -> str:
    """Some signatures for a sentence."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(cut(name, 60) for name in names[:shown]) + more
