"""What is decided before scoring: the boundary gate stops a heal, the budget governor only says how dear it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from seam_core.recorder.limits import TOLERANCE, broken_blocks, folded
from seam_core.scope import COPY_MAX, Scope, define_heals, insert_rows

SUSPECT_BLOCKS = 50  # with more blocks one query would grow too large

# A protected line without text protects the whole target.
WHOLE_TARGETS = """
insert into blocked
select h.row, p.id
from heals h join protected p on p.text is null and h.target is not null and p.target in ('*', h.target)
where h.row in (select row from gate_queue)
"""

WITH_TEXT = """
select h.row, h.target
from heals h
where h.has_after_text and h.row in (select row from gate_queue) and ($every or h.target in (select target from protected))
  and ($closely or h.row in (select row from suspects))
order by h.row
"""

# For a whole history: DuckDB finds the few texts that lack a block as it is written; only those are looked at closely. It must read
# every line to the letter: where it cannot (a byte order mark, a line that is too long), all texts are looked at.
SUSPECTS = """
select h.row
from read_ndjson($path, columns = {{'heal_id': 'VARCHAR', 'change': 'STRUCT(target VARCHAR, after_text VARCHAR)'}}) f
join heals h using (heal_id)
where f.change.after_text is not null and ({lacks})
"""

BLOCKED_ROWS = """
select h.heal_id, h.ts, h.loop_id, h.target, p.id as protected_id, p.kind, p.text as protected_text, h.row
from blocked b join heals h using (row) join protected p on p.id = b.protected_id
where h.ts > (select start from span) and h.ts <= (select stop from span)
order by h.ts, h.heal_id, p.id
"""

BUDGET_ROWS = """
select heal_id, ts, loop_id, target, tokens_spent, task_tokens,
       tokens_spent / nullif(task_tokens, 0) as ratio,
       case
           when tokens_spent is null or coalesce(task_tokens, 0) = 0 then 'unknown'
           when tokens_spent / task_tokens > $escalated then 'escalated'
           when tokens_spent / task_tokens > $elevated then 'elevated'
           else 'normal'
       end as verdict,
       has_break_glass, row
from window_heals
order by ratio desc nulls last, ts, heal_id
"""


@dataclass(frozen=True)
class Budget:
    """Heals in the window by budget verdict."""

    elevated: int
    escalated: int
    unknown: int


class Gate:
    """The boundary gate of one scope; each heal passes it once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        blocks = scope.query("select id, target, text from protected where text is not null order by id")
        self._blocks: dict[str, list[tuple[str, str, str]]] = {}
        for block_id, target, text in blocks:
            self._blocks.setdefault(target, []).append((block_id, text, folded(text)))
            if not text.strip():
                scope.flags["gate"].append(f"protected block {block_id} has an empty text and protects nothing")
        self.idle = not scope.one("select count(*) from protected")[0]
        scope.con.execute("create or replace temp table gate_passed (row bigint)")

    def stop(self, rows: str) -> bool:
        """Pass the heals named by a query of ``row`` through the gate, those not yet passed; True when one was blocked."""
        if self.idle:
            return False
        scope = self._scope
        scope.keep("gate_queue", f"select row from ({rows}) anti join gate_passed using (row)")
        if not scope.one("select count(*) from gate_queue")[0]:
            return False
        before = scope.one("select count(*) from blocked")[0]
        scope.query(WHOLE_TARGETS)
        if self._blocks:
            insert_rows(scope, "blocked", "row, protected_id", self._violations())
        scope.query("insert into gate_passed from gate_queue")
        return bool(scope.one("select count(*) from blocked")[0] > before)

    def _violations(self) -> Iterator[tuple[int, str]]:
        self._scope.con.execute("create or replace temp table suspects (row bigint)")
        closely = not self._find_suspects()
        for heals in self._scope.stream(WITH_TEXT, every="*" in self._blocks, closely=closely):
            texts = self._scope.texts([row for row, _ in heals])
            for (row, target), text in zip(heals, texts, strict=True):
                blocks = [*self._blocks.get("*", ()), *(self._blocks.get(target, ()) if target != "*" else ())]
                yield from ((row, block_id) for block_id in broken_blocks(text or "", blocks))

    def _find_suspects(self) -> bool:
        """Fill ``suspects`` when there is much to look at; False when it is quicker to look at every text."""
        file = self._scope.store.states["heals"].file
        blocks = [(target, text) for target, some in self._blocks.items() for _, text, _ in some]
        n_queued = self._scope.one("select count(*) from gate_queue")[0]
        if file is None or not file.is_read_by_name or n_queued <= COPY_MAX or len(blocks) > SUSPECT_BLOCKS:
            return False
        lacks = [f"($every{i} or f.change.target = $target{i}) and not contains(f.change.after_text, $text{i})" for i in range(len(blocks))]
        binds: dict[str, object] = {f"every{i}": target == "*" for i, (target, _) in enumerate(blocks)}
        binds |= {f"target{i}": target for i, (target, _) in enumerate(blocks)} | {f"text{i}": text for i, (_, text) in enumerate(blocks)}
        sql = SUSPECTS.format(lacks=" or ".join(f"({one})" for one in lacks))
        try:
            self._scope.keep("suspects", sql, path=str(file.path), **binds)
        except (duckdb.IOException, duckdb.InvalidInputException):
            return False
        return file.is_same()


def apply_gate(scope: Scope) -> Gate:
    """Block what touches a protected block, and define the heals that are left to score. Keeps ``blocked_rows``."""
    gate = Gate(scope)
    gate.stop("select row from touched")
    define_heals(scope)
    scope.keep("blocked_rows", BLOCKED_ROWS)
    return gate


def govern_budget(scope: Scope) -> Budget:
    """How many heals in the window were elevated, escalated, or of unknown cost. Keeps ``budget_rows``."""
    settings = scope.settings
    scope.show("budget_rows", BUDGET_ROWS, elevated=settings.budget_elevated + TOLERANCE, escalated=settings.budget_escalated + TOLERANCE)
    found = dict(scope.query("select verdict, count(*) from budget_rows group by verdict"))
    return Budget(found.get("elevated", 0), found.get("escalated", 0), found.get("unknown", 0))
