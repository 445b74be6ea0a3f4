"""How sure a number is: ranges for scores and rates, and whether a range settles on which side of a line the score lies.

Source: docs/method.md, How sure. scipy and numpy are imported where they are needed: they cost a command line 0.1 s each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

from seam_core.axes.signal import F1_WEIGHT, RECURRENCE_WEIGHT
from seam_core.quantiles import t_quantile

CONFIDENCE = 0.95
NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)  # standard errors on either side of a mean
LOOPS_MIN = 3  # fewer loops give no range
SIGNATURES_MIN = 5  # fewer signatures give no range
DOMINANT = 1 / 3  # share of the heals from which one loop makes the rest count for less
DRAWS = 4000
LOOPS_MAX = 200  # "more than 200 loops" is all that is said beyond
TOO_CLOSE = 0.02  # a score so near its line is not settled by any realistic number of loops
TOLERANCE = 1e-9

Verdict = Literal["confirmed", "clear", "not enough"]


@dataclass(frozen=True)
class Interval:
    """A 95 % range in [0, 1], and what it was made of. `center` and `spread` are those of the mean with the pseudo-loop."""

    low: float
    high: float
    n_units: int  # loops, or signatures
    center: float
    spread: float  # standard error; 0 where the range was drawn
    dominant: float | None = None  # share of the heals that one loop holds, when it is more than a third


@dataclass(frozen=True)
class Cells:
    """Failure signatures by what became of them. `missed` is None without a failure log; unlabelled ones count for recurrence alone."""

    real: int  # healed, real, and not seen again
    real_recurred: int
    false: int
    false_recurred: int
    missed: int | None
    unlabelled: int = 0
    unlabelled_recurred: int = 0


def clustered(loops: Iterable[tuple[float, int]]) -> Interval | None:
    """The range of a mean over heals that come in loops, each given as (sum of its heals' scores, number of its heals); or counted so.

    The cycles of a loop attack one failure and share one exam, so the loop is what varies. A pseudo-loop of the average size, half of it
    0 and half of it 1, keeps the range open when every loop seen was perfect. None for fewer than three loops.
    """
    kinds = Counter(loops)
    n_loops, n_heals = kinds.total(), sum(n * times for (_, n), times in kinds.items())
    if n_loops < LOOPS_MIN:
        return None
    total, size = math.fsum(value * times for (value, _), times in kinds.items()), n_heals / n_loops
    pulled = (total + size / 2) / (n_heals + size)
    pseudo = [((0.0, size / 2), 1), ((size / 2, size / 2), 1)]
    n_all = n_heals + size
    spreads = (times * (value - n * pulled) ** 2 / (1 - n / n_all) for (value, n), times in [*kinds.items(), *pseudo])
    variance = math.fsum(spreads) / n_all**2
    largest = max(n for _, n in kinds) / n_heals
    df, dominant = n_loops - 1, None
    if largest > DOMINANT + TOLERANCE:
        df, dominant = min(df, max(2, round(n_heals**2 / sum(n * n * times for (_, n), times in kinds.items())) - 1)), largest
    spread, mean = math.sqrt(variance), total / n_heals
    half = t_quantile(df, CONFIDENCE) * spread
    return Interval(max(0.0, min(mean, pulled - half)), min(1.0, max(mean, pulled + half)), n_loops, pulled, spread, dominant)


def signal_range(cells: Cells, *, seed: int) -> Interval | None:
    """The range of S from the signatures' cells: 4,000 draws of a Dirichlet distribution, the same for the same seed. None for fewer
    than five signatures.
    """
    draws = _signal_draws(cells, seed)
    if not draws:
        return None
    tail = round(DRAWS * (1 - CONFIDENCE) / 2)
    value = _signal_score([float(n) for n in _counts(cells)], has_missed=cells.missed is not None)
    low, high = min(value, draws[tail]), max(value, draws[DRAWS - 1 - tail])
    return Interval(low, high, sum(_counts(cells)), math.fsum(draws) / DRAWS, 0.0)


def signal_below(cells: Cells, line: float, *, seed: int) -> float | None:
    """How probable it is that S is below a line, by the same draws; None for fewer than five signatures."""
    draws = _signal_draws(cells, seed)
    return sum(value < line - TOLERANCE for value in draws) / DRAWS if draws else None


def verdict_of(interval: Interval | None, line: float) -> Verdict:
    """confirmed: the whole range is below the line; clear: none of it is; else there is not enough to tell."""
    if interval is None:
        return "not enough"
    if interval.high < line - TOLERANCE:
        return "confirmed"
    return "clear" if interval.low >= line - TOLERANCE else "not enough"


def loops_needed(interval: Interval, line: float) -> int | None:
    """How many loops of the same spread would settle it; None when more than 200 would be needed, or the score is too close to its line."""
    distance = abs(interval.center - line)
    if distance < TOO_CLOSE - TOLERANCE:
        return None
    spread = interval.spread * math.sqrt(interval.n_units)
    for n_loops in range(interval.n_units + 1, LOOPS_MAX + 1):
        if t_quantile(n_loops - 1, CONFIDENCE) * spread / math.sqrt(n_loops) <= distance + TOLERANCE:
            return n_loops
    return None


def wilson(k: int, n: int) -> tuple[float, float]:
    """The range of a share, k of n; for showing. (0, 1) when there is nothing to count."""
    if not n:
        return 0.0, 1.0
    square = NORMAL**2
    middle = (k + square / 2) / (n + square)
    half = NORMAL * math.sqrt(k * (n - k) / n + square / 4) / (n + square)
    return (0.0 if k == 0 else middle - half), (1.0 if k == n else middle + half)


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """The range of a share that is never too narrow; for safety. (0, 1) when there is nothing to count."""
    if not n:
        return 0.0, 1.0
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    return low, 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))


def mcnemar_p(n_fixed: int, n_broke: int) -> float:
    """Two-sided exact p that as many cases were fixed as broke, of those that changed; 1 when none did."""
    n = n_fixed + n_broke
    tail = float(sum(math.comb(n, k) for k in range(max(n_fixed, n_broke), n + 1)) / 2**n)
    return min(1.0, 2 * tail)


def gain_range(n_fixed: int, n_broke: int, n: int) -> tuple[float, float]:
    """(estimate, variance) of the gain of a suite of n cases that were run before and after; for a range that is shown, never for a test.

    A quarter of a case is added to either direction, half a case to the suite, so that a suite without a change is not certain.
    """
    fixed, broke = (n_fixed + 0.25) / (n + 0.5), (n_broke + 0.25) / (n + 0.5)
    gain = fixed - broke
    return gain, (fixed + broke - gain**2) / (n + 0.5)


def gap_range(visible: tuple[int, int, int], held_out: tuple[int, int, int]) -> tuple[float, float]:
    """95 % range of the signed gap from (fixed, broke, cases) of either exam."""
    (gain_v, var_v), (gain_h, var_h) = gain_range(*visible), gain_range(*held_out)
    half = NORMAL * math.sqrt(var_v + var_h)
    return gain_v - gain_h - half, gain_v - gain_h + half


def _counts(cells: Cells) -> list[int]:
    """Signatures per cell: real, real recurred, false, false recurred, missed (with a failure log), unlabelled (where there are any)."""
    labelled = [cells.real, cells.real_recurred, cells.false, cells.false_recurred]
    unlabelled = [cells.unlabelled, cells.unlabelled_recurred]
    return [*labelled, *([] if cells.missed is None else [cells.missed]), *(unlabelled if any(unlabelled) else [])]


@lru_cache(maxsize=2)
def _signal_draws(cells: Cells, seed: int) -> list[float]:
    """S of each draw, in order; none for fewer than five signatures. The last ones are kept: a range and a chance are asked of the same."""
    counts = _counts(cells)
    if sum(counts) < SIGNATURES_MIN or not sum(counts[:4]):
        return []
    from numpy.random import RandomState

    has_missed = cells.missed is not None
    prior = 1 / (5 if has_missed else 4)  # one signature in all, spread over the cells of S
    weights = RandomState(seed).standard_gamma([n + prior for n in counts], size=(DRAWS, len(counts)))  # a stream that never changes
    return sorted(_signal_score(draw, has_missed=has_missed) for draw in weights.tolist())


def _signal_score(cells: Sequence[float], *, has_missed: bool) -> float:
    """S from the weight of each cell; weights need not add up to 1."""
    real, real_recurred, false, false_recurred, *rest = cells
    missed = rest.pop(0) if has_missed else 0.0
    unlabelled, unlabelled_recurred = rest or (0.0, 0.0)
    tp, fp = real + real_recurred, false + false_recurred
    quality = (2 * tp / _or_one(2 * tp + fp + missed)) if has_missed else tp / _or_one(tp + fp)
    recurred = real_recurred + false_recurred + unlabelled_recurred
    recurrence = recurred / _or_one(tp + fp + unlabelled + unlabelled_recurred)
    return min(1.0, max(0.0, F1_WEIGHT * quality + RECURRENCE_WEIGHT * (1 - recurrence)))


def _or_one(value: float) -> float:
    """The value, or 1 for 0, so that a share of nothing is 0."""
    return value if value else 1.0
