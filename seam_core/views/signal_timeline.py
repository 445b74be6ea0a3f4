"""The timeline of the Signal page: when signatures were healed, what the labels said, when they failed, and what came back after what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from seam_core.report import Audit
from seam_core.views.filters import Filters
from seam_core.views.signal import time_in_words
from seam_core.words import count

MARKS_MAX = 1_600  # marks of one kind on the whole timeline
EVENTS_MAX = 2_000  # rows of the table of one signature

# Marks beyond a lane's share are thinned out evenly; the first and the newest stay.
HEALS = """
with chosen as (
    select failure_signature, ts, heal_id, loop_id, cycle, was_real_failure, label_source, ts <= (select stop from span) as inside,
           row_number() over lane as place, count(*) over (partition by failure_signature) as n
    from heals h anti join blocked using (row)
    where failure_signature in (select unnest($names)) and ts > (select start from span)
      and ts <= (select stop from span) + $follow_up and {filtered}
    window lane as (partition by failure_signature order by ts desc, heal_id desc)
)
select failure_signature, ts, heal_id, loop_id, cycle, was_real_failure, label_source, inside, n
from chosen
where place = n or (place - 1) % ((n + $most - 1) // $most) = 0
order by failure_signature, ts, heal_id
"""

FAILURES = """
with chosen as (
    select failure_signature, ts from failures
    where failure_signature in (select unnest($names)) and ts > (select start from span)
      and ts <= (select stop from span) + $follow_up
),
joined as (
    select c.failure_signature, c.ts, case when c.ts - h.ts <= $follow_up then h.ts end as healed_ts
    from chosen c asof left join window_heals h on c.failure_signature = h.failure_signature and c.ts > h.ts
),
placed as (
    select *, row_number() over lane as place, count(*) over (partition by failure_signature) as n,
           count(healed_ts) over (partition by failure_signature) as n_back
    from joined
    window lane as (partition by failure_signature order by ts desc)
)
select failure_signature, ts, healed_ts, n, n_back
from placed
where place = n or (place - 1) % ((n + $most - 1) // $most) = 0
order by failure_signature, ts, healed_ts
"""

# Without a failure log: a heal by another loop than the neighbour before it says that the failure is back.
HEALED_AGAIN = """
with chosen as (
    select failure_signature, ts, heal_id, loop_id from heals anti join blocked using (row)
    where failure_signature in (select unnest($names)) and ts > (select start from span)
      and ts <= (select stop from span) + $follow_up
),
neighbours as (
    select *, lag(ts) over lane as earlier_ts, lag(loop_id) over lane as earlier_loop
    from chosen window lane as (partition by failure_signature order by ts, heal_id)
)
select failure_signature, ts, earlier_ts, count(*) over (partition by failure_signature) as n
from neighbours
where loop_id <> earlier_loop and ts - earlier_ts <= $follow_up and earlier_ts <= (select stop from span) and ts > earlier_ts
qualify row_number() over (partition by failure_signature order by ts) <= $most
order by failure_signature, ts
"""

ELSEWHERE = """
select (select count(*) from heals where failure_signature = $name),
       (select count(*) from heals semi join blocked using (row) where failure_signature = $name),
       (select count(*) from failures where failure_signature = $name)
"""


@dataclass(frozen=True)
class Healed:
    """One heal of a lane; `label` is None where nobody said whether the failure was real."""

    ts: datetime
    heal_id: str
    loop_id: str
    cycle: int
    label: bool | None
    source: str | None
    inside: bool  # in the window, and so in the score


@dataclass(frozen=True)
class Failed:
    """One failure; `healed_ts` is the heal after which it counts as a recurrence."""

    ts: datetime
    healed_ts: datetime | None


@dataclass(frozen=True)
class Lane:
    """One signature over time. The totals also count what was thinned out."""

    signature: str
    heals: tuple[Healed, ...]
    failures: tuple[Failed, ...]
    again: tuple[tuple[datetime, datetime], ...]  # (heal, what came back): later failures, or heals by another loop
    n_heals: int
    n_failures: int

    @property
    def is_thinned(self) -> bool:
        """Whether not everything is drawn."""
        return self.n_heals > len(self.heals) or self.n_failures > len(self.failures)


@dataclass(frozen=True)
class Timeline:
    """Lanes in the order asked for, and the stretch of time: the window and, after its end, the days in which failures may come back."""

    lanes: tuple[Lane, ...]
    start: datetime | None
    stop: datetime
    until: datetime


def draw_timeline(audit: Audit, filters: Filters, names: tuple[str, ...]) -> Timeline:
    """The signatures named, those without any heal or failure left out. Filters narrow the heals."""
    follow_up = timedelta(days=audit.settings.recurrence_days)
    condition, binds = filters.sql("h")
    asked: dict[str, Any] = {"names": list(names), "follow_up": follow_up, "most": max(20, MARKS_MAX // max(1, len(names)))}
    heals = _by_name(audit.scope.query(HEALS.format(filtered=condition), **asked, **binds))
    failures = _by_name(audit.scope.query(FAILURES, **asked))
    again = {} if audit.scope.store.has("failures") else _by_name(audit.scope.query(HEALED_AGAIN, **asked))
    lanes = [_lane(name, heals.get(name, []), failures.get(name, []), again.get(name, [])) for name in dict.fromkeys(names)]
    marks = [one.ts for lane in lanes for one in lane.heals] + [one.ts for lane in lanes for one in lane.failures]
    until = min(audit.window.end + follow_up, max(marks, default=audit.window.end))
    shown = tuple(lane for lane in lanes if lane.heals or lane.failures)
    return Timeline(shown, audit.window.start, audit.window.end, max(until, audit.window.end))


def list_events(audit: Audit, filters: Filters, name: str) -> tuple[dict[str, Any], ...]:
    """Heals and failures of one signature as rows of a table, newest first."""
    found = draw_timeline(audit, filters, (name,))
    rows: list[dict[str, Any]] = []
    for lane in found.lanes:
        rows += [
            {
                "ts": one.ts, "what": f"heal: {LABELS[one.label]}" + ("" if one.inside else ", after the window"),
                "source": one.source or "",
                "loop": one.loop_id, "cycle": one.cycle, "heal": one.heal_id,
            }
            for one in lane.heals
        ]  # fmt: skip
        rows += [{"ts": one.ts, "what": _failure(one), "source": "", "loop": "", "cycle": None, "heal": ""} for one in lane.failures]
    return tuple(sorted(rows, key=lambda row: (row["ts"], row["heal"]), reverse=True)[:EVENTS_MAX])


def absent(audit: Audit, name: str) -> str:
    """Why a signature has nothing on the timeline, in one sentence; the name itself is left out."""
    n_heals, n_blocked, n_failures = audit.scope.one(ELSEWHERE, name=name)
    if not n_heals and not n_failures:
        return "No heal and no logged failure of this workspace has this signature."
    if n_heals and n_blocked == n_heals:
        stopped = "the only heal" if n_heals == 1 else f"all {n_heals:,} heals"
        return f"The boundary gate stopped {stopped} on this signature, so no heal of it counts."
    held = f"{count(n_heals - n_blocked, 'heal')} and {count(n_failures, 'failure')}"
    return f"No heal and no failure of this window has this signature; the logs hold {held} of it outside."


LABELS = {True: "labelled real", False: "labelled not real", None: "no label"}


def _failure(one: Failed) -> str:
    if one.healed_ts is None:
        return "failure logged"
    return f"failure came back {time_in_words((one.ts - one.healed_ts).total_seconds() / 86400)} after a heal"


def _lane(name: str, heals: Sequence[Any], failures: Sequence[Any], again: Sequence[Any]) -> Lane:
    back = [(healed_ts, ts) for ts, healed_ts, _, _ in failures if healed_ts is not None]
    back += [(earlier_ts, ts) for ts, earlier_ts, _ in again]
    return Lane(
        name,
        tuple(Healed(ts, heal_id, loop, cycle, label, source, inside) for ts, heal_id, loop, cycle, label, source, inside, _ in heals),
        tuple(Failed(ts, healed_ts) for ts, healed_ts, _, _ in failures),
        tuple(back),
        heals[0][-1] if heals else 0,
        failures[0][-2] if failures else 0,
    )


def _by_name(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for name, *rest in rows:
        found.setdefault(name, []).append(tuple(rest))
    return found
