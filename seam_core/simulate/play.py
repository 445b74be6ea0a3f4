"""Plays a plan through in time order and returns the records of its three logs."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from seam_core.simulate import texts
from seam_core.simulate.blocks import Blocks, Edit
from seam_core.simulate.exams import HOLDOUT_CASES, HONEST_GAP_MAX, PRACTICE_CASES, Exams, Scores
from seam_core.simulate.plan import HealPlan, LoopPlan, Plan
from seam_core.simulate.surface import Case, Surface, heal_run_id, night_run_id, sampled_cases
from seam_core.simulate.texts import between, pick

GRADER_HASH = "4b1d0c6e91aa37f2"
ACTORS = ("healer@2.3.1", "healer@2.3.1", "healer@2.4.0", "repair-bot@0.9")
BEFORE_LEAD, AFTER_LAG = timedelta(minutes=4), timedelta(minutes=6)  # of the surface runs around a heal, at most
EVIDENCE_PER_NIGHT = 6  # cases worse than the baseline whose output a nightly run keeps

Record = dict[str, object]


@dataclass
class Records:
    """The lines of the three logs, each in time order."""

    heals: list[Record] = field(default_factory=list)
    failures: list[Record] = field(default_factory=list)
    runs: list[Record] = field(default_factory=list)


def play(plan: Plan, *, blocks: Blocks, seed: int) -> Records:
    """The records of all heals, failures and surface runs of the plan."""
    player = _Player(plan, blocks, seed)
    player.play()
    records = player.records
    for loop in plan.loops:
        if loop.copies_scores:
            _copy_loop_scores([record for record in records.heals if record["loop_id"] == loop.loop_id])
    records.runs.sort(key=lambda run: str(run["ts"]))
    records.failures = [{"ts": _utc(ts), "failure_signature": signature, "source": "monitor"} for ts, signature in sorted(plan.failures)]
    return records


def _utc(ts: datetime) -> str:
    return ts.strftime("%Y-%m-%dT%H:%M:%SZ")


class _Player:
    """The agent's state while the plan is played."""

    def __init__(self, plan: Plan, blocks: Blocks, seed: int) -> None:
        self.plan = plan
        self.blocks = blocks
        self.exams = Exams(random.Random(f"{seed}:exams"))
        self.surface = Surface(plan.cases, random.Random(f"{seed}:surface"))
        self.rng = random.Random(f"{seed}:play")
        self.records = Records()

    def play(self) -> None:
        nights = self.plan.nights()
        heals = self.plan.heals()
        times = [heal.ts for _, heal in heals]
        room = [later - earlier for earlier, later in itertools.pairwise(times)]
        waits = [timedelta(days=1), *room, timedelta(days=1)]
        for number, (loop, heal) in enumerate(heals):
            while nights and nights[0] < heal.ts:
                self._night(nights.pop(0))
            self._heal(loop, heal, since_last=waits[number], until_next=waits[number + 1])
        for night in nights:
            self._night(night)

    def _night(self, night: datetime) -> None:
        self.surface.mend()
        results = self.surface.run(self.plan.cases, noisy=True)
        worse = [case for case in self.plan.cases if self.surface.baseline[case.id] and not results[case.id]]
        shown = texts.several(self.rng, worse, min(EVIDENCE_PER_NIGHT, len(worse)))
        names: Record = {"run_id": night_run_id(night), "ts": _utc(night), "suite": "surface", "phase": "nightly"}
        self._log_run(names | {"night": f"{night:%Y-%m-%d}"}, results, shown)

    def _heal(self, loop: LoopPlan, heal: HealPlan, *, since_last: timedelta, until_next: timedelta) -> None:
        surface, cases = self.surface, self._cases(loop, heal)
        if any(not surface.passes[case_id] for case_id in heal.breaks):
            surface.mend()  # somebody rolled the earlier break back, so that this heal can break it anew
        quiet = True
        if cases and not (surface.known(cases) and self.rng.random() < 0.15):
            ts = heal.ts - min(BEFORE_LEAD, since_last / 3)
            quiet = self._heal_run(heal, ts, "before", cases, noisy=not heal.breaks)
        edit = self.blocks.edit(loop, heal)
        if not heal.blocked:
            surface.mend()
        surface.break_cases(heal.breaks, lasting=heal.lasting)
        self.records.heals.append(self._record(loop, heal, edit))
        if cases:
            ts = heal.ts + min(AFTER_LAG, until_next / 3)
            self._heal_run(heal, ts, "after", cases, noisy=quiet and not heal.breaks)

    def _cases(self, loop: LoopPlan, heal: HealPlan) -> list[Case]:
        if heal.run == "none":
            return []
        return self.plan.cases if heal.run == "full" else sampled_cases(self.plan.cases, loop.target.name)

    def _heal_run(self, heal: HealPlan, ts: datetime, phase: str, cases: list[Case], *, noisy: bool) -> bool:
        """Logs the run; True when every outcome was the true one."""
        results = self.surface.run(cases, noisy=noisy)
        names: Record = {"run_id": heal_run_id(heal.heal_id, phase), "ts": _utc(ts), "suite": "surface", "phase": phase}
        shown = [case for case in cases if phase == "after" and case.id in heal.breaks]
        self._log_run(names | {"heal_id": heal.heal_id}, results, shown)
        return all(self.surface.passes[case_id] == passed for case_id, passed in results.items())

    def _log_run(self, names: Record, results: dict[str, bool], shown: list[Case]) -> None:
        run = names | {
            "state_hash": self.blocks.state_hash(),
            "grader_hash": GRADER_HASH,
            "results": {case_id: "pass" if passed else "fail" for case_id, passed in results.items()},
        }
        if shown:
            run["evidence"] = {case.id: texts.failed_output(self.rng, expected=case.text) for case in shown}
        self.records.runs.append(run)

    def _record(self, loop: LoopPlan, heal: HealPlan, edit: Edit | None) -> Record:
        tool = loop.signature.split(":")[1]
        record: Record = {
            "heal_id": heal.heal_id,
            "ts": _utc(heal.ts),
            "loop_id": loop.loop_id,
            "cycle": heal.cycle,
            "level": loop.target.level if edit else 0,
            "trigger": {"failure_signature": loop.signature, "evidence": texts.evidence_line(self.rng, tool=tool)},
        }
        if edit:
            record["change"] = {"target": loop.target.name, "before_hash": edit.before_hash, "after_text": edit.after_text}
        record |= self._scores(loop, heal)
        record["task_tokens"] = task_tokens = 11_000 if heal.score else between(self.rng, 7_000, 15_000)
        record["tokens_spent"] = round(task_tokens * heal.cost_ratio)
        if heal.real is not None:
            record |= {"was_real_failure": heal.real, "label_source": heal.label_source}
        if self.rng.random() < 0.7:
            record["actor"] = pick(self.rng, ACTORS)
        if self.rng.random() < 0.5:
            record["trace_url"] = f"https://traces.example/{loop.loop_id}/{heal.heal_id}"
        if heal.break_glass:
            record["break_glass"] = heal.break_glass
        return record

    def _scores(self, loop: LoopPlan, heal: HealPlan) -> Record:
        """The score fields that this heal logs."""
        if loop.loop_scores is not None and heal.score is not None:
            self.exams.follow_story(heal.score, share_done=heal.cycle / len(loop.heals))
            return {**loop.loop_scores, "holdout_scope": "loop", "score": heal.score}
        scores = self.exams.sit(heal)
        fields: Record = dict(_visible(scores))
        if heal.scored:
            fields |= _holdout(scores) | {"holdout_scope": "heal"}
            if loop.logs_score:
                fields["score"] = fields["holdout_after"]
        return fields


def _visible(scores: Scores) -> dict[str, float]:
    pair = {"visible_before": scores.visible_before, "visible_after": scores.visible_after}
    return {name: round(count / PRACTICE_CASES, 4) for name, count in pair.items()}


def _holdout(scores: Scores) -> dict[str, float]:
    pair = {"holdout_before": scores.holdout_before, "holdout_after": scores.holdout_after}
    return {name: round(count / HOLDOUT_CASES, 4) for name, count in pair.items()}


def _copy_loop_scores(records: list[Record]) -> None:
    """Replaces the scores of one loop's heals by one loop-level measurement, where that stays honest and unbroken.

    Left alone: loops that others ran in between of, that have gaps, or whose gap over the whole loop would be large.
    """
    names = ("visible_before", "holdout_before", "visible_after", "holdout_after")
    numbers = [int(str(record["heal_id"])[2:]) for record in records]
    if numbers[-1] - numbers[0] != len(records) - 1 or any(name not in record for name in names for record in records):
        return
    loop_scores = {name: records[0][name] for name in names[:2]} | {name: records[-1][name] for name in names[2:]}
    before_v, before_h, after_v, after_h = (float(str(loop_scores[name])) for name in names)
    if (after_v - before_v) - (after_h - before_h) < HONEST_GAP_MAX - 1e-9:
        for record in records:
            record.update(loop_scores, holdout_scope="loop")
            record.pop("score", None)
