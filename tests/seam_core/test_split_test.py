"""The exact split test: worked examples, and a count of every possible split as the independent computation."""

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_core.split_test import Part, Split


@pytest.mark.parametrize(("held_out", "p"), [(0, 0.016), (1, 0.100), (2, 0.325), (3, 0.647)])
def test_the_worked_example(held_out, p):
    """63 cases, 15 held out. Of 24 that failed (6 held out) 10 were fixed, of 39 that passed (9 held out) 2 were broken, 1 held out."""
    split = Split(Part(24, 6, 10, held_out), Part(39, 9, 2, 1))
    assert split.p() == pytest.approx(p, abs=0.0005)
    assert split.expected_net_gain == pytest.approx(2.04, abs=0.005)


def test_the_opening_story():
    """Practice 48 cases, 14 failing, 12 fixed; held-out 50 cases, 15 failing, 2 fixed."""
    assert Split(Part(29, 15, 14, 2), Part(69, 35, 0, 0)).p() == pytest.approx(0.00013, abs=0.000005)


@pytest.mark.parametrize(("gains", "losses", "efficacy"), [(10, 2, 0.857), (2, 1, 0.902)])
def test_what_an_honest_heal_scores(gains, losses, efficacy):
    split = Split(Part(24, 6, gains, 0), Part(39, 9, losses, 0))
    assert split.honest_efficacy(gap_max=0.25) == pytest.approx(efficacy, abs=0.0005)


parts = st.integers(0, 7).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda held: st.integers(0, n).flatmap(
            lambda changed: st.integers(max(0, changed - (n - held)), min(changed, held)).map(lambda k: Part(n, held, changed, k))
        )
    )
)


def ways(part):
    """How many held-out cases each choice of the changed ones holds, one by one."""
    return [sum(case < part.n_held_out for case in chosen) for chosen in combinations(range(part.n), part.changed)]


@given(parts, parts)
@settings(max_examples=60)
def test_p_is_the_share_of_all_splits_that_gain_as_little(failing, passing):
    split = Split(failing, passing)
    nets = [fixed - broke for fixed in ways(failing) for broke in ways(passing)]
    assert split.p() == pytest.approx(sum(net <= split.net_gain for net in nets) / len(nets))
    assert split.expected_net_gain == pytest.approx(sum(nets) / len(nets))


@given(parts, parts)
@settings(max_examples=60)
def test_an_honest_heal_is_the_mean_over_all_splits(failing, passing):
    held_out = failing.n_held_out + passing.n_held_out
    visible = failing.n + passing.n - held_out
    split = Split(failing, passing)
    if not held_out or not visible:
        with pytest.raises(ValueError, match="cases on both sides"):
            split.honest_efficacy(gap_max=0.25)
        return
    scores = []
    for fixed in ways(failing):
        for broke in ways(passing):
            gap = max(0.0, (failing.changed - fixed - passing.changed + broke) / visible - (fixed - broke) / held_out)
            scores.append(1 - min(gap / 0.25, 1))
    assert split.honest_efficacy(gap_max=0.25) == pytest.approx(math.fsum(scores) / len(scores))
