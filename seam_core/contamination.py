"""Has the agent learnt its exam? Held-out cases whose words stand in lines that heals added.  Source: docs/method.md, Contamination."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from seam_core.additions import Changes, Shown, find_shown
from seam_core.exam import Exam, Scanner, build_exam
from seam_core.gates import Gate
from seam_core.scope import Scope, insert_rows
from seam_core.sharing import Shared, spans

TOLERANCE = 1e-9

# The newest text before the window of each target that changes in it.
TEXTS_BEFORE = """
with targets as (select target, min(ts) as first_ts from window_heals where has_after_text and target is not null group by target),
newest as (
    select h.target, max(h.ts) as ts
    from heals h join targets t using (target) anti join blocked using (row)
    where h.has_after_text and h.ts < t.first_ts
    group by h.target
)
select arg_max(h.row, h.heal_id) as row, max(h.heal_id) as heal_id, h.target, h.ts
from heals h join newest n on n.target = h.target and n.ts = h.ts anti join blocked using (row)
where h.has_after_text
group by h.target, h.ts
"""

# Every heal of the window that carries a text, in time order, and the row of the text before it on its target.
CHANGES = """
with texts as (
    select row, heal_id, target, ts, true as in_window from window_heals where has_after_text
    union all
    select row, heal_id, target, ts, false from texts_before
),
neighbours as (
    select row, ts, heal_id, in_window, case when target is not null then lag(row) over follows end as before_row,
           target is not null and lead(row) over follows is not null as goes_on
    from texts
    window follows as (partition by target order by ts, heal_id)
)
select row, before_row, goes_on from neighbours where in_window order by ts, heal_id
"""


@dataclass(frozen=True)
class Contamination:
    """Contaminated ÷ testable held-out cases, in [0, 1]; None with a reason when no case can be tested."""

    rate: float | None
    reason: str | None
    n_cases: int
    n_contaminated: int
    n_first_texts: int  # heals whose whole text counted as added, because their target had none before


@dataclass(frozen=True)
class Search:
    """The looking for an exam in what heals added, begun; or why it was not."""

    exam: Exam
    reason: str | None
    work: Shared[Shown]


@contextmanager
def begin(scope: Scope, gate: Gate) -> Iterator[Search]:
    """The search for the held-out exam in what heals of the window added; a long one is begun in other processes at once."""
    exam = build_exam(scope.query("select id, text from holdout where text is not null order by id"), n=scope.settings.ngram)
    reason = _reason(scope, exam)
    changes = Changes(array("q"), array("q"), array("q")) if reason else _find_changes(scope, gate)
    parts = [(changes.part(start, stop), exam) for start, stop in spans(len(changes.row))]
    with Shared(scope, find_shown, parts) as work:
        yield Search(exam, reason, work)


def measure_contamination(scope: Scope, search: Search) -> Contamination:
    """How much of the held-out exam stands in what heals of the window added. Keeps ``contamination_rows``."""
    scope.con.execute(
        "create or replace temp table contamination_rows"
        " (case_id varchar, coverage double, contaminated boolean, heals varchar[], passage varchar)"
    )
    if search.reason:
        return Contamination(None, search.reason, 0, 0, 0)
    scanner = Scanner(search.exam)
    parts = search.work.results()
    for part in parts:
        scanner.include(part.heals)
    findings = scanner.findings()
    heal_rows = sorted({row for _, _, rows, _ in findings for row in rows})
    names = dict(scope.query("select row, heal_id from heals where row in (select unnest($rows::bigint[]))", rows=heal_rows))
    bar = scope.settings.ngram_coverage - TOLERANCE
    found = [(case, share, share >= bar, sorted(names[row] for row in rows), passage) for case, share, rows, passage in findings]
    insert_rows(scope, "contamination_rows", "case_id, coverage, contaminated, heals, passage", found)
    n_cases, n_bad = len(search.exam.grams), sum(contaminated for _, _, contaminated, _, _ in found)
    return Contamination(n_bad / n_cases, None, n_cases, n_bad, sum(part.n_first for part in parts))


def _reason(scope: Scope, exam: Exam) -> str | None:
    """Why there is nothing to look for, or nowhere."""
    if not scope.store.has("holdout"):
        return "no holdout.jsonl"
    n_heals, n_texts = scope.one("select count(*), count(*) filter (has_after_text) from window_heals")
    if not n_heals:
        return "no heal in the window"
    if not exam.grams:
        return "no held-out case has a text long enough to test"
    return None if n_texts else "no heal in the window logs the changed text"


def keep_texts_before(scope: Scope, gate: Gate) -> None:
    """Keep ``texts_before``, once: of each target that changes in the window, the newest text before it that the gate did not stop."""
    if "texts_before" in scope.kept:
        return
    scope.keep("texts_before", TEXTS_BEFORE)
    while gate.stop("select row from texts_before"):
        scope.keep("texts_before", TEXTS_BEFORE)


def _find_changes(scope: Scope, gate: Gate) -> Changes:
    keep_texts_before(scope, gate)
    scope.keep("changes", CHANGES)
    in_order = (f"{name} order by rowid" for name in ("row", "coalesce(before_row, -1)", "goes_on::bigint"))
    return Changes(*(array("q", column) for column in scope.columns("changes", *in_order)))
