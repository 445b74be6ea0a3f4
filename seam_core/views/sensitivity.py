"""How much hangs on each threshold: the score, alert or count with it a fifth lower and a fifth higher, and whether a verdict would flip.

Scores are computed again from the rows that the axes keep, by the same formulas; what would mean reading the log again is not computed,
and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from seam_core.report import Audit, thresholds
from seam_core.settings import bounds
from seam_core.views.other_values import COMPUTED, TOLERANCE, Side
from seam_core.words import AXIS_NAMES, count

STEP = 0.2
Acts = Literal["score", "line", "alert", "count"]

# Which axis or gate a threshold acts on, and on what of it.
ACTS: dict[str, tuple[str, Acts]] = {
    "recurrence_days": ("S", "score"),
    "alert_s": ("S", "line"),
    "gap_max": ("E", "score"),
    "alert_e": ("E", "line"),
    "contamination_max": ("E", "alert"),
    "ngram_coverage": ("E", "alert"),
    "ngram": ("E", "alert"),
    "trend_loops": ("E", "alert"),
    "trend_p": ("E", "alert"),
    "trend_rise": ("E", "alert"),
    "r_max": ("A", "score"),
    "alert_a": ("A", "line"),
    "drift_max": ("A", "alert"),
    "similarity_min": ("M", "score"),
    "revisit_window": ("M", "score"),
    "free_dips": ("M", "score"),
    "depth_cap": ("M", "score"),
    "alert_m": ("M", "line"),
    "budget_elevated": ("budget", "count"),
    "budget_escalated": ("budget", "count"),
}
NOT_COMPUTED = {
    "ngram": "the texts would have to be read again",
    "trend_loops": "the test would have to be run again at two moments",
    "trend_p": "the test would have to be run again at two moments",
    "trend_rise": "the test would have to be run again at two moments",
    "similarity_method": "every pair of texts would have to be compared again",
    "paraphrase_min": "every pair of texts would have to be compared again",
    "suspect_min": "it names suspects, and enters no score",
    "surface_sample": "it says how the agent's own runs are sampled, and enters no score",
}


@dataclass(frozen=True)
class Strip:
    """One threshold: as it is, a fifth lower and a fifth higher. A side is None where it is not computed, and `why` says why."""

    name: str
    axis: str
    acts: Acts
    value: float
    score: float | None
    line: float | None
    low: Side | None
    high: Side | None
    why: str = ""

    @property
    def flips(self) -> tuple[str, ...]:
        """Which verdicts would be other ones."""
        return tuple(side.flip for side in (self.low, self.high) if side and side.flip)


def strips(audit: Audit) -> tuple[Strip, ...]:
    """Every threshold that acts on something, axis by axis."""
    with audit.scope.store.lock:
        return tuple(_strip(audit, name) for name in ACTS)


def _strip(audit: Audit, name: str) -> Strip:
    axis, acts = ACTS[name]
    value = getattr(audit.settings, name)
    score, line = audit.scores.get(axis), thresholds(audit.settings).get(axis)
    if name in NOT_COMPUTED:
        return Strip(name, axis, acts, value, score, line, None, None, NOT_COMPUTED[name])
    if acts in ("score", "line") and score is None:
        return Strip(name, axis, acts, value, None, line, None, None, f"{AXIS_NAMES[axis]} is not scored: {audit.reasons[axis]}")
    low, high = moved(name, value)
    sides, whys = [], []
    for other in (low, high):
        side = None if other is None else COMPUTED[name](audit, other)
        if isinstance(side, Side) and abs(side.value - value) < _step(name, value) - TOLERANCE:
            side = replace(side, said=f"{side.said}; it may go no further")
        sides.append(side if isinstance(side, Side) else None)
        whys += [side] if isinstance(side, str) else [f"{value:g} is as far as it may go"] if other is None else []
    return Strip(name, axis, acts, value, score, line, sides[0], sides[1], "; ".join(dict.fromkeys(whys)))


def moved(name: str, value: float) -> tuple[float | None, float | None]:
    """A threshold a fifth lower and a fifth higher, whole numbers by at least one; None where it may not go."""
    _, bound = bounds()[name]
    step = _step(name, value)
    low, high = round(value - step, 9), round(value + step, 9)
    low = max(low, bound.low) if not bound.above_low else low
    high = min(high, bound.high)
    fits = low < value - TOLERANCE and (low > bound.low or not bound.above_low)
    return (low if fits else None), (high if high > value + TOLERANCE else None)


def _step(name: str, value: float) -> float:
    """A fifth of a threshold, of whole numbers at least one."""
    default, bound = bounds()[name]
    is_whole = not isinstance(default, float) and bound.unit not in ("days", "× task tokens")
    return max(1, math.floor(STEP * value + 0.5)) if is_whole else STEP * value


def summary(found: Sequence[Strip]) -> str:
    """What a fifth more or less would change, in one sentence."""
    moving: list[tuple[str, str]] = [(strip.name, flip) for strip in found for flip in strip.flips]
    if not moving:
        return "No verdict hangs on a fifth more or less of any one threshold, as far as this is computed."
    told = dict.fromkeys(f"{flip} ({name})" for name, flip in moving)
    return f"A fifth more or less of one threshold would change {count(len(told), 'verdict')}: {'; '.join(told)}."


def as_now(audit: Audit, strip: Strip) -> Any:
    """What the threshold gives as it is, in the words of its sides."""
    if strip.acts in ("score", "line"):
        return "not scored" if strip.score is None else f"{AXIS_NAMES[strip.axis]} {strip.score:.2f}"
    if strip.name.startswith("budget"):
        return f"{audit.budget.elevated:,} elevated, {audit.budget.escalated:,} escalated"
    if strip.name == "drift_max":
        return "due" if audit.aftermath.drift.due else "not due"
    if strip.name.startswith("trend"):
        return audit.efficacy.trend.state
    rate = audit.efficacy.contamination.rate
    return "not measured" if rate is None else f"{100 * rate:.3g} % copied"
