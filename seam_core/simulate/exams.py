"""The two exams of the simulated agent: visible practice tests and held-out cases, both counted in whole cases."""

from __future__ import annotations

import random
from dataclasses import dataclass

from seam_core.simulate.plan import HealPlan
from seam_core.simulate.texts import between, pick

PRACTICE_CASES = 40  # visible tests; 40, so that the opening story's 0.70 and 0.95 are whole cases (28 and 38)
HOLDOUT_CASES = 50
VISIBLE_BASE, HOLDOUT_BASE = 28, 35  # 0.70 on both: where fresh work keeps pulling the agent back to
LOSS_CHANCE = 0.015  # a passing case that fails the next time, by grader noise or a real loss
CREEP_DRAWS = 60  # draws from which the one nearest to a heal's creep is taken
HONEST_GAP_MAX = 0.11  # a heal whose visible gain outruns its held-out gain by more is never called honest here


@dataclass(frozen=True)
class Scores:
    """One heal's four scores in whole cases."""

    visible_before: int
    visible_after: int
    holdout_before: int
    holdout_after: int

    @property
    def gap(self) -> float:
        """Visible gain minus held-out gain, signed."""
        visible_gain = (self.visible_after - self.visible_before) / PRACTICE_CASES
        return visible_gain - (self.holdout_after - self.holdout_before) / HOLDOUT_CASES


class Exams:
    """The agent's state on both exams; every heal starts within a case or two of where the last one ended."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.visible, self.holdout = VISIBLE_BASE, HOLDOUT_BASE
        self.visible_base = VISIBLE_BASE

    def sit(self, heal: HealPlan) -> Scores:
        """The scores around one heal. A blocked heal gains nothing; held-out scores that are not logged stand still."""
        visible = self._pulled(self.visible, self.visible_base, 2)
        holdout = self._pulled(self.holdout, HOLDOUT_BASE, 1)
        if heal.blocked:
            scores = Scores(visible, visible, holdout, holdout)
        elif heal.unearned:
            scores = self._hacked(visible, holdout, heal.unearned)
        else:
            scores = self._honest(visible, holdout, heal)
        self.visible = scores.visible_after
        self.holdout = scores.holdout_after if heal.scored else self.holdout
        return scores

    def follow_story(self, score: float, *, share_done: float) -> None:
        """Moves the state along the opening story: visible to `score`, held-out from 0.70 to 0.74 at the end."""
        self.visible = self.visible_base = round(score * PRACTICE_CASES)
        self.holdout = HOLDOUT_BASE + int(2 * share_done)

    def _pulled(self, now: int, base: int, widest: int) -> int:
        """Where the exam stands at the next heal: at most `widest` cases off, mostly towards the base."""
        off = now - base
        if self.rng.random() > min(0.95, 0.5 + 0.2 * abs(off)) or off == 0:
            return now
        step = widest if abs(off) >= 3 else 1
        return now - step if off > 0 else now + step

    def _honest(self, visible: int, holdout: int, heal: HealPlan) -> Scores:
        """Every failing case of both exams has the same chance of being solved, then there is noise.

        Draws with a larger gap than an honest one are drawn again; with creep, the draw nearest to it is taken.
        """
        solved = 0.0 if heal.edit == "retry" else pick(self.rng, (0.0, 0.04, 0.06, 0.08, 0.12, 0.2, 0.3))
        draws: list[Scores] = []
        while len(draws) < (1 if heal.creep is None else CREEP_DRAWS):
            visible_after = visible + self._gain(PRACTICE_CASES - visible, visible, solved)
            holdout_after = holdout + self._gain(HOLDOUT_CASES - holdout, holdout, solved)
            scores = Scores(visible, visible_after, holdout, holdout_after)
            if scores.gap < HONEST_GAP_MAX - 1e-9:
                draws.append(scores)
        wanted = (heal.creep or 0.0) + 0.05 * (self.rng.random() - 0.5)
        return min(draws, key=lambda scores: abs(scores.gap - wanted))

    def _gain(self, failing: int, passing: int, solved: float) -> int:
        gained = sum(self.rng.random() < solved + LOSS_CHANCE for _ in range(failing))
        return gained - sum(self.rng.random() < LOSS_CHANCE for _ in range(passing))

    def _hacked(self, visible: int, holdout: int, unearned: int) -> Scores:
        """A held-out gain of a case at most, and `unearned` practice cases on top."""
        gain = between(self.rng, -1, 1)
        visible = min(visible, PRACTICE_CASES - unearned - max(gain, 0))
        return Scores(visible, visible + unearned + gain, holdout, min(HOLDOUT_CASES, holdout + gain))
