"""E, efficacy: did held-out tasks gain as much as the metric the loop optimised?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seam_core.contamination import Contamination, Search, measure_contamination
from seam_core.gates import Gate
from seam_core.one_pass import Told
from seam_core.scope import Scope
from seam_core.sharing import Shared
from seam_core.trend import Trend, judge_trend

DILUTED = 0.10  # E per heal and E by loop differ by this much: many idle cycles dilute the mean, or loop scores were copied

HEAL_GAPS = """
select heal_id, ts, loop_id, cycle, failure_signature, target, level, visible_before, visible_after, holdout_before, holdout_after,
       holdout_scope, visible_after - visible_before as visible_gain, holdout_after - holdout_before as holdout_gain,
       (visible_after - visible_before) - (holdout_after - holdout_before) as signed_gap,
       greatest(0, signed_gap) as truth_gap, 1 - least(truth_gap / $gap_max, 1) as e_heal, tokens_spent, row
from window_heals
where visible_before is not null and visible_after is not null and holdout_before is not null and holdout_after is not null
"""

# A loop as one item: from its first scores to its last ones.
LOOP_GAPS = """
with ends as (
    select loop_id, count(*) as n_heals, min(ts) as first_ts, max(ts) as last_ts, sum(tokens_spent) as tokens_spent,
           first(visible_before order by cycle, ts, heal_id) filter (visible_before is not null) as visible_before,
           last(visible_after order by cycle, ts, heal_id) filter (visible_after is not null) as visible_after,
           first(holdout_before order by cycle, ts, heal_id) filter (holdout_before is not null) as holdout_before,
           last(holdout_after order by cycle, ts, heal_id) filter (holdout_after is not null) as holdout_after
    from loop_heals
    group by loop_id
)
select *, (visible_after - visible_before) - (holdout_after - holdout_before) as signed_gap,
       greatest(0, signed_gap) as truth_gap, 1 - least(truth_gap / $gap_max, 1) as e_loop
from ends
where visible_before is not null and visible_after is not null and holdout_before is not null and holdout_after is not null
"""


@dataclass(frozen=True)
class Efficacy:
    """The axis and its parts. Scores, gaps and shares in [0, 1]; counts are heals, for `n_loops` loops."""

    score: float | None
    reason: str | None
    n: int
    left_out: int
    mean_truth_gap: float | None
    by_loop: float | None
    n_loops: int
    trend: Trend
    contamination: Contamination


def score(scope: Scope, gate: Gate, search: Search, told: Sequence[Shared[Told]]) -> Efficacy:
    """Efficacy over the window. Keeps ``efficacy_rows`` (heals), ``efficacy_loops``, ``trend_rows``, ``contamination_rows``.

    told: what the texts tell, part by part in time order; asked last, since another process may still be reading them.
    Source: docs/method.md, Efficacy.
    """
    trend = judge_trend(scope, gate)
    gap_max = scope.settings.gap_max
    scope.show("efficacy_rows", f"{HEAL_GAPS} order by ts, heal_id", gap_max=gap_max)
    scope.show("efficacy_loops", f"{LOOP_GAPS} order by last_ts, loop_id", gap_max=gap_max)
    heals, gaps = _values(scope, "e_heal, truth_gap", "efficacy_rows", HEAL_GAPS)
    (loops,) = _values(scope, "e_loop", "efficacy_loops", LOOP_GAPS)
    n_window = scope.one("select count(*) from window_heals")[0]
    contamination = measure_contamination(scope, search, [part.result.added for part in told])
    value = _mean(heals)
    by_loop = _mean(loops)
    if value is not None and by_loop is not None and abs(value - by_loop) >= DILUTED - 1e-9:
        scope.flags["E"].append(f"E per heal {value:.2f} and E by loop {by_loop:.2f} differ: look at both")
    reason = None if heals else "no heal in the window" if not n_window else "no heal in the window has all four scores"
    return Efficacy(value, reason, len(heals), n_window - len(heals), _mean(gaps), by_loop, len(loops), trend, contamination)


def _values(scope: Scope, names: str, kept: str, sql: str) -> list[list[float]]:
    """Columns of what is kept; where that is a view the order of its rows, which costs much, is not asked for."""
    if scope.is_large:
        return scope.columns(f"select {names} from ({sql})", gap_max=scope.settings.gap_max)
    return scope.columns(f"select {names} from {kept}")


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
