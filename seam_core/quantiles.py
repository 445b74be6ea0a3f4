"""Points of Student's t. By its finite sums instead of scipy, whose import takes longer than many a report."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

SUMMED_MAX = 200  # degrees of freedom; beyond, the series in 1/df is right to eleven digits
STEPS_MAX = 20
PRECISION = 1e-14


@lru_cache(maxsize=SUMMED_MAX)
def t_quantile(df: int, confidence: float) -> float:
    """How far from 0, at the most, a t-distributed value lies with this probability.

    Source: Abramowitz and Stegun, 26.7.5, then Newton's method on 26.7.3 and 26.7.4. The series starts below the point and the probability
    is concave, so no step goes too far.
    """
    found = _by_series(df, NormalDist().inv_cdf((1 + confidence) / 2))
    if df > SUMMED_MAX:
        return found
    for _ in range(STEPS_MAX):
        step = (confidence - t_within(found, df)) / (2 * _density(found, df))
        found += step
        if abs(step) <= PRECISION * found:
            break
    return found


def t_within(t: float, df: int) -> float:
    """The probability that a t-distributed value lies between -t and t."""
    angle = math.atan(t / math.sqrt(df))
    square, odd = math.cos(angle) ** 2, df % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(2 + odd, df + 1, 2):
        total += term
        term *= square * (k - 1) / k
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _density(t: float, df: int) -> float:
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    return float(scale * (1 + t * t / df) ** (-(df + 1) / 2))


def _by_series(df: int, z: float) -> float:
    """The point from that of the normal distribution; the better, the more degrees of freedom there are."""
    return math.fsum(
        (
            z,
            (z**3 + z) / (4 * df),
            (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2),
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3),
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * df**4),
        )
    )
