"""One pass over the texts that heals wrote: what of the exam they show, and which of them return to an earlier one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seam_core.additions import Additions, Changes, Shown
from seam_core.exam import Exam
from seam_core.revisits import Bar, Pairs, Revisits, compare
from seam_core.sharing import Shared, spans
from seam_core.texts import Texts

if TYPE_CHECKING:  # other processes make the pass, too, and have no use for a database
    from seam_core.scope import Scope

CHANGES_AT_ONCE = 1000  # the texts of so many are still remembered when the pairs that they end are compared


@dataclass(frozen=True)
class Told:
    """What the texts told."""

    shown: Shown
    revisits: Revisits


def begin_pass(scope: Scope, changes: Changes, exam: Exam, pairs: Pairs, bar: Bar) -> Shared[Told]:
    """The pass over the texts of some changes, and of pairs by the row of the later one; a long one is begun in other processes once
    the context is entered.
    """
    rows = changes.row or pairs.later
    cuts = spans(len(rows))
    at = sorted(bisect_left(pairs.later, rows[start]) for start, _ in cuts[1:])
    parts = zip(cuts, [0, *at], [*at, len(pairs.later)], strict=True)
    return Shared(scope, read_once, [(changes.part(*cut), exam, pairs.part(first, last), bar) for cut, first, last in parts])


def read_once(texts_of: Texts, changes: Changes, exam: Exam, pairs: Pairs, bar: Bar) -> Told:
    """What the changes show of the exam, and which of the pairs are alike."""
    additions, found = Additions(exam), []
    at = 0
    for start in range(0, len(changes.row), CHANGES_AT_ONCE):
        some = changes.part(start, start + CHANGES_AT_ONCE)
        additions.look(texts_of, some)
        reached = bisect_right(pairs.later, some.row[-1], at)
        found.append(compare(texts_of, pairs.part(at, reached), bar))
        at = reached
    found.append(compare(texts_of, pairs.part(at, len(pairs.later)), bar))
    revisits = Revisits([one for part in found for one in part.found], sum(part.n_long for part in found))
    return Told(additions.shown, revisits)
