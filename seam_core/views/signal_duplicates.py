"""Signatures of the Signal page that are probably one failure written in several ways, what speaks for it, and what is still to decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rapidfuzz import fuzz

from seam_core import signatures
from seam_core.merges import Merges
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
select f.place, h.failure_signature as healed_as, f.failure_signature as back_as, h.ts as healed_ts, f.ts
from failed f asof join healed h on f.place = h.place and f.ts > h.ts
where f.failure_signature <> h.failure_signature and f.ts - h.ts <= $follow_up
"""

# What speaks for and against each name of one suggestion.
NAMES = """
with healed as (
    select failure_signature, count(*) as n_heals, count(*) filter (was_real_failure) as n_real, min(ts) as first_ts, max(ts) as last_ts
    from window_heals where failure_signature in (select unnest($names)) group by failure_signature
),
failed as (
    select failure_signature, count(*) as n_failures, min(ts) as first_ts, max(ts) as last_ts
    from failures
    where failure_signature in (select unnest($names)) and ts > (select start from span)
      and ts <= (select stop from span) + $follow_up
    group by failure_signature
)
select failure_signature, coalesce(h.n_heals, 0), coalesce(h.n_real, 0), coalesce(f.n_failures, 0),
       least(h.first_ts, f.first_ts), greatest(h.last_ts, f.last_ts)
from healed h full join failed f using (failure_signature)
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
    scope.keep("signal_view_crossed", CROSSED, follow_up=follow_up)
    crossed = dict(scope.query("select place, count(*) from signal_view_crossed group by place"))
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


def open_suggestions(found: Duplicates, merges: Merges) -> tuple[dict[str, Any], ...]:
    """The likely duplicates that people have not settled yet: of each the first name, and those of the others that are still to decide."""
    rows = []
    for row in found.rows:
        others = tuple(name for name in row["others"] if not merges.is_settled(row["signature"], name))
        if others:
            rows.append(row | {"others": others, "n": len(others) + 1})
    return tuple(rows)


def compare_names(audit: Audit, names: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Each of some signatures beside the first: how often it was healed and failed, from when to when, and how alike the two are."""
    seen = {
        row[0]: row[1:] for row in audit.scope.query(NAMES, names=list(names), follow_up=timedelta(days=audit.settings.recurrence_days))
    }
    has_log = audit.scope.store.has("failures")
    rows = []
    for name in names:
        n_heals, n_real, n_failures, first, last = seen.get(name, (0, 0, 0, None, None))
        alike, plain = round(fuzz.ratio(names[0], name)), signatures.normalise(name).text
        rows.append(
            {
                "signature": name, "heals": n_heals, "real": n_real, "failures": n_failures if has_log else None,
                "alike": alike, "plain": plain, "first": first, "last": last,
            }
        )  # fmt: skip
    return tuple(rows)


def renamed(audit: Audit) -> frozenset[str]:
    """Signatures that were healed and, by a suggestion, came back under another name within the days that S uses."""
    find_duplicates(audit)
    return frozenset(name for (name,) in audit.scope.query("select distinct healed_as from signal_view_crossed"))
