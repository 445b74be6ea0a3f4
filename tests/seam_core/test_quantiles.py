"""Points of Student's t, held against scipy."""

import pytest
from scipy.special import stdtr, stdtrit

from seam_core.quantiles import SUMMED_MAX, t_quantile, t_within


def test_the_points_are_scipys_on_either_side_of_where_they_are_summed():
    for df in (1, 2, 3, 4, 5, 8, 15, 16, 60, SUMMED_MAX - 1, SUMMED_MAX, SUMMED_MAX + 1, 1_000, 300_000):
        assert t_quantile(df, 0.95) == pytest.approx(stdtrit(df, 0.975), rel=1e-11)
        assert t_quantile(df, 0.8) == pytest.approx(stdtrit(df, 0.9), rel=1e-11)


def test_the_probability_between_two_points_is_scipys():
    for df in (1, 2, 7, 20):
        for t in (0.0, 0.3, 2.5, 40.0):
            assert t_within(t, df) == pytest.approx(1 - 2 * stdtr(df, -t), abs=1e-14)
