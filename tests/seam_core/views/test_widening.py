"""The widening test laid open: the same numbers as the score's, both evaluations, in words."""

import pytest

from seam_core.views import widening
from tests.seam_core.workspaces import audited, gap, heal, write

RISING = [0.02, 0.0, 0.05, 0.04, 0.08, 0.07, 0.07, 0.12]  # the method's own example: p 0.0124, rise 0.099


@pytest.fixture
def looked(tmp_path):
    def look(gaps, **thresholds):
        heals = [heal(number, **gap(size)) for number, size in enumerate(gaps, start=1)]
        with audited(write(tmp_path, heal_events=heals), **thresholds) as audit:
            found = widening.look_twice(audit)
            now = found.looks[0]
            kept = audit.scope.query("select loop_id, ts, gap from trend_rows")
            assert [(loop.loop_id, loop.ts, loop.gap) for loop in now.loops] == kept  # what the score itself looked at
            trend = audit.efficacy.trend
            assert (found.state, now.rise, now.p, len(now.loops)) == (trend.state, trend.rise, trend.p, trend.n_loops)
            return found

    return look


def test_the_methods_example_is_taken_apart(looked):
    found = looked(RISING)
    now, before = found.looks
    assert (round(now.p, 4), round(now.rise, 3), now.fires) == (0.0124, 0.099, False)
    assert (len(before.loops), before.rise, before.why) == (1, None, "fewer than 8 loops: no test")
    assert now.why == "fewer than 16 loops: no verdict"
    assert found.sentence == "No verdict yet: over the last 8 loops the gap rose by 10 points (p = 0.012), and a verdict takes 16 loops."


def test_both_evaluations_firing_is_widening(looked):
    found = looked([size / 100 for size in range(24)])
    now, before = found.looks
    assert [look.fires for look in found.looks] == [True, True]
    assert [loop.loop_id for loop in now.loops] == [f"L{number}" for number in range(9, 25)]
    assert [loop.loop_id for loop in before.loops] == [f"L{number}" for number in range(2, 18)]  # known a week before
    assert now.rise == pytest.approx(0.15)
    assert now.line == pytest.approx((0.08, 0.23))
    assert found.sentence == (
        "The gap is widening: over the last 16 loops the gap rose by 15 points (p < 0.001), and the test already fired a week before."
    )


def test_one_evaluation_firing_is_watch(looked):
    found = looked([0.0] * 17 + [size / 10 for size in range(1, 8)])
    assert [look.fires for look in found.looks] == [True, False]
    assert "the test fires now, but not a week before" in found.sentence


@pytest.mark.parametrize(
    ("gaps", "sentence"),
    [
        ([0.1] * 24, "The gap is steady: over the last 16 loops the gap did not move by a whole point (p = 1.00); "),
        (
            [(24 - size) / 100 for size in range(24)],
            "The gap is not widening: over the last 16 loops the gap fell by 15 points (p = 1.00); ",
        ),
        # Surely rising, by 15 ÷ 1500: a point, and the line is five.
        (
            [size / 1500 for size in range(24)],
            "By the test the gap is not widening: over the last 16 loops the gap rose by 1 point (p < 0.001); ",
        ),
    ],
    ids=["flat", "narrowing", "rising too little"],
)
def test_no_evaluation_firing_says_how_the_gap_moved_and_does_not_contradict_it(looked, gaps, sentence):
    assert looked(gaps).sentence == f"{sentence}the test fires neither now nor a week before."


def test_too_few_loops_say_how_many_there_are(looked):
    found = looked([0.1, 0.2])
    assert found.sentence == (
        "Too few loops for a trend: only 2 loops have a heal with all four scores up to this window's end; the test starts at 8."
    )
    assert found.looks[0].line is None


def test_no_scored_heal_at_all(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)])) as audit:
        assert widening.look_twice(audit).sentence.startswith("Too few loops for a trend: no loop has a heal with all four scores")


def test_the_rule_names_the_thresholds_in_force(looked):
    assert looked(RISING, trend_loops=8, trend_p=0.05, trend_rise=0.1).rule == (
        "Mann-Kendall (one-sided) and Theil-Sen on the mean signed gap of the newest 8 loops, over all history. "
        "Widening: p below 0.05 and a rise of at least 10 points, at the window's end and a week before."
    )


@pytest.mark.parametrize(("p", "said"), [(0.0004, "< 0.001"), (0.0124, "0.012"), (0.061, "0.061"), (0.31, "0.31"), (1.0, "1.00")])
def test_a_p_is_said_with_two_digits(p, said):
    assert widening.p_said(p) == said


def test_the_issue_holds_both_evaluations_and_the_loops(tmp_path):
    heals = [heal(number, **gap(number / 100)) for number in range(1, 25)]
    heals[-1]["loop_id"] = "L`24` @all"
    with audited(write(tmp_path, heal_events=heals)) as audit:
        text = widening.issue(audit, link="http://127.0.0.1/efficacy?win=all")
    assert text.startswith("### Truth gap: widening\n\nThe gap is widening: ")
    assert "| 2026-06-25 12:00 UTC | 16 | +15 points | < 0.001 | fires |" in text
    assert "| 2026-06-18 12:00 UTC | 16 | +15 points | < 0.001 | fires |" in text
    assert "| ``L`24` @all`` | 2026-06-25 12:00 UTC | +24 points |" in text
    assert text.endswith("<http://127.0.0.1/efficacy?win=all>\n")
