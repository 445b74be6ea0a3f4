"""How sure a truth gap is where no case rows are logged, and p-values of many heals looked at together.

Source: docs/method.md, How sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from seam_core.intervals import CONFIDENCE, gain_range

Exam = tuple[float, float, int | None]  # score before, score after, cases; None: unknown, so that the score is taken as exact
Range = tuple[float, float]


def narrow_range(visible: Exam, held_out: Exam) -> Range:
    """95 % range of the signed gap if every case that changed went the same way: the narrowest that the scores allow."""
    return _around(_gap(visible, held_out), _one_way(visible) + _one_way(held_out))


def wide_range(visible: Exam, held_out: Exam) -> Range:
    """95 % range of the signed gap if the runs before and after have nothing in common; never narrower than the other one."""
    return _around(_gap(visible, held_out), sum(max(_one_way(exam), _unpaired(exam)) for exam in (visible, held_out)))


def q_values(p_values: Sequence[float]) -> list[float]:
    """The share of false findings if each of these and all smaller ones are believed (Benjamini-Hochberg), in the order given."""
    n = len(p_values)
    found, least = [0.0] * n, 1.0
    for rank, at in zip(range(n, 0, -1), sorted(range(n), key=lambda at: p_values[at], reverse=True), strict=True):
        least = min(least, p_values[at] * n / rank)
        found[at] = least
    return found


def _gap(visible: Exam, held_out: Exam) -> float:
    return (visible[1] - visible[0]) - (held_out[1] - held_out[0])


def _one_way(exam: Exam) -> float:
    """Variance of the gain if it is all of what changed."""
    before, after, n = exam
    if not n:
        return 0.0
    changed = round(abs(after - before) * n)
    return gain_range(changed, 0, n)[1]


def _unpaired(exam: Exam) -> float:
    """Variance of the difference of two samples of the same size."""
    before, after, n = exam
    return (before * (1 - before) + after * (1 - after)) / n if n else 0.0


def _around(gap: float, variance: float) -> Range:
    from scipy.special import ndtri

    half = float(ndtri((1 + CONFIDENCE) / 2)) * math.sqrt(variance)
    return gap - half, gap + half
