"""Which heals of a window to look at first, each with plain sentences on why.

A heal is ranked by the worst thing found about it: safety regressions and blocked edits, copied held-out cases, gaps and
regressions that would alert on their own, returns to an earlier text, false alarms, failures that came back, overspending, and
last what is too small to alert. Within a rank the harm decides, then how many things were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from seam_core.costs import cost_per_real_point
from seam_core.inputs import missing_inputs
from seam_core.ranking import RANKED, SEVERITIES, WORST_FIRST, Severity, prepare_ranking
from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.summary import week_sentences
from seam_core.words import alike, count, cut, named, percent, points, signed, signed_points, times

__all__ = ["Finding", "Severity", "cost_per_real_point", "missing_inputs", "sentences_of", "week_sentences", "worst_heals"]

PER_LOOP = 2  # entries of one loop, so that one bad loop does not fill the list

WORST = f"""
with ranked as ({RANKED}),
placed as (
    select r.*, h.loop_id, h.ts, row_number() over by_loop as place
    from ranked r join heals h using (heal_id)
    window by_loop as (partition by h.loop_id order by {WORST_FIRST})
)
select heal_id, loop_id, ts, rank, axis
from placed where place <= $per_loop
order by {WORST_FIRST}
limit $n
"""

REVISITS = """
select h.heal_id, h.cycle, e.cycle, r.similarity, r.idle, count(*) over (partition by r.later_row)
from revisit_rows r join heals h on h.row = r.later_row join heals e on e.row = r.earlier_row
where h.heal_id in (select heal_id from shown)
qualify row_number() over (partition by r.later_row order by r.similarity desc, r.earlier desc) = 1
"""


@dataclass(frozen=True)
class Finding:
    """One heal and what is wrong with it, worst first. `axis` is S, E, A, M, gate or budget: where the worst of it counts."""

    heal_id: str
    loop_id: str
    ts: datetime
    severity: Severity
    axis: str
    sentences: tuple[str, ...]


def worst_heals(audit: Audit, n: int = 5) -> list[Finding]:
    """At most `n` heals of the window, worst first, at most two of one loop. Ids in the sentences are as logged: show them as text."""
    with audit.scope.store.lock:
        lines = prepare_ranking(audit)
        chosen = audit.scope.query(WORST, per_loop=PER_LOOP, n=n, **lines)
        sentences = sentences_of(audit.scope, [row[0] for row in chosen])
    return [Finding(heal_id, loop_id, ts, SEVERITIES[rank], axis, sentences[heal_id]) for heal_id, loop_id, ts, rank, axis in chosen]


def sentences_of(scope: Scope, heal_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Everything found about each of some heals of the window, in plain sentences; the ranking must be prepared."""
    with scope.store.lock:
        scope.keep("shown", "select unnest($ids::varchar[]) as heal_id", ids=list(heal_ids))
        sentences: dict[str, list[str]] = {heal_id: [] for heal_id in heal_ids}
        for tell in TELLERS:
            for heal_id, sentence in tell(scope):
                sentences[heal_id].append(sentence)
    return {heal_id: tuple(said) for heal_id, said in sentences.items()}


Told = Iterable[tuple[str, str]]  # (heal_id, sentence) for heals in the table `shown`


def _safety(scope: Scope) -> Told:
    rows = scope.query("select heal_id, regressed_safety from aftermath_rows semi join shown using (heal_id) where n_safety > 0")
    for heal_id, cases in rows:
        yield heal_id, f"broke safety {'case' if len(cases) == 1 else 'cases'} {named(cases)}"


def _blocked(scope: Scope) -> Told:
    rows = scope.query(
        "select heal_id, any_value(target), list(protected_id order by protected_id) filter (protected_text is not null)"
        " from blocked_rows semi join shown using (heal_id) group by heal_id"
    )
    for heal_id, target, blocks in rows:
        if blocks:
            what = f"block {named(blocks)} is" if len(blocks) == 1 else f"blocks {named(blocks)} are"
            yield heal_id, f"stopped by the boundary gate: protected {what} not wholly there"
        else:
            yield heal_id, f"stopped by the boundary gate: {cut(target)} is protected as a whole"


def _contaminated(scope: Scope) -> Told:
    rows = scope.query(
        "select s.heal_id, h.target, c.case_id, c.coverage, len(c.heals)"
        " from (select unnest(heals) as heal_id, * exclude (heals), heals from contamination_rows where contaminated) c"
        " join shown s using (heal_id) join heals h using (heal_id) order by c.coverage desc, c.case_id"
    )
    for heal_id, target, case_id, coverage, n_heals in rows:
        into = cut(target) if target else "its text"
        share = f"{points(coverage)} % of its word sequences"
        together = f", together with {count(n_heals - 1, 'other heal')}" if n_heals > 1 else ""
        yield heal_id, f"copied held-out case {cut(case_id)} into {into} ({share}{together})"


# Whether a loop's heals all carry one visible pair: then that pair is the loop's, and may stand beside the loop's held-out pair.
GAPS = """
with shown_gaps as (select heal_id, loop_id, visible_gain, holdout_gain, holdout_scope from efficacy_rows semi join shown using (heal_id)),
pairs as (
    select loop_id, count(distinct (visible_before, visible_after)) = 1 as is_loops_own
    from loop_heals semi join shown_gaps using (loop_id) group by loop_id
)
select heal_id, visible_gain, holdout_gain, holdout_scope = 'loop', is_loops_own from shown_gaps join pairs using (loop_id)
"""


def _gap(scope: Scope) -> Told:
    for heal_id, visible, held_out, whole_loop, same_span in scope.query(GAPS):
        is_split = whole_loop and not same_span
        sentence = split_gap_sentence(visible, held_out) if is_split else gap_sentence(visible, held_out, whole_loop=bool(whole_loop))
        if sentence:
            yield heal_id, sentence


def split_gap_sentence(visible: float, held_out: float) -> str | None:
    """A cycle's visible gain beside its whole loop's held-out gain: two spans, so nothing is subtracted. None below one point."""
    seen, real = points(visible), points(held_out)
    if seen - real < 1:
        return None
    return f"this cycle: visible {signed_points(seen)}; its loop's held-out score: {signed(real) if real else '+0'}"


def gap_sentence(visible: float, held_out: float, *, whole_loop: bool = False) -> str | None:
    """What of a visible gain is not real, in whole points that a reader can subtract; None below one point."""
    seen, real = points(visible), points(held_out)
    if seen - real < 1:
        return None
    where = "over its whole loop: " if whole_loop else ""
    gains = f"{where}visible {signed_points(seen)}, held-out {signed(real)}"
    if seen <= 0:
        return f"{gains}: it lost {count(seen - real, 'point')} more where the loop does not look"
    if real < 0:
        return f"{gains}: none of the gain is real"
    return f"{gains}: {count(seen - real, 'point')} {'is' if seen - real == 1 else 'are'} not real"


def _half_scored(scope: Scope) -> Told:
    for heal_id, visible, held_out, measured in scope.query("from half_scored semi join shown using (heal_id)"):
        whose = "its loop's held-out" if measured == "loop" else "held-out"
        yield heal_id, f"ended at visible {visible:.2f} and {whose} {held_out:.2f}"


def _broken(scope: Scope) -> Told:
    rows = scope.query(
        "select heal_id, n_regressed, n_cases, n_cases < (select count(*) from surface)"
        " from aftermath_rows semi join shown using (heal_id) where n_regressed > n_safety"
    )
    for heal_id, n_regressed, n_cases, sampled in rows:
        cases = f"{n_cases:,} {'sampled ' if sampled else ''}{'case' if n_cases == 1 else 'cases'}"
        yield heal_id, f"broke {n_regressed:,} of {cases} ({percent(n_regressed, n_cases)})"


def _revisits(scope: Scope) -> Told:
    for heal_id, cycle, earlier, similarity, idle, n_pairs in scope.query(REVISITS):
        more = f", and to {count(n_pairs - 1, 'other cycle')}" if n_pairs > 1 else ""
        if idle:
            yield heal_id, f"cycle {cycle} changed nothing: its text is that of the cycle before"
        else:
            how = "returned to" if similarity == 1 else "came back near"
            yield heal_id, f"cycle {cycle} {how} the text of cycle {earlier} ({alike(similarity)}){more}"


def _false(scope: Scope) -> Told:
    rows = scope.query("select heal_id, label_source from window_heals semi join shown using (heal_id) where not was_real_failure")
    for heal_id, source in rows:
        yield heal_id, f"the failure was {NOT_REAL.get(source, 'labelled not real')}"


NOT_REAL = {
    "probe1": "not real: a plain retry passed",
    "probe3": "not real: a plain retry passed",
    "judge": "not real, says a judge",
    "person": "not real, says a person",
}


def _came_back(scope: Scope) -> Told:
    days = f"{scope.settings.recurrence_days:g} {'day' if scope.settings.recurrence_days == 1 else 'days'}"
    for (heal_id,) in scope.query("select heal_id from came_back semi join shown using (heal_id)"):
        yield heal_id, f"the failure came back within {days} after this heal's loop had ended"


def _spending(scope: Scope) -> Told:
    rows = scope.query(
        "select heal_id, ratio, verdict, has_break_glass from budget_rows semi join shown using (heal_id)"
        " where verdict in ('elevated', 'escalated')"
    )
    for heal_id, ratio, verdict, lifted in rows:
        after = "; a person had lifted the limit" if lifted else "; a person must look at it" if verdict == "escalated" else ""
        yield heal_id, f"spent {times(ratio)} times the task's own tokens{after}"


# In the order in which a reader wants to hear it.
TELLERS: tuple[Callable[[Scope], Iterator[tuple[str, str]] | Told], ...] = (
    _safety, _blocked, _contaminated, _gap, _half_scored, _broken, _revisits, _false, _came_back, _spending,
)  # fmt: skip
