"""One case over all runs of the surface: when it changed, with which heal, and how often it changes with no heal between.

Outcomes come from the log line by line, for this case alone: nothing is unfolded for it, so memory does not grow with the cases opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from seam_core.errors import SeamError
from seam_core.lines import BOM
from seam_core.outcomes import unfold
from seam_core.report import Audit
from seam_core.words import count, cut

MARKS = 2_000  # of a chart
OUTCOMES_READ = 2_000_000  # of all cases, over the runs that are looked at; about 40 MB of log
QUESTION_LENGTH = 2_000  # characters

# Runs in time order. `place` counts the heals up to a run: a heal's before run stands before it and its after run after it, however
# they are stamped, so that runs of the same place have no heal between them.
RUNS = """
with numbered as (select heal_id, ts, row_number() over (order by ts, heal_id) as number from heals),
moments as (select ts, max(number) as number from numbered group by ts),
placed as (
    select r.*, coalesce(m.number, 0) as here, h.number as own
    from surface_runs r asof left join moments m on r.ts >= m.ts
    left join numbered h on h.heal_id = r.heal_id
)
select p.run, p.run_id, p.ts, p.phase::varchar as phase, p.heal_id, p.n_results, s.state_hash, s.grader_hash,
       case when p.phase = 'before' then least(here, coalesce(own - 1, here))
            when p.phase = 'after' then greatest(here, coalesce(own, here)) else here end as place
from placed p join runs s on s.row = p.run
order by p.ts, place, case p.phase when 'before' then 0 when 'after' then 2 else 1 end, p.run_id
"""

OUTCOMES = "select case_id, run, passed from outcomes where case_id in (select unnest($case_ids::varchar[]))"

KNOWN = """
select s.id is not null, s.safety, s.component, left(s.text, $length), c.passed
from (select $case_id as id) k left join surface s using (id) left join certified c on c.case_id = k.id
"""

OFFERED = "select id from surface order by coalesce(safety, false) desc, id limit $n"
CASES_OFFERED = 5_000


class NoSuchCaseError(SeamError):
    """An address names a case that neither the surface nor any run holds."""


@dataclass(frozen=True)
class Seen:
    """One run's outcome of the case. `compared_with` is the run whose outcome it is held against: the one before, or of the same state."""

    run_id: str
    ts: datetime
    phase: str
    heal_id: str | None
    passed: bool
    has_changed: bool = False
    is_quiet: bool = False  # no heal between this run and the one that it is compared with
    compared_with: str | None = None


@dataclass(frozen=True)
class Noise:
    """How often a case changed from one run to the next with no heal between them."""

    n_pairs: int
    n_flips: int

    @property
    def words(self) -> str:
        """4 of 172, or that nothing tells."""
        return f"{self.n_flips:,} of {self.n_pairs:,}" if self.n_pairs else "unknown"


@dataclass(frozen=True)
class History:
    """One case over the runs that were looked at, oldest first. Texts are as logged."""

    case_id: str
    is_known: bool
    is_safety: bool
    component: str | None
    question: str | None
    certified: bool | None
    seen: tuple[Seen, ...]
    n_runs: int  # runs of the surface that were looked at
    since: datetime | None  # where the look begins when older runs were left out
    noise: Noise

    @property
    def n_changes(self) -> int:
        """How often its outcome changed."""
        return sum(one.has_changed for one in self.seen)

    def at(self, run_id: str | None) -> Seen | None:
        """What one run saw; None when that run does not have the case."""
        return next((one for one in self.seen if one.run_id == run_id), None)

    def drawn(self, n: int = MARKS) -> tuple[Seen, ...]:
        """About as many outcomes as a chart can hold: the first, the newest, the newest changes, and an even choice of the others."""
        changes = [at for at, one in enumerate(self.seen) if one.has_changed][-n // 2 :]
        step = max(-(-2 * len(self.seen) // n), 1) if len(self.seen) > n else 1
        kept = {0, len(self.seen) - 1, *changes, *range(0, len(self.seen), step)} if self.seen else set()
        return tuple(self.seen[at] for at in sorted(kept))

    def sentences(self) -> list[str]:
        """What the history says, in words."""
        if not self.seen:
            return ["No surface run has this case."]
        passed = sum(one.passed for one in self.seen)
        found = [f"Passed in {passed:,} of {count(len(self.seen), 'run')} that had it; {_times(self.n_changes)}."]
        noise, pairs = self.noise, f"{count(self.noise.n_pairs, 'pair')} of runs with no heal between them"
        if not noise.n_pairs:
            found.append("Its noise is unknown: no two runs with it have no heal between them.")
        elif noise.n_flips:
            found.append(
                f"It flips by itself: {noise.n_flips:,} of {count(noise.n_pairs, 'pair')} of runs with no heal between them differ."
            )
        else:
            found.append(f"Steady: none of {pairs} differs.")
        if self.certified is not None and self.certified != self.seen[-1].passed:
            found.append(f"Off the baseline: certified as {'pass' if self.certified else 'fail'}, and not so in its newest run.")
        if self.since:
            found.append(f"Older runs than {self.since:%Y-%m-%d %H:%M} UTC were not looked at.")
        return found


class _Results(msgspec.Struct):
    results: dict[str, str]


def cases_offered(audit: Audit) -> tuple[str, ...]:
    """Ids of the surface's cases to choose from, safety cases first."""
    return tuple(case_id for (case_id,) in audit.scope.query(OFFERED, n=CASES_OFFERED))


def case_history(audit: Audit, case_id: str) -> History:
    """Every outcome of one case in the newest runs that hold OUTCOMES_READ outcomes together.  Raises NoSuchCaseError."""
    runs = audit.scope.query(RUNS)
    read = _newest(runs)
    seen = _compared(read, _outcomes(audit, [run[0] for run in read], (case_id,))[case_id])
    is_known, safety, component, question, certified = audit.scope.one(KNOWN, case_id=case_id, length=QUESTION_LENGTH)
    if not is_known and not seen:
        raise NoSuchCaseError(f"There is no case {cut(case_id)} in surface.jsonl or in any surface run.")
    since = read[0][2] if len(read) < len(runs) else None
    return History(case_id, is_known, bool(safety), component, question, certified, tuple(seen), len(read), since, _noise(seen))


def own_noise(audit: Audit, case_ids: tuple[str, ...]) -> dict[str, Noise]:
    """How often each case changes with no heal between, from one look at the log."""
    read = _newest(audit.scope.query(RUNS))
    outcomes = _outcomes(audit, [run[0] for run in read], case_ids)
    return {case_id: _noise(_compared(read, outcomes[case_id])) for case_id in case_ids}


def noise_sentences(broke: Sequence[Noise]) -> list[str]:
    """Whether the cases that broke are ones that also change by themselves; nothing when none broke."""
    if not broke:
        return []
    n_pairs, n_flips = sum(noise.n_pairs for noise in broke), sum(noise.n_flips for noise in broke)
    if not n_pairs:
        return ["How often what broke flips by itself is unknown: no two runs with no heal between them."]
    n_flaky = sum(noise.n_flips > 0 for noise in broke)
    which = "none" if not n_flaky else f"{n_flaky:,}"
    who = f"{which} of {len(broke):,} cases that broke" if len(broke) > 1 else "the case that broke"
    verb = "flip" if n_flaky > 1 else "flips" if n_flaky or len(broke) > 1 else "never flips"
    return [f"With no heal between, {who} {verb}{', too' if n_flaky else ''}: {n_flips:,} of {count(n_pairs, 'pair')} of runs."]


def _noise(seen: list[Seen]) -> Noise:
    quiet = [one for one in seen if one.is_quiet]
    return Noise(len(quiet), sum(one.has_changed for one in quiet))


def _newest(runs: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The newest runs whose outcomes may be read; at least one."""
    total = 0
    for at in range(len(runs) - 1, -1, -1):
        total += runs[at][5]
        if total > OUTCOMES_READ and at < len(runs) - 1:
            return runs[at + 1 :]
    return runs


def _outcomes(audit: Audit, rows: list[int], case_ids: tuple[str, ...]) -> dict[str, dict[int, bool]]:
    """Case → run → whether it passed, for the runs that have it: from what scoring unfolded, else from the lines of the log."""
    scope = audit.scope
    found: dict[str, dict[int, bool]] = {case_id: {} for case_id in case_ids}
    ready = {run for (run,) in scope.query("select run from unfolded")}
    absent = sorted(set(rows) - ready)
    odd = []
    decode = msgspec.json.Decoder(_Results).decode
    for run, line in zip(absent, scope.store.lines("runs", absent) if absent else (), strict=True):
        try:
            results = decode(line.removeprefix(BOM)).results
        except (msgspec.DecodeError, RecursionError):  # a line that only DuckDB reads
            odd.append(run)
            continue
        for case_id in found.keys() & results.keys():
            found[case_id][run] = results[case_id] == "pass"
    scope.keep("case_history_odd", "select unnest($odd::bigint[]) as run", odd=odd)
    unfold(scope, "from case_history_odd")
    for case_id, run, passed in scope.query(OUTCOMES, case_ids=list(case_ids)):
        found[case_id][run] = passed
    return found


def _compared(read: list[tuple[Any, ...]], outcomes: dict[int, bool]) -> list[Seen]:
    """Each outcome beside the one before it; that of a control or rescore run beside the newest of the same state."""
    runs = [run for run in read if run[0] in outcomes]
    seen: list[Seen] = []
    newest_of: dict[str, int] = {}  # state of the agent → place in `seen`
    for at, (run, run_id, ts, phase, heal_id, _, state, _, place) in enumerate(runs):
        one = Seen(run_id, ts, phase, heal_id, outcomes[run])
        if at:
            again = newest_of.get(state) if state and phase in ("control", "rescore") else None
            other = at - 1 if again is None else again
            other_state, other_place = runs[other][6], runs[other][8]
            same_state = state == other_state if state and other_state else other_place == place
            before = seen[other]
            one = replace(one, has_changed=before.passed != one.passed, is_quiet=same_state, compared_with=before.run_id)
        seen.append(one)
        if state:
            newest_of[state] = at
    return seen


def _times(n: int) -> str:
    return {0: "it never changed", 1: "it changed once", 2: "it changed twice"}.get(n, f"it changed {n:,} times")
