"""Two looks at the surface, case by case: a heal's as the score counts it, and any two runs."""

import pytest

from seam_core.views.case_diff import NotComparedError, heal_diff, run_diff
from seam_core.views.case_runs import NoSuchRunError, default_pair
from seam_core.views.cases import worst_heals
from seam_core.views.filters import Filters
from tests.seam_core.views.surface_logs import ROOT, states, write_small
from tests.seam_core.workspaces import audited, heal, run, write
from tests.seam_core.workspaces import cases as surface


@pytest.fixture
def small(tmp_path):
    return write_small(tmp_path)


@pytest.fixture(scope="module")
def demo_audit():
    """All of the demo's history."""
    with audited(ROOT / "fixtures" / "heal_events.jsonl") as found:
        yield found


def test_a_heals_diff_is_what_the_score_counted_with_the_run_each_before_is_from(small):
    with audited(small, r_max=0.5) as found:
        diff = heal_diff(found, "h1")
        assert states(diff) == {
            "c1": "broke",
            "c2": "fixed",
            "c4": "still failing",
            "x": "only after",
            "c0": "still passing",
            "c3": "still passing",
        }
        assert diff.counts == {"broke": 1, "fixed": 1, "still failing": 1, "only after": 1, "only before": 0, "still passing": 2}
        assert {case.case_id: case.before_run for case in diff.cases} == {
            "c1": "b1", "c2": "b1", "c0": "night", "c3": "night", "c4": "night", "x": None
        }  # fmt: skip
        assert diff.sentences == (
            "Compared with its own before run b1; 3 outcomes filled from 1 earlier run. After: a1.",
            "A_heal = 1 − min((1 ÷ 6) ÷ 0.5, 1) = 0.6667.",
            "1 broke and 1 was fixed, of 5 cases in both: too few changes to tell a direction from chance.",
        )
        assert diff.warnings == ("1 case not in surface.jsonl: compared, but never as a safety case.",)
        assert [case.case_id for case in diff.of("still passing")] == ["c0", "c3"]


def test_a_case_that_went_missing_is_named_and_is_not_passing(small):
    with audited(small) as found:
        diff = heal_diff(found, "h2")
        assert states(diff) == {"c0": "broke", "c1": "fixed", "gone": "only before"}
        assert diff.cases[0].is_safety
        assert "a2 is a sample: 2 of the 5 cases of the surface. What was not run cannot break." in diff.sentences
        assert diff.warnings[0].startswith("1 case of its before run are not in the after run. A missing case is not a passing case")


@pytest.mark.parametrize(
    ("heal_id", "window", "said", "pair"),
    [
        ("nope", "all", "There is no heal nope in this log.", None),
        ("h3", "all", "h3 has no surface run with phase after and its heal_id: nothing says what it broke.", None),
        ("h1", "24h", "h1 ended at 2026-06-02 12:00 UTC, outside of this window, so it is not scored here.", ("b1", "a1")),
    ],
)
def test_a_heal_that_is_not_compared_says_why(small, heal_id, window, said, pair):
    with audited(small, window=window) as found, pytest.raises(NotComparedError) as caught:
        heal_diff(found, heal_id)
    assert (str(caught.value), caught.value.pair) == (said, pair)


def test_a_blocked_heal_is_not_compared(tmp_path):
    runs = [run("b", "before", 0.9, {"c0": True}, "h1"), run("a", "after", 1.1, {"c0": False}, "h1")]
    protected = [{"id": "p", "kind": "tool_permission", "target": "prompt"}]
    log = write(tmp_path, heal_events=[heal(1, text="x"), heal(2)], suite_runs=runs, protected=protected, surface=surface(1))
    with audited(log) as found, pytest.raises(NotComparedError, match="The boundary gate stopped h1") as caught:
        heal_diff(found, "h1")
    assert caught.value.pair == ("b", "a")


def test_any_two_runs_are_compared_and_a_low_overlap_is_said(small):
    with audited(small) as found:
        diff = run_diff(found, "night", "a1")
        assert diff.counts == {"broke": 1, "fixed": 0, "still failing": 1, "only after": 1, "only before": 0, "still passing": 3}
        assert diff.heal is None
        low = run_diff(found, "a2", "night")
        assert states(low) == {"c0": "fixed", "c1": "still passing", "c2": "only after", "c3": "only after", "c4": "only after"}
        assert low.warnings == (
            "Low overlap: only 2 of 5 cases are in both runs (40 %). 2 and 5 cases were run; totals of the two cannot be compared.",
            "The run on the right is the older one: what it broke had been fixed later.",
        )
        with pytest.raises(NoSuchRunError, match="There is no surface run zz in"):
            run_diff(found, "night", "zz")


def test_hashes_of_grader_and_agent_speak_against_a_comparison(tmp_path):
    first = run("r1", "nightly", 0.1, {"c0": True}) | {"grader_hash": "g1", "state_hash": "s"}
    second = run("r2", "nightly", 0.2, {"c0": False}) | {"grader_hash": "g2", "state_hash": "s"}
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=[first, second], surface=surface(1))) as found:
        assert default_pair(found) == ("r1", "r2")
        assert run_diff(found, "r1", "r2").warnings == (
            "The two runs name different graders: a changed outcome may be the grader's doing.",
            "Both runs name the same state of the agent: what differs is noise.",
        )


def test_many_changes_are_held_against_chance(tmp_path):
    before = {f"c{i}": i != 8 for i in range(9)}
    after = {f"c{i}": i == 8 for i in range(9)}
    runs = [run("r1", "nightly", 0.1, before), run("r2", "nightly", 0.2, after)]
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=surface(9))) as found:
        assert run_diff(found, "r1", "r2").sentences == (
            "8 broke and 1 was fixed, of 9 cases in both. By chance alone, a split so uneven is unlikely (exact McNemar, p = 0.039).",
        )


def test_on_the_demo_every_diff_is_what_the_score_says(demo_audit):
    ranked = worst_heals(demo_audit, Filters())
    assert len(ranked.heals) == demo_audit.aftermath.n > 100
    for one in ranked.heals[::7]:
        diff = heal_diff(demo_audit, one.heal_id)
        assert (diff.counts["broke"], diff.counts["fixed"], diff.counts["only after"]) == (one.n_regressed, one.n_fixed, one.n_new)
        assert sorted(case.case_id for case in diff.of("broke")) == one.regressed
        for case in diff.cases:
            if case.before_run:
                logged = demo_audit.scope.one(
                    "select passed from outcomes join surface_runs using (run) where run_id = $run and case_id = $case",
                    run=case.before_run,
                    case=case.case_id,
                )
                assert logged == (case.passed_before,)
