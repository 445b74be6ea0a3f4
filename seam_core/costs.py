"""What a real point cost, and for how many heals the cost is not known."""

from __future__ import annotations

from seam_core.report import Audit
from seam_core.words import count, points

# Only loops whose tokens and whose four scores are both known: cost and gain must speak of the same work.
COST = """
select sum(tokens_spent), sum(holdout_after - holdout_before) from efficacy_loops where tokens_spent is not null
"""


def cost_per_real_point(audit: Audit) -> float | None:
    """Tokens spent for one held-out point gained, over the loops that log both; None when no tokens or no gain."""
    tokens, gain = _cost(audit)
    return tokens / (100 * gain) if tokens and gain is not None and points(gain) >= 1 else None


def cost_sentence(audit: Audit) -> str:
    """What a real point cost, or why that cannot be said."""
    tokens, gain = _cost(audit)
    cost = cost_per_real_point(audit)
    if cost is not None and gain is not None and tokens is not None:
        return f"{count(round(tokens), 'token')} for {count(points(gain), 'held-out point')}, added up over loops"
    if tokens is None or gain is None:
        return "no loop logs both tokens_spent and all four scores"
    if not tokens:
        return "no tokens were spent"
    lost = f"fell by {count(-points(gain), 'point')}" if points(gain) < 0 else "did not gain a whole point"
    return f"{count(round(tokens), 'token')} were spent and held-out scores {lost}, added up over loops"


def _cost(audit: Audit) -> tuple[float | None, float | None]:
    with audit.scope.store.lock:
        tokens, gain = audit.scope.one(COST)
    return tokens, gain


def budget_unknown(audit: Audit) -> str | None:
    """For how many heals the budget ratio is unknown; None when it is known for all."""
    unknown, scored = audit.budget.unknown, audit.counts["scored"]
    if not unknown:
        return None
    return f"tokens_spent or task_tokens is missing on {'all ' if unknown == scored else f'{unknown:,} of '}{count(scored, 'heal')}"
