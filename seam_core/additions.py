"""What of the exam stands in the lines that each heal added to its target."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from seam_core.exam import Exam, Scanner, Trace, added_lines
from seam_core.texts import Edits


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


def linked(rows: Iterable[int], targets: Iterable[int], in_window: Iterable[int]) -> Changes:
    """The changes of a window: of texts in time order, each with a number for its target and whether the window holds it."""
    newest: dict[int, int] = {}  # target → the row of its text
    row, before = array("q"), array("q")
    for one, target, is_inside in zip(rows, targets, in_window, strict=True):
        if is_inside:
            row.append(one)
            before.append(newest.get(target, -1))
        newest[target] = one
    last = set(newest.values())
    return Changes(row, before, array("q", [one not in last for one in row]))


@dataclass(frozen=True)
class Added:
    """Case → what of it was added; how many cases can be tested; and how many heals' whole text counted as added."""

    traces: Mapping[str, Trace]
    n_cases: int
    n_first: int


class Additions:
    """What of an exam the changes looked at so far show."""

    def __init__(self, exam: Exam) -> None:
        self._n_cases = len(exam.grams)
        self._scanner = Scanner(exam)
        self._kept: dict[int, set[str]] = {}  # the lines of each text that another change follows
        self._n_first = 0

    @property
    def added(self) -> Added:
        """All of it."""
        return Added(self._scanner.traces(), self._n_cases, self._n_first)

    def look(self, edits: Edits, changes: Changes) -> None:
        """Look at further changes."""
        scanner, kept = self._scanner, self._kept
        for row, earlier, goes_on, edit in zip(changes.row, changes.before, changes.goes_on, edits(changes.row), strict=True):
            before = kept.pop(earlier, None) if earlier in kept or earlier < 0 else _lines(next(edits([earlier])).after_text)
            text = edit.after_text
            if text is None:
                continue
            lines = text.splitlines()
            found = set(lines)
            if goes_on:
                kept[row] = found
            self._n_first += before is None
            if scanner.may_show(found if before is None else found - before):
                scanner.scan(row, added_lines(before, lines))


def _lines(text: str | None) -> set[str] | None:
    return None if text is None else set(text.splitlines())
