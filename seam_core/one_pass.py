"""One pass over the texts that heals wrote: what of the exam they show, and which of them return to an earlier one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seam_core.additions import Added, Additions, Changes
from seam_core.exam import Cases
from seam_core.integrity.wording import Task, Wording, read_wording
from seam_core.revisits import Bar, Pairs, Revisits, compare
from seam_core.sharing import Call, Shared, spans
from seam_core.texts import Edits

if TYPE_CHECKING:  # other processes make the pass, too, and have no use for a database
    from seam_core.sharing import Processes

CHANGES_AT_ONCE = 1000  # the texts of so many are still remembered when the pairs that they end are compared


@dataclass(frozen=True)
class Told:
    """What the texts told."""

    added: Added
    revisits: Revisits


@dataclass(frozen=True)
class Pass:
    """The texts of one window being read: what they tell part by part in time order, and what they say."""

    told: Sequence[Shared[Told]]
    wording: Shared[Wording]


def prepare(edits: Edits, rows: range, cases: Cases) -> None:
    """Build the exam and read edits, which are then remembered, before anybody asks."""
    deque(edits(rows), maxlen=0)
    _ = cases.exam


def begin_pass(processes: Processes, changes: Changes, cases: Cases, pairs: Pairs, bar: Bar, task: Task) -> Pass:
    """The pass over the texts of some changes, and of pairs by the row of the later one, and the reading of what texts say. All of it is
    begun in one process, or with several of them each part in one of its own.
    """
    rows = changes.row or pairs.later
    cuts = spans(len(rows), max(1, processes.n_waiting - 1))
    at = sorted(bisect_left(pairs.later, rows[start]) for start, _ in cuts[1:])
    parts = zip(cuts, [0, *at], [*at, len(pairs.later)], strict=True)
    calls: list[Call[Told]] = [Call(read_once, (changes.part(*cut), cases, pairs.part(first, last), bar)) for cut, first, last in parts]
    reading: Call[Wording] = Call(read_wording, (task,))
    every: list[Call[Any]] = [*calls, reading]
    lots = [every] if len(calls) == 1 else [[call] for call in every]
    read = (changes.row, changes.before, pairs.earlier, pairs.before, task.rows)
    shared = [one for lot in lots for one in processes.share(lot, read)]
    return Pass(shared[:-1], shared[-1])


def read_once(edits: Edits, changes: Changes, cases: Cases, pairs: Pairs, bar: Bar) -> Told:
    """What the changes show of the exam, and which of the pairs are alike."""
    additions, found = Additions(cases.exam), []
    at = 0
    for start in range(0, len(changes.row), CHANGES_AT_ONCE):
        some = changes.part(start, start + CHANGES_AT_ONCE)
        additions.look(edits, some)
        reached = bisect_right(pairs.later, some.row[-1], at)
        found.append(compare(edits, pairs.part(at, reached), bar))
        at = reached
    found.append(compare(edits, pairs.part(at, len(pairs.later)), bar))
    revisits = Revisits([one for part in found for one in part.found], sum(part.n_long for part in found))
    return Told(additions.added, revisits)
