"""E taken apart: the sum, per heal and by loop, what is left out, what a point cost, how fine the exam is. Values worked out by hand."""

import pytest

from seam_core.views import efficacy
from seam_core.views.efficacy import LeftOut
from seam_core.views.resolution import Resolution, find_resolution, points_said
from tests.seam_core.workspaces import audited, four, gap, heal, loop, words, write


@pytest.fixture
def ask(tmp_path):
    """What a function says of a small workspace."""

    def answer(function, heals, *args, window="all", as_of=None, thresholds=None, **logs):
        with audited(write(tmp_path, heal_events=heals, **logs), window=window, as_of=as_of, **(thresholds or {})) as audit:
            return function(audit, *args)

    return answer


def formulas(audit):
    apart = efficacy.take_apart(audit)
    return efficacy.formula(apart.heals, audit.settings), efficacy.formula(apart.loops, audit.settings)


def cases(*texts):
    return [{"id": f"q{number}", "text": text} for number, text in enumerate(texts, start=1)]


def test_the_sum_holds_heals_without_a_gap_with_a_part_and_beyond_the_line(ask):
    """1 + (1 − 0.1 ÷ 0.25) + (1 − 0.15 ÷ 0.25) + 0 = 1 + 0.6 + 0.4 = 2 of 5; a gap of exactly the line has no E left."""
    heals = [heal(number, **gap(size)) for number, size in enumerate((0, 0.1, 0.15, 0.25, 0.7), start=1)]
    one = ask(efficacy.take_apart, heals).heals
    assert (one.n, one.n_none, one.n_part, one.n_full) == (5, 1, 2, 2)
    assert one.part_gap == pytest.approx(0.25)
    assert one.total == pytest.approx(2.0)
    assert one.mean == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("gaps", "formula"),
    [
        ((0, 0.1, 0.15, 0.25), "(1 + 2 − 0.25 ÷ 0.25 + 1 × 0) ÷ 4 = 0.50"),
        ((0, 0), "2 ÷ 2 = 1.00"),
        ((0.3, 0.25), "(2 × 0) ÷ 2 = 0.00"),
        ((0.0675,), "(1 − 0.0675 ÷ 0.25) ÷ 1 = 0.73"),
        ((0.0501,), "(1 − 0.0501 ÷ 0.25) ÷ 1 = 0.7996"),  # below the line of 0.80, and shown so
    ],
    ids=str,
)
def test_the_sum_can_be_redone_by_hand(ask, gaps, formula):
    assert ask(formulas, [heal(number, **gap(size)) for number, size in enumerate(gaps, start=1)])[0] == formula


def test_the_sum_follows_the_threshold_in_force(ask):
    assert ask(formulas, [heal(1, **gap(0.1))], thresholds={"gap_max": 0.5})[0] == "(1 − 0.1 ÷ 0.5) ÷ 1 = 0.80"


def test_bands_add_up_to_the_sum(ask):
    def bands(audit):
        return efficacy.bands(efficacy.take_apart(audit).heals, audit.settings)

    heals = [heal(number, **gap(size)) for number, size in enumerate((0, 0.1, 0.3), start=1)]
    assert ask(bands, heals) == [("none", 1, 1.0), ("less than 25 points", 1, 0.6), ("25 points or more", 1, 0.0), ("all", 3, 1.6)]


def test_idle_cycles_dilute_the_mean_of_heals_and_the_page_says_so(ask):
    """One cycle of a gap of 0.2 (E 0.2) and three idle ones: per heal 3.2 ÷ 4 = 0.80, by loop 0.20. Beside it an honest loop."""
    scores = {"visible_before": [0.5, 0.7, 0.7, 0.7], "visible_after": 0.7, "holdout_before": 0.5, "holdout_after": 0.5}
    apart = ask(efficacy.take_apart, [*loop("A", [None] * 4, **scores), heal(9, **gap(0))])
    assert apart.heals.mean == pytest.approx((0.2 + 3 + 1) / 5)
    assert apart.loops.mean == pytest.approx((0.2 + 1) / 2)
    assert apart.loops_mean == pytest.approx((0.8 + 1) / 2)
    assert apart.why == (
        "Counting each loop once, with the mean of its heals, gives 0.90 instead of 0.84, so loops of many cycles do worse here.",
        "Measured from its first score to its last, a loop scores 0.60 on average instead of 0.90: "
        "1 loop scores less than the mean of its heals (gaps of single cycles add up, or cycles without one dilute that mean).",
    )


def test_gaps_that_cancel_make_a_loop_better_than_its_heals(ask):
    """A gap of 0.2 and then one of −0.2: per heal (0.2 + 1) ÷ 2 = 0.60, by loop 1."""
    scores = {"visible_before": [0.5, 0.7], "visible_after": [0.7, 0.5], "holdout_before": 0.5, "holdout_after": 0.5}
    why = ask(efficacy.take_apart, loop("A", [None, None], **scores)).why
    assert why == (
        "Measured from its first score to its last, a loop scores 1.00 on average instead of 0.60: "
        "1 loop scores more (gaps of single cycles cancel out).",
    )


def test_held_out_pairs_copied_from_the_loop_are_told(ask):
    heals = loop("A", [None, None], **gap(0.1), holdout_scope="loop")
    assert ask(efficacy.take_apart, heals).why[-1] == (
        "2 heals carry a held-out pair that was measured once for its whole loop (1 loop): "
        "per heal it is held against each cycle's own visible gain, by loop against the loop's."
    )


def test_loops_that_only_the_loop_score_counts_are_told(ask):
    """Before-scores on the first cycle and after-scores on the last: no heal has four, the loop has."""
    ends = {"visible_before": [0.5, None], "visible_after": [None, 0.6], "holdout_before": [0.5, None], "holdout_after": [None, 0.6]}
    apart = ask(efficacy.take_apart, loop("A", [None, None], **ends))
    assert (apart.heals.mean, apart.loops.mean) == (None, 1.0)
    assert apart.why == ("1 loop counts by loop only: no single heal of it has all four scores.",)


def test_a_loop_that_began_before_the_window_is_measured_from_its_start(ask):
    scores = {"visible_before": [0.5, 0.6], "visible_after": [0.6, 0.7], "holdout_before": 0.5, "holdout_after": 0.5}
    apart = ask(efficacy.take_apart, loop("A", [None, None], first_day=0, **scores), window="24h")
    assert (apart.heals.n, apart.loops.n) == (1, 1)
    assert apart.why[-1] == "1 loop began before the window; by loop it is measured from its start."


def test_nothing_scored_is_nothing_to_add_up(ask):
    apart = ask(efficacy.take_apart, [heal(1)])
    assert (apart.heals.mean, apart.loops.mean, apart.loops_mean, apart.why) == (None, None, None, ())
    assert ask(formulas, [heal(1)]) == ("nothing to add up", "nothing to add up")


def test_heals_left_out_are_grouped_by_what_they_lack(ask):
    def without(number, *keys):
        return heal(number, **{key: None if key in keys else value for key, value in four(0.5, 0.5, 0.5, 0.5).items()})

    heals = [without(1, "holdout_before"), without(2, "holdout_before", "holdout_after"), without(3, "holdout_before"), without(4)]
    assert ask(efficacy.left_out, heals) == (
        LeftOut(("holdout_before",), 2, "h3"),
        LeftOut(("holdout_before", "holdout_after"), 1, "h2"),
    )


def test_tokens_spent_without_a_held_out_point_are_told(ask):
    """Loop 1 gains 10 held-out points for 300 tokens, loop 2 none for 100, loop 3 logs no tokens."""
    heals = [
        heal(1, **four(0.5, 0.6, 0.5, 0.6), tokens_spent=300),
        heal(2, **four(0.5, 0.9, 0.5, 0.5), tokens_spent=100),
        heal(3, **four(0.5, 0.6, 0.5, 0.9)),
    ]
    cost = ask(efficacy.cost, heals)
    assert cost.per_point == pytest.approx(40)
    assert cost.sentences == (
        "400 tokens for 10 held-out points, added up over loops.",
        "100 tokens, 25 % of them, went into 1 of 2 loops whose held-out score gained no whole point.",
    )


@pytest.mark.parametrize(
    ("held_out", "n_cases", "case", "sentence"),
    [
        ((0.6, 0.8), 15, 1 / 15, "One held-out case of 15 is 6.7 points."),
        ((0.667, 0.733), 15, 1 / 15, "One held-out case of 15 is 6.7 points."),  # three decimals
        ((0.858, 0.879), 2000, 1 / 2000, "One held-out case of 2,000 is 0.05 points."),
        ((0.5, 0.75), 0, 0.25, "The smallest step between held-out scores is 25 points, as on 4 cases."),
        ((0.0, 1.0), 0, 1, "The smallest step between held-out scores is 100 points, as on 1 case."),
        ((0.7, 0.71), 0, 0.01, "The smallest step between held-out scores is 1 point."),  # or two decimals
        (
            (0.5, 0.51234),
            0,
            None,
            "Held-out scores do not move in steps of a case; the smallest difference seen is 1.2 points.",
        ),
        ((0.5, 0.5), 0, None, "All held-out scores logged are equal, so how fine the exam is cannot be told."),
        (
            (0.7, 0.75),
            4,
            0.05,
            "The smallest step between held-out scores is 5 points, as on 20 cases; "
            "the 4 cases of holdout.jsonl (25 points each) do not fit them.",
        ),
    ],
    ids=str,
)
def test_the_exam_is_as_fine_as_its_cases_or_as_the_steps_of_its_scores(ask, held_out, n_cases, case, sentence):
    logs = {"holdout": cases(*[words(0, 12, f"c{number}x") for number in range(n_cases)])} if n_cases else {}
    is_counted = sentence.startswith("One held-out case")  # two scores do not tell how many cases there are
    assert ask(find_resolution, [heal(1, **four(0.5, 0.5, *held_out))], **logs) == Resolution(
        pytest.approx(case) if case else None, sentence, n_cases if is_counted else None
    )


def test_scores_that_move_in_coarser_steps_than_the_cases_listed_are_believed(ask):
    """Eight scores in steps of 0.1, while 100 cases are listed: only ten seem to be asked at a time."""
    heals = [heal(number, **four(0.5, 0.5, number / 10, (number + 1) / 10)) for number in range(1, 8)]
    found = ask(find_resolution, heals, holdout=cases(*[words(0, 12, f"c{number}x") for number in range(100)]))
    assert found == Resolution(
        pytest.approx(0.1), "Held-out scores move in steps of 10 points, as on 10 cases, though holdout.jsonl lists 100.", 10
    )


def test_no_held_out_score_leaves_the_number_of_cases(ask):
    assert ask(find_resolution, [heal(1)]).sentence == "No held-out score is logged."
    assert (
        ask(find_resolution, [heal(1)], holdout=cases(words(0, 12), words(0, 12, "v"))).sentence == "One held-out case of 2 is 50 points."
    )


def test_numbers_are_no_finer_than_a_case():
    exam = Resolution(1 / 15, "")
    assert (exam.held_out(0.06), exam.held_out(0.1), exam.held_out(-0.1)) == (7, 13, -13)  # one, two cases: 6.7 and 13.3 points
    assert (exam.visible(0.255), exam.gap(0.25, 0.06)) == (26, 18)
    fine = Resolution(1 / 2000, "")
    assert (fine.held_out(0.021), fine.visible(-0.0225), fine.gap(0.0188, 0.021)) == (2.1, -2.3, -0.2)
    assert Resolution(None, "").held_out(0.0249) == 2


@pytest.mark.parametrize(("number", "said"), [(25, "+25"), (-3, "−3"), (0, "0"), (0.4, "+0.4"), (-2.0, "−2"), (-0.0, "0")])
def test_points_are_said_with_their_sign(number, said):
    assert points_said(number) == said
