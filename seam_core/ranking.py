"""How bad each heal of a window is: the one ranking behind Week's list and the review queue.

Everything that can be found about a heal has a rank, 0 the worst; the heal takes the worst of its ranks. Within a rank the harm
decides, then how many things were found. A heal of which nothing was found has no row here.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from seam_core.report import Audit

Severity = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "high", "medium", "medium", "medium", "medium", "low", "low")  # by rank

GAIN_POINTS = "round(round(100 * visible_gain, 6)) - round(round(100 * holdout_gain, 6))"

# One row per heal with something found: its worst rank, the axis that harms, how much within the rank, how many things and which.
RANKED = f"""
with found (heal_id, rank, kind, axis, harm) as (
    select heal_id, 0, 'safety', 'A', n_safety from aftermath_rows where n_safety > 0
    union all select heal_id, 0, 'blocked', 'gate', 0 from blocked_rows
    union all select unnest(heals), 1, 'copied', 'E', coverage from contamination_rows where contaminated
    union all
    select heal_id, case when e_heal < $alert_e - 1e-9 then 2 else 8 end, 'gap', 'E', 1 - e_heal
    from efficacy_rows where {GAIN_POINTS} >= 1 and e_heal < 1
    union all
    select heal_id, case when a_heal < $alert_a - 1e-9 then 2 else 8 end, 'regression', 'A', 1 - a_heal
    from aftermath_rows where n_regressed > 0
    union all
    select heal_id, 3, 'revisit', 'M', count(*) from revisit_rows r join window_heals h on h.row = r.later_row group by heal_id
    union all select heal_id, 4, 'not real', 'S', 1 from window_heals where not was_real_failure
    union all
    select heal_id, 2, 'gap', 'E', visible_after - holdout_after from half_scored
    union all
    select heal_id, 5, 'came back', 'S', 1 from came_back
    union all
    select heal_id, case verdict when 'escalated' then 6 else 7 end, 'budget', 'budget', ratio
    from budget_rows where verdict in ('elevated', 'escalated')
)
select heal_id, min(rank) as rank, arg_min(axis, (rank, -harm)) as axis, count(*) as n_found,
       round(arg_min(harm, (rank, -harm)), 6) as harm, list(distinct kind) as kinds
from found group by heal_id
"""

# Over rows of RANKED joined with their heals; heals of which nothing was found come last.
WORST_FIRST = "rank nulls last, harm desc, n_found desc, ts, heal_id"

# What may be found about a heal.
KINDS = ("safety", "blocked", "copied", "gap", "regression", "revisit", "not real", "came back", "budget")

# The last heal of each loop on a signature, where that failed again (or, without a failure log, another loop healed it again) within
# the days after the loop's very last heal, wherever the window ends.
CAME_BACK = """
with ends as (select loop_id, max(ts) as last_ts from heals semi join window_heals using (loop_id) group by loop_id),
closed as (
    select failure_signature, loop_id, last(heal_id order by ts, heal_id) as heal_id, any_value(last_ts) as last_ts
    from window_heals join ends using (loop_id)
    group by failure_signature, loop_id
),
again as ({again})
select distinct c.heal_id
from closed c asof join again a on a.failure_signature = c.failure_signature and c.last_ts < a.ts
where a.ts - c.last_ts <= $follow_up
"""
FAILED_AGAIN = "select failure_signature, ts from following"
HEALED_AGAIN = """
    select failure_signature, ts from heals anti join blocked using (row)
    where ts > (select start from span) and ts <= (select stop from span) + $follow_up
"""

# The loop's metric says done, the held-out score says nothing works, and without all four scores no gap is known.
HALF_SCORED = """
select heal_id, visible_after, holdout_after, holdout_scope from window_heals
where visible_after >= 0.99 and holdout_after <= 0.01 and (visible_before is null or holdout_before is null)
"""


def prepare_ranking(audit: Audit) -> dict[str, float]:
    """Keep what RANKED reads besides the axes' own tables: ``came_back`` and ``half_scored``. Returns the values to bind."""
    scope = audit.scope
    again = FAILED_AGAIN if scope.store.has("failures") else HEALED_AGAIN
    scope.keep("came_back", CAME_BACK.format(again=again), follow_up=timedelta(days=audit.settings.recurrence_days))
    scope.keep("half_scored", HALF_SCORED)
    return {"alert_e": audit.settings.alert_e, "alert_a": audit.settings.alert_a}
