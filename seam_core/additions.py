"""What of the exam stands in the lines that each heal added to its target."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from seam_core.exam import Exam, Gram, Scanner, added_lines
from seam_core.texts import Texts


@dataclass(frozen=True)
class Changes:
    """Heals with a text in time order, by row; `before` is the row of the heal before it on the same target, -1 where there is none;
    `goes_on` is 1 where another heal follows on that target.
    """

    row: array[int]
    before: array[int]
    goes_on: array[int]

    def part(self, start: int, stop: int) -> Changes:
        """The changes [start, stop)."""
        return Changes(self.row[start:stop], self.before[start:stop], self.goes_on[start:stop])


@dataclass(frozen=True)
class Shown:
    """n-gram → the first heals, by row, that showed it; and how many heals' whole text counted as added."""

    heals: dict[Gram, list[int]]
    n_first: int


def find_shown(texts_of: Texts, changes: Changes, exam: Exam) -> Shown:
    """What of the exam the changes show."""
    scanner = Scanner(exam)
    kept: dict[int, set[str]] = {}  # the lines of each text that another change follows
    n_first = 0
    for row, earlier, goes_on, text in zip(changes.row, changes.before, changes.goes_on, texts_of(changes.row), strict=True):
        before = kept.pop(earlier, None) if earlier in kept or earlier < 0 else _lines(next(texts_of([earlier])))
        if text is None:
            continue
        lines = text.splitlines()
        found = set(lines)
        if goes_on:
            kept[row] = found
        n_first += before is None
        if scanner.may_show(found if before is None else found - before):
            scanner.scan(row, added_lines(before, lines))
    return Shown(scanner.shown, n_first)


def _lines(text: str | None) -> set[str] | None:
    return None if text is None else set(text.splitlines())
