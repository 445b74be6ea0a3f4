"""S, signal: was the failure real? Judged per failure signature over the heals in the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta

from seam_core.gates import Gate
from seam_core.scope import Scope, insert_rows

F1_WEIGHT, RECURRENCE_WEIGHT = 0.6, 0.4

# One row per healed signature.
SIGNATURES = """
create or replace temp table {rows} as
with healed as (
    select failure_signature, count(*) as n_heals, count(distinct loop_id) as n_loops, min(ts) as first_ts, max(ts) as last_ts,
           bool_or(was_real_failure) as is_real, count(was_real_failure) as n_labels
    from {window_heals}
    group by failure_signature
)
select healed.*, failure_signature in (from {prefix}recurred) as recurred,
       failure_signature in (from {prefix}recurred_after_loop) as recurred_after_loop,
       last_ts + $follow_up <= $newest as followed_up
from healed
order by failure_signature
"""

# Failures that may be a recurrence.
FOLLOWING = """
select failure_signature, ts from {failures}
where ts > (select start from span) and ts <= (select stop from span) + $follow_up
  and failure_signature in (select failure_signature from {window_heals})
"""

# Time is cut into stretches as long as the follow-up. What comes later in the same stretch comes in time; of the stretch before, the
# newest event counts.
FOLLOWED = """
with before as (
    select failure_signature, epoch_us(ts) // $length as stretch, min(ts) as first_ts, max(ts) as last_ts from ({events}) group by all
),
after as (
    select failure_signature, epoch_us(ts) // $length as stretch, min(ts) as first_ts, max(ts) as last_ts
    from {prefix}following group by all
)
select failure_signature from after a join before b using (failure_signature, stretch) where a.last_ts > b.first_ts
union
select a.failure_signature
from after a join before b on b.failure_signature = a.failure_signature and b.stretch = a.stretch - 1
where a.first_ts - b.last_ts <= $follow_up
"""

LOOP_ENDS = """
select h.failure_signature, ends.last_ts as ts
from {window_heals} h join (select loop_id, max(ts) as last_ts from loop_heals group by loop_id) ends using (loop_id)
"""

# Without a failure log a signature recurs when another loop heals it again. Among the moments at which a signature was healed it is
# enough to compare neighbours: if two moments differ in their loops, so do two neighbours between them.
HEALED_AGAIN = """
with candidates as (
    select failure_signature, ts, loop_id, ts <= (select stop from span) as inside
    from {heals} anti join blocked using (row)
    where ts > (select start from span) and ts <= (select stop from span) + $follow_up
      and failure_signature in (select failure_signature from {window_heals})
),
moments as (
    select failure_signature, ts, inside, min(loop_id) as low, max(loop_id) as high
    from candidates group by all
),
neighbours as (
    select failure_signature, ts, low, high,
           last_value(case when inside then {{'ts': ts, 'low': low, 'high': high}} end ignore nulls) over before as earlier
    from moments
    window before as (partition by failure_signature order by ts rows between unbounded preceding and 1 preceding)
)
select distinct failure_signature
from neighbours
where ts - earlier.ts <= $follow_up and not (low = high and earlier.low = earlier.high and low = earlier.low)
"""

# Up to the window's end whatever follows a loop's last heal comes from another loop; beyond it the loop itself may go on.
HEALED_AGAIN_AFTER_LOOP = """
with ends as (select loop_id, max(ts) as last_ts from loop_heals group by loop_id),
closed as (select distinct h.failure_signature, h.loop_id, ends.last_ts from {window_heals} h join ends using (loop_id)),
inside as (
    select failure_signature, ts from {heals} anti join blocked using (row)
    where ts <= (select stop from span) and failure_signature in (select failure_signature from {window_heals})
),
beyond as (
    select failure_signature, ts, loop_id from {heals} anti join blocked using (row)
    where ts > (select stop from span) and ts <= (select stop from span) + $follow_up
)
select c.failure_signature
from closed c asof join inside i on i.failure_signature = c.failure_signature and c.last_ts < i.ts
where i.ts - c.last_ts <= $follow_up
union
select c.failure_signature
from closed c join beyond b on b.failure_signature = c.failure_signature and b.loop_id <> c.loop_id
where b.ts - c.last_ts <= $follow_up
"""

LATER_HEALS = """
select row from {heals}
where ts > (select stop from span) and ts <= (select stop + follow_up from span, follow_up)
  and failure_signature in (select failure_signature from {window_heals})
"""

MISSED = """
select distinct failure_signature from {failures}
where ts > (select start from span) and ts <= (select stop from span)
  and failure_signature not in (select failure_signature from {window_heals})
order by failure_signature
"""


# The window's heals with other labels where there are some; null makes a heal unlabelled.
RELABELLED_HEALS = """
create or replace temp view relabelled_heals as
select h.* replace (case when n.heal_id is null then h.was_real_failure else n.label end as was_real_failure)
from window_heals h left join new_labels n using (heal_id)
"""

# The same records under the name that stands for theirs, where people merged some.
UNDER_MERGED_NAMES = """
create or replace temp view {merged} as
select r.* replace (coalesce(m.name, r.failure_signature) as failure_signature)
from {records} r left join merged_names m using (failure_signature)
"""

COUNTS = """
select count(*), count(*) filter (n_labels > 0), count(*) filter (is_real), count(*) filter (recurred),
       count(*) filter (recurred_after_loop), count(*) filter (followed_up)
from {rows}
"""


@dataclass(frozen=True)
class Tables:
    """Where signatures are counted: the records that are read, what the healed signatures are kept as, and the prefix of the rest."""

    heals: str = "heals"
    window_heals: str = "window_heals"
    failures: str = "failures"
    rows: str = "signal_rows"
    prefix: str = ""

    def sql(self, query: str, **more: str) -> str:
        """A query of these tables."""
        return query.format(**asdict(self), **more)


AS_LOGGED = Tables()
RELABELLED = Tables(window_heals="relabelled_heals", rows="signal_reviewed_rows")
MERGED = Tables("merged_heals", "merged_window_heals", "merged_failures", rows="signal_merged_rows", prefix="merged_")


@dataclass(frozen=True)
class Signal:
    """The axis and its parts. Shares are in [0, 1]; counts are signatures."""

    score: float | None
    reason: str | None
    n: int
    left_out: int
    precision: float | None
    recall: float | None
    f1: float | None
    recurrence: float | None
    recurrence_after_loop: float | None
    tp: int
    fp: int
    fn: int | None
    follow_up: float | None
    n_signatures: int
    recurrence_basis: str  # failures: the failure log; heals: another loop healed the signature again


def score(scope: Scope, gate: Gate) -> Signal:
    """Signal over the window. Keeps ``signal_rows`` (healed signatures) and ``missed_rows`` (failed, never healed).

    Source: docs/method.md, Signal. Without a failure log recall is unknown and recurrence counts heals by another loop.
    """
    return _count(scope, gate, AS_LOGGED)


def score_with(scope: Scope, labels: Mapping[str, bool | None]) -> tuple[Signal, list[str]]:
    """Signal of a window that `score` has scored, with other labels on some heals, None for no label; and which of these heals the
    window holds. Keeps ``signal_reviewed_rows``.
    """
    scope.con.execute("create or replace temp table new_labels (heal_id varchar, label boolean)")
    insert_rows(scope, "new_labels", "heal_id, label", labels.items())
    scope.con.execute(RELABELLED_HEALS)
    _keep_signatures(scope, RELABELLED)
    held = scope.query("select heal_id from window_heals semi join new_labels using (heal_id) order by heal_id")
    return _score(scope, RELABELLED), [heal_id for (heal_id,) in held]


def score_merged(scope: Scope, names: Mapping[str, str]) -> Signal:
    """Signal of a window that was scored, with some signatures taken for one: signature → the name that stands for it. Keeps
    ``signal_merged_rows`` and ``merged_missed_rows``.
    """
    scope.con.execute("create or replace temp table merged_names (failure_signature varchar, name varchar)")
    insert_rows(scope, "merged_names", "failure_signature, name", names.items())
    for merged, records in ((MERGED.heals, "heals"), (MERGED.window_heals, "window_heals"), (MERGED.failures, "failures")):
        scope.con.execute(UNDER_MERGED_NAMES.format(merged=merged, records=records))
    return _count(scope, Gate(scope), MERGED)


def _count(scope: Scope, gate: Gate, tables: Tables) -> Signal:
    """Keep what recurred, what was missed and what was healed, and score it."""
    follow_up = _follow_up(scope)
    recurred, recurred_after_loop = f"{tables.prefix}recurred", f"{tables.prefix}recurred_after_loop"
    if scope.store.has("failures"):
        length = max(follow_up // timedelta(microseconds=1), 1)
        scope.keep(f"{tables.prefix}following", tables.sql(FOLLOWING), follow_up=follow_up)
        for kept, events in ((recurred, f"from {tables.window_heals}"), (recurred_after_loop, tables.sql(LOOP_ENDS))):
            scope.keep(kept, tables.sql(FOLLOWED, events=events), follow_up=follow_up, length=length)
    else:
        scope.keep("follow_up", "select $follow_up::interval as follow_up", follow_up=follow_up)
        gate.stop(tables.sql(LATER_HEALS))
        scope.keep(recurred, tables.sql(HEALED_AGAIN), follow_up=follow_up)
        scope.keep(recurred_after_loop, tables.sql(HEALED_AGAIN_AFTER_LOOP), follow_up=follow_up)
    scope.keep(f"{tables.prefix}missed_rows", tables.sql(MISSED))
    _keep_signatures(scope, tables)
    return _score(scope, tables)


def _keep_signatures(scope: Scope, tables: Tables) -> None:
    newest = scope.one("select max(ts) from (select ts from heals union all select ts from failures)")[0]
    scope.con.execute(tables.sql(SIGNATURES), {"follow_up": _follow_up(scope), "newest": newest})


def _follow_up(scope: Scope) -> timedelta:
    return timedelta(microseconds=round(scope.settings.recurrence_days * 86_400_000_000))


def _score(scope: Scope, tables: Tables) -> Signal:
    has_log = scope.store.has("failures")
    n, labelled, tp, recurred, recurred_after, followed_up = scope.one(tables.sql(COUNTS))
    fn = scope.one(f"select count(*) from {tables.prefix}missed_rows")[0] if has_log else None
    fp = labelled - tp
    precision = tp / labelled if labelled else None
    recall = tp / max(tp + fn, 1) if labelled and fn is not None else None
    f1 = None if precision is None or recall is None else 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    recurrence = recurred / n if n else None
    quality = f1 if has_log else precision
    value = None
    if quality is not None and recurrence is not None:
        value = min(1.0, max(0.0, F1_WEIGHT * quality + RECURRENCE_WEIGHT * (1 - recurrence)))
    reason = None if value is not None else "no heal in the window" if not n else "no heal in the window says whether its failure was real"
    return Signal(
        value, reason, labelled, n - labelled, precision, recall, f1, recurrence, recurred_after / n if n else None,
        tp, fp, fn, followed_up / n if n else None, n, "failures" if has_log else "heals",
    )  # fmt: skip
