"""What comes out with one threshold at another value: scores computed again from kept rows, by the formulas of the axes.

Each function takes the audit and the other value and returns a side, or a sentence on why that is not computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from seam_core.axes.monotonicity import PAIRS, loop_score
from seam_core.axes.signal import AS_LOGGED, F1_WEIGHT, HEALED_AGAIN, RECURRENCE_WEIGHT
from seam_core.report import Audit, thresholds
from seam_core.scope import Scope
from seam_core.similarity import revisit_similarity
from seam_core.words import AXIS_NAMES, count

TOLERANCE = 1e-9
PAIRS_MAX = 400  # pairs of texts that are compared anew for a page


@dataclass(frozen=True)
class Side:
    """A threshold at another value: what comes out, in words, and the score and the line it is held against, where it has those."""

    value: float
    said: str
    score: float | None = None
    line: float | None = None
    flip: str = ""  # which verdict would be another one; "" when none


Computed = Callable[[Audit, float], "Side | str"]  # a sentence: why it is not computed


def _scored(audit: Audit, axis: str, value: float, score: float) -> Side:
    """A side that moves the score."""
    line, was = thresholds(audit.settings)[axis], audit.scores[axis]
    assert was is not None, "only a scored axis is moved"
    return Side(value, f"{AXIS_NAMES[axis]} {score:.2f}", score, line, _flip(axis, was, line, score, line))


def _lined(axis: str) -> Computed:
    """A side that moves the line: the score stays, the alert may not."""

    def side(audit: Audit, value: float) -> Side:
        score, line = audit.scores[axis], thresholds(audit.settings)[axis]
        assert score is not None, "only a scored axis is moved"
        said = f"{AXIS_NAMES[axis]} {score:.2f} is {'' if _is_below(score, value) else 'not '}below {value:.2f}"
        return Side(value, said, score, value, _flip(axis, score, line, score, value))

    return side


def _flip(axis: str, was: float, line: float, score: float, new_line: float) -> str:
    before, after = _is_below(was, line), _is_below(score, new_line)
    if before == after:
        return ""
    return f"{AXIS_NAMES[axis]} would alert" if after else f"{AXIS_NAMES[axis]} would not be below its line any more"


def _is_below(score: float, line: float) -> bool:
    return score < line - TOLERANCE


# How many healed signatures were seen again within some days.
CAME_BACK = """
select count(distinct f.failure_signature)
from failures f asof join window_heals h on f.failure_signature = h.failure_signature and f.ts > h.ts
where f.ts > (select start from span) and f.ts - h.ts <= $follow_up
"""


def _recurrence(audit: Audit, days: float) -> Side | str:
    s, scope = audit.signal, audit.scope
    follow_up = timedelta(microseconds=round(days * 86_400_000_000))
    if s.recurrence_basis == "failures":
        n = scope.one(CAME_BACK, follow_up=follow_up)[0]
        quality = s.f1
    elif days > audit.settings.recurrence_days and scope.one("select count(*) from protected")[0]:
        return "heals after the window would have to pass the boundary gate first"
    else:
        n = scope.one(f"select count(*) from ({AS_LOGGED.sql(HEALED_AGAIN)})", follow_up=follow_up)[0]
        quality = s.precision
    assert quality is not None, "a scored axis has its parts"
    score = min(1.0, max(0.0, F1_WEIGHT * quality + RECURRENCE_WEIGHT * (1 - n / s.n_signatures)))
    return _scored(audit, "S", days, score)


def _gap_max(audit: Audit, gap_max: float) -> Side:
    (gaps,) = audit.scope.columns("select truth_gap from efficacy_rows")
    return _scored(audit, "E", gap_max, _mean([1 - min(gap / gap_max, 1) for gap in gaps]))


def _r_max(audit: Audit, r_max: float) -> Side:
    shares, n_safety = audit.scope.columns("select local_regress, n_safety from aftermath_rows")
    values = [0.0 if broken else 1 - min(share / r_max, 1) for share, broken in zip(shares, n_safety, strict=True)]
    return _scored(audit, "A", r_max, 0.0 if audit.aftermath.safety_regressions else _mean(values))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


LOOPS = "select loop_id, n_cycles, dips, returned + idle, capped, extra_dips from loop_rows where basis is not null"
KEPT_REVISITS = """
select loop_id, count(*) from revisit_rows where similarity > $similarity and later - earlier <= $window group by loop_id
"""


def _monotonicity(
    audit: Audit, value: float, *, free_dips: int | None = None, depth_cap: int | None = None, revisits: dict[str, int] | None = None
) -> Side:
    """M with some of its parts replaced; the others as they were kept."""
    scores = []
    for loop_id, n_cycles, dips, n_revisits, capped, extra_dips in audit.scope.query(LOOPS):
        dear = extra_dips if free_dips is None else max(0, dips - free_dips)
        n = n_revisits if revisits is None else revisits.get(loop_id, 0)
        scores.append(loop_score(dear, n, capped=capped if depth_cap is None else n_cycles >= depth_cap))
    return _scored(audit, "M", value, _mean(scores))


def _similarity_min(audit: Audit, minimum: float) -> Side | str:
    window = audit.settings.revisit_window
    if minimum > audit.settings.similarity_min:
        return _monotonicity(audit, minimum, revisits=_kept_revisits(audit, minimum, window))
    return _compared(audit, minimum, minimum, window)


def _revisit_window(audit: Audit, window: float) -> Side | str:
    minimum = audit.settings.similarity_min
    if window < audit.settings.revisit_window:
        return _monotonicity(audit, window, revisits=_kept_revisits(audit, minimum, int(window)))
    return _compared(audit, window, minimum, int(window))


def _kept_revisits(audit: Audit, minimum: float, window: int) -> dict[str, int]:
    return dict(audit.scope.query(KEPT_REVISITS, similarity=minimum + TOLERANCE, window=window))


def _compared(audit: Audit, value: float, minimum: float, window: int) -> Side | str:
    """M with every pair of texts compared anew, where there are not too many."""
    scope = audit.scope
    n_pairs = scope.one(f"select count(*) from ({PAIRS})", window=window)[0]
    if n_pairs > PAIRS_MAX:
        return f"{count(n_pairs, 'pair')} of texts would have to be compared again"
    return _monotonicity(audit, value, revisits=_revisits(scope, minimum, window))


def _revisits(scope: Scope, minimum: float, window: int) -> dict[str, int]:
    pairs = scope.query(PAIRS, window=window)
    rows = sorted({row for pair in pairs for row in pair[3:5]})
    texts = {row: text or "" for row, text in zip(rows, scope.texts(rows), strict=True)}
    method, least = scope.settings.similarity_method, scope.settings.paraphrase_min
    found: dict[str, int] = {}
    for loop_id, _, _, earlier, later, *_ in pairs:
        alike = revisit_similarity(texts[earlier], texts[later], minimum=minimum, method=method, paraphrase_min=least)
        found[loop_id] = found.get(loop_id, 0) + (alike is not None)
    return found


def _contamination(audit: Audit, value: float, *, bar: float, coverage: float | None = None) -> Side | str:
    found = audit.efficacy.contamination
    if found.rate is None:
        return f"contamination is not measured: {found.reason}"
    n = found.n_contaminated
    if coverage is not None:
        n = audit.scope.one("select count(*) from contamination_rows where coverage >= $bar", bar=coverage - TOLERANCE)[0]
    before = found.rate > audit.settings.contamination_max + TOLERANCE
    after = n / found.n_cases > bar + TOLERANCE
    flip = "" if before == after else "contamination would alert" if after else "contamination would not alert any more"
    said = f"{n:,} of {count(found.n_cases, 'held-out case')} copied; the line is {100 * bar:.3g} %"
    return Side(value, said, flip=flip)


def _drift(audit: Audit, drift_max: float) -> Side | str:
    drift = audit.aftermath.drift
    if drift.reason:
        return f"drift is unknown: {drift.reason}"
    largest = audit.scope.one("select max(drift) from open_drifts")[0]  # of the runs that no decision looked at
    if largest is None:
        return "every full run was looked at by a person"
    after = largest >= drift_max - TOLERANCE
    flip = "" if after == drift.due else "re-certification would be due" if after else "re-certification would not be due"
    return Side(drift_max, f"largest drift {largest:.0%}, line {drift_max:.0%}", flip=flip)


OVER = """
select count(*) filter (ratio > $low and ratio <= $high), count(*) filter (ratio > $high), count(*)
from budget_rows where verdict <> 'unknown'
"""


def _budget(audit: Audit, value: float, *, elevated: float, escalated: float) -> Side | str:
    if elevated > escalated:
        return "the lower limit may not lie above the upper one"
    dear, dearer, n = audit.scope.one(OVER, low=elevated + TOLERANCE, high=escalated + TOLERANCE)
    return Side(value, f"{dear:,} elevated, {dearer:,} escalated") if n else "no heal of known cost"


COMPUTED: dict[str, Computed] = {
    "recurrence_days": _recurrence,
    "gap_max": _gap_max,
    "r_max": _r_max,
    "similarity_min": _similarity_min,
    "revisit_window": _revisit_window,
    "free_dips": lambda audit, value: _monotonicity(audit, value, free_dips=int(value)),
    "depth_cap": lambda audit, value: _monotonicity(audit, value, depth_cap=int(value)),
    "contamination_max": lambda audit, value: _contamination(audit, value, bar=value),
    "ngram_coverage": lambda audit, value: _contamination(audit, value, bar=audit.settings.contamination_max, coverage=value),
    "drift_max": _drift,
    "budget_elevated": lambda audit, value: _budget(audit, value, elevated=value, escalated=audit.settings.budget_escalated),
    "budget_escalated": lambda audit, value: _budget(audit, value, elevated=audit.settings.budget_elevated, escalated=value),
    "alert_s": _lined("S"),
    "alert_e": _lined("E"),
    "alert_a": _lined("A"),
    "alert_m": _lined("M"),
}
