"""E: is the truth gap widening? Mann-Kendall and Theil-Sen against brute force and SciPy, then the two looks a week apart."""

import math
from collections import Counter
from itertools import combinations, permutations
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, theilslopes

from seam_core.trend import mann_kendall_p, theil_sen_slope
from tests.seam_core.workspaces import audited, four, heal, report_on, write

VALUES = st.lists(st.integers(-5, 5).map(lambda tenths: tenths / 10), min_size=2, max_size=9)


def kendall_s(values):
    return sum((late > early) - (late < early) for early, late in combinations(values, 2))


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5], [1, 1, 2, 2, 3], [1, 1, 1, 2, 2], [3, 3, 3, 3, 1, 2]], ids=str)
def test_mann_kendall_has_the_variance_of_all_orders(values):
    """Of every order of the values, S has mean 0 and the variance of the formula; p follows by the normal distribution."""
    orders = [kendall_s(order) for order in permutations(values)]
    variance = sum(s * s for s in orders) / len(orders)
    n, ties = len(values), Counter(values).values()
    assert variance == pytest.approx((n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18)
    s = kendall_s(values)
    assert mann_kendall_p(values) == pytest.approx(norm.sf((s - (s > 0) + (s < 0)) / math.sqrt(variance)))


def test_mann_kendall_is_near_the_exact_share_of_orders(monkeypatch):
    """Seven values, 5,040 orders: the share with at least this S, within two points of p, wherever p may matter."""
    exact = Counter(kendall_s(order) for order in permutations(range(7)))
    total = sum(exact.values())
    for order in [(0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4, 6, 5), (1, 0, 2, 3, 5, 4, 6), (2, 0, 1, 4, 3, 6, 5), (6, 5, 4, 3, 2, 1, 0)]:
        share = sum(n for s, n in exact.items() if s >= kendall_s(order)) / total
        assert mann_kendall_p(list(order)) == pytest.approx(share, abs=0.02)


@given(values=VALUES)
def test_mann_kendall_is_a_probability_that_turns_round_with_its_values(values):
    p = mann_kendall_p(values)
    assert 0 <= p <= 1
    assert mann_kendall_p(values[::-1]) == pytest.approx(1.0 if len(set(values)) == 1 else 1 - p)
    assert mann_kendall_p([3 * value + 1 for value in values]) == pytest.approx(p)


def test_values_that_are_equal_in_decimals_are_tied():
    assert mann_kendall_p([0.1 + 0.2, 0.3, 0.4 - 0.1, 0.3]) == 1.0
    assert mann_kendall_p([0.1, 0.1, 0.1 + 1e-10, 0.2]) == mann_kendall_p([1, 1, 1, 2])


@settings(max_examples=200)
@given(values=st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=2, max_size=24))
def test_theil_sen_is_scipys(values):
    assert theil_sen_slope(values) == pytest.approx(theilslopes(values).slope, abs=1e-12)


def test_theil_sen_by_hand():
    """Slopes of 0, 1, 5: 1, 4 and 2.5."""
    assert theil_sen_slope([0, 1, 5]) == median([1, 4, 2.5]) == 2.5


def loops(gaps, *, days=1.0):
    """One loop of one heal per signed gap, `days` apart; a gap below 0 is a held-out gain."""
    return [heal(number, number * days, **four(0, max(signed, 0), 0, max(-signed, 0))) for number, signed in enumerate(gaps)]


@pytest.mark.parametrize(
    ("gaps", "state", "alerts"),
    [
        ([0.02 * at for at in range(7)], "too few loops", False),
        ([0.02 * at for at in range(8)], "slope only", False),
        ([0.02 * at for at in range(15)], "slope only", False),
        ([0.02 * at for at in range(16)], "watch", False),
        ([0.02 * at for at in range(22)], "watch", False),
        ([0.02 * at for at in range(23)], "widening", True),
        ([at / 300 for at in range(23)], "widening", True),  # a rise of 15/300, exactly the line
        ([at / 301 for at in range(23)], "steady", False),
        ([0.5 - 0.02 * at for at in range(23)], "steady", False),
        ([0.2] * 23, "steady", False),
        ([-0.5 + 0.02 * at for at in range(23)], "widening", True),  # signed: from less than nothing to less less
        ([0.2, 0.1] * 11 + [0.2], "steady", False),
        ([0.02 * at for at in range(23)] + [0.0] * 16, "steady", False),  # over: the last sixteen are flat
    ],
    ids=["7 loops", "8 loops", "15 loops", "16 loops, none a week ago", "22 loops, 15 a week ago", "23 loops", "rise at the line",
         "rise below the line", "falling", "flat", "rising from below zero", "up and down", "long over"],
)  # fmt: skip
def test_widening_holds_now_and_a_week_ago(tmp_path, gaps, state, alerts):
    found = report_on(write(tmp_path, heal_events=loops(gaps)))
    assert found["efficacy"]["trend"]["state"] == state
    assert ("E:widening" in found["alerts"]) == alerts
    assert (found["efficacy"]["trend"]["p"] is None) == (state == "too few loops")


def test_a_look_back_knows_only_what_was_known_then(tmp_path):
    """23 rising loops; then all of them are touched again within the last six days, which moves every loop's place behind the look.

    A week ago nothing but the first heals of 23 loops was known; now each loop is the mean of two heals, in another order.
    """
    gaps = [0.02 * at for at in range(23)]
    again = [heal(f"again{at}", 29 - at / 5, loop_id=f"L{at}", **four(0, 0.02 * at, 0, 0)) for at in range(23)]
    with audited(write(tmp_path, heal_events=loops(gaps) + again)) as found:
        trend = found.efficacy.trend
        assert (trend.state, trend.rise) == ("watch", pytest.approx(-0.3))  # newest first now: falling; a week ago it rose


def test_p_at_its_line_does_not_fire(tmp_path):
    """Of the last sixteen the p is the same now and a week ago, as the series is the same shape: the line is set right onto it."""
    gaps = [0.02 * at for at in range(23)]
    path = write(tmp_path, heal_events=loops(gaps))
    s, variance = 16 * 15 / 2, 16 * 15 * 37 / 18
    p = norm.sf((s - 1) / math.sqrt(variance))
    assert report_on(path, trend_p=p)["efficacy"]["trend"]["state"] == "steady"
    assert report_on(path, trend_p=p * 10 + 1e-8)["efficacy"]["trend"]["state"] == "widening"


def test_blocked_heals_are_no_part_of_the_trend(tmp_path):
    """The three loops that would make it 23 are stopped by the gate."""
    heals = loops([0.02 * at for at in range(23)])
    for blocked in heals[:3]:
        blocked["change"] = {"target": "tools"}
    protected = [{"id": "p", "kind": "tool_permission", "target": "tools"}]
    assert report_on(write(tmp_path, heal_events=heals, protected=protected))["efficacy"]["trend"]["state"] == "watch"
