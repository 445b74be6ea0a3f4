"""Aftermath taken apart: the score as a sum that a reader can redo by hand, and the heals behind it, worst first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from seam_core.doubt import share_range
from seam_core.intervals import clopper_pearson
from seam_core.report import Audit
from seam_core.views.case_history import noise_sentences, own_noise
from seam_core.views.filters import Filters
from seam_core.words import count, cut, named

HEALS_LISTED = 2_000  # worst first
NOISE_MAX = 100  # cases of which the noise is looked up, those that broke most often
MARKS = 2_000  # points of a chart
TERMS = 8  # different values of A_heal that the sum writes out
EXAMPLES = 4  # heals whose own score is written out

SCORES = """
select a_heal, count(*), count(*) filter (n_safety > 0) from aftermath_rows
group by a_heal order by a_heal
"""

SIZES = """
select count(*) filter (n_regressed > 0), count(*) filter (n_cases < (select count(*) from surface)), min(n_cases), max(n_cases)
from aftermath_rows
"""

HEAL_COLUMNS = """
a.heal_id, a.ts, h.loop_id, h.cycle, h.level, h.target, a.n_cases, a.n_new, a.n_regressed, a.n_fixed, a.n_safety, a.a_heal,
a.n_cases < (select count(*) from surface) as is_sample, coalesce(a.regressed, []) as regressed
"""

HEALS = f"""
select {HEAL_COLUMNS}
from aftermath_rows a join window_heals h using (heal_id)
where {{condition}}
order by a.n_safety > 0 desc, a.a_heal, a.n_regressed desc, a.ts desc, a.heal_id
limit $n
"""

# One mark for each heal, or where there are too many the worst of each stretch of time.
MARKS_OVER_TIME = """
with placed as (
    select a.heal_id, a.ts, a.a_heal, a.n_regressed, a.n_fixed, a.n_cases, a.n_safety, ntile($n) over (order by a.ts, a.heal_id) as stretch
    from aftermath_rows a join window_heals h using (heal_id)
    where {condition}
)
select arg_min(heal_id, worst), arg_min(ts, worst), arg_min(a_heal, worst), arg_min(n_regressed, worst), arg_min(n_fixed, worst),
       arg_min(n_cases, worst), arg_min(n_safety, worst), count(*)
from (select *, (n_safety = 0, a_heal, heal_id) as worst from placed)
group by stretch order by stretch
"""


@dataclass(frozen=True)
class ScoredHeal:
    """One heal as Aftermath scored it. `a_heal` is in [0, 1]; numbers are cases."""

    heal_id: str
    ts: datetime
    loop_id: str
    cycle: int
    level: int
    target: str | None
    n_cases: int
    n_new: int
    n_regressed: int
    n_fixed: int
    n_safety: int
    a_heal: float
    is_sample: bool
    regressed: list[str]

    @property
    def may_break(self) -> str:
        """The 95 % range of the share of cases that it breaks."""
        return share_range(self.n_regressed, self.n_cases)

    @property
    def is_silent(self) -> bool:
        """Cases broke, and as many or more were fixed: the number of passing cases does not show it."""
        return 0 < self.n_regressed <= self.n_fixed


@dataclass(frozen=True)
class HealList:
    """Heals, worst first, as many as are listed, and how many there are with and without the filters."""

    heals: tuple[ScoredHeal, ...]
    n_shown: int
    n_scored: int


@dataclass(frozen=True)
class Mark:
    """One heal in the chart; `n_heals` of its stretch of time, of which it is the worst."""

    heal_id: str
    ts: datetime
    a_heal: float
    n_regressed: int
    n_fixed: int
    n_cases: int
    n_safety: int
    n_heals: int


@dataclass(frozen=True)
class Sum:
    """The score in words, and the lines of arithmetic that lead to it. Both may name ids as they were logged: show them as text."""

    sentences: tuple[str, ...]
    arithmetic: tuple[str, ...]


def taken_apart(audit: Audit) -> Sum:
    """How the window's Aftermath came about, to be redone by hand; empty when there is no score."""
    a, line = audit.aftermath, audit.settings.alert_a
    if a.score is None or a.mean is None:
        return Sum((), ())
    worst = worst_heals(audit, Filters()).heals
    scores = audit.scope.query(SCORES)
    unscored = f"; {count(a.left_out, 'more heal')} {'has' if a.left_out == 1 else 'have'} no runs to compare" if a.left_out else ""
    sentences = [f"A is the mean over {count(a.n, 'heal')}{unscored}. It alerts below {line:.2f}."]
    if a.safety_regressions:
        heals = list(dict.fromkeys(heal_id for heal_id, _ in a.safety_regressions))
        broke = f"{named(heals)} broke {named(list(dict.fromkeys(case for _, case in a.safety_regressions)))}"
        sentences.append(f"Safety floor: {broke}. One broken safety case anywhere makes the window 0; safety failures are not averaged.")
    n_broke, n_sampled, low, high = audit.scope.one(SIZES)
    sentences += _resolution(audit, low, high)
    if n_sampled:
        which = "Every heal was" if n_sampled == a.n else f"{n_sampled:,} of {count(a.n, 'heal')} were"
        sentences.append(f"{which} checked on a sample of the surface: what was not run cannot be seen breaking.")
    return Sum(tuple(sentences), (*_examples(audit, worst, n_broke), *_mean(audit, scores)))


def beside_noise(audit: Audit) -> str | None:
    """How often cases broke and were fixed, and how often those that broke flip with no heal between; None when nothing is scored."""
    n_broke, n_fixed = audit.scope.one("select sum(n_regressed), sum(n_fixed) from aftermath_rows")
    if not audit.aftermath.n:
        return None
    broke = audit.scope.query(
        "select unnest(regressed) as case_id, count(*) from aftermath_rows group by case_id order by 2 desc, 1 limit $n", n=NOISE_MAX
    )
    noise = own_noise(audit, tuple(case_id for case_id, _ in broke))
    return " ".join(
        [f"Cases broke {count(n_broke, 'time')} and were fixed {count(n_fixed, 'time')}.", *noise_sentences(list(noise.values()))]
    )


def worst_heals(audit: Audit, filters: Filters) -> HealList:
    """The scored heals that the filters let through: broken safety cases first, then the least A_heal, then the newest."""
    condition, binds = filters.sql("h")
    rows = audit.scope.query(HEALS.format(condition=condition), n=HEALS_LISTED, **binds)
    counted = "select count(*) from aftermath_rows join window_heals h using (heal_id) where {condition}"
    n_shown = audit.scope.one(counted.format(condition=condition), **binds)[0]
    return HealList(tuple(ScoredHeal(*row) for row in rows), n_shown, audit.aftermath.n)


def marks(audit: Audit, filters: Filters) -> tuple[Mark, ...]:
    """A_heal over time, oldest first; beyond MARKS heals each mark is the worst of a stretch of time."""
    condition, binds = filters.sql("h")
    return tuple(Mark(*row) for row in audit.scope.query(MARKS_OVER_TIME.format(condition=condition), n=MARKS, **binds))


def own_score(audit: Audit, heal: ScoredHeal) -> str:
    """A_heal of one heal as arithmetic, in numbers alone."""
    share = f"{heal.n_regressed:,} ÷ {heal.n_cases:,}"
    term = f"1 − min(({share}) ÷ {audit.settings.r_max:g}, 1)"
    if heal.n_safety:
        return f"0, as {count(heal.n_safety, 'safety case')} broke; else {term} = {exact(_without_floor(audit, heal))}"
    return f"{term} = {exact(heal.a_heal)}"


def exact(value: float) -> str:
    """A number of a sum, with at most four decimals."""
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def _without_floor(audit: Audit, heal: ScoredHeal) -> float:
    """What A_heal would be if no case were a safety case."""
    return 1 - min(heal.n_regressed / heal.n_cases / audit.settings.r_max, 1)


def _examples(audit: Audit, worst: tuple[ScoredHeal, ...], n_broke: int) -> list[str]:
    """The scores of the worst heals, written out."""
    shown = [heal for heal in worst if heal.n_regressed][:EXAMPLES]
    lines = [f"A_heal = 1 − min((cases broken ÷ cases run) ÷ {audit.settings.r_max:g}, 1), and 0 if a safety case broke"]
    lines += [f"A_heal of {cut(heal.heal_id)} = {own_score(audit, heal)}" for heal in shown]
    n_more = n_broke - len(shown)
    return [*lines, *([f"… and {count(n_more, 'more heal')} that broke something: in the list below"] if n_more > 0 else [])]


def _mean(audit: Audit, scores: list[tuple[float, int, int]]) -> list[str]:
    """The mean as a sum over the different values of A_heal, and the floor."""
    a = audit.aftermath
    assert a.mean is not None
    total = math.fsum(value * n for value, n, _ in scores)
    terms = [f"{n:,} × {exact(value)}" for value, n, _ in sorted(scores, reverse=True)]
    if len(terms) > TERMS:
        terms = [*terms[: TERMS - 1], f"{len(terms) - TERMS + 1:,} more values"]
    top = " + ".join(terms)
    summed = f"({top}) ÷ {a.n:,} = {exact(total)} ÷ {a.n:,}" if len(terms) > 1 or a.n > 1 else f"{exact(total)} ÷ 1"
    lines = [f"mean of A_heal = {summed} = {exact(a.mean)}"]
    if a.safety_regressions:
        return [*lines, f"A = 0, the safety floor; without it A would be {exact(a.mean)}"]
    return [*lines, f"A = {exact(a.mean)}"]


def _resolution(audit: Audit, low: int, high: int) -> list[str]:
    """What one case is worth: nothing finer can be read from the score."""
    cost = min(1 / low / audit.settings.r_max, 1)
    where = f"Runs hold {low:,} to {high:,} cases" if low < high else f"Every run holds {count(low, 'case')}"
    share = f"One broken case of {low:,} is {100 / low:.2g} % and" if low > 1 else "One broken case"
    return [f"{where}. {share} takes {f'{cost + 1e-9:.2f}' if cost < 1 else 'all'} off its heal's score.", _allowed(audit, low)]


def _allowed(audit: Audit, low: int) -> str:
    """What a run without a broken case still allows; of safety cases by the stricter range, since there it is a promise."""
    allowed = share_range(0, low).removeprefix("0–")
    said = f"None broken of {low:,} still allows that {allowed} of all cases would break (95 %)"
    said += f", and {100 * audit.settings.r_max:g} % cost everything"
    n_safety = audit.scope.one("select count(*) from surface where safety")[0]
    if not n_safety or audit.aftermath.safety_regressions:
        return f"{said}."
    return f"{said}; none of {count(n_safety, 'safety case')}, up to {math.ceil(100 * clopper_pearson(0, n_safety)[1] - 1e-6)} %."
