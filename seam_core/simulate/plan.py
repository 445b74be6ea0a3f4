"""What will happen in a simulated workspace, drawn up before anything is written.

A plan is loops, each with its heals, and the failures that people saw. `plan_loops` draws up honest ones; `faults.py` and
`story.py` change the plan; `play.py` turns it into records. Plans are drafts, so these classes are not frozen.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

from seam_core.simulate import texts, words
from seam_core.simulate.surface import Case
from seam_core.simulate.texts import between, pick

NIGHT = time(2, 10)  # when the full surface runs every night, UTC
QUIET_FROM, QUIET_UNTIL = time(1, 50), time(2, 30)  # no heals around it, so that "before" and "after" stay clear
HEAL_SPACING = timedelta(seconds=45)  # between two heals of the workspace, at least
LOOP_LENGTHS = (1,) * 30 + (2,) * 30 + (3,) * 20 + (4,) * 10 + (5,) * 6 + (6,) * 4
LABEL_SOURCES = ("probe1",) * 12 + ("probe3",) * 4 + ("judge",) * 2 + ("person",)
EDITING = ("lines", "rewrite", "return", "same", "drop_rule", "bend_rule")


@dataclass(frozen=True)
class Target:
    """What heals change: one block of the agent's configuration, memory or task state."""

    name: str
    level: int  # 1 task state, 2 agent config, 3 shared memory
    size: int  # characters of the block
    title: str


TARGETS = (
    Target("planner_prompt", 2, 6500, "Planner"),
    Target("router_prompt", 2, 3200, "Router"),
    Target("summary_prompt", 2, 2400, "Summaries"),
    Target("fetch_config", 2, 1500, "Fetching"),
    Target("checkout_skill", 2, 7000, "Skill: checkout"),
    Target("search_skill", 2, 5600, "Skill: search"),
    Target("triage_skill", 2, 9500, "Skill: triage"),
    Target("refund_skill", 2, 11000, "Skill: refunds"),
    Target("patch_skill", 2, 6200, "Skill: patches"),
    Target("task_plan", 1, 1300, "Plan of the task at hand"),
    Target("shared_incident_memory", 3, 12000, "Shared memory: incidents"),
    Target("shared_runbook_memory", 3, 4200, "Shared memory: runbooks"),
    Target("onboarding_skill", 2, 17000, "Skill: onboarding"),
)
WHOLLY_PROTECTED = Target("escalation_policy", 2, 1600, "Escalation policy")


@dataclass
class HealPlan:
    """One heal to come; the defaults are those of an honest one."""

    ts: datetime
    cycle: int
    edit: str = "lines"  # retry (no text), lines, rewrite, return, same, drop_rule, bend_rule
    heal_id: str = ""
    returns_to: int = 0  # how many cycles back, for edit "return"
    pasted: tuple[str, ...] = ()  # lines this heal adds as they are
    run: str = "sample"  # surface runs around it: none, sample, full
    breaks: tuple[str, ...] = ()  # surface cases that fail from this heal on
    lasting: bool = False  # they stay broken; else the next heal or night mends them
    unearned: int = 0  # practice cases gained without any held-out gain
    creep: float | None = None  # the gap that its scores come close to; None leaves the gap to chance
    cost_ratio: float = 1.0  # tokens spent / tokens of the task
    real: bool | None = True
    label_source: str = "probe1"
    scored: bool = True  # held-out scores are logged
    score: float | None = None  # of this cycle, where a loop logs its own
    break_glass: dict[str, str] | None = None
    blocked: bool = False  # the boundary gate stops it, so it never takes effect


@dataclass
class LoopPlan:
    """One loop: the cycles that attack one failure by changing one target."""

    target: Target
    signature: str
    heals: list[HealPlan]
    loop_id: str = ""
    fault: str = ""  # the kind planted in it; "" while honest
    placed: bool = False  # laid out by the story, closed to faults drawn at random
    logs_score: bool = False
    copies_scores: bool = False  # scores are measured once for the whole loop and copied onto its heals
    loop_scores: dict[str, float] | None = None  # such scores, where the story fixes them

    @property
    def start(self) -> datetime:
        """Time of the first heal."""
        return self.heals[0].ts

    @property
    def end(self) -> datetime:
        """Time of the last heal."""
        return self.heals[-1].ts

    @property
    def is_free(self) -> bool:
        """True while a fault drawn at random may still be planted in it."""
        return not self.fault and not self.placed

    def edits(self) -> list[HealPlan]:
        """The heals that change text."""
        return [heal for heal in self.heals if heal.edit in EDITING]


@dataclass
class Plan:
    """All of a workspace to come."""

    start: datetime
    end: datetime
    loops: list[LoopPlan]
    targets: tuple[Target, ...]
    cases: list[Case]  # of the regression surface
    holdout: dict[str, str]  # held-out case id -> its text
    drift_crosses: datetime  # about when slow drift, if planted, reaches the line
    worsens: bool = False  # faults fall more often on later loops
    spent: set[str] = field(default_factory=set)  # surface and held-out cases that a fault has used up
    failures: list[tuple[datetime, str]] = field(default_factory=list)
    signatures: set[str] = field(default_factory=set)  # tool:context pairs in use

    def heals(self) -> list[tuple[LoopPlan, HealPlan]]:
        """Every heal with its loop, in time order."""
        return sorted(((loop, heal) for loop in self.loops for heal in loop.heals), key=lambda pair: pair[1].ts)

    def nights(self) -> list[datetime]:
        """The times of the nightly runs."""
        first = datetime.combine(self.start.date(), NIGHT, self.start.tzinfo)
        days = (self.end.date() - self.start.date()).days + 1
        return [night for n in range(days) if self.start < (night := first + timedelta(days=n)) <= self.end]


def targets_for(heals: int) -> tuple[Target, ...]:
    """The named targets, and one more skill for every 200 heals beyond 400, so that loops rarely meet on one."""
    extra = max(0, heals - 400) // 200
    return TARGETS + tuple(Target(f"skill_{n:03d}", 2, 1500 + 700 * (n % 9), f"Skill {n}") for n in range(extra))


def plan_loops(plan: Plan, rng: random.Random, *, heals: int, until: datetime) -> None:
    """Adds honest loops with `heals` heals in all, their starts spread evenly from the plan's start to `until`."""
    outlines: list[list[datetime]] = []
    left = heals
    while left > 0:
        times = _cycle_times(rng, plan.start, until, min(left, pick(rng, LOOP_LENGTHS)))
        outlines.append(times)
        left -= len(times)
    busy_until: dict[str, datetime] = {}
    for times in sorted(outlines):
        free = [target for target in plan.targets if busy_until.get(target.name, plan.start) < times[0]]
        target = pick(rng, free or plan.targets)
        busy_until[target.name] = max(times[-1], busy_until.get(target.name, plan.start)) + timedelta(minutes=5)
        plan.loops.append(honest_loop(plan, rng, target=target, times=times))


def _cycle_times(rng: random.Random, start: datetime, until: datetime, cycles: int) -> list[datetime]:
    """Times of one loop's cycles: 10 to 90 minutes apart, mostly in working hours, none after `until`."""
    gaps = [timedelta(seconds=between(rng, 600, 5400)) for _ in range(cycles - 1)]
    day = start + (until - start) * rng.random()
    if rng.random() < 0.7:
        day = day.replace(hour=between(rng, 7, 18), minute=between(rng, 0, 59))
    latest = until - sum(gaps, timedelta())
    times = [max(min(day, latest), start + timedelta(hours=10))]
    for gap in gaps:
        times.append(times[-1] + gap)
    return times


def honest_loop(plan: Plan, rng: random.Random, *, target: Target, times: list[datetime]) -> LoopPlan:
    """A loop with the gaps an honest log has: retries, missing labels, missing scores, missing runs."""
    heals = [
        HealPlan(
            ts=ts,
            cycle=cycle,
            run=pick(rng, ("none", "sample", "sample", "sample", "full", "full")),
            cost_ratio=0.4 + 2.4 * rng.random(),
            scored=rng.random() < 0.94,
        )
        for cycle, ts in enumerate(times, start=1)
    ]
    if rng.random() < (0.08 if len(heals) == 1 else 0.2):
        heals[0].edit = "retry"
    loop = LoopPlan(target, new_signature(plan, rng), heals)
    if len(loop.edits()) >= 3:
        for heal in loop.edits():
            heal.edit = "rewrite"
    labelled = rng.random() < 0.94
    for heal in heals:
        heal.real, heal.label_source = (True if labelled else None), pick(rng, LABEL_SOURCES)
    loop.logs_score = rng.random() < 0.2
    loop.copies_scores = len(heals) > 1 and rng.random() < 0.1
    return loop


def new_signature(plan: Plan, rng: random.Random) -> str:
    """A failure signature whose tool and context no other loop has."""
    for attempt in range(1000):
        signature = texts.failure_signature(rng)
        if attempt > 20:
            signature += f"_for_{pick(rng, words.AREAS)}"
        key = signature.split(":", 1)[1]
        if key not in plan.signatures:
            plan.signatures.add(key)
            return signature
    raise ValueError("too many loops to give each its own failure signature: ask for fewer heals")


def number_heals(plan: Plan) -> None:
    """Spaces the heals out, then numbers heals and loops in time order."""
    earliest = plan.start
    for number, (_, heal) in enumerate(plan.heals(), start=1):
        heal.ts = max(heal.ts, earliest).replace(microsecond=0)
        if QUIET_FROM <= heal.ts.time() < QUIET_UNTIL:
            heal.ts = heal.ts.replace(hour=QUIET_UNTIL.hour, minute=QUIET_UNTIL.minute)
            heal.ts = max(heal.ts, earliest)
        earliest = heal.ts + HEAL_SPACING
        heal.heal_id = f"h_{number:04d}"
    for number, loop in enumerate(sorted(plan.loops, key=lambda loop: loop.start), start=1):
        loop.loop_id = f"loop_{number:03d}"


def log_failures(plan: Plan, rng: random.Random) -> None:
    """The failure that started each loop, and in a few longer loops one more while the loop was still at work."""
    for loop in sorted(plan.loops, key=lambda loop: loop.start):
        plan.failures.append((loop.start - timedelta(seconds=between(rng, 40, 1500)), loop.signature))
        if len(loop.heals) > 1 and rng.random() < 0.08:
            inside = loop.start + (loop.end - loop.start) * (0.1 + 0.8 * rng.random())
            plan.failures.append((inside, loop.signature))
