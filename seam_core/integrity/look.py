"""What the rules look at: one scope after its axes were scored, with what several rules ask for worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from seam_core.integrity.rule import NotCheckable
from seam_core.integrity.wording import Wording
from seam_core.ledger import LedgerError, Row
from seam_core.ledger.checkpoint import CHECKPOINTS, History, compare_files, file_stamps
from seam_core.records import LOGS
from seam_core.scope import Scope
from seam_core.sharing import Shared
from seam_core.signatures import Normal, normalise
from seam_core.workspace import Workspace

FILES = {log.table: log.file for log in LOGS}
FIXTURES = {log.table for log in LOGS if log.fixture}
COLUMNS = ("holdout_before", "holdout_after", "visible_before", "visible_after", "was_real_failure", "tokens_spent", "task_tokens", "score")
SIGNATURES_MAX = 20_000  # distinct failure signatures looked at, the most frequent ones

# Every heal of the window, stopped by the gate or not, and the newest one before it.
SPAN_HEALS = """
with told as not materialized (
    select row, heal_id, ts, loop_id, level, visible_before, visible_after, holdout_before, holdout_after, holdout_scope from heals
),
earlier as (select max(ts) as ts from heals where ts <= (select start from span))
select *, row in (select row from blocked) as is_blocked, true as in_window from told
where ts > (select start from span) and ts <= (select stop from span)
union all
select t.*, false, false from told t join earlier using (ts) where t.heal_id = (select max(heal_id) from heals join earlier using (ts))
"""

# One row a measurement: a pair of scores that was measured once and copied onto every heal of its loop counts once.
SCORE_PAIRS = """
with copied as (
    select loop_id from loop_heals
    group by loop_id
    having coalesce(bool_or(holdout_scope = 'loop'), false)
        or (count(*) >= 2 and count(holdout_before) = count(*)
            and min(holdout_before) = max(holdout_before) and min(holdout_after) = max(holdout_after))
),
measured as (
    select *, false as is_copied from window_heals anti join copied using (loop_id)
    union all
    (select distinct on (loop_id) *, true from window_heals semi join copied using (loop_id) order by loop_id, cycle, ts, heal_id)
)
select heal_id, ts, visible_before, visible_after, holdout_before, holdout_after,
       visible_after - visible_before as visible_gain, holdout_after - holdout_before as holdout_gain, is_copied
from measured
"""

SIGNATURES = """
select failure_signature from window_heals
group by failure_signature
order by count(*) desc, failure_signature
limit $n
"""


@lru_cache(maxsize=8)
def _history(workspace: Workspace, checkpoint: Row | None, _stamps: tuple[object, ...]) -> History:
    """The files against a checkpoint, as long as they are what they were: digesting a year of logs takes seconds, and pages ask often."""
    return compare_files(workspace, checkpoint)


@dataclass
class Look:
    """One window, as the rules see it."""

    scope: Scope
    wording: Shared[Wording]

    @property
    def texts(self) -> Wording:
        """What the texts of the window say."""
        return self.wording.result

    def missing(self, need: str) -> NotCheckable | None:
        """What is not there of an input that a rule needs."""
        table, _, column = need.partition(".")
        if column:
            return None if self.present[column] else NotCheckable(f"no heal in the window logs {column}")
        if table == "checkpoint":
            return None if self.checkpoint else NotCheckable("there is no checkpoint in the ledger of decisions")
        if not self.scope.store.has(table) or (table in FIXTURES and not self.n_rows(table)):
            return NotCheckable(f"no {FILES[table]}")
        return None

    @cached_property
    def present(self) -> dict[str, int]:
        """Column → heals of the window in which it has a value."""
        names = ", ".join(f"count({name})" for name in COLUMNS)
        row = self.scope.one(f"select {names}, count(*) filter (has_after_text) from window_heals")
        return dict(zip((*COLUMNS, "after_text"), row, strict=True))

    @cached_property
    def n_heals(self) -> int:
        """Heals of the window that are scored."""
        return int(self.scope.one("select count(*) from window_heals")[0])

    def n_rows(self, table: str) -> int:
        """Rows of a log or fixture."""
        return int(self.scope.one(f"select count(*) from {table}")[0])

    def n_rejected(self, table: str) -> int:
        """Lines of a log that were rejected; rewritten ones aside."""
        state = self.scope.store.states[table]
        return len(state.rejects) - state.rewritten

    @cached_property
    def exam_sizes(self) -> list[int]:
        """How many cases the held-out exam has, or had: of its fixture and of each run of it."""
        found = self.scope.query("select count(*) from holdout union select n_results from runs where suite = 'holdout'")
        return sorted(n for (n,) in found if n)

    @cached_property
    def span_heals(self) -> str:
        """Name of the table of every heal of the window, stopped ones too, and the one before it."""
        self.scope.keep("span_heals", SPAN_HEALS)
        return "span_heals"

    @property
    def touched_heals(self) -> str:
        """What to select the heals of every loop of the window from, stopped ones and those before the window, too."""
        if self.scope.window.start is None:
            return "heals where ts <= (select stop from span)"
        return "heals semi join touched using (row)"

    @cached_property
    def score_pairs(self) -> str:
        """Name of the table of what was measured in the window, copies counted once."""
        self.scope.keep("score_pairs", SCORE_PAIRS)
        return "score_pairs"

    @cached_property
    def signatures(self) -> dict[str, Normal]:
        """The failure signatures that the window healed, and the plain form of each."""
        return {name: normalise(name) for (name,) in self.scope.query(SIGNATURES, n=SIGNATURES_MAX)}

    @cached_property
    def checkpoints(self) -> list[Row]:
        """The rows of the ledger that note what the files look like, oldest first."""
        ledger = self.scope.store.ledger
        try:
            return ledger.rows(*CHECKPOINTS) if ledger else []
        except LedgerError:
            return []

    @property
    def checkpoint(self) -> Row | None:
        """The newest of them."""
        return self.checkpoints[-1] if self.checkpoints else None

    @cached_property
    def history(self) -> History:
        """The files against that checkpoint."""
        workspace = self.scope.store.workspace
        return _history(workspace, self.checkpoint, file_stamps(workspace))

    def is_there(self, table: str) -> bool:
        """Whether the workspace has a log."""
        return self.scope.store.has(table)

    def query(self, sql: str, **binds: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.scope.query(sql, **binds)
