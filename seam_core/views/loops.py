"""The loops of a window, worst first, for a list to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seam_core.axes.monotonicity import loop_score
from seam_core.report import Audit
from seam_core.views.filters import Filters
from seam_core.words import count, cut

OFFERED = 200  # loops that a list offers; every one of them travels to the browser

# Loops with a heal in the window, those whose only heals were stopped too. Filters choose by the loop's heals in the window.
LOOPS = """
with inside as (
    select heal_id, ts, loop_id, level, target, failure_signature, row in (select row from blocked) as is_blocked
    from heals
    where ts > (select start from span) and ts <= (select stop from span)
),
asked as (
    select loop_id, first(failure_signature order by ts, heal_id) as signature, max(ts) as last_ts,
           count(*) filter (is_blocked) as n_blocked
    from inside where {condition}
    group by loop_id
)
select a.loop_id, a.signature, a.last_ts, a.n_blocked, coalesce(r.n_cycles, 0), r.basis is not null, coalesce(r.dips, 0),
       coalesce(r.extra_dips, 0), coalesce(r.returned, 0), coalesce(r.idle, 0), coalesce(r.capped, false), e.e_loop
from asked a left join loop_rows r using (loop_id) left join efficacy_loops e using (loop_id)
"""


@dataclass(frozen=True)
class Line:
    """One loop of the list. `score` is M of the loop in [0, 1], None when it is not scored."""

    loop_id: str
    signature: str
    last_ts: datetime
    n_blocked: int
    n_cycles: int
    dips: int
    returned: int
    idle: int
    score: float | None
    e_loop: float | None

    @property
    def label(self) -> str:
        """The loop on one line. Its names are as logged: show the line as text."""
        said = "not scored" if self.score is None else f"M {self.score:.2f}"
        parts = [cut(self.loop_id), said, count(self.n_cycles, "cycle") if self.n_cycles else "stopped by the gate"]
        parts += [count(self.dips, "dip")] if self.dips else []
        parts += [count(self.returned + self.idle, "revisit")] if self.returned + self.idle else []
        return " · ".join([*parts, cut(self.signature, 40)])


@dataclass(frozen=True)
class Loops:
    """The worst loops of the window, and how many there are."""

    lines: tuple[Line, ...]
    n_all: int


def worst_loops(audit: Audit, filters: Filters) -> Loops:
    """The loops of the window that the filters leave, worst first: by M (not held at 0), then by what was not real, then the longest."""
    condition, binds = filters.sql()
    ranked = []
    for row in audit.scope.query(LOOPS.format(condition=condition), **binds):
        loop_id, signature, last_ts, n_blocked, n_cycles, is_scored, dips, extra, returned, idle, capped, e_loop = row
        score = loop_score(extra, returned + idle, capped=capped) if is_scored else None
        cost = 2 * (extra + returned + idle) + capped  # in fifths: what is below 0 differs, too
        rank = (score is None, -cost, 1.0 if e_loop is None else round(e_loop, 9), -n_cycles, last_ts, loop_id)
        ranked.append((rank, Line(loop_id, signature, last_ts, n_blocked, n_cycles, dips, returned, idle, score, e_loop)))
    ranked.sort(key=lambda one: one[0])
    return Loops(tuple(line for _, line in ranked[:OFFERED]), len(ranked))
