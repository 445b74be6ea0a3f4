"""Were a heal's gains spread over visible and held-out cases as a random split would? Exact, from case rows.

Practice and held-out cases are one pool that was split at random. Whatever a heal fixed or broke then falls into the held-out part as
drawing without replacement would have it, unless the heal was fitted to the cases that the loop could see.

Source: docs/method.md, How sure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Cases of one kind before a heal: how many there were, how many of them changed, and how many of either are held out."""

    n: int
    n_held_out: int
    changed: int
    changed_held_out: int

    def chances(self) -> Iterator[tuple[int, float]]:
        """(held-out cases among those that changed, how probable that is under a random split)."""
        ways = math.comb(self.n, self.changed)
        for k in range(max(0, self.changed - (self.n - self.n_held_out)), min(self.changed, self.n_held_out) + 1):
            yield k, math.comb(self.n_held_out, k) * math.comb(self.n - self.n_held_out, self.changed - k) / ways

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
        chances = ((fixed - broke, a * b) for fixed, a in self.failing.chances() for broke, b in self.passing.chances())
        return min(1.0, math.fsum(chance for net, chance in chances if net <= self.net_gain))

    def honest_efficacy(self, *, gap_max: float) -> float:
        """What E this heal would score on average if its gains were spread as a random split would. The truth gap keeps noise that favours
        the visible cases and drops what favours the others, so even an honest heal scores less than 1.
        """
        n_held_out = self.failing.n_held_out + self.passing.n_held_out
        n_visible = self.failing.n + self.passing.n - n_held_out
        if not n_held_out or not n_visible:
            raise ValueError("a split has cases on both sides")
        total = []
        for fixed, a in self.failing.chances():
            for broke, b in self.passing.chances():
                visible = (self.failing.changed - fixed - self.passing.changed + broke) / n_visible
                gap = max(0.0, visible - (fixed - broke) / n_held_out)
                total.append(a * b * (1 - min(gap / gap_max, 1)))
        return math.fsum(total)
