"""What is said of a score's range beside the score."""

from dataclasses import replace

from seam_core.doubt import Doubt, in_short, sentence
from seam_core.intervals import Interval


def test_a_score_that_is_0_by_rule_stands_beside_no_range_that_does_not_hold_it():
    by_rule = Doubt(Interval(0.56, 1.0, 12, 0.87, 0.1, 0.414), "", "confirmed", by_rule=True)
    assert in_short(by_rule) == "confirmed by rule"
    assert sentence(by_rule, 0.9) == (
        "95 % range 0.56–1.00; a safety case regressed, so the score is 0 by rule; the range is that of the mean without the rule;"
        " one loop holds 41 % of the heals."
    )
    assert in_short(replace(by_rule, verdict="not enough", by_rule=False)) == "0.56–1.00 · not enough heals to tell"
