"""What a window shows, in true plain sentences: the verdict, one sentence an axis, what is missing, what a real point cost."""

from __future__ import annotations

from seam_core.axes.efficacy import DILUTED
from seam_core.report import AXES, Audit, thresholds
from seam_core.words import AXIS_NAMES, count, listed, percent, points, signed

NO_HEAL = "no heal in the window"
FOUR_SCORES = ("visible_before", "visible_after", "holdout_before", "holdout_after")

LOOP_GAINS = """
select count(*), avg(visible_after - visible_before), avg(holdout_after - holdout_before) from efficacy_loops
"""


def below(audit: Audit) -> list[str]:
    """The axes that are below their alert line."""
    return [axis for axis in AXES if any(alert.startswith(f"{axis}<") for alert in audit.alerts)]


def score_text(value: float, *, line: float) -> str:
    """A score with two decimals, or with as many as it takes to see that it is below the line."""
    for decimals in (2, 3, 4):
        text = f"{value:.{decimals}f}"
        if value >= line or float(text) < line:
            return text
    return f"just below {line:.2f}"


def week_sentences(audit: Audit) -> list[str]:
    """What the window shows, most telling first; at least one sentence, whatever the window holds."""
    counts = audit.counts
    if not counts["heals"]:
        return ["This window holds no heal, so nothing is scored."]
    sentences = [_verdict(audit), _heals(audit)] if counts["scored"] else [_heals(audit)]
    found = axis_sentences(audit)
    sentences += [f"{AXIS_NAMES[axis]}: {found[axis]}" for axis in AXES if axis in found and audit.scores[axis] is not None]
    return [*sentences, *_drift(audit), *_budget(audit)]


def axis_sentences(audit: Audit) -> dict[str, str]:
    """Axis → what moved it in this window, or what would switch it on."""
    found = missing_inputs(audit)
    with audit.scope.store.lock:
        for axis, tell in (("S", _signal), ("E", _efficacy), ("A", _aftermath), ("M", _monotonicity)):
            if axis not in found:
                found[axis] = tell(audit)
    return {axis: found[axis] for axis in AXES}


def missing_inputs(audit: Audit) -> dict[str, str]:
    """Axis → the file or key that would switch it on, for each axis that is not scored."""
    tellers = {"S": _no_signal, "E": _no_efficacy, "A": _no_aftermath, "M": _no_monotonicity}
    unscored = [axis for axis in AXES if audit.scores[axis] is None]
    if not audit.counts["scored"]:
        blocked = audit.counts["blocked"]
        sentence = "the boundary gate stopped every heal of this window." if blocked else "there is no heal in this window."
        return dict.fromkeys(unscored, sentence)
    with audit.scope.store.lock:
        return {axis: tellers[axis](audit) for axis in unscored}


def _verdict(audit: Audit) -> str:
    low = below(audit)
    lines = thresholds(audit.settings)
    scored = {axis: value for axis, value in audit.scores.items() if value is not None}
    fine = [AXIS_NAMES[axis] for axis in scored if axis not in low]
    parts = [f"{AXIS_NAMES[axis]} {score_text(scored[axis], line=lines[axis])} is below {lines[axis]:.2f}" for axis in low]
    if fine:
        parts.append(
            f"{listed(fine)} {'is' if len(fine) == 1 else 'are'} not below {'its alert line' if len(fine) == 1 else 'their alert lines'}"
        )
    unscored = [AXIS_NAMES[axis] for axis in AXES if axis not in scored]
    if unscored:
        parts.append(f"{listed(unscored)} {'is' if len(unscored) == 1 else 'are'} not scored")
    return "; ".join(parts) + "."


def _heals(audit: Audit) -> str:
    counts = audit.counts
    text = f"{count(counts['heals'], 'heal')}"
    if counts["loops"]:
        text += f" in {count(counts['loops'], 'loop')}"
    if counts["blocked"]:
        text += f"; the boundary gate stopped {counts['blocked']:,} of them"
    return text + "."


def _signal(audit: Audit) -> str:
    s = audit.signal
    recurred = audit.scope.one("select count(*) from signal_rows where recurred")[0]
    days = f"{audit.settings.recurrence_days:g}"
    parts = [f"{s.fp:,} of {count(s.n, 'labelled failure')} healed {'was' if s.fp == 1 else 'were'} not real"]
    if s.fn is not None:
        parts.append(
            f"{count(s.fn, 'logged failure was', 'logged failures were')} never healed" if s.fn else "no logged failure was missed"
        )
    parts.append(f"{f'{recurred:,} of {s.n_signatures:,}' if recurred else 'none'} came back within {days} days")
    return _sentence(parts)


def _efficacy(audit: Audit) -> str:
    e = audit.efficacy
    n_loops, visible, held_out = audit.scope.one(LOOP_GAINS)
    parts = []
    if n_loops:
        parts.append(
            f"an average loop moved visible scores by {signed(points(visible))} points, held-out scores by {signed(points(held_out))}"
        )
    if e.by_loop is not None and e.score is not None and abs(e.score - e.by_loop) >= DILUTED - 1e-9:
        parts.append(f"counted by loop the score would be {e.by_loop:.2f}")
    if e.trend.state in ("widening", "watch"):
        parts.append("the gap is widening" if e.trend.state == "widening" else "the gap may be widening")
    if e.contamination.n_contaminated:
        n_bad, n_cases = e.contamination.n_contaminated, e.contamination.n_cases
        parts.append(f"{n_bad:,} of {n_cases:,} held-out cases {'stands' if n_bad == 1 else 'stand'} in what heals added")
    return _sentence(parts or [f"{count(e.n, 'heal')} with all four scores"])


def _aftermath(audit: Audit) -> str:
    a = audit.aftermath
    if a.safety_regressions:
        heals = len({heal_id for heal_id, _ in a.safety_regressions})
        return f"{count(heals, 'heal')} broke a safety case, so the window scores 0; without that rule it would be {a.mean:.2f}."
    broke = audit.scope.one("select count(*) filter (n_regressed > 0) from aftermath_rows")[0]
    compared = f"{a.n:,} of {count(audit.counts['scored'], 'heal')} {'has' if a.n == 1 else 'have'} surface runs to compare"
    if a.n == 1:
        return f"{compared}; it broke {'cases that passed before' if broke else 'no case'}."
    return f"{compared}; {f'{broke:,} of them broke cases that passed before' if broke else 'none of them broke a case'}."


LOOPS = """
select count(*) filter (returned > 0), count(*) filter (idle > 0), count(*) filter (extra_dips > 0), count(*) filter (capped), count(*)
from loop_rows
where basis is not null
"""


def _monotonicity(audit: Audit) -> str:
    returned, idle, dipped, capped, n = audit.scope.one(LOOPS)
    parts = [f"{returned:,} went back to an earlier text"] if returned else []
    parts += [f"{idle:,} repeated a text unchanged"] if idle else []
    parts += [f"{dipped:,} lost ground {_more_than(audit.settings.free_dips)}"] if dipped else []
    parts += [f"{capped:,} took {audit.settings.depth_cap} cycles or more"] if capped else []
    found = f"of {count(n, 'loop')}, {listed(parts)}" if parts else f"none of {count(n, 'loop')} wandered"
    left_out = audit.monotonicity.left_out
    return (
        f"{found}; {count(left_out, 'more loop')} {'has' if left_out == 1 else 'have'} no score for every cycle."
        if left_out
        else f"{found}."
    )


def _more_than(dips: int) -> str:
    return {0: "at least once", 1: "more than once"}.get(dips, f"more than {dips} times")


def _drift(audit: Audit) -> list[str]:
    a = audit.aftermath
    if not a.drift.due:
        return []
    return [f"Re-certification is due: {drift_sentence(audit)}"]


def drift_sentence(audit: Audit) -> str:
    """How far the newest full run, and the first one over the line, are from the certified baseline."""
    a = audit.aftermath
    with audit.scope.store.lock:
        rows = {
            run_id: (n_differ, n_cases)
            for run_id, n_differ, n_cases in audit.scope.query("select run_id, n_differ, n_cases from drift_rows")
        }
    n_differ, n_cases = rows[a.drift.run]
    newest = f"in the newest full run {n_differ:,} of {n_cases:,} cases ({percent(n_differ, n_cases)}) differ from the certified baseline"
    line = f"the line is {audit.settings.drift_max * 100:g} %"
    crossed = f", first reached in {a.drift.first_due_run}" if a.drift.first_due_run != a.drift.run else ""
    return f"{newest}; {line}{crossed}."


def _budget(audit: Audit) -> list[str]:
    budget, settings = audit.budget, audit.settings
    parts = (
        [f"{count(budget.escalated, 'heal')} spent more than {settings.budget_escalated:g} times the task's tokens"]
        if budget.escalated
        else []
    )
    parts += [f"{count(budget.elevated, 'heal')} more than {settings.budget_elevated:g} times"] if budget.elevated else []
    return [f"Budget: {listed(parts)}."] if parts else []


def _no_signal(audit: Audit) -> str:
    n = count(audit.counts["scored"], "heal")
    return f"none of {n} says whether its failure was real. Fill was_real_failure in heal_events.jsonl: false when a plain retry passes."


def _no_efficacy(audit: Audit) -> str:
    present = audit.scope.one(f"select {', '.join(f'count({key})' for key in FOUR_SCORES)} from window_heals")
    absent = [key for key, n in zip(FOUR_SCORES, present, strict=True) if not n]
    if absent:
        return f"no heal of this window carries {listed(absent)}. Log {'it' if len(absent) == 1 else 'them'} in heal_events.jsonl."
    return "no heal carries all four of its scores. Log visible and holdout, before and after, in heal_events.jsonl."


def _no_aftermath(audit: Audit) -> str:
    scope = audit.scope
    if not scope.store.has("runs"):
        return "there is no suite_runs.jsonl. Log one surface run before and one after each heal there."
    if not scope.one("select count(*) from heal_runs")[0]:
        return "suite_runs.jsonl holds no surface run with phase after and the heal_id of a heal in this window."
    return "the surface runs have no earlier outcome to compare with. Log one with phase before in suite_runs.jsonl."


def _no_monotonicity(audit: Audit) -> str:
    n = count(audit.counts["loops"], "loop")
    return f"none of {n} has a score for every cycle. Log score, holdout_after or visible_after on every heal in heal_events.jsonl."


def _sentence(parts: list[str]) -> str:
    return "; ".join(parts) + "."
