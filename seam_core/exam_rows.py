"""What heals and loops did to both exams, case by case: from the practice and held-out runs that name a heal, where they are logged.

Source: docs/method.md, How sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from seam_core.outcomes import unfold
from seam_core.scope import Scope
from seam_core.split_test import Part, Split

Each = Literal["heal", "loop"]
OUTCOMES_MAX = 5_000_000  # outcomes read for one question
DIGITS = 0.005  # a logged score is rounded to two decimals or more

# From the first run before to the last run after: of one heal its newest ones, of a loop those of its first and last heal that have any.
PAIRS = """
select h.{key} as id, r.suite::varchar as suite,
       arg_{first}(r.row, ({order}r.ts, r.run_id)) filter (r.phase = 'before') as before_run,
       arg_max(r.row, ({order}r.ts, r.run_id)) filter (r.phase = 'after') as after_run
from heals h join runs r using (heal_id)
where h.{key} in (select unnest($ids::varchar[])) and h.ts <= $until
  and r.suite::varchar in (select unnest($suites::varchar[])) and r.phase in ('before', 'after')
group by h.{key}, r.suite
"""
KEYS: dict[Each, dict[str, str]] = {
    "heal": {"key": "heal_id", "first": "max", "order": ""},
    "loop": {"key": "loop_id", "first": "min", "order": "h.cycle, h.ts, h.heal_id, "},
}

CASES = """
select p.id, p.suite, b.case_id, b.passed as passed_before, a.passed as passed_after
from exam_pairs p join outcomes b on b.run = p.before_run join outcomes a on a.run = p.after_run and a.case_id = b.case_id
"""

CHANGES = """
with twice as (select id, case_id from exam_cases group by all having count(*) > 1),
shared as (select id, count(*) as n_shared from twice group by id)
select id, suite, count(*), count(*) filter (passed_before), count(*) filter (passed_after and not passed_before),
       count(*) filter (passed_before and not passed_after), coalesce(any_value(n_shared), 0)
from exam_cases left join shared using (id)
group by id, suite
order by id, suite
"""


@dataclass(frozen=True)
class Changes:
    """One exam, in cases that were run both before and after: how many, how many passed before, and how many were fixed and broken."""

    n: int
    passed_before: int
    fixed: int
    broke: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """(fixed, broke, cases)."""
        return self.fixed, self.broke, self.n

    @property
    def before(self) -> float:
        """Share of the cases that passed before."""
        return self.passed_before / self.n

    @property
    def after(self) -> float:
        """Share of the cases that passed after."""
        return (self.passed_before + self.fixed - self.broke) / self.n


@dataclass(frozen=True)
class CaseRows:
    """Both exams of one heal or loop. `n_shared`: cases that stand in both, which no random split would have."""

    practice: Changes
    held_out: Changes
    n_shared: int = 0

    @property
    def split(self) -> Split:
        """The same as one pool of cases, split in two."""
        p, h = self.practice, self.held_out
        failing = Part(p.n - p.passed_before + h.n - h.passed_before, h.n - h.passed_before, p.fixed + h.fixed, h.fixed)
        return Split(failing, Part(p.passed_before + h.passed_before, h.passed_before, p.broke + h.broke, h.broke))

    def apart(self, visible: tuple[float | None, float | None]) -> str:
        """Why the visible score and the held-out exam are not one pool of cases; empty where nothing speaks against it."""
        if self.n_shared:
            return f"{self.n_shared:,} held-out {'case is a practice case' if self.n_shared == 1 else 'cases are practice cases'}, too"
        logged = zip(visible, (self.practice.before, self.practice.after), strict=True)
        if any(score is not None and abs(score - share) > DIGITS + 1e-9 for score, share in logged):
            return "the visible score is not that of the practice cases"
        return ""


def read_case_rows(scope: Scope, each: Each, ids: Sequence[str], *, until: datetime) -> dict[str, CaseRows]:
    """Heal or loop → its cases on both exams, for those of which both were run before and after; of heals up to a moment.

    Nothing where there is more to read than one question may.
    """
    with scope.store.lock:
        if not _read_cases(scope, each, ids, ("practice", "holdout"), until=until):
            return {}
        exams: dict[str, dict[str, Changes]] = {}
        shared = {}
        for name, suite, n, passed, fixed, broke, n_shared in scope.query(CHANGES):
            exams.setdefault(name, {})[suite] = Changes(n, passed, fixed, broke)
            shared[name] = n_shared
    return {name: CaseRows(both["practice"], both["holdout"], shared[name]) for name, both in exams.items() if len(both) == 2}


def read_held_out_rows(scope: Scope, heals: Sequence[str], *, until: datetime) -> bool:
    """Whether the held-out exam was run before and after any of these heals; its cases are then in the table ``exam_cases``."""
    return _read_cases(scope, "heal", heals, ("holdout",), until=until)


def _read_cases(scope: Scope, each: Each, ids: Sequence[str], suites: Sequence[str], *, until: datetime) -> bool:
    """Make ``exam_cases`` (id, suite, case_id, passed_before, passed_after); False when there is nothing, or too much, to read."""
    if not ids or not scope.store.has("runs"):
        return False
    binds = {"ids": list(ids), "suites": list(suites), "until": until}
    scope.keep("exam_pairs", f"from ({PAIRS.format(**KEYS[each])}) where before_run is not null and after_run is not null", **binds)
    runs = "select unnest([before_run, after_run]) as run from exam_pairs"
    n_outcomes = scope.one(f"select coalesce(sum(n_results), 0) from runs where row in ({runs})")[0]
    if not 0 < n_outcomes <= OUTCOMES_MAX:
        return False
    unfold(scope, runs)
    scope.keep("exam_cases", CASES)
    return True
