"""Has the agent learnt its exam? Held-out cases whose words stand in lines that heals added.  Source: docs/method.md, Contamination."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from seam_core.additions import Changes, Shown, linked
from seam_core.exam import Exam, Scanner, build_exam
from seam_core.gates import Gate
from seam_core.paraphrases import PARAPHRASE_ROWS, find_paraphrases
from seam_core.scope import Scope, insert_rows

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

# Every heal of the window that carries a text, in time order, and the texts before them, with a number for the target of each; a heal
# without a target has one of its own.
TEXTS = """
with texts as (
    select row, heal_id, target, ts, true as in_window from window_heals where has_after_text
    union all
    select row, heal_id, target, ts, false from texts_before
),
targets as (select target, row_number() over () as number from (select distinct target from texts where target is not null))
select row, coalesce(number, -row - 1) as number, in_window::bigint from texts left join targets using (target) order by ts, heal_id
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
    """Which exam is looked for in what heals added, and in which changes; or why it is not."""

    exam: Exam
    reason: str | None
    changes: Changes


def begin(scope: Scope, gate: Gate) -> Search:
    """What the search for the held-out exam in the window's heals has to look at."""
    exam = build_exam(scope.query("select id, text from holdout where text is not null order by id"), n=scope.settings.ngram)
    reason = _reason(scope, exam)
    return Search(exam, reason, Changes(array("q"), array("q"), array("q")) if reason else _find_changes(scope, gate))


def measure_contamination(scope: Scope, search: Search, told: Iterable[Shown]) -> Contamination:
    """How much of the held-out exam stands in what heals of the window added. Keeps ``contamination_rows`` and ``paraphrase_rows``."""
    scope.con.execute(
        "create or replace temp table contamination_rows"
        " (case_id varchar, coverage double, contaminated boolean, heals varchar[], passage varchar)"
    )
    scope.con.execute(PARAPHRASE_ROWS)
    if search.reason:
        return Contamination(None, search.reason, 0, 0, 0)
    scanner = Scanner(search.exam)
    n_first = 0
    for part in told:
        scanner.include(part.heals)
        n_first += part.n_first
    findings = scanner.findings()
    heal_rows = sorted({row for _, _, rows, _ in findings for row in rows})
    names = dict(scope.query("select row, heal_id from heals where row in (select unnest($rows::bigint[]))", rows=heal_rows))
    bar = scope.settings.ngram_coverage - TOLERANCE
    found = [(case, share, share >= bar, sorted(names[row] for row in rows), passage) for case, share, rows, passage in findings]
    insert_rows(scope, "contamination_rows", "case_id, coverage, contaminated, heals, passage", found)
    find_paraphrases(scope, search.exam, search.changes)
    n_cases, n_bad = len(search.exam.grams), sum(contaminated for _, _, contaminated, _, _ in found)
    return Contamination(n_bad / n_cases, None, n_cases, n_bad, n_first)


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
    return linked(*scope.numbers(TEXTS))
