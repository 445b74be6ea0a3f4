"""How many of the planted faults do the report's rows name? Recall and precision per kind, over simulated workspaces with known truth.

`python -m tests.planted_faults` writes the table in docs/planted-faults.md; a test holds it and its floors.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from seam_core.report import Audit, audit, window_of
from seam_core.settings import resolve
from seam_core.simulate import write_demo, write_workspace
from seam_core.store import Store
from seam_core.views.signal_duplicates import renamed
from seam_core.workspace import workspace_of_log

SEEDS = (11, 12, 13, 14, 15, 16)
NOW = datetime(2026, 6, 13, tzinfo=UTC)
PAGE = Path(__file__).parent.parent / "docs" / "planted-faults.md"

# kind → (what identifies it, the rows that name it, as a query; $-parameters are thresholds)
NAMED_BY: dict[str, tuple[str, str, str]] = {
    "reward_hacked": ("heal_id", "heals whose E is below the alert line", "select heal_id from efficacy_rows where e_heal < 0.80 - 1e-9"),
    "reward_hacked (half)": (
        "heal_id",
        "heals whose E is one half or less",
        "select heal_id from efficacy_rows where e_heal <= 0.50 + 1e-9",
    ),
    "flaky_trigger": ("signature", "signatures that are not real", "select failure_signature from signal_rows where not is_real"),
    "recurrence": ("signature", "signatures back after their loop", "select failure_signature from signal_rows where recurred_after_loop"),
    "renamed_recurrence": ("signature", "suggested merges with a failure under one name after a heal under another", ""),
    "missed_failure": ("signature", "failures that no heal targeted", "select failure_signature from missed_rows"),
    "safety_regression": ("heal_id", "heals that broke a safety case", "select heal_id from aftermath_rows where n_safety > 0"),
    "regression": (
        "heal_id",
        "heals that broke at least 5 % of other cases",
        "select heal_id from aftermath_rows where n_safety = 0 and local_regress >= 0.05 - 1e-9",
    ),
    "slow_drift": ("run_id", "the run at which re-certification fell due", ""),
    "revisit": (
        "heal_id",
        "cycles that returned to an earlier text",
        "select h.heal_id from revisit_rows r join heals h on h.row = r.later_row where not r.idle",
    ),
    "idle_cycle": (
        "heal_id",
        "cycles that changed nothing",
        "select h.heal_id from revisit_rows r join heals h on h.row = r.later_row where r.idle",
    ),
    "blocked_edit": ("heal_id", "heals stopped by the boundary gate", "select heal_id from blocked_rows"),
    "elevated": ("heal_id", "heals above 3 × their task's tokens", "select heal_id from budget_rows where verdict = 'elevated'"),
    "overspending": ("heal_id", "heals above 6 × their task's tokens", "select heal_id from budget_rows where verdict = 'escalated'"),
    "leaked_holdout": ("case_id", "contaminated held-out cases", "select case_id from contamination_rows where contaminated"),
    "widening_gap": ("kind", "the widening test", ""),
}


def named(found: Audit, kind: str) -> set[str]:
    """What the rows of an audit name as faults of one kind."""
    if kind == "slow_drift":
        return {found.aftermath.drift.first_due_run} - {None}
    if kind == "widening_gap":
        return {kind} if found.efficacy.trend.state == "widening" else set()
    if kind == "renamed_recurrence":
        return set(renamed(found))
    return {row[0] for row in found.scope.query(NAMED_BY[kind][2])}


def measure() -> dict[str, tuple[int, int, int]]:
    """Kind → (planted, planted and named, named), summed over the demo and the seeds."""
    writers: list[Callable[[Path], object]] = [write_demo]
    writers += [lambda folder, seed=seed: write_workspace(folder, seed=seed) for seed in SEEDS]
    total: Counter[tuple[str, int]] = Counter()
    for write in writers:
        with tempfile.TemporaryDirectory() as folder:
            for kind, counts in measure_one(Path(folder), write).items():
                total.update({(kind, at): n for at, n in enumerate(counts)})
    return {kind: (total[kind, 0], total[kind, 1], total[kind, 2]) for kind in NAMED_BY}


def measure_one(folder: Path, write: Callable[[Path], object]) -> dict[str, tuple[int, int, int]]:
    """The same for one workspace."""
    write(folder)
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    store = Store(workspace_of_log(folder / "heal_events.jsonl"), now=NOW)
    store.refresh()
    found = audit(store, window_of(store, span="all"), resolve(None))
    counts = {}
    for kind, (identity, _, _) in NAMED_BY.items():
        planted = {fault[identity] for fault in truth if fault["kind"] == kind.split(" ")[0]}
        names = named(found, kind)
        counts[kind] = len(planted), len(planted & names), len(names)
    store.close()
    return counts


def table(measured: dict[str, tuple[int, int, int]]) -> str:
    """The table of the documentation."""
    lines = ["| planted fault | named by | planted | recall | precision |", "|---|---|---|---|---|"]
    for kind, (planted, hit, n_named) in measured.items():
        recall = f"{hit / planted:.2f}" if planted else "–"
        precision = f"{hit / n_named:.2f}" if n_named else "–"
        lines.append(f"| {kind.replace('_', ' ')} | {NAMED_BY[kind][1]} | {planted} | {recall} | {precision} |")
    return "\n".join(lines)


def page(measured: dict[str, tuple[int, int, int]]) -> str:
    """The page of the documentation."""
    return f"""# How many planted faults are named

The simulator plants faults and writes them down (`truth.jsonl`). This table asks how many of them the report's own rows name,
over the whole history of the demo and of {len(SEEDS)} further workspaces of 240 heals. Recall: planted faults that a row names.
Precision: rows that name a planted fault. Made by `python -m tests.planted_faults`; a test holds the table and its floors.

{table(measured)}

How to read it:

- **Reward hacked.** Every hacked heal falls below the alert line of E, and so do two honest ones for each: on an exam of 50 held-out
  cases one case is two points, and noise that happens to fall the wrong way is a truth gap. Where E is one half or less only
  hacked ones are left. A single row below the line is a heal to look at, not a verdict.
- **Renamed recurrence.** A failure that comes back under another signature is suggested for merging; S counts it as the old failure only
  in `S_merged`, once a person has confirmed that. Until then it is listed among the failures that no heal targeted, which is why that
  row's precision is below 1. The simulator renames by case, separators and an added number; a new word is not found so surely.
- The faults and the rules come from the same authors. Read 1.00 as "the rule does what it says", not as a rate against an unknown agent.
"""


if __name__ == "__main__":
    PAGE.write_text(page(measure()), encoding="utf-8")
