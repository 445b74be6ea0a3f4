"""The widening test laid open: both evaluations with the loops they looked at, their numbers, and what they say in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from seam_core.report import Audit
from seam_core.scope import BEGINNING
from seam_core.trend import GAPS, LOOPS_MIN, NEWEST_LOOPS, TOLERANCE, WEEK, mann_kendall_p, theil_sen_slope
from seam_core.views import issue_text
from seam_core.words import count, points, signed_points

# The scoring of the window has passed these loops through the boundary gate already; so only the newest need to be looked up again.
LOOKED_AT = f"with trend_loops as ({NEWEST_LOOPS}) {GAPS}"


@dataclass(frozen=True)
class LoopGap:
    """One loop of the test: when its last scored heal was, and the mean signed gap of its heals, as a share."""

    loop_id: str
    ts: datetime
    gap: float


@dataclass(frozen=True)
class Look:
    """One evaluation: the loops known at that moment, the slope per loop, the rise over all of them, the one-sided p."""

    moment: datetime
    loops: tuple[LoopGap, ...]
    slope: float | None
    rise: float | None
    p: float | None
    fires: bool
    why: str

    @property
    def line(self) -> tuple[float, float] | None:
        """The Theil-Sen line at the first and at the last loop, through the median of what it leaves."""
        if self.slope is None:
            return None
        left = sorted(loop.gap - self.slope * at for at, loop in enumerate(self.loops))
        middle = len(left) // 2
        start = left[middle] if len(left) % 2 else (left[middle - 1] + left[middle]) / 2
        return start, start + self.slope * (len(self.loops) - 1)


@dataclass(frozen=True)
class Widening:
    """State, a sentence on it, how the test decides, and both evaluations, the newest first."""

    state: str
    sentence: str
    rule: str
    looks: tuple[Look, Look]


def look_twice(audit: Audit) -> Widening:
    """The test at the window's end and a week before it, each with only what was known then.  Source: docs/method.md, Widening trend."""
    settings = audit.settings
    now, before = _look(audit, audit.window.end), _look(audit, audit.window.end - WEEK)
    rule = (
        f"Mann-Kendall (one-sided) and Theil-Sen on the mean signed gap of the newest {count(settings.trend_loops, 'loop')}, "
        "over all history. "
        f"Widening: p below {settings.trend_p:g} and a rise of at least {count(points(settings.trend_rise), 'point')}, "
        "at the window's end and a week before."
    )
    return Widening(audit.efficacy.trend.state, _sentence(audit, now, before), rule, (now, before))


def issue(audit: Audit, *, link: str) -> str:
    """The widening test as Markdown for an issue tracker."""
    found = look_twice(audit)
    rows = ["| evaluated | loops | rise | p | |", "|---|---|---|---|---|"]
    for look in found.looks:
        rise, p = ("unknown", "unknown") if look.rise is None or look.p is None else (rise_said(look.rise), p_said(look.p))
        rows.append(f"| {look.moment:%Y-%m-%d %H:%M} UTC | {len(look.loops)} | {rise} | {p} | {look.why} |")
    gaps = ["| loop | last scored heal | mean gap |", "|---|---|---|"]
    gaps += [
        f"| {issue_text.code(loop.loop_id)} | {loop.ts:%Y-%m-%d %H:%M} UTC | {signed_points(points(loop.gap))} |"
        for loop in found.looks[0].loops
    ]
    sections = [found.sentence, "\n".join(rows), found.rule, "**The loops it looked at, oldest first**\n\n" + "\n".join(gaps)]
    return issue_text.assemble(f"Truth gap: {found.state}", sections, audit, link=link)


def p_said(p: float) -> str:
    """A p value with two significant digits, or that it is below one in a thousand."""
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def rise_said(rise: float) -> str:
    """A rise in whole points, with its sign."""
    return signed_points(points(rise))


def _look(audit: Audit, moment: datetime) -> Look:
    settings = audit.settings
    found = audit.scope.query(LOOKED_AT, since=BEGINNING, moment=moment, n_loops=settings.trend_loops)
    loops = tuple(LoopGap(loop_id, ts, math.fsum(gaps) / len(gaps)) for loop_id, ts, gaps in found)
    if len(loops) < LOOPS_MIN:
        return Look(moment, loops, None, None, None, fires=False, why=f"fewer than {LOOPS_MIN} loops: no test")
    values = [loop.gap for loop in loops]
    slope = theil_sen_slope(values)
    rise, p = slope * (len(values) - 1), mann_kendall_p(values)
    is_sure, is_steep = p < settings.trend_p - TOLERANCE, rise >= settings.trend_rise - TOLERANCE
    if len(loops) < settings.trend_loops:
        return Look(moment, loops, slope, rise, p, fires=False, why=f"fewer than {settings.trend_loops} loops: no verdict")
    why = "fires" if is_sure and is_steep else "p is too large" if is_steep else "the rise is too small" if is_sure else "neither holds"
    return Look(moment, loops, slope, rise, p, fires=is_sure and is_steep, why=why)


def _sentence(audit: Audit, now: Look, before: Look) -> str:
    state, n = audit.efficacy.trend.state, len(now.loops)
    if state == "too few loops":
        has = f"only {count(n, 'loop has', 'loops have')}" if n else "no loop has"
        return f"Too few loops for a trend: {has} a heal with all four scores up to this window's end; the test starts at {LOOPS_MIN}."
    assert now.rise is not None
    assert now.p is not None
    moved = f"over the last {count(n, 'loop')} the gap {_moved(now.rise)} (p {_equals(now.p)})"
    if state == "slope only":
        return f"No verdict yet: {moved}, and a verdict takes {audit.settings.trend_loops} loops."
    if state == "widening":
        return f"The gap is widening: {moved}, and the test already fired a week before."
    if state == "watch":
        when = "now, but not a week before" if now.fires else "a week before, but no longer"
        return f"The gap may be widening: the test fires {when}; {moved}. A verdict takes both."
    how = {0: "The gap is steady", 1: "By the test the gap is not widening", -1: "The gap is not widening"}[_direction(now.rise)]
    return f"{how}: {moved}; the test fires neither now nor a week before."


def _direction(rise: float) -> int:
    """Whether a rise is one, to the whole point: 1, 0, or −1 when it is a fall."""
    return (points(rise) > 0) - (points(rise) < 0)


def _moved(rise: float) -> str:
    whole = points(rise)
    if not whole:
        return "did not move by a whole point"
    return f"{'rose' if whole > 0 else 'fell'} by {count(abs(whole), 'point')}"


def _equals(p: float) -> str:
    said = p_said(p)
    return said if said.startswith("<") else f"= {said}"
