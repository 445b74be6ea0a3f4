"""Everything that is known about one heal, ready to draw. What is missing says so and why; nothing missing is a zero.

The heal may lie outside the window shown: then what only the window's scoring tells is missing, and says so.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from seam_core.findings import gap_sentence, split_gap_sentence
from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.views import gap_doubt, queue, record
from seam_core.views.dossier import Case, Changed, Dossier, Pair, Revisit, Scores, Stopped, Surface
from seam_core.views.earlier import earlier_text
from seam_core.views.issue_text import LEVELS, NoSuchHealError
from seam_core.views.resolution import find_resolution
from seam_core.words import alike, count, cut, listed, signed, times
from seam_core.words import points as whole_points

OUTSIDE = "the heal lies outside the window shown"

HEAL = """
select h.row, h.ts, h.loop_id, h.cycle, h.level, h.failure_signature, h.target, h.has_after_text, h.visible_before, h.visible_after,
       h.holdout_before, h.holdout_after, h.holdout_scope, h.tokens_spent, h.task_tokens, h.was_real_failure, h.label_source, h.score,
       h.ts > (select start from span) and h.ts <= (select stop from span) as in_window, h.row in (select row from blocked) as is_blocked
from heals h
where h.heal_id = $heal_id
"""

# The loop as the log holds it, beyond the window too; where the heal stands in it, and its neighbours.
LOOP = """
with cycles as (
    select heal_id, row_number() over by_cycle as position, count(*) over () as n_cycles,
           lag(heal_id) over by_cycle as before, lead(heal_id) over by_cycle as after
    from heals where loop_id = $loop_id
    window by_cycle as (order by cycle, ts, heal_id)
)
select position, n_cycles, before, after from cycles where heal_id = $heal_id
"""

# Whether the loop's heals all carry one visible pair: then that pair is the loop's, and may stand beside the loop's held-out pair.
LOOPS_OWN = "select count(distinct (visible_before, visible_after)) = 1 from heals where loop_id = $loop_id"

STOPPED = "select protected_id, kind, protected_text from blocked_rows where heal_id = $heal_id order by protected_id"

RUNS = """
select a.run_id, b.run_id, r.n_cases, r.n_new, r.n_cases < (select count(*) from surface)
from aftermath_rows r join heal_runs h using (heal_id)
join surface_runs a on a.run = h.after_run left join surface_runs b on b.run = h.before_run
where r.heal_id = $heal_id
"""
CASES = """
select c.case_id, coalesce(s.safety, false), s.component, c.passed_after
from surface_cases c left join surface s on s.id = c.case_id
where c.heal_id = $heal_id and c.passed_before <> c.passed_after
order by coalesce(s.safety, false) desc, c.case_id
"""
HAS_RUN = "select count(*) from runs where suite = 'surface' and phase = 'after' and heal_id = $heal_id"

REVISITS = """
select e.heal_id, e.cycle, r.similarity, r.idle
from revisit_rows r join heals h on h.row = r.later_row join heals e on e.row = r.earlier_row
where h.heal_id = $heal_id order by r.similarity desc, r.earlier desc
"""
SPENT = "select ratio, verdict from budget_rows where heal_id = $heal_id"


def dossier(audit: Audit, heal_id: str) -> Dossier:
    """Everything known about one heal of the log.  Raises NoSuchHealError when there is none of that id."""
    with audit.scope.store.lock:
        return _dossier(audit, heal_id)


def _dossier(audit: Audit, heal_id: str) -> Dossier:
    scope = audit.scope
    found = scope.query(HEAL, heal_id=heal_id)
    if not found:
        raise NoSuchHealError(f"There is no heal {cut(heal_id)} in the log; look at its id, or choose one in the list.")
    (row, ts, loop_id, cycle, level, signature, target, has_text, *scores, scope_said, spent, task, real, source, own, inside, blocked) = (
        found[0]
    )
    position, n_cycles, previous, following = scope.one(LOOP, loop_id=loop_id, heal_id=heal_id)
    listed_row = next(iter(queue.rows(audit, (heal_id,))), None)
    surface, surface_why = _surface(scope, heal_id, inside=inside, blocked=blocked)
    ratio, verdict = next(iter(scope.query(SPENT, heal_id=heal_id)), (None, None))
    line = next(scope.store.lines("heals", [row]))
    logged = record.decode(line)
    url, host, trace_said = record.trace(logged.get("trace_url"))
    return Dossier(
        heal_id=heal_id,
        ts=ts,
        loop_id=loop_id,
        cycle=cycle,
        level=level,
        level_name=LEVELS[level],
        signature=signature,
        position=position,
        n_cycles=n_cycles,
        previous=previous,
        following=following,
        in_window=inside,
        is_blocked=blocked,
        severity=listed_row.severity if listed_row else None,
        axis=listed_row.axis if listed_row else None,
        sentences=listed_row.sentences if listed_row else (),
        stopped=tuple(Stopped(*values) for values in scope.query(STOPPED, heal_id=heal_id)),
        scores=_sure(audit, heal_id, _scores(scope, loop_id, scores, measured=scope_said), until=ts),
        own_score=own,
        changed=_changed(scope, (heal_id, ts, target), has_text=has_text, row=row),
        surface=surface,
        surface_why=surface_why,
        revisits=tuple(_revisit(*values) for values in scope.query(REVISITS, heal_id=heal_id)),
        tokens_spent=spent,
        task_tokens=task,
        ratio=ratio if ratio is not None else spent / task if spent is not None and task else None,
        spending=_spending(spent, task, verdict),
        lifted=record.lifted(logged.get("break_glass")),
        label=_label(real, source),
        evidence=record.shown(record.inner(logged, "trigger").get("evidence")),
        actor=record.shown(logged.get("actor")),
        trace_url=url,
        trace_host=host,
        trace_said=trace_said,
        file=scope.store.workspace.heals.name,
        line_number=scope.store.line_number("heals", row),
        raw=line.decode("utf-8", "replace").removeprefix("\ufeff").strip(),
        unknown=record.unknown_keys(logged),
    )


def _scores(scope: Scope, loop_id: str, four: list[float | None], *, measured: str | None) -> Scores:
    visible, held_out = Pair(four[0], four[1]), Pair(four[2], four[3])
    names = ("visible_before", "visible_after", "holdout_before", "holdout_after")
    missing = [name for name, value in zip(names, four, strict=True) if value is None]
    whole_loop = measured == "loop"
    if visible.gain is None or held_out.gain is None:
        return Scores(visible, held_out, None, f"no gap is known: {listed(missing)} {_is(missing)} not logged", whole_loop, splits=False)
    splits = whole_loop and not scope.one(LOOPS_OWN, loop_id=loop_id)[0]
    said = split_gap_sentence(visible.gain, held_out.gain) if splits else None
    said = said or gap_sentence(visible.gain, held_out.gain, whole_loop=whole_loop)
    seen, real = signed(whole_points(visible.gain)), whole_points(held_out.gain)
    own, whole = (" at this cycle", " over its whole loop") if whole_loop else ("", "")
    unit = "point" if abs(real) == 1 else "points"
    said = said or f"visible {seen}{own}, held-out {signed(real)}{whole} {unit}: no gap of a whole point"
    return Scores(visible, held_out, max(0.0, visible.gain - held_out.gain), said, whole_loop, splits)


def _sure(audit: Audit, heal_id: str, scores: Scores, *, until: datetime) -> Scores:
    """The same with how sure the gap is, where there is one, and how fine the exam."""
    exam = find_resolution(audit).sentence if scores.held_out.after is not None or scores.held_out.before is not None else ""
    four = (scores.visible.before, scores.visible.after, scores.held_out.before, scores.held_out.after)
    if scores.gap is None or None in four:
        return replace(scores, exam=exam)
    pairs = {"visible": (four[0] or 0.0, four[1] or 0.0), "held_out": (four[2] or 0.0, four[3] or 0.0)}
    found = gap_doubt.gap_doubt(audit, "heal", heal_id, **pairs, until=until, is_split=scores.splits)
    return replace(scores, exam=exam, sure=tuple(gap_doubt.sentences(found)))


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _changed(scope: Scope, heal: tuple[str, datetime, str | None], *, has_text: bool, row: int) -> Changed:
    heal_id, ts, target = heal
    if not has_text:
        what = "the record names no target and holds no text" if target is None else "the record does not hold the changed text"
        return Changed(target, None, None, f"{what} (change.after_text)")
    text = scope.text(row)
    if target is None:
        return Changed(None, text, None, "the record names no target, so no earlier text can be looked for")
    earlier = earlier_text(scope, target, ts, heal_id)
    return Changed(target, text, earlier, None if earlier else "the log holds no earlier text of this target")


def _surface(scope: Scope, heal_id: str, *, inside: bool, blocked: bool) -> tuple[Surface | None, str | None]:
    found = scope.query(RUNS, heal_id=heal_id)
    if found:
        run, run_before, n_cases, n_new, is_sample = found[0]
        cases = [Case(*values) for values in scope.query(CASES, heal_id=heal_id)]
        broken = tuple(case for case in cases if not case.passed_after)
        fixed = tuple(case for case in cases if case.passed_after)
        return Surface(run, run_before, n_cases, n_new, is_sample, broken, fixed), None
    if blocked:
        return None, "the boundary gate stopped the heal, so it broke nothing"
    if not inside:
        return None, OUTSIDE
    if not scope.store.has("runs"):
        return None, "there is no suite_runs.jsonl"
    if scope.one(HAS_RUN, heal_id=heal_id)[0]:
        return None, "the run after it has no earlier outcome to compare with"
    return None, "no surface run with phase after names this heal"


def _revisit(heal_id: str, cycle: int, similarity: float, idle: bool) -> Revisit:  # noqa: FBT001 -- a row of a query
    same = (
        "changed nothing: its text is that of the cycle before"
        if idle
        else f"returned to the text of cycle {cycle:,} ({alike(similarity)})"
    )
    return Revisit(heal_id, cycle, same)


def _spending(spent: int | None, task: int | None, verdict: str | None) -> str:
    if spent is None:
        return "what it cost is not logged (tokens_spent)"
    if not task:
        return f"{count(spent, 'token')}; what the task itself costs is {'not logged' if task is None else 'logged as 0'} (task_tokens)"
    words = {"escalated": ": a person must look at it", "elevated": ": elevated", "normal": ": within its budget"}.get(verdict or "", "")
    return f"{count(spent, 'token')}, {times(spent / task)} times the task's own {task:,}{words}"


SOURCES = {"probe1": "a plain retry", "probe3": "three plain retries", "judge": "a judge", "person": "a person"}


def _label(real: bool | None, source: str | None) -> str:  # noqa: FBT001 -- a value of the log
    if real is None:
        return "not labelled: nobody says whether the failure was real (was_real_failure)"
    said = "real" if real else "not real"
    return f"the failure was {said}, says {SOURCES[source]}" if source else f"the failure was {said}; who says so is not logged"
