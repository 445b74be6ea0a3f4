"""E taken apart: the sum behind it, per heal and by loop, why the two differ, which heals it leaves out, and what a real point cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from seam_core import costs
from seam_core.inputs import FOUR_SCORES
from seam_core.intervals import Interval, clustered
from seam_core.report import Audit
from seam_core.settings import Settings
from seam_core.summary import score_text
from seam_core.words import capital, count, listed, percent, points

TOLERANCE = 1e-9

# none: no gap, E is 1; part: E falls with the gap; full: the gap is gap_max or more, E is 0.
BANDS = """
select case when truth_gap <= 1e-9 then 'none' when truth_gap < $gap_max - 1e-9 then 'part' else 'full' end as band,
       list(truth_gap), list({value})
from {table}
group by band
"""

# The mean of each loop's heals; and loops that score less, or more, from their first score to their last than that mean.
LOOPS = """
with inside as (select loop_id, avg(e_heal) as e from efficacy_rows group by loop_id)
select list(i.e) filter (i.loop_id is not null), count(*) filter (n.e_loop < i.e - 1e-9), count(*) filter (n.e_loop > i.e + 1e-9),
       count(*) filter (n.loop_id is not null and i.loop_id is null),
       count(*) filter (n.first_ts <= (select start from span))
from efficacy_loops n full join inside i using (loop_id)
"""

COPIED = "select count(*), count(distinct loop_id) from efficacy_rows where holdout_scope = 'loop'"

LEFT_OUT = f"""
select {", ".join(f"{key} is null" for key in FOUR_SCORES)}, count(*), arg_max(heal_id, (ts, heal_id))
from window_heals
where {" or ".join(f"{key} is null" for key in FOUR_SCORES)}
group by all
order by count(*) desc, {", ".join(f"{key} is null" for key in FOUR_SCORES)}
"""

# Tokens of the loops whose tokens and gains are known, and of those whose held-out score did not gain a whole point.
SPENT = """
select sum(tokens_spent), sum(tokens_spent) filter (round(round(100 * (holdout_after - holdout_before), 6)) < 1),
       count(*), count(*) filter (round(round(100 * (holdout_after - holdout_before), 6)) < 1)
from efficacy_loops where tokens_spent is not null
"""


@dataclass(frozen=True)
class Sum:
    """A mean of 1 − min(gap ÷ gap_max, 1) as the sum it is. Counts of items without a gap, with a part of E left, and with none."""

    n: int
    n_none: int
    n_part: int
    n_full: int
    part_gap: float  # the gaps of the items in between, added up
    part_total: float  # their E, added up
    mean: float | None

    @property
    def total(self) -> float:
        """All E added up."""
        return self.n_none + self.part_total


@dataclass(frozen=True)
class Apart:
    """E per heal and by loop, each as a sum; `loops_mean` counts each loop once with the mean of its heals; `why` they differ."""

    gap_max: float
    heals: Sum
    loops: Sum
    loops_mean: float | None
    why: tuple[str, ...]
    loops_range: Interval | None = None  # of E by loop


@dataclass(frozen=True)
class LeftOut:
    """Heals that lack the same scores: which, how many, and the newest of them."""

    missing: tuple[str, ...]
    n_heals: int
    newest: str


@dataclass(frozen=True)
class Cost:
    """Tokens per real point (None when not known), and sentences on it."""

    per_point: float | None
    sentences: tuple[str, ...]


def take_apart(audit: Audit) -> Apart:
    """The score as two sums side by side. Filters never touch it."""
    heals = _sum(audit, "efficacy_rows", "e_heal")
    loops = _sum(audit, "efficacy_loops", "e_loop")
    means, n_worse, n_better, n_only, n_earlier = audit.scope.one(LOOPS)
    once = math.fsum(means) / len(means) if means else None
    why = _weights(heals, once) + _spans(loops, once, n_worse, n_better) + _copied(audit)
    if n_only:
        why.append(f"{count(n_only, 'loop counts', 'loops count')} by loop only: no single heal of {_its(n_only)} has all four scores.")
    if n_earlier:
        why.append(
            f"{count(n_earlier, 'loop')} began before the window; by loop {_it_is(n_earlier)} measured from {_its_own(n_earlier)} start."
        )
    (values,) = audit.scope.columns("select e_loop from efficacy_loops")
    return Apart(audit.settings.gap_max, heals, loops, once, tuple(why), clustered([(value, 1) for value in sorted(values)]))


def left_out(audit: Audit) -> tuple[LeftOut, ...]:
    """Which of the four scores the heals without E lack, most frequent first."""
    rows = audit.scope.query(LEFT_OUT)
    return tuple(LeftOut(tuple(key for key, lacks in zip(FOUR_SCORES, row, strict=False) if lacks), row[4], row[5]) for row in rows)


def cost(audit: Audit) -> Cost:
    """What a real point cost, and how much was spent where held-out scores did not gain one."""
    per_point = costs.cost_per_real_point(audit)
    said = costs.cost_sentence(audit)
    sentences = [f"{capital(said)}."]
    tokens, idle_tokens, n_loops, n_idle = audit.scope.one(SPENT)
    if tokens and n_idle:
        share = f"{percent(round(idle_tokens), round(tokens))} of them" if idle_tokens < tokens else "all of them"
        which = f"{n_idle:,} of {count(n_loops, 'loop')}"
        sentences.append(f"{count(round(idle_tokens), 'token')}, {share}, went into {which} whose held-out score gained no whole point.")
    return Cost(per_point, tuple(sentences))


def _sum(audit: Audit, table: str, value: str) -> Sum:
    rows = audit.scope.query(BANDS.format(table=table, value=value), gap_max=audit.settings.gap_max)
    bands = {band: (gaps, values) for band, gaps, values in rows}
    gaps, values = bands.get("part", ((), ()))
    n_none, n_full = (len(bands[band][0]) if band in bands else 0 for band in ("none", "full"))
    n = n_none + len(gaps) + n_full
    total = math.fsum(values)
    return Sum(n, n_none, len(gaps), n_full, math.fsum(gaps), total, (n_none + total) / n if n else None)


def _weights(heals: Sum, once: float | None) -> list[str]:
    if heals.mean is None or once is None or f"{heals.mean:.2f}" == f"{once:.2f}":
        return []
    weigh = "so loops of many cycles do better here" if heals.mean > once else "so loops of many cycles do worse here"
    return [f"Counting each loop once, with the mean of its heals, gives {once:.2f} instead of {heals.mean:.2f}, {weigh}."]


def _spans(loops: Sum, once: float | None, n_worse: int, n_better: int) -> list[str]:
    if loops.mean is None or once is None or not (n_worse or n_better):
        return []
    fewer = f"{count(n_worse, 'loop scores', 'loops score')} less than the mean of {_its_own(n_worse)} heals"
    worse = f"{fewer} (gaps of single cycles add up, or cycles without one dilute that mean)"
    better = f"{count(n_better, 'loop scores', 'loops score')} more (gaps of single cycles cancel out)"
    said = listed([*([worse] if n_worse else []), *([better] if n_better else [])])
    before = f" instead of {once:.2f}" if f"{once:.2f}" != f"{loops.mean:.2f}" else ""
    return [f"Measured from its first score to its last, a loop scores {loops.mean:.2f} on average{before}: {said}."]


def _copied(audit: Audit) -> list[str]:
    n_heals, n_loops = audit.scope.one(COPIED)
    if not n_heals:
        return []
    carry = f"{count(n_heals, 'heal carries', 'heals carry')} a held-out pair that was measured once for {_its_own(n_loops)} whole loop"
    return [f"{carry} ({count(n_loops, 'loop')}): per heal it is held against each cycle's own visible gain, by loop against the loop's."]


def _its(n: int) -> str:
    return "it" if n == 1 else "them"


def _its_own(n: int) -> str:
    return "its" if n == 1 else "their"


def _it_is(n: int) -> str:
    return "it is" if n == 1 else "they are"


def formula(one: Sum, settings: Settings) -> str:
    """The sum in figures that a reader can redo: (119 + 104 − 6.58 ÷ 0.25) ÷ 223 = 0.88."""
    if one.mean is None:
        return "nothing to add up"
    terms = [f"{one.n_none:,}"] if one.n_none else []
    terms += [f"{one.n_part:,} − {_digits(one.part_gap)} ÷ {_digits(settings.gap_max)}"] if one.n_part else []
    terms += [f"{one.n_full:,} × 0"] if one.n_full else []
    total = " + ".join(terms)
    total = total if total.isdigit() else f"({total})"
    return f"{total} ÷ {one.n:,} = {score_text(one.mean, line=settings.alert_e)}"


def _digits(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def bands(one: Sum, settings: Settings) -> list[tuple[str, int, float]]:
    """The same as rows of (truth gap in words, items, their E added up)."""
    line = count(points(settings.gap_max), "point")
    return [
        ("none", one.n_none, float(one.n_none)),
        (f"less than {line}", one.n_part, round(one.part_total, 2)),
        (f"{line} or more", one.n_full, 0.0),
        ("all", one.n, round(one.total, 2)),
    ]
