"""What a window shows, in true plain sentences: the verdict, one sentence an axis, what is missing, what a real point cost."""

from __future__ import annotations

from seam_core.axes.efficacy import DILUTED
from seam_core.inputs import missing_inputs
from seam_core.report import AXES, Audit, thresholds
from seam_core.settings import bounds
from seam_core.words import AXIS_NAMES, capital, count, listed, percent, points, signed, signed_points

NO_HEAL = "no heal in the window"

# Loops whose visible score rose by a whole point or more, and those of them whose held-out score did not.
EMPTY_GAINS = """
select count(*) filter (holdout_gain < 1), count(*)
from (
    select round(round(100 * (visible_after - visible_before), 6)) as visible_gain,
           round(round(100 * (holdout_after - holdout_before), 6)) as holdout_gain
    from efficacy_loops
)
where visible_gain >= 1
"""

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


def alarms(audit: Audit, axis: str) -> list[str]:
    """Everything about one axis that alerts, in a few words each; nothing when nothing does."""
    contamination = audit.efficacy.contamination
    found = [f"below {thresholds(audit.settings)[axis]:.2f}"] if axis in below(audit) else []
    broken = audit.aftermath.safety_regressions if axis == "A" and not found else []  # a line of 0 does not make it right
    found += [f"{count(len({heal_id for heal_id, _ in broken}), 'heal')} broke a safety case"] if broken else []
    if axis == "E":
        found += ["the gap is widening"] if "E:widening" in audit.alerts else []
        if any(alert.startswith("contamination>") for alert in audit.alerts):
            found.append(f"{contamination.n_contaminated:,} of {contamination.n_cases:,} held-out cases leaked")
    return found


def coverage(audit: Audit) -> dict[str, str]:
    """Axis → of how much its score speaks, for each scored axis that leaves something out, may still fall, or could not have fallen."""
    s, e, a, m = audit.signal, audit.efficacy, audit.aftermath, audit.monotonicity
    parts = {"S": (s.n, s.left_out, "failure signature"), "E": (e.n, e.left_out, "heal")}
    parts |= {"A": (a.n, a.left_out, "heal"), "M": (m.n, m.left_out, "loop")}
    found = {axis: f"from {n:,} of {count(n + out, noun)}" for axis, (n, out, noun) in parts.items() if n and out}
    if is_early(audit):
        which = "the healed failure has not" if s.n_signatures == 1 else f"none of {s.n_signatures:,} healed failures has"
        early = f"early: {which} had its {_days(audit)} to come back"
        found["S"] = "; ".join([*([found["S"]] if "S" in found else []), early])
    if m.n and _cannot_wander(audit):
        found["M"] = "; ".join([*([found["M"]] if "M" in found else []), "all loops have one cycle: nothing could dip or return"])
    return found


def is_early(audit: Audit) -> bool:
    """Whether no healed failure has its days behind it in which it could have come back: Signal can only fall from there."""
    return audit.signal.score is not None and audit.signal.follow_up == 0


def _cannot_wander(audit: Audit) -> bool:
    """Whether each scored loop has one cycle only."""
    return bool(audit.scope.one("select max(n_cycles) from loop_rows where basis is not null")[0] == 1)


def week_sentences(audit: Audit) -> list[str]:
    """What the window shows, most telling first; at least one sentence, whatever the window holds."""
    sentences = [verdict(audit), *window_sentences(audit)]
    if audit.counts["scored"]:
        found = axis_sentences(audit)
        sentences += [f"{AXIS_NAMES[axis]}: {found[axis]}" for axis in AXES if audit.scores[axis] is not None]
        sentences += _budget(audit)
    return [*sentences, *_drift(audit)] if audit.counts["heals"] else sentences


def window_sentences(audit: Audit) -> list[str]:
    """How many heals there were, how many did nothing, how many loops gained nothing, and which thresholds are loosened."""
    with audit.scope.store.lock:
        found = [_heals(audit), *_idle_heals(audit), *_empty_gains(audit)] if audit.counts["heals"] else []
    return [*found, *loosened(audit)]


def loosened(audit: Audit) -> list[str]:
    """Who loosened which thresholds, one sentence for each source."""
    by_source: dict[str, list[str]] = {}
    for name, value in audit.settings.changed().items():
        default, bound = bounds()[name]
        if bound.stricter == "same" or (value > default) == (bound.stricter == "lower"):
            digits = "" if not isinstance(default, float) or bound.unit in ("days", "× task tokens") else ".2f"
            said = f"{name} to {_exact(value, digits)} (default {_exact(default, digits)})"
            by_source.setdefault(audit.resolved.origin.get(name, "someone"), []).append(said)
    return [f"{'A flag' if source == 'flag' else source} sets {listed(said)}." for source, said in by_source.items()]


def _exact(value: float | str, digits: str) -> str:
    """A setting with two decimals, or as it was written where two would not do."""
    if isinstance(value, str):
        return value
    return f"{value:{digits}}" if digits and abs(value - round(value, 2)) < 1e-9 else f"{value:g}"


def axis_sentences(audit: Audit) -> dict[str, str]:
    """Axis → what moved it in this window, or what would switch it on."""
    found = missing_inputs(audit)
    with audit.scope.store.lock:
        for axis, tell in (("S", _signal), ("E", _efficacy), ("A", _aftermath), ("M", _monotonicity)):
            if axis not in found:
                found[axis] = tell(audit)
    return {axis: found[axis] for axis in AXES}


def verdict(audit: Audit) -> str:
    """The window in one sentence: everything that alerts or is due first; it sounds calm only when nothing is."""
    counts = audit.counts
    if not counts["heals"]:
        return "This window holds no heal, so nothing is scored."
    parts = [_alarm(audit, axis) for axis in AXES if alarms(audit, axis)]
    if audit.aftermath.drift.due:
        parts.append("re-certification is due")
    if counts["blocked"]:
        parts.append(f"the boundary gate stopped {count(counts['blocked'], 'heal')}")
    parts += [f"{listed([AXIS_NAMES.get(axis, axis) for axis in audit.withheld])} withheld"] if audit.withheld else []
    fine = [AXIS_NAMES[axis] for axis, value in audit.scores.items() if value is not None and not alarms(audit, axis)]
    if fine and (parts or audit.exit_code):
        parts.append(f"{listed(fine)} {'raises' if len(fine) == 1 else 'raise'} no alert")
    elif fine:
        lines = "its alert line" if len(fine) == 1 else "their alert lines"
        parts.append(f"no alert: {listed(fine)} {'is' if len(fine) == 1 else 'are'} not below {lines}")
    unscored = [AXIS_NAMES[axis] for axis in AXES if audit.scores[axis] is None]
    if unscored and counts["scored"]:
        parts.append(f"{listed(unscored)} {'is' if len(unscored) == 1 else 'are'} not scored")
    text = _sentence([*parts, *doubts(audit)])
    return capital(text)


def doubts(audit: Audit) -> list[str]:
    """Why a score that looks well, or looks bad, may say little: another way of counting alerts, or it speaks of less than half."""
    e, a, m = audit.efficacy, audit.aftermath, audit.monotonicity
    found = []
    line = thresholds(audit.settings)["E"]
    if e.score is not None and e.by_loop is not None and e.by_loop < line - 1e-9 <= e.score and e.score - e.by_loop >= DILUTED - 1e-9:
        found.append(f"counted by loop Efficacy would be {score_text(e.by_loop, line=line)}, below {line:.2f}")
    for axis, n, left_out, noun in (("A", a.n, a.left_out, "heal"), ("M", m.n, m.left_out, "loop")):
        if 0 < n < left_out:
            found.append(f"{AXIS_NAMES[axis]} speaks of only {n:,} of {count(n + left_out, noun)}")
    return found


def _alarm(audit: Audit, axis: str) -> str:
    found = alarms(audit, axis)
    score = audit.scores[axis]
    if axis in below(audit) and score is not None:
        unsure = " (not enough heals to tell)" if audit.doubt[axis].verdict == "not enough" else ""
        found[0] = f"{AXIS_NAMES[axis]} {score_text(score, line=thresholds(audit.settings)[axis])} is {found[0]}{unsure}"
        return listed(found)
    return f"{AXIS_NAMES[axis]}: {listed(found)}"


def _heals(audit: Audit) -> str:
    n, blocked, loops = (audit.counts[key] for key in ("heals", "blocked", "loops"))
    where = f"in {count(loops, 'loop')}"
    if not blocked:
        return f"{count(n, 'heal')} {where}."
    if blocked == n:
        return f"{count(n, 'heal')}; the boundary gate stopped {'it' if n == 1 else 'all of them'}."
    rest = n - blocked
    return f"{count(n, 'heal')}; the boundary gate stopped {blocked:,}; the other {f'{rest:,} are' if rest > 1 else 'one is'} {where}."


def _idle_heals(audit: Audit) -> list[str]:
    n, scored = audit.scope.one("select count(*) filter (level = 0), count(*) from window_heals")
    return [f"{n:,} of {count(scored, 'heal')} changed nothing (level 0)."] if 4 * n > scored else []


def _empty_gains(audit: Audit) -> list[str]:
    n_empty, n_rose = audit.scope.one(EMPTY_GAINS)
    if not n_empty:
        return []
    which = "the only loop" if n_rose == 1 else f"{n_empty:,} of the {n_rose:,} loops"
    text = f"{which} whose visible score rose gained nothing held-out."
    return [capital(text)]


def _signal(audit: Audit) -> str:
    s = audit.signal
    recurred = audit.scope.one("select count(*) from signal_rows where recurred")[0]
    parts = [f"{s.fp:,} of {count(s.n, 'labelled failure signature')} healed {'was' if s.fp == 1 else 'were'} not real"]
    if s.fn is not None:
        missed = f"{count(s.fn, 'failure signature')} logged in this window had no heal in it"
        parts.append(missed if s.fn else "every failure logged in this window had a heal in it")
    return _sentence([*parts, *_returned(audit, recurred)])


def _returned(audit: Audit, recurred: int) -> list[str]:
    """How many failures came back, and for how many it is too early to say."""
    s = audit.signal
    n, days = s.n_signatures, _days(audit)
    followed = round((s.follow_up or 0) * n)
    if followed == n:
        return [f"{f'{recurred:,} of {n:,}' if recurred else 'none'} came back within {days}"]
    so_far = f"{recurred:,} of {n:,} came back within {days} so far" if recurred else "none has come back yet"
    return [so_far, f"{followed:,} of {n:,} {f'has its {days} behind it' if n == 1 else f'have their {days} behind them'}"]


def _days(audit: Audit) -> str:
    """How long a healed failure must stay away."""
    days = audit.settings.recurrence_days
    return f"{days:g} {'day' if days == 1 else 'days'}"


def _efficacy(audit: Audit) -> str:
    e = audit.efficacy
    n_loops, visible, held_out = audit.scope.one(LOOP_GAINS)
    parts = []
    if n_loops:
        parts.append(
            f"an average loop moved visible scores by {signed_points(points(visible))}, held-out scores by {signed(points(held_out))}"
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
        without = f"; without that rule it would be {a.mean:.2f}" if a.mean is not None and f"{a.mean:.2f}" != "0.00" else ""
        return f"{count(heals, 'heal')} broke a safety case, so the window scores 0{without}."
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
    parts += [f"{capped:,} took {audit.settings.depth_cap:,} cycles or more"] if capped else []
    calm = (
        f"none of {count(n, 'loop')} could wander: all have one cycle" if _cannot_wander(audit) else f"none of {count(n, 'loop')} wandered"
    )
    found = f"of {count(n, 'loop')}, {listed(parts)}" if parts else calm
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
        rows = {row[0]: row[1:] for row in audit.scope.query("select run_id, n_differ, n_cases, ts from drift_rows")}
    n_differ, n_cases, ts = rows[a.drift.run]
    now = "now, " if ts > audit.window.end else ""
    share = f"{n_differ:,} of {count(n_cases, 'case')} ({percent(n_differ, n_cases)})"
    newest = f"{now}in the newest full run {share} differ from the certified baseline"
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


def _sentence(parts: list[str]) -> str:
    return "; ".join(parts) + "."
