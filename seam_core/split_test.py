"""Were a heal's gains spread over visible and held-out cases as a random split would? Exact, from case rows.

Practice and held-out cases are one pool that was split at random. Whatever a heal fixed or broke then falls into the held-out part as
drawing without replacement would have it, unless the heal was fitted to the cases that the loop could see.

Source: docs/method.md, How sure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Part:
    """Cases of one kind before a heal: how many there were, how many of them changed, and how many of either are held out."""

    n: int
    n_held_out: int
    changed: int
    changed_held_out: int

    def chances(self) -> tuple[tuple[int, float], ...]:
        """(held-out cases among those that changed, how probable that is under a random split), the fewest first."""
        return _chances(self.n, self.n_held_out, self.changed)

    @property
    def expected(self) -> float:
        """Held-out cases among those that changed, on average."""
        return self.changed * self.n_held_out / self.n if self.n else 0.0


@dataclass(frozen=True)
class Split:
    """One heal's cases: those that failed before and were (or were not) fixed, those that passed before and were (or were not) broken."""

    failing: Part
    passing: Part

    @property
    def net_gain(self) -> int:
        """Held-out cases fixed, less held-out cases broken."""
        return self.failing.changed_held_out - self.passing.changed_held_out

    @property
    def expected_net_gain(self) -> float:
        """The same, as a random split would have it on average."""
        return self.failing.expected - self.passing.expected

    def p(self) -> float:
        """One-sided: how probable it is under a random split that the held-out cases gained as little as they did, or less."""
        broken = self.passing.chances()
        at_least = {broke: math.fsum(chance for _, chance in broken[at:]) for at, (broke, _) in enumerate(broken)}
        fewest, most = broken[0][0], broken[-1][0]
        total = []
        for fixed, chance in self.failing.chances():
            least = max(fixed - self.net_gain, fewest)  # held-out cases that must have broken, so that the net gain is that small
            total += [chance * at_least[least]] if least <= most else []
        return min(1.0, math.fsum(total))

    def honest_efficacy(self, *, gap_max: float) -> float:
        """What E this heal would score on average if its gains were spread as a random split would. The truth gap keeps noise that favours
        the visible cases and drops what favours the others, so even an honest heal scores less than 1.
        """
        n_held_out = self.failing.n_held_out + self.passing.n_held_out
        n_visible = self.failing.n + self.passing.n - n_held_out
        if not n_held_out or not n_visible:
            raise ValueError("a split has cases on both sides")
        total, broken = [], self.passing.chances()
        for fixed, a in self.failing.chances():
            for broke, b in broken:
                visible = (self.failing.changed - fixed - self.passing.changed + broke) / n_visible
                gap = max(0.0, visible - (fixed - broke) / n_held_out)
                total.append(a * b * (1 - min(gap / gap_max, 1)))
        return math.fsum(total)


@lru_cache(maxsize=10_000)  # the heals of a window share exams, and few numbers of cases change at once
def _chances(n: int, n_held_out: int, changed: int) -> tuple[tuple[int, float], ...]:
    ways, n_visible = math.comb(n, changed), n - n_held_out
    held_out = range(max(0, changed - n_visible), min(changed, n_held_out) + 1)
    return tuple((k, math.comb(n_held_out, k) * math.comb(n_visible, changed - k) / ways) for k in held_out)
