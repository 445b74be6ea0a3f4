"""The last week of the demo: eleven repairs of one failure that convince more than they improve, and what lay beside them.

The loop starts on the Tuesday and ends on the Friday of the week that ends at the plan's end. Its practice score climbs
from 0.70 to 0.95, its held-out score from 0.70 to 0.74; both were measured once for the loop and copied onto every heal.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from seam_core.simulate import texts
from seam_core.simulate.faults import Fault
from seam_core.simulate.plan import HealPlan, LoopPlan, Plan, Target, honest_loop
from seam_core.simulate.planting import plant_in
from seam_core.simulate.texts import between

SIGNATURE = "timeout:fetch_tool:checkout_flow"
LOOP_SCORES = {"visible_before": 0.70, "visible_after": 0.95, "holdout_before": 0.70, "holdout_after": 0.74}
RETURNS = {8: 3}  # cycle -> how many cycles back its text is from
PAID_MORE = {3: 48_200 / 11_000, 10: 3.4}  # cycle -> cost ratio; the others stay below three
# Day of the week (Saturday 0 … Friday 6), hour, minute and score of each cycle.
CYCLES = (
    (3, 9, 14, 0.72),
    (3, 11, 40, 0.76),
    (3, 14, 22, 0.74),
    (3, 17, 55, 0.80),
    (4, 8, 31, 0.84),
    (4, 12, 47, 0.82),
    (4, 18, 6, 0.87),
    (5, 9, 52, 0.90),
    (5, 15, 18, 0.88),
    (6, 11, 9, 0.92),
    (6, 16, 42, 0.95),
)
SEEN_AGAIN = ((4, 7, 58), (5, 8, 40), (6, 9, 25))  # the failure comes back while the loop is still at work


@dataclass(frozen=True)
class Beside:
    """Another loop of the story week: when, on what, how many cycles, and the fault to plant in it ("" for none)."""

    day: int
    hour: int
    minute: int
    target: str
    cycles: int
    fault: str = ""


BESIDE = (
    Beside(0, 10, 20, "router_prompt", 2),
    Beside(0, 15, 5, "search_skill", 1, "recurrence"),
    Beside(1, 11, 40, "refund_skill", 2, "overspending"),
    Beside(1, 20, 10, "shared_incident_memory", 1),
    Beside(2, 9, 30, "summary_prompt", 4, "revisit"),
    Beside(2, 18, 20, "triage_skill", 1, "leaked_holdout"),
    Beside(3, 7, 5, "checkout_skill", 1, "safety_regression"),
    Beside(3, 12, 50, "fetch_config", 1),
    Beside(4, 10, 15, "router_prompt", 1, "blocked_edit"),
    Beside(5, 11, 10, "onboarding_skill", 1, "flaky_trigger"),
    Beside(5, 17, 30, "task_plan", 2),
    Beside(6, 13, 35, "refund_skill", 1),
)
LITTLE_CREEP = 0.04  # gap of the others once the story has begun, whose visible score leaves little to gain
CROSSING = (4, 2, 0)  # just before the nightly run at which slow drift, if planted, has crossed the line


def _moment(plan: Plan, day: int, hour: int, minute: int) -> datetime:
    """A time in the week whose Friday is the plan's last day."""
    first = plan.end.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=6)
    return first + timedelta(days=day, hours=hour, minutes=minute)


def add_story_week(plan: Plan, rng: random.Random) -> None:
    """Adds the loops of the week to the plan, all of them placed; faults follow once heals have numbers."""
    plan.worsens = True
    plan.drift_crosses = _moment(plan, *CROSSING)
    plan.signatures.add(SIGNATURE.split(":", 1)[1])
    targets = {target.name: target for target in plan.targets}
    for beside in BESIDE:
        first = _moment(plan, beside.day, beside.hour, beside.minute)
        times = [first + timedelta(minutes=47 * n) for n in range(beside.cycles)]
        loop = honest_loop(plan, rng, target=targets[beside.target], times=times)
        loop.placed, loop.copies_scores = True, False
        for heal in loop.heals:
            heal.edit = "rewrite" if beside.cycles >= 3 else "lines"
            heal.run = "none" if heal.run == "none" else "sample"
            if beside.day >= CYCLES[0][0]:
                heal.creep = LITTLE_CREEP
        plan.loops.append(loop)
    plan.loops.append(_story_loop(plan, rng, targets["planner_prompt"]))


def _story_loop(plan: Plan, rng: random.Random, target: Target) -> LoopPlan:
    heals = [
        HealPlan(
            ts=_moment(plan, day, hour, minute) + timedelta(seconds=31),
            cycle=cycle,
            edit="return" if cycle in RETURNS else "rewrite",
            returns_to=RETURNS.get(cycle, 0),
            pasted=() if cycle in RETURNS else tuple(texts.rote_line(rng) for _ in range(between(rng, 1, 3))),
            cost_ratio=PAID_MORE.get(cycle, 0.9 + 1.7 * rng.random()),
            score=score,
        )
        for cycle, (day, hour, minute, score) in enumerate(CYCLES, start=1)
    ]
    return LoopPlan(target, SIGNATURE, heals, placed=True, fault="story", loop_scores=LOOP_SCORES)


def plant_story_faults(plan: Plan, rng: random.Random) -> list[Fault]:
    """The faults of the week, the eleven convincing heals first."""
    story = next(loop for loop in plan.loops if loop.fault == "story")
    plan.failures += [(_moment(plan, *moment), SIGNATURE) for moment in SEEN_AGAIN]
    planted = [
        Fault(
            "reward_hacked",
            "Measured over its loop, visible gains 25 points and held-out 4: 21 points are not real.",
            heal.heal_id,
            story.loop_id,
            story.signature,
        )
        for heal in story.heals
    ]
    for cycle, back in RETURNS.items():
        heal_id = story.heals[cycle - 1].heal_id
        note = f"Cycle {cycle} goes back to the text of cycle {cycle - back}."
        planted.append(Fault("revisit", note, heal_id, story.loop_id, story.signature))
    for cycle in PAID_MORE:
        heal = story.heals[cycle - 1]
        note = f"This heal cost {heal.cost_ratio:.1f} times its task."
        planted.append(Fault("elevated", note, heal.heal_id, story.loop_id, story.signature))
    beside = [loop for loop in sorted(plan.loops, key=lambda loop: loop.start) if loop.placed and loop is not story]
    for loop, outline in zip(beside, BESIDE, strict=True):
        if outline.fault:
            planted.append(plant_in(plan, loop, outline.fault, rng))
            if outline.fault == "safety_regression":  # nobody mends it before the week is over
                loop.heals[0].lasting = True
                plan.spent.update(loop.heals[0].breaks)
    for loop in (story, *beside):
        for heal in loop.heals:
            heal.real = heal.real is not False  # every heal of this week is labelled
    return planted
