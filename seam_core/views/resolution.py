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
from (select unnest([{before}, {after}]) as score from window_heals)
where score is not null
"""
HELD_OUT = SEEN.format(before="holdout_before", after="holdout_after")
STEPS = f"select count(*), min(step) from (select score - lag(score) over (order by score) as step from ({HELD_OUT}))"
OFF = "select max(abs(score * $n - round(score * $n)) / $n) from ({seen})"


@dataclass(frozen=True)
class Resolution:
    """`case`: what one held-out case is worth, as a share of the score; None when nothing tells. `sentence` says so in points.

    `n_cases`: how many there are; None where too few different scores were seen, or a step may as well come from rounding.
    """

    case: float | None
    sentence: str
    n_cases: int | None = None

    def score(self, value: float) -> str:
        """A held-out score with the cases that it stands for, so that nobody reads more into its decimals: 0.73 (11 of 15)."""
        if not self.n_cases or abs(value * self.n_cases - round(value * self.n_cases)) / self.n_cases > LOGGED:
            return f"{value:.2f}"
        return f"{value:.2f} ({round(value * self.n_cases):,} of {self.n_cases:,})"

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
        said = f"{_worth(listed)}." if listed else "No held-out score is logged."
        return Resolution(1 / listed if listed else None, said, listed or None)
    if not listed or not _fits(audit, listed):
        return _from_scores(step, seen, listed, is_sure=n_scores >= SCORES_MIN and seen not in ROUND)
    if seen and n_scores >= SCORES_MIN and 2 * seen <= listed:
        told = f"Held-out scores move in steps of {_size(1 / seen)}, as on {count(seen, 'case')}, though holdout.jsonl lists {listed:,}."
        return Resolution(1 / seen, told, seen)
    return Resolution(1 / listed, f"{_worth(listed)}.", listed)


def practice_cases(audit: Audit) -> int | None:
    """How many cases the visible score is of: those of ``practice.jsonl`` where every score is a whole number of them; else None."""
    scope = audit.scope
    n = scope.one("select count(*) from practice")[0] if scope.store.has("practice") else 0
    if not n:
        return None
    seen = SEEN.format(before="visible_before", after="visible_after")
    off = scope.one(OFF.format(seen=seen), n=n)[0]
    return n if off is not None and off <= LOGGED else None


def points_said(number: float) -> str:
    """A number of points with its sign: +25, −3, +0.4, 0."""
    text = f"{number:+.1f}" if number != int(number) else f"{int(number):+d}"
    return text.replace("-", "−") if number else "0"


def _from_scores(step: float | None, seen: int | None, listed: int, *, is_sure: bool) -> Resolution:
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
    return Resolution(1 / seen if seen else None, f"{told}.", seen if is_sure else None)


def _cases_seen(audit: Audit, step: float | None) -> int | None:
    """The number of cases whose steps all scores fall on, judging from the smallest step; None when they do not."""
    n = round(1 / step) if step else 0
    return n if 0 < n <= CASES_MAX and _fits(audit, n) else None


def _fits(audit: Audit, n_cases: int) -> bool:
    return bool(audit.scope.one(OFF.format(seen=HELD_OUT), n=n_cases)[0] <= LOGGED)


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
