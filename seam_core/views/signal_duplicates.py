"""Signatures of the Signal page that are probably one failure written in several ways, with what speaks for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from seam_core import signatures
from seam_core.report import Audit
from seam_core.scope import insert_rows

COMPARED_MAX = 20_000  # signatures looked at, the most frequent ones
SUGGESTED_MAX = 200  # suggestions shown, the surest ones

FREQUENCY = """
with seen as (
    select failure_signature, count(*) as n_heals, 0 as n_failures from window_heals group by failure_signature
    union all
    select failure_signature, 0, count(*) from failures
    where ts > (select start from span) and ts <= (select stop from span) + $follow_up
    group by failure_signature
)
select failure_signature, sum(n_heals)::bigint as heals, sum(n_failures)::bigint as failures, count(*) over () as n_all
from seen group by failure_signature
order by heals + failures desc, failure_signature
limit $most
"""

# Failures under one name within the days after a heal of its likely duplicate, where the same name had not been healed meanwhile.
CROSSED = """
with healed as (
    select m.place, h.failure_signature, h.ts from window_heals h join signal_view_alike m using (failure_signature)
),
failed as (
    select m.place, f.failure_signature, f.ts from failures f join signal_view_alike m using (failure_signature)
    where f.ts > (select start from span) and f.ts <= (select stop from span) + $follow_up
)
select f.place, count(*)
from failed f asof join healed h on f.place = h.place and f.ts > h.ts
where f.failure_signature <> h.failure_signature and f.ts - h.ts <= $follow_up
group by f.place
"""


@dataclass(frozen=True)
class Duplicates:
    """Likely duplicates as rows of a table, each with the signatures that may be one; and what was not compared."""

    rows: tuple[dict[str, Any], ...]
    n_found: int
    n_left_out: int


def find_duplicates(audit: Audit) -> Duplicates:
    """Signatures that are probably one failure written in several ways. They are not merged: S counts them as they were logged."""
    scope, follow_up = audit.scope, timedelta(days=audit.settings.recurrence_days)
    seen = {row[0]: row[1:] for row in scope.query(FREQUENCY, follow_up=follow_up, most=COMPARED_MAX)}
    found = signatures.suggest({name: n_heals + n_failures for name, (n_heals, n_failures, _) in seen.items()})
    shown = found.found[:SUGGESTED_MAX]
    scope.query("create or replace temp table signal_view_alike (place integer, failure_signature varchar)")
    pairs = [(place, name) for place, one in enumerate(shown) for name in one.signatures]
    insert_rows(scope, "signal_view_alike", "place, failure_signature", pairs)
    has_log = scope.store.has("failures")
    crossed = dict(scope.query(CROSSED, follow_up=follow_up)) if has_log else {}
    rows = []
    for place, one in enumerate(shown):
        n_heals, n_failures = (sum(seen[name][column] for name in one.signatures) for column in (0, 1))
        rows.append(
            {
                "signature": one.signatures[0], "others": one.signatures[1:], "reason": one.reason, "n": len(one.signatures),
                "heals": n_heals, "failures": n_failures if has_log else None, "crossed": crossed.get(place, 0) if has_log else None,
            }
        )  # fmt: skip
    n_all = next(iter(seen.values()))[2] if seen else 0
    return Duplicates(tuple(rows), len(found.found), n_all - found.n_compared)
