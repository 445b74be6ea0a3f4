"""The report as a digest for a chat or a pull request."""

from __future__ import annotations

from seam_core import escape
from seam_core.axes.aftermath import Aftermath
from seam_core.axes.efficacy import Efficacy
from seam_core.axes.monotonicity import Monotonicity
from seam_core.axes.signal import Signal
from seam_core.doubt import range_cell, tag
from seam_core.findings import worst_heals
from seam_core.report import AXES, Audit, thresholds
from seam_core.settings import bounds
from seam_core.summary import is_early
from seam_core.views import slices
from seam_core.views.honest import honest_efficacy
from seam_core.views.resolution import find_resolution
from seam_core.words import AXIS_NAMES, count, listed, points


def to_markdown(found: Audit) -> str:
    """The audit as Markdown, ending in a newline. Names that come from logs are escaped, so that they show as written."""
    lines = [f"## SEAM {found.window.label}", "", *_vector(found), "", *_verdict(found), "", *_parts(found)]
    if worst := worst_heals(found):
        lines += ["", "**Look at these first**", ""]
        lines += [f"- {escape.code(one.heal_id)}: {escape.markdown('; '.join(one.sentences))}" for one in worst]
    if found.flags:
        lines += ["", "**Read with care**", "", *(f"- {escape.markdown(flag)}" for flag in found.flags)]
    return "\n".join(lines) + "\n"


def _vector(found: Audit) -> list[str]:
    rows = ["| axis | score | 95 % range | line | | scored |", "|---|---|---|---|---|---|"]
    for axis, line in thresholds(found.settings).items():
        value = found.scores[axis]
        word = found.reasons[axis] or "" if value is None else f"below {line:.2f}" if value < line - 1e-9 else "ok"
        score = "not scored" if value is None else f"{value:.2f}"
        doubt = found.doubt[axis]
        settled = f", {tag(doubt, early=axis == 'S' and is_early(found))}" if doubt.verdict else ""
        cells = [
            f"{axis} {AXIS_NAMES[axis]}",
            score,
            range_cell(doubt),
            f"{line:.2f}",
            f"{word}{settled}",
            _coverage(found, axis),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _coverage(found: Audit, axis: str) -> str:
    parts: dict[str, tuple[Signal | Efficacy | Aftermath | Monotonicity, str]] = {
        "S": (found.signal, "signature"),
        "E": (found.efficacy, "heal"),
        "A": (found.aftermath, "heal"),
        "M": (found.monotonicity, "loop"),
    }
    part, noun = parts[axis]
    return f"{part.n:,} of {count(part.n + part.left_out, noun)}"


def _verdict(found: Audit) -> list[str]:
    lines = []
    if found.aftermath.drift.due:
        run = escape.code(found.aftermath.drift.first_due_run or "")
        lines.append(f"- **RECERTIFY is due**: the agent has drifted from its certified baseline since run {run}.")
    if found.counts["blocked"]:
        lines.append(f"- **{count(found.counts['blocked'], 'heal')} stopped by the boundary gate.**")
    for key, value in found.settings.changed().items():
        lines.append(f"- {key} is {value} here (default {bounds()[key][0]}).")
    withheld = [f"{axis} ({', '.join(rules)})" for axis, rules in found.withheld.items()]
    lines.append(f"- Integrity: {found.integrity.sentence}.{f' Withheld: {listed(withheld)}.' if withheld else ''}")
    lines.append(f"- Alerts: {', '.join(f'`{alert}`' for alert in found.alerts) or 'none'}")
    return lines


def _parts(found: Audit) -> list[str]:
    s, e, a, m = found.signal, found.efficacy, found.aftermath, found.monotonicity
    counts = found.counts
    cost = f"{found.budget.elevated} elevated and {found.budget.escalated} escalated in cost"
    unknown = f", {found.budget.unknown} of unknown cost" if found.budget.unknown else ""
    lines = [
        f"- {count(counts['scored'], 'heal')} in {count(counts['loops'], 'loop')} on "
        f"{count(counts['signatures'], 'failure signature')}; {cost}{unknown}.",
        f"- Signal: {s.tp} real, {s.fp} not real, {'unknown' if s.fn is None else s.fn} missed; recurrence {_share(s.recurrence)}.",
        f"- Efficacy: mean truth gap {_points(e.mean_truth_gap)}, by loop {_score(e.by_loop)}; trend: {e.trend.state}; "
        f"contamination {_share(e.contamination.rate)}.",
        *_exam(found),
        f"- Aftermath: {count(len(a.safety_regressions), 'safety regression')}; anchored drift {_share(a.drift.anchored)}.",
        f"- Monotonicity: {count(m.extra_dips, 'extra dip')}, {count(m.returned, 'return')}, {count(m.idle, 'idle pair')}, "
        f"{count(m.capped, 'loop')} at the cap.",
    ]
    unscored = [axis for axis in AXES if found.scores[axis] is None]
    return lines + ([f"- Not scored: {', '.join(unscored)}."] if unscored else [])


def _exam(found: Audit) -> list[str]:
    """How fine the held-out exam is, what an honest agent would score on it, and E by its slices, where that can be told."""
    if not found.efficacy.n:
        return []
    said = [find_resolution(found).sentence]
    floor = honest_efficacy(found)
    said += [floor.sentence(found.settings.alert_e)] if floor.efficacy is not None else []
    return [f"- Held-out exam: {' '.join([*said, *slices.sentences(slices.by_slice(found))])}"]


def _score(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0%}"


def _points(value: float | None) -> str:
    return "unknown" if value is None else count(points(value), "point")
