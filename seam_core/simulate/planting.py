"""Which faults go where: counts per workspace size, and the drawing of a loop for each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from datetime import timedelta

from seam_core.simulate.faults import FAULTS, Fault
from seam_core.simulate.plan import LoopPlan, Plan

LEAST_HEALS_FOR_DRIFT = 80  # a smaller workspace may lack the nine honest heals that it takes
# How many of each 240 heals bring by default; slow_drift is one for the whole workspace.
PER_240_HEALS = {
    "revisit": 4,
    "idle_cycle": 3,
    "flaky_trigger": 6,
    "recurrence": 5,
    "renamed_recurrence": 4,
    "reward_hacked": 8,
    "safety_regression": 3,
    "regression": 5,
    "blocked_edit": 4,
    "overspending": 4,
    "elevated": 4,
    "leaked_holdout": 3,
    "missed_failure": 6,
}


def default_counts(heals: int) -> dict[str, int]:
    """How many faults of each kind a workspace of this many heals gets unless told otherwise."""
    counts = {kind: (count * heals + 120) // 240 for kind, count in PER_240_HEALS.items()}
    return counts | {"slow_drift": int(heals >= LEAST_HEALS_FOR_DRIFT)}


def plant(plan: Plan, counts: Mapping[str, int], rng: random.Random) -> list[Fault]:
    """Plants the counted faults, each in a loop of its own; raises ValueError when the plan has no room for one."""
    unknown = [kind for kind in counts if kind not in FAULTS]
    if unknown:
        raise ValueError(f"unknown fault kinds {unknown}; known are {sorted(FAULTS)}")
    return [_plant_one(plan, kind, rng) for kind, planter in FAULTS.items() for _ in range(counts.get(kind, 0))]


def plant_in(plan: Plan, loop: LoopPlan, kind: str, rng: random.Random) -> Fault:
    """Plants one fault in this loop; raises ValueError when the loop cannot show it."""
    fault = FAULTS[kind](plan, loop, rng)
    if fault is None:
        raise ValueError(f"{loop.loop_id} cannot show {kind}")
    if fault.loop_id:
        loop.fault = kind
    return fault


def _plant_one(plan: Plan, kind: str, rng: random.Random) -> Fault:
    for loop in _in_random_order(plan, [loop for loop in plan.loops if loop.is_free], rng):
        fault = FAULTS[kind](plan, loop, rng)
        if fault is not None:
            loop.fault = kind if fault.loop_id else ""
            return fault
    raise ValueError(f"no loop is left that can show another {kind}: ask for more heals or fewer faults")


def _in_random_order(plan: Plan, loops: Iterable[LoopPlan], rng: random.Random) -> list[LoopPlan]:
    """The loops shuffled; later ones tend to the front in a plan that worsens."""
    span = (plan.end - plan.start) / timedelta(days=1)
    keyed = []
    for loop in loops:
        age = (loop.start - plan.start) / timedelta(days=1) / span
        weight = 0.04 + age**2 if plan.worsens else 1.0
        keyed.append((rng.random() ** (1 / weight), loop.loop_id, loop))
    return [loop for _, _, loop in sorted(keyed, key=lambda item: item[:2], reverse=True)]
