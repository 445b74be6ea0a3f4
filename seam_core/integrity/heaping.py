"""Do values crowd on the favourable side of a line?"""

from __future__ import annotations

from seam_core.integrity.chance import at_least
from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable

UNLIKELY_LOOPS, UNLIKELY = 0.1, 0.05  # p from which chance is no explanation; a week holds few long loops
LOOPS_MIN, RECURRENCES_MIN, VALUES_MIN = 4, 5, 8
NEAR_DAYS = 2
DAY = 86_400_000_000  # microseconds
BAND = 0.1  # width of a band beside a threshold, as a share of it

LENGTHS = """
select count(*) filter (n >= $cap), count(*) filter (n = $cap - 1), count(*) filter (n = $cap - 2)
from (select count(*) as n from loop_heals group by loop_id)
"""

# From the newest heal on a signature to its next failures, those that lie near the end of the follow-up. They lie in gaps between heals
# that are longer than the follow-up less `near`, so heals in one stretch of that length count as one.
LAGS = """
with healed as (
    select failure_signature, us // $stretch as stretch, min(us) as first_us, max(us) as last_us
    from (select failure_signature, epoch_us(ts) as us from window_heals)
    group by all
),
gaps as (
    select failure_signature, last_us, lead(first_us) over (partition by failure_signature order by stretch) as next_us from healed
    qualify coalesce(next_us - last_us > $follow_up - $near, true)
),
later as (
    select failure_signature, epoch_us(ts) as us from failures
    where ts > (select start from span) and ts <= (select stop from span) + to_microseconds($follow_up + $near)
),
lags as (
    select f.us - g.last_us as lag
    from later f join gaps g on f.failure_signature = g.failure_signature and f.us > g.last_us and coalesce(f.us <= g.next_us, true)
)
select count(*) filter (lag > $follow_up - $near and lag <= $follow_up), count(*) filter (lag > $follow_up and lag <= $follow_up + $near)
from lags
"""

# Three bands of one width: next below the line, above it, and below the first.
NEAR_LINES = """
with measured as (
    select 'truth gap' as what, truth_gap as value, $gap_max as line from efficacy_rows
    union all
    select 'share of regressed cases', local_regress, $r_max from aftermath_rows
    union all
    select 'budget ratio', tokens_spent / task_tokens, unnest([$elevated, $escalated]) from window_heals where task_tokens > 0
    union all
    select 'drift', drift, $drift_max from drift_rows where ts > (select start from span) and ts <= (select stop from span)
),
placed as (select what, line, floor((value - line + 1e-9) / ($band * line))::int as band from measured where value < 2 * line)
select what, line, count(*) filter (band = -1), count(*) filter (band = 0), count(*) filter (band = -2)
from placed
group by what, line order by what, line
"""


def loops_heap_below_cap(look: Look) -> list[Hit] | NotCheckable:
    """Loops that often end one cycle below the depth cap, and never at it."""
    cap = look.scope.settings.depth_cap
    at_cap, below, further = look.scope.one(LENGTHS, cap=cap)
    if not at_cap and below + further < LOOPS_MIN:
        return NotCheckable(f"fewer than {LOOPS_MIN} loops come near the depth cap")
    if at_cap or below < LOOPS_MIN:
        return []
    p = at_least(below, below + further, 0.5)
    return [Hit("window", {"n": below, "cycles": cap - 1, "n_shorter": further, "cap": cap, "p": p})] if p < UNLIKELY_LOOPS else []


def recurrences_heap_after_follow_up(look: Look) -> list[Hit] | NotCheckable:
    """Failures that come back just after the days that count, and not just before."""
    follow_up, near = round(look.scope.settings.recurrence_days * DAY), NEAR_DAYS * DAY
    before, after = look.scope.one(LAGS, follow_up=follow_up, near=near, stretch=max(1, follow_up - near))
    if before + after < RECURRENCES_MIN:
        return NotCheckable(f"fewer than {RECURRENCES_MIN} failures came back within {NEAR_DAYS} days of the end of their follow-up")
    p = at_least(after, before + after, 0.5)
    evidence = {"before": before, "after": after, "near": NEAR_DAYS, "days": look.scope.settings.recurrence_days, "p": p}
    return [Hit("window", evidence)] if p < UNLIKELY else []


def values_heap_below_lines(look: Look) -> list[Hit] | NotCheckable:
    """Thresholds below which values crowd: more of them than above it, and more than further below."""
    settings = look.scope.settings
    lines = {
        "gap_max": settings.gap_max,
        "r_max": settings.r_max,
        "drift_max": settings.drift_max,
        "elevated": settings.budget_elevated,
        "escalated": settings.budget_escalated,
    }
    rows = look.query(NEAR_LINES, **lines, band=BAND)
    near = [(what, line, below, above, further) for what, line, below, above, further in rows if below + above >= VALUES_MIN]
    if not near:
        return NotCheckable(f"fewer than {VALUES_MIN} values lie near any threshold")
    return [
        Hit("window", {"value": what, "line": line, "below": below, "above": above, "further": further})
        for what, line, below, above, further in near
        if max(at_least(below, below + other, 0.5) for other in (above, further)) < UNLIKELY
    ]
