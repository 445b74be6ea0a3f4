"""Is the truth gap widening? Mann-Kendall and Theil-Sen on the signed gap of the last loops.  Source: docs/method.md, Widening trend."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from seam_core.gates import Gate
from seam_core.scope import BEGINNING, Scope

TOLERANCE = 1e-9
LOOPS_MIN = 8  # fewer say nothing
LOOK_BACK_DAYS = (7, 90, None)
WEEK = timedelta(days=7)  # both evaluations, a week apart, must agree

# The newest loops by their last scored heal up to a moment.
NEWEST_LOOPS = """
select loop_id, max(ts) as last_ts
from heals anti join blocked using (row)
where ts > $since and ts <= $moment and visible_before is not null and visible_after is not null
  and holdout_before is not null and holdout_after is not null
group by loop_id
order by last_ts desc, loop_id desc
limit $n_loops
"""

GAPS = """
select t.loop_id, t.last_ts, list((visible_after - visible_before) - (holdout_after - holdout_before) order by row)
from heals join trend_loops t using (loop_id) anti join blocked using (row)
where ts <= $moment and visible_before is not null and visible_after is not null
  and holdout_before is not null and holdout_after is not null
group by t.loop_id, t.last_ts
order by t.last_ts, t.loop_id
"""


@dataclass(frozen=True)
class Trend:
    """State in words, the Theil-Sen rise over the loops looked at (score), the one-sided Mann-Kendall p, and how many loops."""

    state: str  # too few loops, slope only, steady, watch, widening
    rise: float | None
    p: float | None
    n_loops: int


@dataclass(frozen=True)
class _Look:
    n_loops: int
    rise: float | None
    p: float | None
    fires: bool


def judge_trend(scope: Scope, gate: Gate) -> Trend:
    """The widening test at the window's end and a week before it, each with only what was known then. Keeps ``trend_rows``."""
    earlier = _look(scope, gate, scope.window.end - WEEK)
    now = _look(scope, gate, scope.window.end)
    if now.n_loops < LOOPS_MIN:
        state = "too few loops"
    elif now.n_loops < scope.settings.trend_loops:
        state = "slope only"
    else:
        state = {0: "steady", 1: "watch", 2: "widening"}[now.fires + earlier.fires]
    return Trend(state, now.rise, now.p, now.n_loops)


def _look(scope: Scope, gate: Gate, moment: datetime) -> _Look:
    settings = scope.settings
    _find_loops(scope, gate, moment)
    rows = scope.query(GAPS, moment=moment)
    means = [math.fsum(gaps) / len(gaps) for _, _, gaps in rows]
    scope.con.execute("create or replace temp table trend_rows (loop_id varchar, ts timestamptz, gap double)")
    if rows:
        scope.con.execute(
            "insert into trend_rows select unnest($loops), unnest($times), unnest($gaps)",
            {"loops": [row[0] for row in rows], "times": [row[1] for row in rows], "gaps": means},
        )
    if len(means) < LOOPS_MIN:
        return _Look(len(means), None, None, fires=False)
    rise, p = theil_sen_slope(means) * (len(means) - 1), mann_kendall_p(means)
    fires = len(means) >= settings.trend_loops and p < settings.trend_p - TOLERANCE and rise >= settings.trend_rise - TOLERANCE
    return _Look(len(means), rise, p, fires)


def _find_loops(scope: Scope, gate: Gate, moment: datetime) -> None:
    """Keep ``trend_loops``: looked for among the last days first, since whatever is newest lies there if it is there at all."""
    for days in LOOK_BACK_DAYS:
        since = moment - timedelta(days=days) if days else BEGINNING
        while True:
            scope.keep("trend_loops", NEWEST_LOOPS, since=since, moment=moment, n_loops=scope.settings.trend_loops)
            if not gate.stop("select row from heals semi join trend_loops using (loop_id)"):
                break
        if scope.one("select count(*) from trend_loops")[0] >= scope.settings.trend_loops:
            return


def mann_kendall_p(values: list[float]) -> float:
    """One-sided p of an upward trend, normal approximation with ties and continuity correction; 1 when all values are equal."""
    n = len(values)
    s = sum(_sign(values[j] - values[i]) for i in range(n) for j in range(i + 1, n))
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in _tie_sizes(values))) / 18
    if variance <= 0:
        return 1.0
    return 0.5 * math.erfc((s - _sign(s)) / math.sqrt(variance) / math.sqrt(2))


def theil_sen_slope(values: list[float]) -> float:
    """Median of the slopes between all pairs, per step."""
    return median((values[j] - values[i]) / (j - i) for i in range(len(values)) for j in range(i + 1, len(values)))


def _sign(value: float) -> int:
    return (value > TOLERANCE) - (value < -TOLERANCE)


def _tie_sizes(values: list[float]) -> list[int]:
    ordered = sorted(values)
    group = 0
    groups = Counter({0: 0})
    for position, value in enumerate(ordered):
        group += bool(position) and value - ordered[position - 1] > TOLERANCE
        groups[group] += 1
    return list(groups.values())
