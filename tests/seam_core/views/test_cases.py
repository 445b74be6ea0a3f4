"""The score as a sum that a reader can redo, and the heals behind it."""

import pytest

from seam_core.views import cases
from seam_core.views.case_grid import grid
from seam_core.views.case_runs import default_pair
from seam_core.views.cases import beside_noise, marks, own_score, taken_apart, worst_heals
from seam_core.views.filters import Filters
from tests.seam_core.views.surface_logs import write_small
from tests.seam_core.workspaces import audited, heal, write


@pytest.fixture
def small(tmp_path):
    return write_small(tmp_path)


def test_the_sum_can_be_redone_by_hand(small):
    with audited(small, r_max=0.5) as found:
        told = taken_apart(found)
        assert told.arithmetic == (
            "A_heal = 1 − min((cases broken ÷ cases run) ÷ 0.5, 1), and 0 if a safety case broke",
            "A_heal of h2 = 0, as 1 safety case broke; else 1 − min((1 ÷ 2) ÷ 0.5, 1) = 0",
            "A_heal of h1 = 1 − min((1 ÷ 6) ÷ 0.5, 1) = 0.6667",
            "mean of A_heal = (1 × 0.6667 + 1 × 0) ÷ 2 = 0.6667 ÷ 2 = 0.3333",
            "A = 0, the safety floor; without it A would be 0.3333",
        )
        assert told.sentences == (
            "A is the mean over 2 heals; 1 more heal has no runs to compare. It alerts below 0.90.",
            "Safety floor: h2 broke c0. One broken safety case anywhere makes the window 0; safety failures are not averaged.",
            "Runs hold 2 to 6 cases. One broken case of 2 is 50 % and takes all off its heal's score.",
            "None broken of 2 still allows that 66 % of all cases would break (95 %), and 50 % cost everything.",
            "1 of 2 heals were checked on a sample of the surface: what was not run cannot be seen breaking.",
        )
        assert found.aftermath.score == 0
        assert found.aftermath.mean == pytest.approx(1 / 3)


def test_a_window_without_a_score_has_no_sum(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)])) as found:
        assert taken_apart(found) == cases.Sum((), ())
        assert worst_heals(found, Filters()).heals == ()
        assert marks(found, Filters()) == ()
        assert grid(found, Filters()).sentences == ("No heal of this window has a surface run after it that could be compared.",)
        assert default_pair(found) is None


def test_heals_are_ranked_by_safety_then_score_and_narrowed_by_the_filters(small):
    with audited(small, r_max=0.5) as found:
        ranked = worst_heals(found, Filters())
        assert [one.heal_id for one in ranked.heals] == ["h2", "h1"]
        assert [own_score(found, one) for one in ranked.heals][1] == "1 − min((1 ÷ 6) ÷ 0.5, 1) = 0.6667"
        assert [one.is_silent for one in ranked.heals] == [True, True]  # each fixed as many as it broke
        narrowed = worst_heals(found, Filters(levels=(1,)))
        assert ([one.heal_id for one in narrowed.heals], narrowed.n_shown, narrowed.n_scored) == (["h2"], 1, 2)
        assert [mark.heal_id for mark in marks(found, Filters(targets=("planner",)))] == ["h1"]


def test_what_broke_is_told_beside_what_was_fixed_and_how_often_it_flips_by_itself(small):
    """c0 was run twice with no heal between (a1, b2), c1 three times in two pairs (night and b1, a1 and b2): none of them differs."""
    with audited(small) as found:
        assert beside_noise(found) == (
            "Cases broke 2 times and were fixed 2 times. With no heal between, none of 2 cases that broke flips: 0 of 3 pairs of runs."
        )


def test_nothing_is_told_of_cases_that_were_not_run(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)])) as found:
        assert beside_noise(found) is None


def test_too_many_heals_leave_one_mark_each_stretch_the_worst(small, monkeypatch):
    monkeypatch.setattr(cases, "MARKS", 1)
    with audited(small, r_max=0.5) as found:
        only = marks(found, Filters())
        assert [(mark.heal_id, mark.n_heals) for mark in only] == [("h2", 2)]
