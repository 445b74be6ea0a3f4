"""Ranges of a gap from scores alone, and p-values of many heals looked at together."""

import math

import pytest

from seam_core.gap_ranges import narrow_range, q_values, wide_range

Z = 1.959964


def test_the_narrowest_range_takes_every_change_to_have_gone_one_way():
    """Visible 0.70 to 0.95 on 40 cases is 10 fixed, held-out 0.70 to 0.74 on 50 is 2 fixed; a quarter of a case is added either way."""
    visible = (10.5 / 40.5 - (10 / 40.5) ** 2) / 40.5
    held_out = (2.5 / 50.5 - (2 / 50.5) ** 2) / 50.5
    low, high = narrow_range((0.70, 0.95, 40), (0.70, 0.74, 50))
    assert (low + high) / 2 == pytest.approx(0.21)
    assert high - low == pytest.approx(2 * Z * math.sqrt(visible + held_out), rel=1e-6)


def test_the_widest_range_takes_the_runs_to_have_nothing_in_common():
    variance = (0.7 * 0.3 + 0.95 * 0.05) / 40 + (0.7 * 0.3 + 0.74 * 0.26) / 50
    low, high = wide_range((0.70, 0.95, 40), (0.70, 0.74, 50))
    assert high - low == pytest.approx(2 * Z * math.sqrt(variance), rel=1e-6)
    assert low < 0 < narrow_range((0.70, 0.95, 40), (0.70, 0.74, 50))[0]  # only one of them excludes that there is no gap


def test_perfect_scores_do_not_make_the_widest_range_narrower_than_the_narrowest():
    exams = (0.0, 1.0, 4), (1.0, 1.0, 4)
    assert wide_range(*exams) == narrow_range(*exams)


def test_a_score_on_an_unknown_number_of_cases_is_taken_as_exact():
    low, high = narrow_range((0.2, 0.9, None), (0.5, 0.5, 15))
    assert high - low == pytest.approx(2 * Z * math.sqrt(0.5 / 15.5 / 15.5), rel=1e-6)


def test_q_values_by_hand():
    """Sorted .01 .02 .03 .5 by 4 ÷ rank: .04 .04 .04 .5. The larger of two neighbours never lends a smaller q to the other."""
    assert q_values([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.04, 0.04])
    assert q_values([0.04, 0.03]) == pytest.approx([0.04, 0.04])
    assert q_values([]) == []
