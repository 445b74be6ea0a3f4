"""The review queue: every heal of a window, worst first, filtered, ordered, and grouped where many are one case.

The ids in their order are asked for once; what a screen shows of them is asked for a sheet at a time. What people decided is no part
of any of it: it changes between two runs of a page, and is laid over the ids (`chosen`, `progress`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from os.path import commonprefix
from typing import Any, Literal

import duckdb

from seam_core.findings import sentences_of
from seam_core.ranking import KINDS, RANKED, SEVERITIES, WORST_FIRST, Severity, prepare_ranking
from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.views.filters import Filters
from seam_core.words import count, points, times

SHARED_MIN = 6  # characters of a beginning that is worth leaving away
TEXTS_SEARCHED = 2_000  # changed texts are searched up to so many; each is read from the log

# One narrow row per heal of the window, those that the boundary gate stopped too; `place` is its rank from the worst.
QUEUE_ROWS = f"""
with ranked as ({RANKED}),
returned as (select distinct later_row as row from revisit_rows),
inside as (select row, heal_id, ts from heals where ts > (select start from span) and ts <= (select stop from span)),
placed as (
    select row, heal_id, row_number() over (order by {WORST_FIRST})::integer as place, rank::tinyint as rank, axis,
           coalesce(kinds, []) as kinds
    from inside left join ranked using (heal_id)
)
select p.row, p.place, p.rank, p.axis, p.kinds, e.truth_gap, a.n_regressed, a.n_safety, a.n_cases, b.verdict as budget, b.ratio,
       p.row in (from returned) as revisits, p.row in (select row from blocked) as is_blocked
from placed p
left join efficacy_rows e using (heal_id)
left join aftermath_rows a using (heal_id)
left join budget_rows b using (heal_id)
"""

ORDERS = {
    "worst": "q.place",
    "newest": "h.ts desc, q.place",
    "gap": "q.truth_gap desc nulls last, q.place",
    "regressed": "q.n_regressed desc nulls last, q.n_safety desc nulls last, q.place",
    "dearest": "h.tokens_spent desc nulls last, q.place",
}
Order = Literal["worst", "newest", "gap", "regressed", "dearest"]

IN_ORDER = """
select h.heal_id, h.row, h.has_after_text,
       $text = '' or contains(lower(h.heal_id), $text) or contains(lower(h.loop_id), $text)
       or contains(lower(h.failure_signature), $text) or coalesce(contains(lower(h.target), $text), false) as is_named
from queue_rows q join heals h using (row)
where {filters} and ($signature = '' or h.failure_signature = $signature) and (len($found) = 0 or list_has_any(q.kinds, $found))
order by {order}
"""

ROWS = """
select h.heal_id, h.loop_id, h.ts, h.cycle, h.level, h.target, h.failure_signature, q.rank, q.axis, q.kinds, q.truth_gap, q.n_regressed,
       q.n_safety, q.n_cases, q.revisits, q.is_blocked, q.budget, q.ratio, h.tokens_spent, h.was_real_failure, h.label_source
from (select unnest($ids::varchar[]) as heal_id) asked join heals h using (heal_id) join queue_rows q using (row)
"""

EVERY = Filters()


@dataclass(frozen=True)
class Wanted:
    """Which heals a list shows, all conditions together; an empty one is none. `found`: at least one of these kinds of findings."""

    found: tuple[str, ...] = ()
    signature: str = ""
    text: str = ""
    filters: Filters = EVERY


@dataclass(frozen=True)
class Listing:
    """Ids of the heals wanted, in the order asked for, of how many in the window, and what was searched for the text."""

    ids: tuple[str, ...]
    n_window: int
    searched: str


@dataclass(frozen=True)
class Row:
    """One heal of the queue. Shares in [0, 1]; what is not known is None."""

    heal_id: str
    loop_id: str
    ts: datetime
    cycle: int
    level: int
    target: str | None
    signature: str
    severity: Severity | None  # None: nothing was found
    axis: str | None
    kinds: tuple[str, ...]
    truth_gap: float | None
    n_regressed: int | None  # None: no surface runs to compare
    n_safety: int | None
    n_cases: int | None
    revisits: bool
    is_blocked: bool
    budget: str | None
    ratio: float | None
    tokens_spent: int | None
    was_real_failure: bool | None
    label_source: str | None
    sentences: tuple[str, ...]


def listing(audit: Audit, wanted: Wanted, order: Order = "worst") -> Listing:
    """The heals of the window that are wanted, in order."""
    scope = audit.scope
    with scope.store.lock:
        prepare(audit)
        condition, binds = wanted.filters.sql("h")
        sql = IN_ORDER.format(filters=condition, order=ORDERS[order])
        text = wanted.text.strip().lower()
        rows = scope.query(sql, text=text, signature=wanted.signature, found=list(wanted.found), **binds)
        n_window = scope.one("select count(*) from queue_rows")[0]
        if not text:
            return Listing(tuple(row[0] for row in rows), n_window, "")
        ids, searched = _search(scope, text, rows)
    return Listing(ids, n_window, searched)


def _search(scope: Scope, text: str, rows: Sequence[tuple[str, int, bool, bool]]) -> tuple[tuple[str, ...], str]:
    """Ids of the rows that hold the text in a name or in what they changed, and a sentence on where it was looked for."""
    unnamed = [row for _, row, has_text, is_named in rows if has_text and not is_named]
    if len(unnamed) > TEXTS_SEARCHED:
        where = f"Searched: ids, loops, signatures and targets; the changed texts only in lists of up to {TEXTS_SEARCHED:,} heals."
        return tuple(heal_id for heal_id, _, _, is_named in rows if is_named), where
    inside = {row for row, after in zip(unnamed, scope.texts(unnamed), strict=True) if text in (after or "").lower()}
    ids = tuple(heal_id for heal_id, row, _, is_named in rows if is_named or row in inside)
    return ids, "Searched: ids, loops, signatures, targets and the changed texts."


def rows(audit: Audit, heal_ids: Sequence[str]) -> tuple[Row, ...]:
    """What the queue shows of some heals of the window, in the order asked for; ids that are not in the window are left out."""
    scope = audit.scope
    with scope.store.lock:
        prepare(audit)
        found = {row[0]: row for row in scope.query(ROWS, ids=list(heal_ids))}
        sentences = sentences_of(scope, list(found))
    return tuple(_row(found[heal_id], sentences[heal_id]) for heal_id in heal_ids if heal_id in found)


def _row(values: tuple[Any, ...], sentences: tuple[str, ...]) -> Row:
    rank, kinds = values[7], values[9]
    severity = None if rank is None else SEVERITIES[rank]
    shown: tuple[Any, ...] = (*values[:7], severity, values[8], tuple(sorted(kinds)), *values[10:], sentences)
    return Row(*shown)


def short_ids(heal_ids: Sequence[str]) -> list[str]:
    """The ids for a narrow column: a long beginning that all of them share is left away, up to a sign between words."""
    shared = commonprefix(heal_ids) if len(heal_ids) > 1 else ""  # noqa: RUF071 -- ids are no paths
    shared = re.sub(r"\w+\Z", "", shared)
    return list(heal_ids) if len(shared) < SHARED_MIN else [f"…{heal_id[len(shared) :]}" for heal_id in heal_ids]


def in_brief(row: Row) -> str:
    """What was found about a heal in a few words, worst first, for a narrow column; empty when nothing was."""
    gap = points(row.truth_gap) if row.truth_gap is not None else 0
    told = {
        "safety": count(row.n_safety or 0, "safety case"),
        "copied": "copied exam",
        "gap": f"gap {gap}" if gap else "gap",
        "regression": f"broke {row.n_regressed:,}" if row.n_regressed else "",
        "budget": f"{times(row.ratio)} × tokens" if row.ratio is not None else "budget",
    }
    if row.n_safety == row.n_regressed:  # nothing else broke
        told["regression"] = ""
    return ", ".join(word for kind in KINDS if kind in row.kinds and (word := told.get(kind, kind)))


@dataclass(frozen=True)
class Bulk:
    """What one decision for many heals covers. Heals that broke a safety case are decided one by one, by looking at them."""

    heal_ids: tuple[str, ...]
    n_safety: int

    @property
    def left_out(self) -> str:
        """How many are not covered, in a sentence; nothing when all are."""
        return f"{count(self.n_safety, 'heal')} left out: safety regressions are decided one by one." if self.n_safety else ""


def unsafe(audit: Audit) -> frozenset[str]:
    """The heals of the window that broke a safety case."""
    return frozenset(heal_id for (heal_id,) in audit.scope.query("select heal_id from aftermath_rows where n_safety > 0"))


def bulk(heal_ids: Iterable[str], unsafe_ids: frozenset[str]) -> Bulk:
    """The heals that a decision for all of these may cover: never one with a safety regression."""
    wanted = tuple(heal_ids)
    kept = tuple(heal_id for heal_id in wanted if heal_id not in unsafe_ids)
    return Bulk(kept, len(wanted) - len(kept))


def table(audit: Audit, heal_ids: Sequence[str]) -> list[dict[str, Any]]:
    """The heals as plain rows, for a file: one column a fact, the sentences in one."""
    found = []
    for row in rows(audit, heal_ids):
        plain = asdict(row) | {"kinds": ", ".join(row.kinds), "sentences": "; ".join(row.sentences)}
        found.append(plain | {"ts": row.ts.isoformat().replace("+00:00", "Z")})
    return found


def signatures(audit: Audit) -> list[str]:
    """Failure signatures of the window, most often healed first."""
    return [signature for (signature,) in audit.scope.query(SIGNATURES)]


SIGNATURES = """
select failure_signature from heals where ts > (select start from span) and ts <= (select stop from span)
group by failure_signature order by count(*) desc, failure_signature limit 200
"""


def prepare(audit: Audit) -> None:
    """Keep ``queue_rows`` of the window, once an audit."""
    try:
        audit.scope.query("select 1 from queue_rows limit 0")
    except duckdb.CatalogException:
        audit.scope.keep("queue_rows", QUEUE_ROWS, **prepare_ranking(audit))
