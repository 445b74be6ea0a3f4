"""How fine the held-out exam is, and numbers that are no finer: one case of 15 is 6.7 points, so nothing lies between.

Cases are known from ``holdout.jsonl``; else the smallest step between the held-out scores that were logged has to tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from seam_core.report import Audit
from seam_core.words import count, points

TOLERANCE = 1e-9
LOGGED = 0.0006  # scores are often logged with three decimals: so far from a whole number of cases is still on it
CASES_MAX = 1000  # more cases than this cannot be told from scores with three decimals
SCORES_MIN = 8  # different scores from which their smallest step is believed against the number of cases in holdout.jsonl
ROUND = (100, 1000)  # steps that may as well come from rounding to two or three decimals
FINE = 0.01  # a case smaller than a point shows one decimal

SEEN = """
select distinct round(score, 6) as score
from (select unnest([holdout_before, holdout_after]) as score from window_heals)
where score is not null
"""
STEPS = f"select count(*), min(step) from (select score - lag(score) over (order by score) as step from ({SEEN}))"
OFF = f"select max(abs(score * $n - round(score * $n)) / $n) from ({SEEN})"


@dataclass(frozen=True)
class Resolution:
    """`case`: what one held-out case is worth, as a share of the score; None when nothing tells. `sentence` says so in points."""

    case: float | None
    sentence: str

    def visible(self, gain: float) -> float:
        """A visible gain in points. How many cases the loop's own metric has, nobody logs."""
        return _points(gain, self._decimals)

    def held_out(self, gain: float) -> float:
        """A held-out gain in points, on a whole number of cases."""
        return _points(round(gain / self.case) * self.case if self.case else gain, self._decimals)

    def gap(self, visible_gain: float, holdout_gain: float) -> float:
        """The signed gap as the difference of the two numbers shown, so that a reader can subtract them."""
        return _points((self.visible(visible_gain) - self.held_out(holdout_gain)) / 100, self._decimals)

    @property
    def _decimals(self) -> int:
        return 1 if self.case is not None and self.case < FINE - TOLERANCE else 0


def find_resolution(audit: Audit) -> Resolution:
    """The exam's resolution, from ``holdout.jsonl`` where the scores bear it out, else from the scores."""
    scope = audit.scope
    n_scores, step = scope.one(STEPS)
    listed = scope.one("select count(*) from holdout")[0] if scope.store.has("holdout") else 0
    seen = _cases_seen(audit, step)
    if not n_scores:
        return Resolution(1 / listed if listed else None, f"{_worth(listed)}." if listed else "No held-out score is logged.")
    if not listed or not _fits(audit, listed):
        return _from_scores(step, seen, listed)
    if seen and n_scores >= SCORES_MIN and 2 * seen <= listed:
        told = f"Held-out scores move in steps of {_size(1 / seen)}, as on {count(seen, 'case')}, though holdout.jsonl lists {listed:,}."
        return Resolution(1 / seen, told)
    return Resolution(1 / listed, f"{_worth(listed)}.")


def points_said(number: float) -> str:
    """A number of points with its sign: +25, −3, +0.4, 0."""
    text = f"{number:+.1f}" if number != int(number) else f"{int(number):+d}"
    return text.replace("-", "−") if number else "0"


def _from_scores(step: float | None, seen: int | None, listed: int) -> Resolution:
    """What the scores alone tell; a list of cases that they do not fall on is mentioned."""
    if seen:
        told = f"The smallest step between held-out scores is {_size(1 / seen)}"
        told += "" if seen in ROUND else f", as on {count(seen, 'case')}"
    elif step:
        told = f"Held-out scores do not move in steps of a case; the smallest difference seen is {_size(step)}"
    else:
        told = "All held-out scores logged are equal, so how fine the exam is cannot be told"
    if listed:
        told += f"; the {count(listed, 'case')} of holdout.jsonl ({_size(1 / listed)} each) do not fit them"
    return Resolution(1 / seen if seen else None, f"{told}.")


def _cases_seen(audit: Audit, step: float | None) -> int | None:
    """The number of cases whose steps all scores fall on, judging from the smallest step; None when they do not."""
    n = round(1 / step) if step else 0
    return n if 0 < n <= CASES_MAX and _fits(audit, n) else None


def _fits(audit: Audit, n_cases: int) -> bool:
    return bool(audit.scope.one(OFF, n=n_cases)[0] <= LOGGED)


def _worth(n_cases: int) -> str:
    return f"One held-out case of {n_cases:,} is {_size(1 / n_cases)}"


def _size(share: float) -> str:
    """A share in points, with as many digits as it takes: 2 points, 6.7 points, 0.05 points."""
    number = f"{100 * share:.1f}" if share >= FINE else f"{100 * share:.1g}"
    number = number.removesuffix(".0")
    return f"{number} {'point' if number == '1' else 'points'}"


def _points(share: float, decimals: int) -> float:
    """A share in points, halves away from zero; a whole number where the exam is no finer."""
    if not decimals:
        return points(share)
    scaled = math.floor(abs(share) * 100 * 10**decimals + 0.5 + TOLERANCE)
    return float(scaled if share > 0 else -scaled) / float(10**decimals)
