"""How probable it is that chance alone did as much. Exact, and without scipy, which a report need not load for a few sums."""

from __future__ import annotations

import math

NEGLIGIBLE = 1e-17  # of the first term: what follows adds nothing


def at_least(k: int, n: int, share: float) -> float:
    """The probability of k or more of n, each with this probability."""
    if k <= 0 or share >= 1:
        return 1.0
    yes, no = math.log(share), math.log1p(-share)
    terms: list[float] = []
    for i in range(k, n + 1):
        terms.append(math.exp(_choose(n, i) + i * yes + (n - i) * no))
        if i > n * share and terms[-1] <= NEGLIGIBLE * terms[0]:
            break
    return min(1.0, math.fsum(terms))


def fisher_more(k: int, n: int, others: int, n_others: int) -> float:
    """One-sided exact p that k of n is no more than chance when `others` of `n_others` have it, too."""
    marked, total = k + others, n + n_others
    ways = math.lgamma(total + 1) - math.lgamma(n + 1) - math.lgamma(n_others + 1)
    return min(1.0, math.fsum(math.exp(_choose(marked, i) + _choose(total - marked, n - i) - ways) for i in range(k, min(n, marked) + 1)))


def _choose(n: int, k: int) -> float:
    """Logarithm of the number of ways to take k of n."""
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
