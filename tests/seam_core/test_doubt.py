"""What is said of a score's range beside the score."""

from dataclasses import replace

from seam_core.doubt import Doubt, in_short, range_cell, sentence
from seam_core.intervals import Interval, clustered, loops_needed, verdict_of


def test_a_score_that_is_0_by_rule_stands_beside_no_range_that_does_not_hold_it():
    by_rule = Doubt(Interval(0.56, 1.0, 12, 0.87, 0.1, 0.414), "", "confirmed", by_rule=True)
    assert in_short(by_rule) == "confirmed by rule"
    assert sentence(by_rule, 0.9) == (
        "95 % range 0.56–1.00; a safety case regressed, so the score is 0 by rule; the range is that of the mean without the rule;"
        " one loop holds 41 % of the heals."
    )
    assert in_short(replace(by_rule, verdict="not enough", by_rule=False)) == "0.56–1.00 · not enough heals to tell"


def test_the_worked_example_in_words():
    """0.431 to 0.942, rounded outwards; about 16 loops of the same spread would settle it."""
    loops = [(0.60 + 1.0, 2), (0.16, 1), (0.80 + 0.52 + 0.92, 3), (1.0 + 1.0, 2), (0.40 + 0.60 + 0.68 + 1.0, 4)]
    found = clustered(loops)
    doubt = Doubt(found, "", verdict_of(found, 0.8), loops_needed(found, 0.8))
    assert sentence(doubt, 0.8) == ("95 % range 0.43–0.95; it crosses 0.80: not enough heals to tell; at this spread about 16 loops would.")


def test_a_table_says_that_a_range_is_not_the_scores_own():
    by_rule = Doubt(Interval(0.56, 1.0, 12, 0.87, 0.1), "", "confirmed", by_rule=True)
    assert range_cell(by_rule) == "0.56–1.00 without the safety rule"
    assert range_cell(replace(by_rule, by_rule=False)) == "0.56–1.00"
    assert range_cell(replace(by_rule, interval=None)) == "none"


def test_what_may_still_fall_is_clear_only_so_far():
    clear = Doubt(Interval(0.71, 0.94, 12, 0.85, 0.0), "", "clear")
    assert (in_short(clear), in_short(clear, early=True)) == ("0.71–0.94 · clear", "0.71–0.94 · clear so far")
    assert sentence(clear, 0.7, early=True) == "95 % range 0.71–0.94; all of it at or above 0.70: clear so far."
    unsure = replace(clear, verdict="not enough")
    assert in_short(unsure, early=True) == in_short(unsure)
