"""One loop's story: its cycles, what its score is made of, what it cost, and the loops before and after it on the same failure.

A loop of the window is judged as the window judges it. Any other loop of the log can be opened, too: it is judged by the same steps as
of its own last heal, and says that it has no part in the window's score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from seam_core.axes import monotonicity
from seam_core.axes.efficacy import LOOP_GAPS
from seam_core.axes.monotonicity import CAP_COST, DIP_COST, REVISIT_COST, loop_score
from seam_core.errors import SeamError
from seam_core.gates import Gate
from seam_core.report import Audit
from seam_core.revisits import compare
from seam_core.scope import Scope, open_scope
from seam_core.views.loop_cycles import Cycle, read_cycles, read_revisits
from seam_core.views.loop_events import Measured, Revisit
from seam_core.window import Window
from seam_core.words import cut, points

NEAR = 10  # loops on the same failure shown on either side
ARCS = 1_000  # returns told one by one; a loop that swings for a thousand cycles may have thousands

WHOLE = """
select count(*), min(ts), max(ts), count(*) filter (ts > (select stop from span)),
       count(*) filter (ts > (select start from span) and ts <= (select stop from span))
from heals where loop_id = $loop_id
"""
JUDGED = "select basis, dips, extra_dips, returned, idle, capped, n_cycles from loop_rows where loop_id = $loop_id"
GAP = """
select e_loop, visible_before, visible_after, holdout_before, holdout_after from efficacy_loops where loop_id = $loop_id
"""

NEIGHBOURS = """
with mine as (select distinct failure_signature from heals where loop_id = $loop_id),
others as (
    select loop_id, min(ts) as first_ts, max(ts) as last_ts, count(*) as n_heals,
           first(holdout_before order by cycle, ts, heal_id) filter (holdout_before is not null) as holdout_before,
           last(holdout_after order by cycle, ts, heal_id) filter (holdout_after is not null) as holdout_after
    from heals semi join mine using (failure_signature)
    where loop_id <> $loop_id
    group by loop_id
),
sided as (
    select *, (first_ts, loop_id) < ($first_ts, $loop_id) as is_before,
           row_number() over (partition by is_before order by abs(epoch(first_ts) - epoch($first_ts::timestamptz)), loop_id) as nearness,
           count(*) over (partition by is_before) as n_side
    from others
)
select o.loop_id, o.first_ts, o.last_ts, o.n_heals, o.holdout_before, o.holdout_after, o.is_before, o.n_side,
       r.extra_dips, r.returned + r.idle, r.capped, r.basis is not null
from sided o left join loop_rows r using (loop_id)
where o.nearness <= $near
order by o.first_ts, o.loop_id
"""

SEEN_AGAIN = """
select count(*), min(ts) from failures
where ts > $last_ts and failure_signature in (select failure_signature from heals where loop_id = $loop_id)
"""


class NoSuchLoopError(SeamError):
    """An address names a loop that the log does not hold."""


@dataclass(frozen=True)
class Sum:
    """M of the loop as the sum that it is; `value` is `raw` held between 0 and 1."""

    basis: str
    n_cycles: int
    dips: int
    free_dips: int
    extra_dips: int
    returned: int
    idle: int
    capped: bool
    depth_cap: int

    @property
    def revisits(self) -> int:
        """Pairs of positions that count."""
        return self.returned + self.idle

    @property
    def raw(self) -> float:
        """The sum before it is held between 0 and 1."""
        return round(1 - DIP_COST * self.extra_dips - REVISIT_COST * self.revisits - CAP_COST * self.capped, 9) + 0.0

    @property
    def value(self) -> float:
        """M of the loop."""
        return loop_score(self.extra_dips, self.revisits, capped=self.capped)


@dataclass(frozen=True)
class Arc:
    """A return from one run of identical texts to an earlier one: the first pair of positions that shows it, and how many there are."""

    earlier: int
    later: int
    similarity: float
    n_pairs: int

    @property
    def pair(self) -> str:
        """As it stands in the address."""
        return f"{self.earlier}-{self.later}"


@dataclass(frozen=True)
class Still:
    """Neighbouring positions whose text did not leave: the same throughout, or changed by next to nothing from one to the next."""

    first: int
    last: int
    is_same: bool


@dataclass(frozen=True)
class Gain:
    """The loop as one item: from its first scores to its last ones, in [0, 1]; None what was never logged."""

    e_loop: float | None
    visible: tuple[float | None, float | None]
    held_out: tuple[float | None, float | None]


@dataclass(frozen=True)
class Neighbour:
    """Another loop on the same failure. `score` is its M where the window scores it."""

    loop_id: str
    first_ts: datetime
    last_ts: datetime
    n_heals: int
    holdout_before: float | None
    holdout_after: float | None
    is_before: bool
    score: float | None


@dataclass(frozen=True)
class Story:
    """Everything about one loop."""

    loop_id: str
    in_window: bool
    n_later: int  # heals of the loop after the window's end, which it is not judged by
    first_ts: datetime
    last_ts: datetime
    signatures: tuple[str, ...]
    cycles: tuple[Cycle, ...]
    measured: Measured
    sum: Sum | None
    arcs: tuple[Arc, ...]  # in order; the most alike where there are too many to tell
    n_arcs: int
    still: tuple[Still, ...]
    n_returns: int  # pairs that count as revisits because a text came back; the others because it never left
    depth_cap: int
    gain: Gain
    neighbours: tuple[Neighbour, ...]
    n_before: int
    n_after: int
    seen_again: int | None  # failures of these signatures after the loop's last heal; None without a failure log
    seen_first: datetime | None
    taken: tuple[Cycle, ...] = field(default=(), compare=False)  # the cycles that have a position

    @property
    def n_cycles(self) -> int:
        """Cycles up to the last one known here."""
        return self.taken[-1].position or 0 if self.taken else 0

    @property
    def n_blocked(self) -> int:
        """Heals that the boundary gate stopped."""
        return len(self.cycles) - len(self.taken)

    @property
    def tokens(self) -> tuple[int | None, int]:
        """(tokens of the cycles that log them, how many do); None when none does."""
        known = [one.tokens for one in self.taken if one.tokens is not None]
        return (sum(known) if known else None), len(known)

    @property
    def cost_per_point(self) -> float | None:
        """Tokens for one real point; None when either is not known or less than a point was gained."""
        tokens, n_known = self.tokens
        before, after = self.gain.held_out
        if tokens is None or n_known < len(self.taken) or before is None or after is None or points(after - before) < 1:
            return None
        return tokens / (100 * (after - before))


def story(audit: Audit, loop_id: str) -> Story:
    """Everything about one loop of the log, in the window or not.  Raises NoSuchLoopError."""
    with audit.scope.store.lock:
        n_heals, first_ts, last_ts, n_after_window, n_inside = audit.scope.one(WHOLE, loop_id=loop_id)
        if not n_heals:
            raise NoSuchLoopError(f"There is no loop {cut(loop_id)} in the log; look at its id, or choose one in the list.")
        with scope_of(audit, loop_id) as (scope, is_judged):
            judged = scope.query(JUDGED, loop_id=loop_id)
            revisits, near_before = read_revisits(scope, loop_id)
            cycles, measured = read_cycles(scope, loop_id, judged[0][0] if judged else None, revisits, near_before)
            gap = scope.query(GAP, loop_id=loop_id)
        near, n_before, n_after = _neighbours(audit.scope, loop_id, first_ts)
        again, again_first = (None, None)
        if audit.scope.store.has("failures"):
            again, again_first = audit.scope.one(SEEN_AGAIN, loop_id=loop_id, last_ts=cycles[-1].ts)
    taken = tuple(one for one in cycles if one.position is not None)
    arcs = arcs_of(revisits, [one.run for one in taken])
    return Story(
        loop_id=loop_id,
        in_window=n_inside > 0,
        n_later=n_after_window if is_judged else 0,
        first_ts=first_ts,
        last_ts=max(one.ts for one in cycles) if cycles else last_ts,
        signatures=tuple(dict.fromkeys(one.signature for one in cycles)),
        cycles=cycles,
        measured=measured,
        sum=_sum(audit, judged),
        arcs=most_alike(arcs, ARCS),
        n_arcs=len(arcs),
        still=tuple(still_of(taken)),
        n_returns=sum(one.is_return for one in revisits),
        depth_cap=audit.settings.depth_cap,
        gain=_gain(gap, taken),
        neighbours=near,
        n_before=n_before,
        n_after=n_after,
        seen_again=again,
        seen_first=again_first,
        taken=taken,
    )


@contextmanager
def scope_of(audit: Audit, loop_id: str) -> Iterator[tuple[Scope, bool]]:
    """The audit's scope and True where it judges the loop; else a scope of the loop alone, up to its last heal, and False."""
    if audit.scope.query("select 1 from loop_rows where loop_id = $loop_id", loop_id=loop_id):
        yield audit.scope, True
        return
    last = audit.scope.one("select max(ts) from heals where loop_id = $loop_id", loop_id=loop_id)[0]
    scope = open_scope(audit.scope.store, Window(None, last), audit.settings)
    try:
        scope.keep("asked", "select row from heals where loop_id = $loop_id", loop_id=loop_id)
        Gate(scope).stop("select row from asked")
        for name in ("window_heals", "loop_heals"):
            scope.keep(name, "select h.* from heals h semi join asked using (row) anti join blocked using (row)")
        monotonicity.score(scope, [compare(scope.edits, monotonicity.begin(scope), monotonicity.bar_of(scope))])
        scope.keep("efficacy_loops", LOOP_GAPS, gap_max=audit.settings.gap_max)
        yield scope, False
    finally:
        scope.close()


def arcs_of(revisits: Sequence[Revisit], run_of: Sequence[int]) -> list[Arc]:
    """Returns, in order, between runs of identical texts: a text that comes back and stays is one return, not one for each cycle."""
    found: dict[tuple[int, int], list[Revisit]] = {}
    for one in revisits:
        ends = (run_of[one.earlier - 1], run_of[one.later - 1])
        if one.is_return and ends[0] != ends[1]:
            found.setdefault(ends, []).append(one)
    arcs = []
    for pairs in found.values():
        first = min(pairs, key=lambda one: (one.later, -one.earlier))
        arcs.append(Arc(first.earlier, first.later, first.similarity, len(pairs)))
    return sorted(arcs, key=lambda arc: (arc.later, arc.earlier))


def still_of(taken: Sequence[Cycle]) -> Iterator[Still]:
    """Stretches in which each text is all but the one before it."""
    first = 1
    for position, one in enumerate([*taken, None], 1):
        if one is not None and one.is_still:
            continue
        if position - 1 > first:
            yield Still(first, position - 1, len({other.run for other in taken[first - 1 : position - 1]}) == 1)
        first = position


def most_alike(arcs: Sequence[Arc], n: int) -> tuple[Arc, ...]:
    """At most so many returns, the most alike, in order."""
    most = sorted(arcs, key=lambda arc: (-arc.similarity, arc.later, arc.earlier))[:n]
    return tuple(sorted(most, key=lambda arc: (arc.later, arc.earlier)))


def _sum(audit: Audit, judged: list[tuple[Any, ...]]) -> Sum | None:
    if not judged or judged[0][0] is None:
        return None
    basis, dips, extra, returned, idle, capped, n_cycles = judged[0]
    return Sum(basis, n_cycles, dips, audit.settings.free_dips, extra, returned, idle, capped, audit.settings.depth_cap)


def _gain(found: list[tuple[float, ...]], taken: Sequence[Cycle]) -> Gain:
    """From the scored loop, else from what its heals log."""
    if found:
        e_loop, *four = found[0]
        return Gain(e_loop, (four[0], four[1]), (four[2], four[3]))
    seen = [(one.visible_before, one.visible_after) for one in taken]
    real = [(one.holdout_before, one.holdout_after) for one in taken]
    return Gain(None, _ends(seen), _ends(real))


def _ends(pairs: list[tuple[float | None, float | None]]) -> tuple[float | None, float | None]:
    first = next((before for before, _ in pairs if before is not None), None)
    return first, next((after for _, after in reversed(pairs) if after is not None), None)


def _neighbours(scope: Scope, loop_id: str, first_ts: datetime) -> tuple[tuple[Neighbour, ...], int, int]:
    found, sides = [], {True: 0, False: 0}
    for row in scope.query(NEIGHBOURS, loop_id=loop_id, first_ts=first_ts, near=NEAR):
        other, first, last, n_heals, before, after, is_before, n_side, extra, revisits, capped, is_scored = row
        sides[is_before] = n_side
        score = loop_score(extra, revisits, capped=capped) if is_scored else None
        found.append(Neighbour(other, first, last, n_heals, before, after, is_before, score))
    return tuple(found), sides[True], sides[False]
