"""Writes a whole workspace with planted faults: logs, fixtures, thresholds, and beside them the truth about the faults."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from seam_core.simulate import texts
from seam_core.simulate.blocks import Blocks
from seam_core.simulate.exams import HOLDOUT_CASES, PRACTICE_CASES
from seam_core.simulate.faults import Fault
from seam_core.simulate.plan import WHOLLY_PROTECTED, Plan, log_failures, number_heals, plan_loops, targets_for
from seam_core.simulate.planting import default_counts, plant
from seam_core.simulate.play import play
from seam_core.simulate.story import add_story_week, plant_story_faults
from seam_core.simulate.surface import certified, surface_cases

END = datetime(2026, 6, 12, 17, 0, tzinfo=UTC)
DEMO_SEED = 7614  # picked among thousands: calm early weeks, and a trend that widens beyond doubt in the last two
MOST_HEALS_PER_DAY = 288  # one every five minutes; `bulk.py` goes further
LEAST_STORY_HEALS = 80  # the story week takes about thirty of them

PROTECTED = (
    ("rule_tenant", "safety_instruction", "*", "Standing rule: customer data never leaves its own tenant."),
    (
        "rule_orders",
        "safety_instruction",
        "planner_prompt",
        "Never place, change or cancel an order without the customer's explicit yes in this conversation.",
    ),
    (
        "rule_hosts",
        "tool_permission",
        "fetch_config",
        "fetch_tool may read only hosts on the allow list; a new host needs a ticket to the security watch.",
    ),
    ("rule_refunds", "tool_permission", "refund_skill", "Refunds above 200 euros are prepared, never sent, by the agent."),
    ("rule_danger", "escalation_rule", "triage_skill", "Hand over to the duty manager at once when a person may be in danger, then stop."),
    ("rule_escalation", "escalation_rule", WHOLLY_PROTECTED.name, None),
)

SEAM_TOML = """\
# Thresholds of this workspace. Everything is at its default here; take the mark away in front of a line to change one.
# Who may certify, where decisions are kept and what is run are no settings of a workspace: see SEAM_SETTINGS.
#
# gap_max = 0.25          # truth gap at which a heal's efficacy is 0
# r_max = 0.05            # share of regressed cases at which a heal's aftermath is 0
# drift_max = 0.20        # share of cases off the certified baseline at which re-certification falls due
# recurrence_days = 7     # how long a healed failure must stay away
# alert_s = 0.70
# alert_e = 0.80
# alert_a = 0.90
# alert_m = 0.60
"""


def write_workspace(
    folder: Path,
    *,
    seed: int,
    weeks: int = 8,
    heals: int = 240,
    end: datetime = END,
    faults: Mapping[str, int] | None = None,
    story: bool = False,
) -> list[Fault]:
    """Writes the workspace into `folder` and returns the planted faults, which truth.jsonl lists too.

    faults: kind -> count; kinds it leaves out are not planted. None plants the default mix for this many heals. With
    `story` the last week is the demo's, its faults come on top, and the weeks before get worse towards it.
    Same arguments, same bytes. Raises ValueError when the heals or the faults do not fit into the time.
    """
    least, most = (LEAST_STORY_HEALS, MOST_HEALS_PER_DAY * 7 * (weeks - 1)) if story else (1, MOST_HEALS_PER_DAY * 7 * weeks)
    if not least <= heals <= most:
        raise ValueError(f"{weeks} weeks hold {least} to {most} heals here, not {heals}")
    fixture_rng, rng = random.Random(f"{seed}:fixtures"), random.Random(f"{seed}:plan")
    questions = _questions(fixture_rng, HOLDOUT_CASES + PRACTICE_CASES)
    start = end - timedelta(weeks=weeks)
    plan = Plan(
        start=start,
        end=end,
        loops=[],
        targets=targets_for(heals),
        cases=surface_cases(fixture_rng),
        holdout={f"ho_{n:03d}": text for n, text in enumerate(questions[:HOLDOUT_CASES], start=1)},
        drift_crosses=start + (end - start) * 0.85,
    )
    if story:
        add_story_week(plan, rng)
    placed = sum(len(loop.heals) for loop in plan.loops)
    plan_loops(plan, rng, heals=heals - placed, until=end - timedelta(days=7, hours=1) if story else end)
    number_heals(plan)
    log_failures(plan, rng)
    planted = plant_story_faults(plan, rng) if story else []
    planted += plant(plan, default_counts(heals) if faults is None else faults, rng)
    rules: dict[str, list[str]] = {}
    for _, _, target, text in PROTECTED:
        rules.setdefault(target, []).extend([text] if text else [])
    blocks = Blocks([*plan.targets, WHOLLY_PROTECTED], rules, random.Random(f"{seed}:texts"))
    records = play(plan, blocks=blocks, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    _write_lines(folder / "heal_events.jsonl", records.heals)
    _write_lines(folder / "failures.jsonl", records.failures)
    _write_lines(folder / "suite_runs.jsonl", records.runs)
    _write_fixtures(folder, plan, practice=questions[HOLDOUT_CASES:])
    _write_lines(folder / "truth.jsonl", (_without_none(vars(fault)) for fault in planted))
    return planted


def write_demo(folder: Path) -> list[Fault]:
    """Writes the demo: eight weeks up to Friday 12 June 2026 with the opening story in the last one; its faults."""
    counts = default_counts(240) | {"widening_gap": 1}
    return write_workspace(folder, seed=DEMO_SEED, faults=counts, story=True)


def _questions(rng: random.Random, count: int) -> list[str]:
    """Different exam questions."""
    questions: dict[str, None] = {}
    while len(questions) < count:
        questions[texts.case_text(rng)] = None
    return list(questions)


def _write_fixtures(folder: Path, plan: Plan, *, practice: list[str]) -> None:
    """The exams, the surface with its baseline, the protected blocks and the thresholds."""
    holdout = [
        {"id": case_id, "slice": "rotating" if number % 5 == 0 else "core", "text": text}
        for number, (case_id, text) in enumerate(plan.holdout.items(), start=1)
    ]
    _write_lines(folder / "holdout.jsonl", holdout)
    rows = [{"id": f"pr_{n:03d}", "slice": "core", "text": text} for n, text in enumerate(practice, start=1)]
    _write_lines(folder / "practice.jsonl", rows)
    _write_lines(folder / "surface.jsonl", (vars(case) for case in plan.cases))
    outcomes = {case_id: "pass" if passed else "fail" for case_id, passed in certified(plan.cases).items()}
    _write_text(folder / "certified.json", json.dumps(outcomes, indent=1) + "\n")
    names = ("id", "kind", "target", "text")
    _write_lines(folder / "protected.jsonl", (_without_none(dict(zip(names, row, strict=True))) for row in PROTECTED))
    _write_text(folder / "seam.toml", SEAM_TOML)


def _without_none(row: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value is not None}


def _write_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
    _write_text(path, "".join(lines))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
