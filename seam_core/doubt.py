"""How sure the four scores of a window are: the range of each, what it settles, and what would settle it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from seam_core.axes.monotonicity import loop_score
from seam_core.intervals import (
    LOOPS_MAX,
    LOOPS_MIN,
    SIGNATURES_MIN,
    TOO_CLOSE,
    Cells,
    Interval,
    Verdict,
    clustered,
    loops_needed,
    signal_below,
    signal_range,
    verdict_of,
    wilson,
)
from seam_core.scope import Scope
from seam_core.words import capital, count

ROUNDING = 1e-6  # hundredths that are off by less than this are whole
SCALE = 10**12  # sums of whole numbers are the same in any order

# Loops by the sum of their heals' scores and how many heals they have: a long history holds few kinds of loops.
KINDS = """
select total, n, count(*)
from (select sum(round({score} * $scale)::hugeint)::double / $scale as total, count(*) as n from {heals} group by loop_id)
group by total, n
"""
EFFICACY = KINDS.format(score="e_heal", heals="efficacy_rows")
AFTERMATH = KINDS.format(score="a_heal", heals="aftermath_rows join window_heals using (heal_id)")
LOOPS = "select extra_dips, returned + idle, capped, count(*) from loop_rows where basis is not null group by all"

CELLS = """
select count(*) filter (is_real and not recurred), count(*) filter (is_real and recurred),
       count(*) filter (not is_real and not recurred), count(*) filter (not is_real and recurred),
       count(*) filter (is_real is null and not recurred), count(*) filter (is_real is null and recurred)
from signal_rows
"""


@dataclass(frozen=True)
class Doubt:
    """One axis: its range, None with a reason; what that settles, None for an axis that is not scored; loops that would settle it."""

    interval: Interval | None
    reason: str
    verdict: Verdict | None
    needed: int | None = None
    below: float | None = None  # Signal: how probable it is that S is below its line
    by_rule: bool = False  # the score is 0 by rule and no estimate; the range is that of the mean without the rule


UNSCORED = Doubt(None, "not scored", None)
TAGS: dict[Verdict, str] = {"confirmed": "confirmed", "clear": "clear", "not enough": "not enough heals to tell"}


def measure_doubt(
    scope: Scope, scores: Mapping[str, float | None], lines: Mapping[str, float], *, missed: int | None, floored: bool
) -> dict[str, Doubt]:
    """Axis → how sure its score is.

    missed: failures that no heal targeted, None without a failure log. floored: a safety case regressed, so that A is 0 by rule and not by
    estimate; its range is then that of the mean without the rule.
    """
    loops: Counter[tuple[float, int]] = Counter()
    for dips, revisits, capped, times in scope.query(LOOPS):
        loops[loop_score(dips, revisits, capped=capped), 1] += times
    found = {
        "S": _signal(scope, lines["S"], missed),
        "E": _mean(_kinds(scope, EFFICACY), lines["E"]),
        "A": _mean(_kinds(scope, AFTERMATH), lines["A"], by_rule=floored),
        "M": _mean(loops, lines["M"]),
    }
    return {axis: doubt if scores[axis] is not None else UNSCORED for axis, doubt in found.items()}


def _kinds(scope: Scope, sql: str) -> Counter[tuple[float, int]]:
    return Counter({(total, n): times for total, n, times in scope.query(sql, scale=SCALE)})


def _mean(loops: Counter[tuple[float, int]], line: float, *, by_rule: bool = False) -> Doubt:
    interval = clustered(loops)
    verdict = "confirmed" if by_rule else verdict_of(interval, line)
    if interval is None:
        return Doubt(None, f"{count(loops.total(), 'loop')}: too few for a range, which takes {LOOPS_MIN}", verdict, by_rule=by_rule)
    return Doubt(interval, "", verdict, loops_needed(interval, line) if verdict == "not enough" else None, by_rule=by_rule)


def _signal(scope: Scope, line: float, missed: int | None) -> Doubt:
    real, real_recurred, false, false_recurred, unlabelled, unlabelled_recurred = scope.one(CELLS)
    cells = Cells(real, real_recurred, false, false_recurred, missed, unlabelled, unlabelled_recurred)
    seed = _seed(scope)
    interval = signal_range(cells, seed=seed)
    if interval is None:
        n = sum((real, real_recurred, false, false_recurred, missed or 0, unlabelled, unlabelled_recurred))
        return Doubt(None, f"{count(n, 'failure signature')}: too few for a range, which takes {SIGNATURES_MIN}", "not enough")
    return Doubt(interval, "", verdict_of(interval, line), below=signal_below(cells, line, seed=seed))


def _seed(scope: Scope) -> int:
    """The same for the same window."""
    window = scope.window
    start = window.start.isoformat() if window.start else "the first heal"
    return int.from_bytes(sha256(f"{start} .. {window.end.isoformat()}".encode()).digest()[:4], "big")


def range_text(doubt: Doubt) -> str:
    """The range with two decimals, rounded outwards; empty where there is none."""
    return interval_text(doubt.interval)


def interval_text(interval: Interval | None) -> str:
    """The same of any range."""
    if interval is None:
        return ""
    low, high = math.floor(interval.low * 100 + ROUNDING) / 100, math.ceil(interval.high * 100 - ROUNDING) / 100
    return f"{low:.2f}–{high:.2f}"


def range_cell(doubt: Doubt) -> str:
    """The range for a table in which it stands beside the score: it says so where it is not the score's own, or that there is none."""
    said = range_text(doubt) or "none"
    return f"{said} without the safety rule" if doubt.by_rule and doubt.interval else said


def share_range(k: int, n: int) -> str:
    """The 95 % range of a counted share (Wilson) in whole percent, rounded outwards: 3–34 %."""
    low, high = wilson(k, n)
    return f"{math.floor(100 * low + ROUNDING)}–{math.ceil(100 * high - ROUNDING)} %"


def tag(doubt: Doubt, *, early: bool = False) -> str:
    """What the range settles, in words; empty for an axis that is not scored. `early`: the score may still fall, so it is clear so far."""
    if doubt.by_rule:
        return "confirmed by rule"
    said = TAGS[doubt.verdict] if doubt.verdict else ""
    return f"{said} so far" if early and doubt.verdict == "clear" else said


def in_short(doubt: Doubt, *, early: bool = False) -> str:
    """The range and what it settles; no range beside a score that is 0 by rule, which may lie outside it. Empty for an unscored axis."""
    return " · ".join(part for part in ("" if doubt.by_rule else range_text(doubt), tag(doubt, early=early)) if part)


def sentence(doubt: Doubt, line: float, *, early: bool = False) -> str:
    """The range, what it settles, and what would settle it; why there is none; empty for an axis that is not scored."""
    if doubt.verdict is None:
        return ""
    if doubt.interval is None:
        settled = "below its line by rule" if doubt.verdict == "confirmed" else TAGS[doubt.verdict]
        return f"{capital(doubt.reason)}; {settled}."
    parts = [f"95 % range {range_text(doubt)}", _settled(doubt, line, early=early)]
    if doubt.interval.dominant:
        parts.append(f"one loop holds {100 * doubt.interval.dominant:.0f} % of the heals")
    return f"{'; '.join(parts)}."


def _settled(doubt: Doubt, line: float, *, early: bool) -> str:
    assert doubt.interval is not None
    if doubt.verdict == "clear":
        return f"all of it at or above {line:.2f}: {tag(doubt, early=early)}"
    if doubt.by_rule:
        return "a safety case regressed, so the score is 0 by rule; the range is that of the mean without the rule"
    if doubt.verdict == "confirmed":
        return f"all of it below {line:.2f}: confirmed"
    if doubt.below is not None:
        return f"it crosses {line:.2f} (a chance of {100 * doubt.below:.0f} % to be below): not enough heals to tell"
    crosses = f"it crosses {line:.2f}: not enough heals to tell"
    if doubt.needed:
        return f"{crosses}; at this spread about {doubt.needed:,} loops would"
    if abs(doubt.interval.center - line) < TOO_CLOSE:
        return f"{crosses}; the score is too close to the line for any realistic number of loops"
    return f"{crosses}; at this spread more than {LOOPS_MAX} loops would be needed"
