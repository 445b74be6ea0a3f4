"""Has the agent learnt its exam? Held-out cases whose words stand in lines that heals added.  Source: docs/method.md, Contamination."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from seam_core.additions import Added, Changes, linked
from seam_core.exam import Cases, all_traces
from seam_core.gates import Gate
from seam_core.paraphrases import PARAPHRASE_ROWS, find_paraphrases
from seam_core.scope import BEGINNING, Scope, insert_rows

TOLERANCE = 1e-9
NOT_TESTABLE = "no held-out case has a text long enough to test"

TARGETS = "select distinct target from window_heals where has_after_text and target is not null"

# The newest text of each of these targets before the window and after a moment.
TEXTS_BEFORE = """
with earlier as (
    select h.row, h.heal_id, h.target, h.ts
    from heals h semi join changed_targets using (target) anti join blocked using (row)
    where h.has_after_text and h.ts <= (select start from span) and h.ts > $since
),
newest as (select target, max(ts) as ts from earlier group by target)
select arg_max(row, heal_id) as row, max(heal_id) as heal_id, target, ts
from earlier join newest using (target, ts)
group by target, ts
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

    cases: Cases
    reason: str | None
    changes: Changes


def held_out_cases(scope: Scope) -> Cases:
    """The cases that are looked for."""
    return Cases(tuple(scope.query("select id, text from holdout where text is not null order by id")), scope.settings.ngram)


def begin(scope: Scope, gate: Gate) -> Search:
    """What the search for the held-out exam in the window's heals has to look at."""
    cases = held_out_cases(scope)
    reason = _reason(scope, cases)
    return Search(cases, reason, Changes(array("q"), array("q"), array("q")) if reason else _find_changes(scope, gate))


def measure_contamination(scope: Scope, search: Search, parts: Sequence[Added]) -> Contamination:
    """How much of the held-out exam stands in what heals of the window added. Keeps ``contamination_rows`` and ``paraphrase_rows``."""
    scope.con.execute(
        "create or replace temp table contamination_rows"
        " (case_id varchar, coverage double, contaminated boolean, heals varchar[], passage varchar)"
    )
    scope.con.execute(PARAPHRASE_ROWS)
    n_cases = max((part.n_cases for part in parts), default=0)
    reason = search.reason or (NOT_TESTABLE if not n_cases else None)
    if reason:
        return Contamination(None, reason, 0, 0, 0)
    traces = all_traces(part.traces for part in parts)
    heal_rows = sorted({row for trace in traces.values() for row in trace.rows})
    names = dict(scope.query("select row, heal_id from heals where row in (select unnest($rows::bigint[]))", rows=heal_rows))
    bar = scope.settings.ngram_coverage - TOLERANCE
    found = [(case, one.share, one.share >= bar, sorted(names[row] for row in one.rows), one.passage) for case, one in traces.items()]
    insert_rows(scope, "contamination_rows", "case_id, coverage, contaminated, heals, passage", found)
    find_paraphrases(scope, search.cases, search.changes)
    n_bad = sum(contaminated for _, _, contaminated, _, _ in found)
    return Contamination(n_bad / n_cases, None, n_cases, n_bad, sum(part.n_first for part in parts))


def _reason(scope: Scope, cases: Cases) -> str | None:
    """Why there is nothing to look for, or nowhere; whether any case can be tested is told by those who build the exam."""
    if not scope.store.has("holdout"):
        return "no holdout.jsonl"
    n_heals, n_texts = scope.one("select count(*), count(*) filter (has_after_text) from window_heals")
    if not n_heals:
        return "no heal in the window"
    if n_texts:
        return None
    return "no heal in the window logs the changed text" if cases.exam.grams else NOT_TESTABLE


def keep_texts_before(scope: Scope, gate: Gate) -> None:
    """Keep ``texts_before``, once: of each target that changes in the window, the newest text before it that the gate did not stop."""
    if "texts_before" in scope.kept:
        return
    scope.keep("changed_targets", TARGETS)
    n_targets = scope.one("select count(*) from changed_targets")[0]
    nearer = scope.window.previous
    for since in [*([nearer.start] if nearer else []), BEGINNING]:  # most of them were changed not long before
        scope.keep("texts_before", TEXTS_BEFORE, since=since)
        while gate.stop("select row from texts_before"):
            scope.keep("texts_before", TEXTS_BEFORE, since=since)
        if scope.one("select count(*) from texts_before")[0] == n_targets:
            return


def _find_changes(scope: Scope, gate: Gate) -> Changes:
    keep_texts_before(scope, gate)
    return linked(*scope.numbers(TEXTS))
