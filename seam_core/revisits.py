"""Which pairs of a loop's texts are so alike that the later one is a return to the earlier."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from seam_core.similarity import compares_lines, revisit_similarity
from seam_core.texts import Edits

PAIRS_AT_ONCE = 1000


@dataclass(frozen=True)
class Pairs:
    """Pairs of heals by row, each with its place in the table of pairs; `before` is the row of the cycle before the later one,
    -1 where there is none on that target.
    """

    place: array[int]
    earlier: array[int]
    later: array[int]
    before: array[int]

    def part(self, start: int, stop: int) -> Pairs:
        """The pairs [start, stop)."""
        return Pairs(*(column[start:stop] for column in (self.place, self.earlier, self.later, self.before)))


@dataclass(frozen=True)
class Revisits:
    """(place of the pair, whether nothing had changed since the cycle before, similarity), and how many pairs were compared by lines."""

    found: list[tuple[int, bool, float]]
    n_long: int


@dataclass(frozen=True)
class Bar:
    """What counts as alike."""

    minimum: float
    method: str
    paraphrase_min: float


def compare(edits: Edits, pairs: Pairs, bar: Bar) -> Revisits:
    """Every pair that is more than `bar.minimum` alike."""
    found: list[tuple[int, bool, float]] = []
    n_long = 0
    for start in range(0, len(pairs.earlier), PAIRS_AT_ONCE):
        some = pairs.part(start, start + PAIRS_AT_ONCE)
        rows = sorted({*some.earlier, *some.later, *some.before} - {-1})
        texts = {row: edit.after_text or "" for row, edit in zip(rows, edits(rows), strict=True)}
        for place, earlier, later, before in zip(some.place, some.earlier, some.later, some.before, strict=True):
            old, new = texts[earlier], texts[later]
            alike = revisit_similarity(old, new, minimum=bar.minimum, method=bar.method, paraphrase_min=bar.paraphrase_min)
            n_long += old != new and compares_lines(old, new)
            if alike is not None:
                found.append((place, before >= 0 and texts[before] == new, alike))
    return Revisits(found, n_long)
