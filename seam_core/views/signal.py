"""What the Signal page shows: the score as a sum, the signatures that cost it most, when failures came back, and who said what was real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from seam_core import gates
from seam_core.axes.signal import F1_WEIGHT, RECURRENCE_WEIGHT
from seam_core.doubt import share_range
from seam_core.report import Audit, thresholds
from seam_core.summary import score_text
from seam_core.views.filters import Filters
from seam_core.views.losses import Loss, Sum, cost_in_points, number
from seam_core.words import count, listed, percent

HORIZONS = (7, 14, 30)  # days; the one in force is added
ROWS_MAX = 5_000  # signatures in the table, the worst ones
SHOWN = {  # what the table may be narrowed to → condition on its rows
    "all": "true",
    "not real": "verdict = 'not real'",
    "missed": "verdict = 'missed'",
    "came back": "recurred",
    "no label": "verdict = 'no label'",
}
SOURCES = {
    "probe1": "one plain retry (probe1)",
    "probe3": "three plain retries (probe3)",
    "judge": "a judge (judge)",
    "person": "a person (person)",
    None: "label without a source",
}

# Healed signature → the least time from a heal in the window to the next sign that the failure is back.
LAGS = """
select f.failure_signature, min(f.ts - h.ts) as lag
from failures f asof join window_heals h on f.failure_signature = h.failure_signature and f.ts > h.ts
where f.ts <= (select stop from span) + $longest
group by f.failure_signature
"""

# The same without a failure log: another loop heals the signature. Of two moments with different loops some neighbours between differ.
LAGS_OF_HEALS = """
with candidates as (
    select failure_signature, ts, loop_id, ts <= (select stop from span) as inside
    from heals anti join blocked using (row)
    where ts > (select start from span) and ts <= (select stop from span) + $longest
      and failure_signature in (select failure_signature from window_heals)
),
moments as (select failure_signature, ts, inside, min(loop_id) as low, max(loop_id) as high from candidates group by all),
neighbours as (
    select failure_signature, ts, low, high,
           last_value(case when inside then {'ts': ts, 'low': low, 'high': high} end ignore nulls) over before as earlier
    from moments
    window before as (partition by failure_signature order by ts rows between unbounded preceding and 1 preceding)
)
select failure_signature, min(ts - earlier.ts) as lag
from neighbours
where earlier is not null and not (low = high and earlier.low = earlier.high and low = earlier.low)
group by failure_signature
"""

LATER_HEALS = """
select row from heals
where ts > (select stop from span) and ts <= (select stop from span) + (select longest from signal_view_longest)
  and failure_signature in (select failure_signature from window_heals)
"""

# One row per signature healed or missed in the window, with what it costs the score, in points.
ROWS = """
with labels as (
    select failure_signature, count(*) filter (was_real_failure) as n_real, count(*) filter (not was_real_failure) as n_false,
           bool_or({filtered}) as listed
    from window_heals group by failure_signature
),
failed as (
    select failure_signature, count(*) as n_failures, min(ts) as first_ts, max(ts) as last_ts
    from failures
    where ts > (select start from span) and ts <= (select stop from span)
    group by failure_signature
),
healed as (
    select s.failure_signature,
           case when s.n_labels = 0 then 'no label' when s.is_real then 'real' else 'not real' end as verdict,
           s.n_heals, s.n_loops, l.n_real, l.n_false,
           s.n_heals - s.n_labels as n_unlabelled, coalesce(f.n_failures, 0) as n_failures, s.recurred,
           s.recurred_after_loop, s.followed_up, epoch(g.lag) / 86400 as lag_days, s.first_ts, s.last_ts, l.listed, null as healed
    from signal_rows s join labels l using (failure_signature)
    left join failed f using (failure_signature) left join signal_view_lags g using (failure_signature)
),
healed_elsewhere as (
    select failure_signature,
           case when bool_or(ts <= (select start from span)) then 'healed before the window'
                when bool_or(ts <= (select stop from span)) then 'its heal was blocked'
                else 'healed after the window' end as healed
    from heals semi join missed_rows using (failure_signature)
    group by failure_signature
),
missed as (
    select failure_signature, 'missed' as verdict, 0 as n_heals, 0 as n_loops, 0 as n_real, 0 as n_false, 0 as n_unlabelled,
           n_failures, false as recurred, false as recurred_after_loop, false as followed_up, null::double as lag_days, first_ts, last_ts,
           not $is_filtered as listed, coalesce(e.healed, 'never healed') as healed
    from failed semi join missed_rows using (failure_signature) left join healed_elsewhere e using (failure_signature)
),
priced as (
    select *, case verdict when 'not real' then $false_cost when 'missed' then $missed_cost else 0 end
              + case when recurred then $back_cost else 0 end as cost
    from (from healed union all from missed)
    where listed
)
select failure_signature, verdict, n_heals, n_loops, n_real, n_false, n_unlabelled, n_failures, recurred, recurred_after_loop,
       followed_up, lag_days, first_ts, last_ts, round(cost, 9) as cost, healed, count(*) over () as n_found
from priced
where {shown}
order by round(cost, 9) desc, recurred desc, n_failures + n_heals desc, failure_signature
limit $most
"""

BACK_BY_DAYS = """
select count(*), count(*) filter (coalesce(lag <= $days, false)), count(*) filter (last_ts + $days <= $newest),
       count(*) filter (last_ts + $days <= $newest and coalesce(lag <= $days, false))
from signal_rows left join signal_view_lags using (failure_signature)
"""

LABELS = """
select label_source, count(*) filter (was_real_failure) as n_real, count(*) filter (not was_real_failure) as n_false
from window_heals where was_real_failure is not null
group by label_source
order by count(*) desc, label_source
"""


@dataclass(frozen=True)
class Rows:
    """Signatures, the worst first, as rows of a table; `n_found` of them there are, of which `rows` holds the first."""

    rows: tuple[dict[str, Any], ...]
    n_found: int


@dataclass(frozen=True)
class Back:
    """How many healed signatures came back within so many days, and of how many that can be said already."""

    days: float
    is_scored: bool  # the horizon that the score uses
    n: int
    n_back: int
    n_followed: int  # with all these days behind their last heal
    n_followed_back: int

    @property
    def n_open(self) -> int:
        """Not back, and their days are not over."""
        return self.n - self.n_followed - (self.n_back - self.n_followed_back)

    @property
    def sentence(self) -> str:
        """The same in words: the share is of those that had the time."""
        later, early = self.n - self.n_followed, self.n_back - self.n_followed_back
        if not self.n_followed:
            so_far = f"{early:,}" if early else "none"
            return f"No signature has {days_in_words(self.days)} behind its last heal yet; {so_far} of {self.n:,} came back so far."
        share = f"{self.n_followed_back:,} came back ({percent(self.n_followed_back, self.n_followed)}"
        share += f", 95 % range {share_range(self.n_followed_back, self.n_followed)})"
        told = f"Of {count(self.n_followed, 'signature')} with {days_in_words(self.days)} behind the last heal, {share}."
        more = f"{f'{early:,} of them' if early else 'none of them'} came back already"
        return f"{told} For {'the other one' if later == 1 else f'the other {later:,}'} that time is not over; {more}." if later else told


def take_apart(audit: Audit) -> Sum:
    """The score step by step, and what took it down from 1. With F1 = 2·TP ÷ (2·TP + FP + FN) the three losses add up exactly."""
    s = audit.signal
    recurred = _recurred(audit)
    lines = []
    if s.precision is not None:
        lines.append(f"precision = {s.tp:,} real ÷ ({s.tp:,} + {s.fp:,} not real) = {number(s.precision)}")
    if s.recall is not None:
        lines.append(f"recall = {s.tp:,} real ÷ ({s.tp:,} + {s.fn:,} missed) = {number(s.recall)}")
    if s.f1 is not None and s.precision is not None and s.recall is not None:
        working = f"2 · {number(s.precision)} · {number(s.recall)} ÷ ({number(s.precision)} + {number(s.recall)})"
        lines.append(f"F1 = {working if s.tp else '0, as both are 0'}{f' = {number(s.f1)}' if s.tp else ''}")
    if s.recurrence is not None:
        lines.append(f"recurrence = {recurred:,} came back ÷ {s.n_signatures:,} healed = {number(s.recurrence)}")
    if s.score is None or s.precision is None or s.recurrence is None:
        return Sum(None, tuple(lines), ())
    quality = s.precision if s.f1 is None else s.f1
    shown = score_text(s.score, line=thresholds(audit.settings)["S"])
    lines.append(f"S = {F1_WEIGHT} · {number(quality)} + {RECURRENCE_WEIGHT} · (1 − {number(s.recurrence)}) = {shown}")
    return Sum(s.score, tuple(lines), _losses(audit, recurred))


def rates_sentence(audit: Audit) -> str:
    """The 95 % ranges of the shares that S is made of; empty where none of them is known."""
    s = audit.signal
    found = [("precision", s.tp, s.tp + s.fp)] if s.precision is not None else []
    found += [("recall", s.tp, s.tp + s.fn)] if s.recall is not None and s.fn is not None else []
    found += [("recurrence", _recurred(audit), s.n_signatures)] if s.recurrence is not None else []
    ranges = listed([f"{name} {share_range(k, n)}" for name, k, n in found if n])
    return f"95 % ranges of these shares: {ranges}." if ranges else ""


def list_signatures(audit: Audit, filters: Filters, shown: str = "all") -> Rows:
    """Signatures healed or missed in the window, by what they cost the score. Filtered by level or target, only healed ones are left.

    Raises KeyError for a word that is not in SHOWN.
    """
    _keep_lags(audit)
    condition, binds = filters.sql()
    cost = _costs(audit)
    found = audit.scope.query(
        ROWS.format(filtered=condition, shown=SHOWN[shown]), **binds, **cost, is_filtered=bool(filters), most=ROWS_MAX
    )
    return Rows(tuple(_row(audit, row) for row in found), found[0][-1] if found else 0)


def find_signature(audit: Audit, name: str) -> dict[str, Any] | None:
    """The row of one signature, whatever is filtered; None when it was neither healed nor missed in the window."""
    _keep_lags(audit)
    sql = ROWS.format(filtered="true", shown="failure_signature = $name")
    found = audit.scope.query(sql, **_costs(audit), is_filtered=False, most=1, name=name)
    return _row(audit, found[0]) if found else None


def describe(row: Mapping[str, Any]) -> str:
    """One row of the signatures in a sentence."""
    if row["verdict"] == "missed":
        return f"Missed: {count(row['failures'], 'failure')} logged in this window and no heal in it ({row['back']})."
    labels = f"{row['real']:,} real, {row['not_real']:,} not real, {row['unlabelled']:,} without a label"
    healed = f"{count(row['heals'], 'heal')} in {count(row['loops'], 'loop')}: {labels}"
    return f"Verdict {row['verdict']}. {healed}. Came back: {row['back']}."


def list_returns(audit: Audit) -> tuple[Back, ...]:
    """How many signatures came back within 7, 14 and 30 days and within the days in force."""
    _keep_lags(audit)
    newest = audit.scope.one("select max(ts) from (select ts from heals union all select ts from failures)")[0]
    found = []
    for days in sorted({*HORIZONS, audit.settings.recurrence_days}):
        counts = audit.scope.one(BACK_BY_DAYS, days=timedelta(days=days), newest=newest)
        found.append(Back(days, days == audit.settings.recurrence_days, *counts))
    return tuple(found) if audit.signal.n_signatures else ()


def list_labels(audit: Audit) -> tuple[tuple[dict[str, Any], ...], int]:
    """Heals of the window by who said whether their failure was real, and how many have no label."""
    rows = [
        {"source": SOURCES[source], "real": n_real, "not_real": n_false, "heals": n_real + n_false}
        for source, n_real, n_false in audit.scope.query(LABELS)
    ]
    return tuple(rows), audit.counts["scored"] - sum(int(row["heals"]) for row in rows)


def _recurred(audit: Audit) -> int:
    return int(audit.scope.one("select count(*) from signal_rows where recurred")[0])


def _costs(audit: Audit) -> dict[str, float]:
    """What one signature of each kind costs, in points; 0 while S is not scored."""
    s = audit.signal
    if s.score is None:
        return {"false_cost": 0.0, "missed_cost": 0.0, "back_cost": 0.0}
    each = 100 * F1_WEIGHT / (s.tp + s.fp if s.fn is None else 2 * s.tp + s.fp + s.fn)
    return {"false_cost": each, "missed_cost": each, "back_cost": 100 * RECURRENCE_WEIGHT / s.n_signatures}


def _losses(audit: Audit, recurred: int) -> tuple[Loss, ...]:
    s = audit.signal
    cost = _costs(audit)
    whole = f"({s.tp:,} + {s.fp:,})" if s.fn is None else f"(2 × {s.tp:,} + {s.fp:,} + {s.fn:,})"
    causes = [("healed, not real", s.fp, F1_WEIGHT, whole, cost["false_cost"])]
    causes += [("failed, not healed", s.fn, F1_WEIGHT, whole, cost["missed_cost"])] if s.fn is not None else []
    causes += [("healed, came back", recurred, RECURRENCE_WEIGHT, f"{s.n_signatures:,}", cost["back_cost"])]
    return tuple(
        Loss(label, n, f"{weight} × {n:,} ÷ {divisor}", n * each / 100, n * each / 100) for label, n, weight, divisor, each in causes
    )


def _keep_lags(audit: Audit) -> None:
    """Make ``signal_view_lags``: failure_signature, lag."""
    scope = audit.scope
    longest = timedelta(days=max(*HORIZONS, audit.settings.recurrence_days))
    if scope.store.has("failures"):
        scope.keep("signal_view_lags", LAGS, longest=longest)
        return
    scope.keep("signal_view_longest", "select $longest::interval as longest", longest=longest)
    gates.Gate(scope).stop(LATER_HEALS)  # the score looked no further than its own days
    scope.keep("signal_view_lags", LAGS_OF_HEALS, longest=longest)


def _row(audit: Audit, found: Sequence[Any]) -> dict[str, Any]:
    """One signature as a row of the table."""
    days = audit.settings.recurrence_days
    name, verdict, n_heals, n_loops, n_real, n_false, n_unlabelled, n_failures, *rest = found
    recurred, after_loop, followed, lag, first, last, cost, healed, _ = rest
    return {
        "signature": name, "verdict": verdict, "back": healed or _back(recurred, after_loop, followed, lag, days),
        "cost": cost_in_points(cost) if audit.signal.score is not None else None, "heals": n_heals, "loops": n_loops, "real": n_real,
        "not_real": n_false, "unlabelled": n_unlabelled, "failures": n_failures if audit.signal.fn is not None else None,
        "first": first, "last": last,
    }  # fmt: skip


def _back(recurred: bool, after_loop: bool, followed: bool, lag: float | None, days: float) -> str:  # noqa: FBT001 -- columns of a row
    """When the failure came back, and if not, whether it has had the time."""
    if recurred and lag is not None:
        return f"after {time_in_words(lag)}" + ("" if after_loop else ", its loop still at work")
    if lag is not None and lag > days:
        return f"only after {time_in_words(lag)}"
    return "no" if followed else "not yet"


def time_in_words(days: float) -> str:
    """A length of time in words, in the unit that fits."""
    for unit, size in (("day", 1.0), ("hour", 1 / 24), ("minute", 1 / 1440)):
        if days >= 2 * size or unit == "minute":
            n = round(days / size, 1 if days / size < 10 and unit == "day" else None)
            return f"{n:g} {unit if n == 1 else unit + 's'}"
    raise AssertionError("minutes are the last unit")


def days_in_words(days: float) -> str:
    """7 days, 1 day, 2.5 days."""
    return f"{days:g} {'day' if days == 1 else 'days'}"
