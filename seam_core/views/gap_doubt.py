"""How sure the gap of one heal or loop is: its 95 % range, and whether a random split of the cases explains it.

With case rows of both exams the range and the exact split test come from the cases that changed. With scores alone nobody knows which
cases changed, so there are two ranges, the narrowest and the widest that the scores allow, and no p-value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from seam_core.exam_rows import CaseRows, Each, read_case_rows
from seam_core.gap_ranges import Range, narrow_range, q_values, wide_range
from seam_core.intervals import gap_range
from seam_core.report import Audit
from seam_core.split_test import Split
from seam_core.views import gain, gains
from seam_core.views.filters import Filters
from seam_core.views.gains import Item, Rows, Series
from seam_core.views.loop import Gain
from seam_core.views.resolution import find_resolution, points_said, practice_cases
from seam_core.words import capital, count

Pair = tuple[float, float]  # a score before and after

UNLIKELY = 0.05  # a p below it is said to be more than chance would do; no alert hangs on it
ROUNDING = 1e-6

NO_SIZE = "how many held-out cases there are cannot be told, so the gap has no range"
TWO_SPANS = "the held-out pair is of the whole loop and the visible one of this cycle, so the gap has no range"


@dataclass(frozen=True)
class GapDoubt:
    """Ranges of the signed gap in shares of a score. `wide` is there where no case rows are; `p` and `q` where they are one pool.

    `why`: why there is no range, or no p; empty where there is both.
    """

    narrow: Range | None
    wide: Range | None
    split: Split | None = None
    p: float | None = None
    q: float | None = None
    why: str = ""


def rows(audit: Audit, each: Each, filters: Filters = gains.ALL) -> Rows:
    """The worst items as `gains.rows` has them; their table has the ranges, too, and p and q where a split could be tested."""
    found = gains.rows(audit, each, filters)
    doubts = gap_doubts(audit, each, found.items)
    has_p = any(one.p is not None for one in doubts.values())
    told = (doubts[item.id] for item in found.items)
    table = tuple(
        {
            **row,
            "narrow": range_said(one.narrow) or None,
            "wide": range_said(one.wide or one.narrow) or None,
            **({"p": one.p, "q": one.q} if has_p else {}),
        }
        for row, one in zip(found.table, told, strict=True)
    )
    return replace(found, table=table)


def series(audit: Audit, each: Each, filters: Filters = gains.ALL) -> Series:
    """Gains over time as `gains.series` has them; items that are drawn one by one have the narrowest range of their gap."""
    found = gains.series(audit, each, filters)
    if found.span:
        return found
    doubts = gap_doubts(audit, each, gains.rows(audit, each, filters).items)
    ranges = {name: one.narrow for name, one in doubts.items() if one.narrow}
    moments = (replace(one, low=ranges[one.id][0], high=ranges[one.id][1]) if one.id in ranges else one for one in found.moments)
    return replace(found, moments=tuple(moments))


def gap_doubts(audit: Audit, each: Each, items: Sequence[Item]) -> dict[str, GapDoubt]:
    """Name → how sure the gap of each of some heals or loops is. q is over those that are asked for together."""
    exams = read_case_rows(audit.scope, each, [item.id for item in items], until=audit.window.end)
    sizes = practice_cases(audit), find_resolution(audit).n_cases
    spans = _split_spans(audit) if each == "heal" else set()
    found = {
        item.id: _doubt(
            (item.visible_before, item.visible_after),
            (item.holdout_before, item.holdout_after),
            None if item.whole_loop else exams.get(item.id),
            sizes,
            is_split=item.whole_loop and item.loop_id in spans,
        )
        for item in items
    }
    tested = [name for name, one in found.items() if one.p is not None]
    together = q_values([found[name].p or 0.0 for name in tested])
    return found | {name: replace(found[name], q=q) for name, q in zip(tested, together, strict=True)}


def item_sentences(audit: Audit, each: Each, name: str) -> list[str]:
    """How sure the gap of one heal or loop of the window is, in words; nothing where the window has no E for it."""
    item = gain.choose(audit, each, name).item
    return sentences(gap_doubts(audit, each, [item])[name]) if item else []


def gap_doubt(audit: Audit, each: Each, name: str, *, visible: Pair, held_out: Pair, until: datetime, is_split: bool = False) -> GapDoubt:
    """The same of one heal or loop by its two pairs, in the window or not. `is_split`: the two pairs are not of the same span."""
    exams = {} if is_split else read_case_rows(audit.scope, each, [name], until=until)
    return _doubt(visible, held_out, exams.get(name), (practice_cases(audit), find_resolution(audit).n_cases), is_split=is_split)


def range_said(found: Range | None) -> str:
    """A range in points, rounded outwards: −3 … +45; empty where there is none."""
    if found is None:
        return ""
    low, high = math.floor(100 * found[0] + ROUNDING), math.ceil(100 * found[1] - ROUNDING)
    return f"{points_said(low)} … {points_said(high)}"


def sentences(found: GapDoubt) -> list[str]:
    """The range, and what the split test says, in words."""
    if found.narrow is None:
        return [found.why]
    if found.wide is None:
        said = [f"by the cases that changed, the gap lies between {_between(found.narrow)} (95 %){_chance(found.narrow)}"]
        return [*said, *([_tested(found.split, found.p)] if found.split and found.p is not None else [f"no split test: {found.why}"])]
    if found.narrow == found.wide:
        return [f"the gap lies between {_between(found.narrow)} (95 %){_chance(found.narrow)}; {found.why}"]
    narrow = f"the gap lies between {_between(found.narrow)} (95 %) if every case that changed went the same way"
    wide = f"between {_between(found.wide)} if the runs before and after have nothing in common{_chance(found.wide)}"
    return [f"{narrow}, and {wide}; {found.why}"]


def loop_sentences(audit: Audit, loop_id: str, gain: Gain, *, until: datetime) -> list[str]:
    """One loop as one item, from its first scores to its last: E, how sure its gap is, how fine the exam; as sentences."""
    found = [] if gain.e_loop is None else [f"Efficacy as one item, from its first scores to its last: {gain.e_loop:.2f}."]
    (visible_before, visible_after), (before, after) = gain.visible, gain.held_out
    if visible_before is None or visible_after is None or before is None or after is None:
        return [*found, "How sure it is cannot be told: one of the four scores is missing."]
    visible, held_out = (visible_before, visible_after), (before, after)
    sure = gap_doubt(audit, "loop", loop_id, visible=visible, held_out=held_out, until=until)
    return [*found, *(f"{capital(said)}." for said in sentences(sure)), find_resolution(audit).sentence]


def p_said(p: float) -> str:
    """A p-value with two digits."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


# One visible pair on all of a loop's heals is the loop's, and may stand beside the loop's held-out pair.
SPLIT_SPANS = "select loop_id from loop_heals group by loop_id having count(distinct (visible_before, visible_after)) > 1"


def _split_spans(audit: Audit) -> set[str]:
    return {name for (name,) in audit.scope.query(SPLIT_SPANS)}


def _doubt(visible: Pair, held_out: Pair, cases: CaseRows | None, sizes: tuple[int | None, int | None], *, is_split: bool) -> GapDoubt:
    if cases is not None and not is_split:
        found = gap_range(cases.practice.counts, cases.held_out.counts)
        why = cases.apart(visible)
        return GapDoubt(found, None, why=why) if why else GapDoubt(found, None, cases.split, cases.split.p())
    if is_split:
        return GapDoubt(None, None, why=TWO_SPANS)
    n_visible, n_held_out = sizes
    if n_held_out is None:
        return GapDoubt(None, None, why=NO_SIZE)
    exams = (*visible, n_visible), (*held_out, n_held_out)
    known = "" if n_visible else ", and on how many cases the visible score stands is not known, so that it is taken as exact"
    return GapDoubt(narrow_range(*exams), wide_range(*exams), why=f"which cases changed is not logged{known}")


def _between(found: Range) -> str:
    low, high = range_said(found).split(" … ")
    return f"{low} and {high} points"


def _chance(found: Range) -> str:
    return ", so there may be none" if found[0] <= ROUNDING <= found[1] + 2 * ROUNDING else ""


def _tested(split: Split, p: float) -> str:
    """What a random split would have done, what happened, and whether the one explains the other."""
    fixed, broke = split.failing, split.passing
    told = [
        f"of {count(part.changed, 'case')} {verb}, {part.changed_held_out:,} {'is' if part.changed_held_out == 1 else 'are'} held out"
        f" and a random split would have about {part.expected:.1f}"
        for part, verb in ((fixed, "fixed"), (broke, "broken"))
        if part.changed
    ]
    if not told:
        return "no case changed on either exam, so there is nothing to explain"
    verdict = "are not explained" if p < UNLIKELY else "are explained"
    return f"{'; '.join(told)}: these gains {verdict} by a random split of the cases (exact test, {p_said(p)})"
