"""What the recorder says before a heal is accepted, and before the next attempt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .folder import Block
from .limits import Spending, spending, stopped_by

DEAREST_LAST: tuple[Spending, ...] = ("normal", "unknown", "elevated", "escalated")


@dataclass(frozen=True)
class GateVerdict:
    """What the boundary gate says to a change. Unknown: the protected blocks could not be read, and `reason` says why."""

    verdict: Literal["passes", "blocked", "unknown"]
    blocks: tuple[str, ...] = ()
    reason: str = ""

    @property
    def passes(self) -> bool:
        """Whether the change may be accepted; what is not known does not pass."""
        return self.verdict == "passes"


@dataclass(frozen=True)
class BudgetVerdict:
    """What a loop has spent. The verdict is that of its dearest heal; it never forbids the next attempt."""

    verdict: Spending
    ratio: float | None = None  # of the dearest heal
    heal_id: str | None = None  # the dearest heal
    n_heals: int = 0
    tokens_spent: int = 0  # of all its heals
    by: str | None = None  # who lifted the limit, if somebody did
    reason: str | None = None
    elevated: float = 0
    escalated: float = 0
    note: str = ""  # what could not be read

    @property
    def is_lifted(self) -> bool:
        """Whether somebody lifted the limit for this loop."""
        return self.by is not None or self.reason is not None

    @property
    def slow_down(self) -> bool:
        """Whether the next attempt should wait or be a cheaper one."""
        return self.verdict in ("elevated", "escalated") and not self.is_lifted

    @property
    def ask_a_person(self) -> bool:
        """Whether a person should look before the next attempt."""
        return self.verdict == "escalated" and not self.is_lifted


def gate_verdict(target: str | None, after_text: str | None, blocks: Iterable[Block]) -> GateVerdict:
    """The boundary gate's verdict on one change."""
    blocks = list(blocks)
    found = stopped_by(target, after_text, blocks)
    if not found:
        return GateVerdict("passes")
    whole = [block_id for block_id, _, text in blocks if block_id in found and text is None]
    lost = [block_id for block_id in found if block_id not in whole]
    reasons = [f"{target} is protected as a whole by {', '.join(whole)}"] if whole else []
    reasons += [f"the text no longer holds {', '.join(lost)}"] if lost else []
    return GateVerdict("blocked", tuple(found), "; ".join(reasons))


def budget_verdict(heals: Iterable[Mapping[str, Any]], blocks: Iterable[Block], limits: Mapping[str, float], note: str) -> BudgetVerdict:
    """The verdict on the heals of one loop, in their order; those that the boundary gate stops never took effect and do not count."""
    elevated, escalated, blocks = limits["budget_elevated"], limits["budget_escalated"], list(blocks)
    worst = BudgetVerdict("normal")
    n_heals = tokens = 0
    lifted: Mapping[str, Any] = {}
    for heal in heals:
        change = heal.get("change") or {}
        if stopped_by(change.get("target"), change.get("after_text"), blocks):
            continue
        spent, task = heal.get("tokens_spent"), heal.get("task_tokens")
        verdict = spending(spent, task, elevated=elevated, escalated=escalated)
        ratio = spent / task if spent is not None and task else None
        dearness = DEAREST_LAST.index(verdict), ratio or 0
        if not n_heals or dearness > (DEAREST_LAST.index(worst.verdict), worst.ratio or 0):
            worst = BudgetVerdict(verdict, ratio, heal["heal_id"])
        n_heals, tokens = n_heals + 1, tokens + (spent or 0)
        lifted = heal.get("break_glass") or lifted
    verdict = "unknown" if note and worst.verdict == "normal" else worst.verdict  # what could not be read may have been dear
    return BudgetVerdict(
        verdict, worst.ratio, worst.heal_id, n_heals, tokens, lifted.get("by"), lifted.get("reason"), elevated, escalated, note
    )
