"""M, monotonicity: did the loop converge, or wander?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from seam_core.revisits import Bar, Pairs, Revisits
from seam_core.scope import Scope, insert_rows
from seam_core.similarity import LONG_TEXT
from seam_core.words import count

TOLERANCE = 1e-9
DIP_COST, REVISIT_COST, CAP_COST = 0.4, 0.4, 0.2

# Which number each loop's curve is made of; held-out scores only where they were measured per cycle.
LOOP_BASIS = """
select loop_id, count(*) as n_cycles, min(ts) as first_ts, max(ts) as last_ts,
       case
           when count(score) = count(*) then 'score'
           when count(holdout_after) = count(*) and not coalesce(bool_or(holdout_scope = 'loop'), false)
               and not (count(*) >= 2 and count(holdout_before) = count(*)
                        and min(holdout_before) = max(holdout_before) and min(holdout_after) = max(holdout_after)) then 'holdout'
           when count(visible_after) = count(*) then 'visible'
       end as basis
from loop_heals
group by loop_id
"""

# A heal's position in its loop counts, not its cycle number: logs have gaps and repeats. Loops of one cycle can neither dip nor return.
# `before_row`: the cycle before, where that left a text on the same target.
CYCLES = """
with cycles as (
    select h.row, h.loop_id, h.cycle, h.ts, h.heal_id, h.level >= 1 as mutates, case when h.has_after_text then h.target end as target,
           case b.basis when 'score' then h.score when 'holdout' then h.holdout_after when 'visible' then h.visible_after end as value
    from loop_heals h join loop_basis b using (loop_id)
    where b.n_cycles > 1
)
select row, loop_id, (row_number() over so_far)::integer as position, value, mutates, target,
       value < lag(value) over so_far - 1e-9 as is_dip,
       case when target = lag(target) over so_far then lag(row) over so_far end as before_row
from cycles
window so_far as (partition by loop_id order by cycle, ts, heal_id)
"""

DIPS = "select loop_id, count(*) as dips from cycles where is_dip group by loop_id"

# Pairs of positions whose texts may be a revisit, in the order in which the texts were logged.
PAIRS = """
with candidates as (select * from cycles where mutates and target is not null)
select later.loop_id, earlier.position as earlier, later.position as later, earlier.row as earlier_row, later.row as later_row,
       later.before_row
from candidates later
join candidates earlier on earlier.loop_id = later.loop_id and earlier.target = later.target
    and later.position - earlier.position between 2 and $window
order by later.row, earlier.position
"""

# Loop by loop in the order of the log.
REVISIT_ROWS = """
with found as (from found_revisits f join revisit_pairs p on p.rowid = f.place),
starts as (
    select loop_id, min(row) as first_row from cycles semi join found using (loop_id)
    where mutates and target is not null
    group by loop_id
)
select loop_id, earlier, later, earlier_row, later_row, idle, similarity
from found join starts using (loop_id)
order by first_row, loop_id, later, earlier
"""

LOOP_ROWS = """
with found as (
    select loop_id, count(*) filter (not idle) as returned, count(*) filter (idle) as idle from revisit_rows group by loop_id
)
select b.loop_id, b.n_cycles, b.first_ts, b.last_ts, b.basis, coalesce(d.dips, 0) as dips,
       greatest(0, coalesce(d.dips, 0) - $free_dips) as extra_dips, coalesce(f.returned, 0) as returned, coalesce(f.idle, 0) as idle,
       b.n_cycles >= $depth_cap as capped
from loop_basis b left join found f using (loop_id) left join dips d using (loop_id)
order by b.first_ts, b.loop_id
"""

# What a loop's score is made of, and how many loops are made of the same.
KINDS = "select basis, extra_dips, returned, idle, capped, count(*) from loop_rows group by all"


@dataclass(frozen=True)
class Monotonicity:
    """The axis and its parts; counts are loops, except extra_dips, returned and idle, which add up over loops."""

    score: float | None
    reason: str | None
    n: int
    left_out: int
    extra_dips: int
    returned: int
    idle: int
    capped: int
    basis: dict[str, int]


def begin(scope: Scope) -> Pairs:
    """The pairs of texts that may be revisits, by the row of the later one."""
    scope.keep("loop_basis", LOOP_BASIS)
    scope.keep("cycles", CYCLES)
    scope.keep("dips", DIPS)
    scope.keep("revisit_pairs", PAIRS, window=scope.settings.revisit_window)
    return Pairs(*scope.numbers("select rowid, earlier_row, later_row, coalesce(before_row, -1) from revisit_pairs order by rowid"))


def bar_of(scope: Scope) -> Bar:
    """From where on two texts are a revisit."""
    return Bar(scope.settings.similarity_min, scope.settings.similarity_method, scope.settings.paraphrase_min)


def score(scope: Scope, parts: Sequence[Revisits]) -> Monotonicity:
    """Monotonicity over the loops touched in the window. Keeps ``loop_rows`` and ``revisit_rows``.

    Source: docs/method.md, Monotonicity. A loop of which no score covers every cycle is left out.
    """
    settings = scope.settings
    scope.con.execute("create or replace temp table found_revisits (place bigint, idle boolean, similarity double)")
    insert_rows(scope, "found_revisits", "place, idle, similarity", (one for part in parts for one in part.found))
    scope.keep("revisit_rows", REVISIT_ROWS)
    if n_long := sum(part.n_long for part in parts):
        pairs = f"{count(n_long, 'pair')} of texts over {LONG_TEXT:,} characters"
        scope.flags["M"].append(f"{pairs} {'was' if n_long == 1 else 'were'} compared by lines")
    scope.keep("loop_rows", LOOP_ROWS, free_dips=settings.free_dips, depth_cap=settings.depth_cap)
    kinds = scope.query(KINDS)
    scored = [kind for kind in kinds if kind[0] is not None]
    n_loops, n = sum(kind[-1] for kind in kinds), sum(kind[-1] for kind in scored)
    basis = {name: sum(kind[-1] for kind in kinds if kind[0] == name) for name in ("score", "holdout", "visible")}
    values = chain.from_iterable(repeat(loop_score(dips, back + idle, capped=capped), many) for _, dips, back, idle, capped, many in scored)
    extra_dips, returned, idle, capped = (sum(kind[at] * kind[-1] for kind in scored) for at in range(1, 5))
    reason = None if scored else "no heal in the window" if not kinds else "no loop has a score for every cycle"
    return Monotonicity(math.fsum(values) / n if n else None, reason, n, n_loops - n, extra_dips, returned, idle, capped, basis)


def loop_score(extra_dips: int, revisits: int, *, capped: bool) -> float:
    """M of one loop, in [0, 1]: 1 less 0.4 an extra dip, 0.4 a revisit and 0.2 for reaching the depth cap."""
    return min(1.0, max(0.0, 1 - DIP_COST * extra_dips - REVISIT_COST * revisits - CAP_COST * capped))
