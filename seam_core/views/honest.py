"""What an agent whose gains are all real would score on exams this small: the noise floor of E.

The truth gap keeps noise that favours the visible cases and drops what favours the held-out ones: even an honest heal scores less than 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from seam_core.exam_rows import read_case_rows
from seam_core.report import Audit
from seam_core.split_test import Part, Split
from seam_core.views.resolution import find_resolution, practice_cases
from seam_core.words import count

PAIRS_MAX = 1_000  # different quadruples of scores that are computed; of more, as many evenly spread ones
ROWS_MAX = 2_000  # heals whose case rows are read
CASES_MAX = 1_000  # of a larger exam the floor would take long to compute
NOTHING = 0.995  # from here on chance takes nothing that shows

# A held-out pair of a whole loop says nothing of one heal.
SCORES = """
select visible_before, visible_after, holdout_before, holdout_after, count(*)
from efficacy_rows where holdout_scope is distinct from 'loop'
group by all order by all
"""
HEALS = """
select heal_id, visible_before, visible_after
from efficacy_rows where holdout_scope is distinct from 'loop'
order by ts desc, heal_id limit $n
"""


@dataclass(frozen=True)
class Honest:
    """E of an honest agent on this window's exams, None with a reason; `exams` says how large they are."""

    efficacy: float | None
    exams: str
    reason: str = ""

    def sentence(self, line: float) -> str:
        """The floor in words, and what it makes of the alert line."""
        if self.efficacy is None:
            return f"What an honest agent would score here is not known: {self.reason}."
        said = f"An agent whose gains are all real would score about {self.efficacy:.2f} on {self.exams}"
        said += ": chance takes the rest" if self.efficacy < NOTHING else ""
        low = f"; that is below the alert line of {line:.2f}, so an alert here says little" if self.efficacy < line - 1e-9 else ""
        return f"{said}{low}."


def honest_efficacy(audit: Audit) -> Honest:
    """What E would be on average if each heal's gains were spread over both exams as a random split of the cases would."""
    by_rows = _from_rows(audit)
    if by_rows:
        return by_rows
    n_held_out, n_visible = find_resolution(audit).n_cases, practice_cases(audit)
    found = _spread(audit.scope.query(SCORES))
    if not audit.efficacy.n:
        return Honest(None, "", "no heal of this window has all four scores")
    if 2 * sum(n for *_, n in found) < audit.efficacy.n:
        return Honest(None, "", "most heals carry a held-out pair that was measured once for their whole loop")
    if n_held_out is None:
        return Honest(None, "", "how many held-out cases there are cannot be told")
    if max(n_held_out, n_visible or 0) > CASES_MAX:
        return Honest(None, "", f"exams of more than {CASES_MAX:,} cases are not computed")
    gap_max = audit.settings.gap_max
    if n_visible:
        scores = [(_split(tuple(four), n_visible, n_held_out).honest_efficacy(gap_max=gap_max), n) for *four, n in found]
        return Honest(_mean(scores), f"exams of {n_visible:,} and {n_held_out:,} cases")
    scores = [(_against_exact(tuple(four), n_held_out, gap_max), n) for *four, n in found]
    return Honest(_mean(scores), f"an exam of {count(n_held_out, 'held-out case')}")


def _from_rows(audit: Audit) -> Honest | None:
    """From the cases of each heal, where both exams were run before and after it; None where they are not one pool of cases."""
    heals = audit.scope.query(HEALS, n=ROWS_MAX)
    rows = read_case_rows(audit.scope, "heal", [heal_id for heal_id, *_ in heals], until=audit.window.end)
    pools = [rows[heal_id] for heal_id, before, after in heals if heal_id in rows and not rows[heal_id].apart((before, after))]
    pools = [one for one in pools if max(one.practice.n, one.held_out.n) <= CASES_MAX]
    if not pools:
        return None
    scores = [(_honest(one.split, audit.settings.gap_max), 1) for one in pools]
    sizes = sorted({(one.practice.n, one.held_out.n) for one in pools})
    exams = "exams of {:,} and {:,} cases".format(*sizes[0]) if len(sizes) == 1 else "these exams"
    return Honest(_mean(scores), f"{exams}, judging by the cases of {count(len(pools), 'heal')}")


@lru_cache(maxsize=10_000)
def _honest(split: Split, gap_max: float) -> float:
    return split.honest_efficacy(gap_max=gap_max)


def _spread(found: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """All of them, or as many evenly spread ones as may be computed."""
    step = -(-len(found) // PAIRS_MAX)
    return found[::step] if step > 1 else found


def _split(four: tuple[float, ...], n_visible: int, n_held_out: int) -> Split:
    """The cases behind four scores, every case that changed taken to have gone the same way: there are then as few changes as can be."""
    visible_before, visible_after, holdout_before, holdout_after = four
    passed, kept = round(visible_before * n_visible), round(holdout_before * n_held_out)
    gains = round(visible_after * n_visible) - passed, round(holdout_after * n_held_out) - kept
    failing = Part(n_visible - passed + n_held_out - kept, n_held_out - kept, sum(max(0, gain) for gain in gains), max(0, gains[1]))
    return Split(failing, Part(passed + kept, kept, sum(max(0, -gain) for gain in gains), max(0, -gains[1])))


def _against_exact(four: tuple[float, ...], n_held_out: int, gap_max: float) -> float:
    """The same where nobody knows how many cases the visible score is of: it is taken as exact, and held-out cases change at its rate."""
    before, after, holdout_before, _ = four
    kept, gain = round(holdout_before * n_held_out), after - before
    n_open, rate = (n_held_out - kept, gain / (1 - before)) if gain > 0 else (kept, -gain / before if before else 0.0)
    gaps = ((abs(gain) - k / n_held_out) * (1 if gain > 0 else -1) for k in range(n_open + 1))
    chances = (math.comb(n_open, k) * rate**k * (1 - rate) ** (n_open - k) for k in range(n_open + 1))
    return math.fsum(chance * (1 - min(max(0.0, gap) / gap_max, 1)) for chance, gap in zip(chances, gaps, strict=True))


def _mean(scores: Sequence[tuple[float, float]]) -> float:
    return math.fsum(value * n for value, n in scores) / sum(n for _, n in scores)
