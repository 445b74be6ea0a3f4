"""Ranges: the worked examples of docs/method.md, and what must hold of any range."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_core.intervals import (
    Cells,
    clopper_pearson,
    clustered,
    gap_range,
    loops_needed,
    mcnemar_p,
    signal_below,
    signal_range,
    verdict_of,
    wilson,
)

# Twelve heals in five loops; truth gaps .10 .00 | .21 | .05 .12 .02 | 0 0 | .15 .10 .08 0 at a gap_max of .25.
EFFICACY = [(0.60 + 1.0, 2), (0.16, 1), (0.80 + 0.52 + 0.92, 3), (1.0 + 1.0, 2), (0.40 + 0.60 + 0.68 + 1.0, 4)]
AFTERMATH = [(1 + 0.5, 2), (0.0, 1), (2 / 3 + 1 + 1, 3), (1.0 + 1.0, 2), (1 / 3 + 1 + 1 + 2 / 3, 4)]
MONOTONICITY = [(1.0, 1), (0.8, 1), (0.6, 1), (1.0, 1), (0.2, 1)]

loops = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.lists(st.floats(0, 1), min_size=n, max_size=n).map(lambda values: (math.fsum(values), n))),
    min_size=3,
    max_size=30,
)


def rounded(interval):
    return round(interval.low, 3), round(interval.high, 3)


def test_the_worked_example_of_efficacy():
    found = clustered(EFFICACY)
    assert (round(found.center, 4), round(found.spread, 4), rounded(found)) == (0.6861, 0.0921, (0.431, 0.942))
    assert (verdict_of(found, 0.8), loops_needed(found, 0.8)) == ("not enough", 16)


def test_the_worked_examples_of_aftermath_and_monotonicity():
    assert rounded(clustered(AFTERMATH)) == (0.433, 1.0)
    found = clustered(MONOTONICITY)
    assert (round(found.center, 4), round(found.spread, 4), rounded(found)) == (0.6833, 0.1395, (0.296, 1.0))


@pytest.mark.parametrize(("line", "clear_at", "confirmed_at"), [(0.8, 8, 3), (0.9, 15, 3), (0.6, 5, 4)], ids=["E", "A", "M"])
def test_how_many_loops_a_perfect_and_a_hopeless_record_take(line, clear_at, confirmed_at):
    assert [verdict_of(clustered([(1.0, 1)] * n), line) for n in (clear_at - 1, clear_at)] == ["not enough", "clear"]
    assert verdict_of(clustered([(0.0, 1)] * confirmed_at), line) == "confirmed"
    assert verdict_of(clustered([(0.0, 1)] * (confirmed_at - 1)), line) == "not enough"


@pytest.mark.parametrize(("n", "low"), [(5, 0.68), (8, 0.81), (12, 0.88), (15, 0.90), (20, 0.93)])
def test_a_perfect_record_is_not_certain(n, low):
    found = clustered([(1.0, 1)] * n)
    assert (round(found.low, 2), found.high) == (low, 1.0)


def test_two_loops_give_no_range():
    assert clustered([(1.0, 1), (2.0, 4)]) is None
    assert verdict_of(None, 0.8) == "not enough"


def test_a_loop_that_holds_more_than_a_third_of_the_heals_makes_the_others_count_for_less():
    """20 heals in one loop and 7 loops of one: 27² ÷ (400 + 7) = 1.79, so two degrees of freedom in place of seven."""
    found = clustered([(15.0, 20), *[(1.0, 1)] * 7])
    even = clustered([(0.75, 1), *[(1.0, 1)] * 7])
    assert found.dominant == pytest.approx(20 / 27)
    assert even.dominant is None
    half = found.center - found.low
    assert half == pytest.approx(4.302653 * found.spread, rel=1e-6)  # t of two degrees of freedom


def test_loops_needed_says_nothing_where_no_realistic_number_would_do():
    assert loops_needed(clustered([(0.79 + 0.02 * (-1) ** n, 1) for n in range(20)]), 0.79) is None  # too close
    assert loops_needed(clustered([(n % 2, 1) for n in range(20)]), 0.53) is None  # more than 200


@given(loops)
@settings(max_examples=60)
def test_a_range_holds_its_score_stays_in_bounds_and_does_not_depend_on_the_order(found):
    interval = clustered(found)
    mean = math.fsum(value for value, _ in found) / sum(n for _, n in found)
    assert 0 <= interval.low <= mean + 1e-12
    assert mean - 1e-12 <= interval.high <= 1
    other = clustered(list(reversed(found)))
    assert (other.low, other.high) == (interval.low, interval.high)


@given(loops)
@settings(max_examples=30)
def test_twice_the_loops_of_the_same_spread_are_surer(found):
    once, twice = clustered(found), clustered(found * 2)
    assert twice.spread < once.spread


# ---- Signal


def test_the_worked_example_of_signal():
    """S = .6 · 14 ÷ 17 + .4 · (1 − 2 ÷ 8) = .794. The printed range, .597 to .906, comes from 4,000 draws: ±.01."""
    cells = Cells(5, 2, 1, 0, 2)
    found = signal_range(cells, seed=7)
    assert found.low == pytest.approx(0.597, abs=0.01)
    assert found.high == pytest.approx(0.906, abs=0.01)
    assert found.low < 0.6 * 14 / 17 + 0.4 * 6 / 8 < found.high
    assert signal_below(cells, 0.7, seed=7) == pytest.approx(0.19, abs=0.02)


def test_the_same_seed_gives_the_same_range_to_the_last_digit():
    cells = Cells(5, 2, 1, 0, 2)
    assert signal_range(cells, seed=7) == signal_range(cells, seed=7)
    assert signal_range(cells, seed=7) != signal_range(cells, seed=8)


def test_fewer_than_five_signatures_give_no_range():
    assert signal_range(Cells(2, 1, 1, 0, 0), seed=1) is None
    assert signal_range(Cells(2, 1, 1, 0, 1), seed=1) is not None
    assert signal_below(Cells(2, 1, 1, 0, 0), 0.7, seed=1) is None


def test_without_a_failure_log_the_range_is_that_of_precision_and_recurrence():
    """All of 60 real and none back: S = 1, and the mean of a Dirichlet(60.25, .25, .25, .25) is .6 · 60.5 ÷ 61 + .4 · (1 − .5 ÷ 61)."""
    found = signal_range(Cells(60, 0, 0, 0, None), seed=3)
    assert found.high == 1.0
    assert found.center == pytest.approx(0.6 * 60.5 / 61 + 0.4 * (1 - 0.5 / 61), abs=0.002)


def test_signatures_without_a_label_count_for_recurrence_alone():
    """Five real ones, and 200 unlabelled ones that all came back: recurrence is near 200 ÷ 205 whatever the five did."""
    found = signal_range(Cells(5, 0, 0, 0, 0, 0, 200), seed=3)
    assert found.center == pytest.approx(0.6 * (2 * 5.4 / (2 * 5.4 + 0.6)) + 0.4 * 5.4 / 205.8, abs=0.03)


# ---- shares and pairs


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 15, 0, 0.204), (1, 15, 0.012, 0.298), (0, 32, 0, 0.107), (1, 32, 0.006, 0.157), (0, 60, 0, 0.060), (3, 60, 0.017, 0.137)],
)
def test_wilson(k, n, low, high):
    assert tuple(round(end, 3) for end in wilson(k, n)) == (low, high)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=60)
def test_clopper_pearson_ends_where_the_binomial_tails_are_two_and_a_half_percent(case):
    k, n = case
    low, high = clopper_pearson(k, n)

    def at_least(p):
        return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

    assert low == 0 if k == 0 else at_least(low) == pytest.approx(0.025, abs=1e-6)
    assert high == 1 if k == n else at_least(high) - math.comb(n, k) * high**k * (1 - high) ** (n - k) == pytest.approx(0.975, abs=1e-6)
    assert low <= wilson(k, n)[0] + 0.02


def test_nothing_counted_is_no_knowledge():
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("fixed", "broke", "p"), [(1, 0, 1.0), (3, 0, 0.25), (5, 0, 0.0625), (6, 0, 0.031), (8, 1, 0.039), (2, 0, 0.5), (0, 0, 1.0)]
)
def test_mcnemar(fixed, broke, p):
    assert mcnemar_p(fixed, broke) == mcnemar_p(broke, fixed) == pytest.approx(p, abs=0.0005)


def test_the_range_of_a_gap_by_hand():
    """Visible 12 of 48 fixed, held-out 2 of 50: gains 12 ÷ 48.5 and 2 ÷ 50.5; variances from 12.25, 0.25 and 2.25, 0.25."""
    visible, held_out = 12 / 48.5, 2 / 50.5
    var = (12.5 / 48.5 - visible**2) / 48.5 + (2.5 / 50.5 - held_out**2) / 50.5
    low, high = gap_range((12, 0, 48), (2, 0, 50))
    assert (low + high) / 2 == pytest.approx(visible - held_out)
    assert high - low == pytest.approx(2 * 1.959964 * math.sqrt(var), rel=1e-6)
