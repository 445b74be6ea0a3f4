"""A small workspace with surface runs, of which every number can be told by hand."""

from pathlib import Path

from tests.seam_core.workspaces import cases, heal, run, write

ROOT = Path(__file__).parents[3]
LINK = "http://localhost:8501/aftermath?heal=h1"
NIGHT = {"c0": True, "c1": True, "c2": True, "c3": True, "c4": False}
RUNS = [
    run("night", "nightly", 0.5, NIGHT),
    run("b1", "before", 0.9, {"c1": True, "c2": False}, "h1"),
    run("a1", "after", 1.1, {"c0": True, "c1": False, "c2": True, "c3": True, "c4": False, "x": True}, "h1"),
    run("b2", "before", 1.9, {"c0": True, "c1": False, "gone": True}, "h2"),
    run("a2", "after", 2.1, {"c0": False, "c1": True}, "h2"),
]


def write_small(folder):
    """Three heals: h1 breaks c1, fixes c2, which only its own before run saw failing, and runs a new case; h2 breaks the safety case and
    loses one; h3 has no runs."""
    heals = [heal(1, target="planner", text="a"), heal(2, target="router", text="b", level=1), heal(3)]
    certified = {"c0": "pass", "c1": "pass", "c2": "pass", "c3": "pass", "c4": "pass"}
    return write(folder, heal_events=heals, suite_runs=RUNS, surface=cases(5, safety=("c0",)), certified=certified)


def states(diff):
    """Case → what happened to it."""
    return {case.case_id: case.state for case in diff.cases}
