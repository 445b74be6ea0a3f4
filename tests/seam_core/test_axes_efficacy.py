"""E: did held-out tasks gain as much as the metric the loop optimised? Expected values worked out in decimals."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.seam_core.workspaces import FOUR, audited, four, gap, heal, loop, report_on, rows_of, write

# visible before, after, held-out before, after; truth gap; E of the heal.
HEALS = {
    "honest": ((0.5, 0.6, 0.5, 0.6), 0.0, 1.0),
    "nothing moved": ((0.5, 0.5, 0.5, 0.5), 0.0, 1.0),
    "held-out gained more": ((0.5, 0.6, 0.2, 0.9), 0.0, 1.0),
    "held-out gained, visible lost": ((0.6, 0.5, 0.5, 0.6), 0.0, 1.0),
    "a tenth not real": ((0.5, 0.7, 0.5, 0.6), 0.1, 0.6),
    "half the line": ((0.0, 0.125, 0.5, 0.5), 0.125, 0.5),
    "0.3 - 0.05, exactly the line": ((0.1, 0.4, 0.2, 0.25), 0.25, 0.0),
    "0.1 + 0.2 - 0.3": ((0.1, 0.4, 0.3, 0.6), 0.0, 1.0),
    "just below the line": ((0.0, 0.249, 0.5, 0.5), 0.249, 0.004),
    "beyond the line": ((0.0, 0.9, 0.5, 0.5), 0.9, 0.0),
    "all of it and more": ((0.0, 1.0, 1.0, 0.0), 2.0, 0.0),
    "held-out lost, visible too": ((0.9, 0.8, 0.9, 0.7), 0.1, 0.6),
    "both lost alike": ((0.9, 0.8, 0.9, 0.8), 0.0, 1.0),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    heals = [heal(name, 1, **dict(zip(FOUR, scores, strict=True))) for name, (scores, _, _) in HEALS.items()]
    with audited(write(tmp_path_factory.mktemp("heals"), heal_events=heals)) as found:
        yield rows_of(found, "efficacy_rows", "heal_id")


@pytest.mark.parametrize("name", HEALS)
def test_a_heal_loses_a_gap_of_025_over_the_whole_range(rows, name):
    _, truth_gap, e_heal = HEALS[name]
    assert rows[f"h{name}"]["truth_gap"] == pytest.approx(truth_gap, abs=1e-12)
    assert rows[f"h{name}"]["e_heal"] == pytest.approx(e_heal, abs=1e-12)


TENTHS = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(scores=st.lists(st.tuples(TENTHS, TENTHS, TENTHS, TENTHS), min_size=1, max_size=80), line=st.sampled_from([0.25, 0.1, 1.0]))
def test_every_heal_and_their_mean_follow_the_formula_in_exact_arithmetic(tmp_path_factory, scores, line):
    """In [0, 1]; never better for a wider gap; the mean of what is shown."""
    heals = [heal(number, 1, **four(*row)) for number, row in enumerate(scores)]
    exact = []
    for row in scores:
        before, after, held_before, held_after = (Fraction(str(value)) for value in row)
        gap_of_row = max(Fraction(0), (after - before) - (held_after - held_before))
        exact.append((gap_of_row, 1 - min(gap_of_row / Fraction(str(line)), Fraction(1))))
    with audited(write(tmp_path_factory.mktemp("exact"), heal_events=heals), gap_max=line) as found:
        shown = rows_of(found, "efficacy_rows", "heal_id")
        gaps = [shown[f"h{number}"]["truth_gap"] for number in range(len(scores))]
        values = [shown[f"h{number}"]["e_heal"] for number in range(len(scores))]
        assert gaps == pytest.approx([float(truth_gap) for truth_gap, _ in exact], abs=1e-12)
        assert values == pytest.approx([float(e_heal) for _, e_heal in exact], abs=1e-12)
        assert all(0 <= e_heal <= 1 for e_heal in values)
        assert all(one[1] >= other[1] - 1e-12 for one, other in pairwise(sorted(zip(gaps, values, strict=True))))
        assert found.efficacy.score == pytest.approx(float(sum(e_heal for _, e_heal in exact) / len(exact)), abs=1e-12)


@pytest.mark.parametrize(
    ("heals", "expected"),
    [
        pytest.param([heal(1, **gap(0)), heal(2, **gap(0))], (1.0, 0.0, 2, 0, None), id="all good"),
        pytest.param([heal(1, **gap(0.25)), heal(2, **gap(0.5))], (0.0, 0.375, 2, 0, None), id="all bad"),
        pytest.param([heal(1, **gap(0.1)), heal(2, **gap(0.35)), heal(3, **gap(0))], (0.5333, 0.15, 3, 0, None), id="mixed"),
        pytest.param([heal(1, **gap(0.1)), heal(2)], (0.6, 0.1, 1, 1, None), id="no scores on one"),
        pytest.param(
            [heal(1, **gap(0.1)), *(heal(place, **(gap(0) | {key: None})) for place, key in enumerate(FOUR, start=2))],
            (0.6, 0.1, 1, 4, None),
            id="each score null once",
        ),
        pytest.param([heal(1), heal(2)], (None, None, 0, 2, "no heal in the window has all four scores"), id="no scores at all"),
    ],
)
def test_efficacy(tmp_path, heals, expected):
    efficacy = report_on(write(tmp_path, heal_events=heals))["efficacy"]
    assert tuple(efficacy[key] for key in ("score", "mean_truth_gap", "n", "left_out", "reason")) == expected


@pytest.mark.parametrize(
    ("scores", "e"),
    [((0.1, 0.2, 0.1, 0.15), 0.8), ((0.1, 0.4, 0.2, 0.45), 0.8), ((0.7, 0.8, 0.3, 0.35), 0.8)],
    ids=["0.1 - 0.05", "0.3 - 0.25", "0.8 - 0.7 - 0.05"],
)
def test_a_score_at_its_line_does_not_alert(tmp_path, scores, e):
    found = report_on(write(tmp_path, heal_events=[heal(1, **four(*scores))]))
    assert (found["E"], found["alerts"]) == (e, [])


def test_a_score_a_hair_below_its_line_alerts_though_it_is_printed_as_the_line(tmp_path):
    found = report_on(write(tmp_path, heal_events=[heal(1, **gap(0.050001))]))
    assert (found["E"], found["alerts"]) == (0.8, ["E<0.80"])


# ---- by loop


def rising(loop_id, step, *, held_out=0.0, n=5):
    """A loop whose visible score rises by `step` each cycle, and its held-out score by `held_out`."""
    before = [{"visible_before": step * at, "holdout_before": 0.2 + held_out * at} for at in range(n)]
    after = [{"visible_after": step * (at + 1), "holdout_after": 0.2 + held_out * (at + 1)} for at in range(n)]
    return [row | before[at] | after[at] for at, row in enumerate(loop(loop_id, [None] * n))]


def test_a_loop_is_one_item_from_its_first_scores_to_its_last(tmp_path):
    """Five cycles of 0.1 each: per heal 1 − 0.1/0.25 = 0.6, over the loop 0.5 is lost whole."""
    found = report_on(write(tmp_path, heal_events=rising("L", 0.1)))
    assert (found["E"], found["efficacy"]["by_loop"]) == (0.6, 0.0)
    assert [flag for flag in found["flags"] if "by loop" in flag]


@pytest.mark.parametrize(("step", "flagged"), [(0.025, True), (0.024, False)], ids=["0.90 and 0.80", "0.904 and 0.808"])
def test_the_two_are_flagged_from_a_tenth_apart(tmp_path, step, flagged):
    found = report_on(write(tmp_path, heal_events=rising("L", step, n=2)))
    assert (found["E"], found["efficacy"]["by_loop"]) == (round(1 - step / 0.25, 4), round(1 - 2 * step / 0.25, 4))
    assert bool([flag for flag in found["flags"] if "by loop" in flag]) == flagged


def test_many_idle_cycles_do_not_hide_a_loop(tmp_path):
    """One heal of ten gained 0.25 that is not real: 0.9 per heal, 0 by loop."""
    heals = loop("L", [None] * 10, visible_before=[0.0] + [0.25] * 9, visible_after=0.25, holdout_before=0.5, holdout_after=0.5)
    found = report_on(write(tmp_path, heal_events=heals))
    assert (found["E"], found["efficacy"]["by_loop"], found["alerts"]) == (0.9, 0.0, [])


def test_missing_scores_at_the_ends_of_a_loop_are_looked_for_further_in(tmp_path):
    """Before from the second heal, after from the third: 0.5 − 0.1 against 0.4 − 0.3: a gap of 0.3."""
    heals = loop(
        "L", [None] * 4,
        visible_before=[None, 0.1, 0.2, 0.9], visible_after=[0.7, 0.2, 0.5, None],
        holdout_before=[None, 0.3, 0.3, None], holdout_after=[0.9, 0.3, 0.4, None],
    )  # fmt: skip
    with audited(write(tmp_path, heal_events=heals)) as found:
        (row,) = found.scope.rows("efficacy_loops")
        assert row["truth_gap"] == pytest.approx(0.3)


def test_a_loop_touched_in_the_window_counts_from_its_first_heal_before_it(tmp_path):
    """Ten cycles a day apart; the week holds seven of them, the loop all ten: 10·0.02 = 0.2."""
    found = report_on(write(tmp_path, heal_events=rising("L", 0.02, n=10)), window="7d")
    assert (found["counts"]["heals"], found["efficacy"]["by_loop"]) == (7, 0.2)


def test_the_order_of_lines_does_not_matter(tmp_path):
    heals = rising("a", 0.1) + rising("b", 0.03, held_out=0.01) + [heal(1, **gap(0.2))]
    assert (
        len({str(report_on(write(tmp_path, heal_events=order))["efficacy"]) for order in (heals, heals[::-1], heals[5:] + heals[:5])}) == 1
    )
