"""How often the 95 % ranges hold the truth, on worlds whose truth is known: the table in docs/method.md.

python -m tests.interval_coverage
"""

import math
import sys

import numpy as np

from seam_core.axes.signal import F1_WEIGHT, RECURRENCE_WEIGHT
from seam_core.intervals import Cells, clustered, signal_range

LOOPS = (3, 5, 8, 12, 20)
SIGNATURES = (5, 10, 20, 50)
REPEATS, SIGNAL_REPEATS = 2000, 300
SIZES = np.array([1, 1, 2, 3, 5])  # heals of a loop
R_MAX, SURFACE = 0.05, 60
REGRESS = np.array([0.001, 0.02])  # chance that a case regresses, in most loops and in one of ten
M_VALUES, M_CHANCES = np.array([1, 0.8, 0.6, 0.2, 0]), np.array([0.5, 0.2, 0.15, 0.1, 0.05])

# real, real and back, false, false and back, missed
SIGNAL_WORLDS = {
    "S, good": (0.86, 0.04, 0.04, 0.01, 0.05),
    "S, middling": (0.50, 0.20, 0.10, 0.05, 0.15),
    "S, poor": (0.20, 0.30, 0.15, 0.15, 0.20),
}


def strong_loops(rng, n):
    """E: loops differ much, mean 0.74."""
    loop = rng.beta(2.2, 0.8, n)
    return [
        (float(rng.beta(8 * u + 1e-9, 8 * (1 - u) + 1e-9, size).sum()), int(size))
        for u, size in zip(loop, rng.choice(SIZES, n), strict=True)
    ]


def rare_bad_loops(rng, n):
    """E: nearly all perfect, one loop of ten at 0.4."""
    return [(float(size * (0.4 if bad else 1.0)), int(size)) for bad, size in zip(rng.random(n) < 0.1, rng.choice(SIZES, n), strict=True)]


def surface_of_60(rng, n):
    """A: regressed cases of 60, rare in nine loops of ten."""
    found = []
    for bad, size in zip(rng.random(n) < 0.1, rng.choice(SIZES, n), strict=True):
        broke = rng.binomial(SURFACE, REGRESS[int(bad)], size)
        found.append((float(sum(1 - min(k / SURFACE / R_MAX, 1) for k in broke)), int(size)))
    return found


def wandering(rng, n):
    """M: the values that a loop can have."""
    return [(float(value), 1) for value in rng.choice(M_VALUES, n, p=M_CHANCES)]


def _mean_aftermath(chance):
    return sum(
        math.comb(SURFACE, k) * chance**k * (1 - chance) ** (SURFACE - k) * (1 - min(k / SURFACE / R_MAX, 1)) for k in range(SURFACE + 1)
    )


WORLDS = {
    "E, loops differ much": (strong_loops, 2.2 / 3.0),
    "E, rare bad loops": (rare_bad_loops, 0.94),
    "A, surface of 60": (surface_of_60, 0.9 * _mean_aftermath(REGRESS[0]) + 0.1 * _mean_aftermath(REGRESS[1])),
    "M": (wandering, float(M_VALUES @ M_CHANCES)),
}


def mean_coverage(world, n_loops, repeats=REPEATS, seed=1):
    """Share of windows of so many loops whose range holds the truth."""
    make, truth = WORLDS[world]
    rng = np.random.default_rng([seed, n_loops])
    held = sum((found := clustered(make(rng, n_loops))).low - 1e-9 <= truth <= found.high + 1e-9 for _ in range(repeats))
    return held / repeats


def signal_coverage(world, n_signatures, repeats=SIGNAL_REPEATS, seed=1):
    """The same for S; windows without a healed signature have no S and are drawn again."""
    chances = SIGNAL_WORLDS[world]
    real, real_back, false, false_back, missed = chances
    tp, fp = real + real_back, false + false_back
    truth = F1_WEIGHT * 2 * tp / (2 * tp + fp + missed) + RECURRENCE_WEIGHT * (1 - (real_back + false_back) / (tp + fp))
    rng = np.random.default_rng([seed, n_signatures])
    held = done = 0
    while done < repeats:
        found = signal_range(Cells(*(int(n) for n in rng.multinomial(n_signatures, chances))), seed=done)
        if found:
            done += 1
            held += found.low - 1e-9 <= truth <= found.high + 1e-9
    return held / repeats


def table():
    """The rows of the table in docs/method.md."""
    lines = [f"| range of | {' | '.join(f'{n} loops' for n in LOOPS)} |", f"|---|{'---|' * len(LOOPS)}"]
    lines += [f"| {world} | {' | '.join(f'{mean_coverage(world, n):.2f}' for n in LOOPS)} |" for world in WORLDS]
    lines += ["", f"| range of | {' | '.join(f'{n} signatures' for n in SIGNATURES)} |", f"|---|{'---|' * len(SIGNATURES)}"]
    lines += [f"| {world} | {' | '.join(f'{signal_coverage(world, n):.2f}' for n in SIGNATURES)} |" for world in SIGNAL_WORLDS]
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(table()) + "\n")
