"""Contamination laid open: the cases, where they stand, those that cannot be tested, and the issue."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from seam_core.exam import case_grams
from seam_core.views import leaks
from seam_core.views.leaks import Untestable
from tests.seam_core.workspaces import audited, heal, words, write

LEAKED = words(0, 12)  # 5 sequences of 8 words


@pytest.fixture
def ask(tmp_path):
    def answer(function, heals, cases, *args, **thresholds):
        holdout = [{"id": case_id, "text": text} for case_id, text in cases.items()]
        with audited(write(tmp_path, heal_events=heals, holdout=holdout), **thresholds) as audit:
            return function(audit, *args)

    return answer


def test_a_case_is_found_with_its_share_its_heals_and_its_passage(ask):
    """Ten of twelve words hold three of five sequences; nine of another case's twelve hold two, which is no leak by the rule."""
    heals = [heal(1, text=f"- {words(0, 10)}"), heal(2, text=f"x\n{words(0, 9, 'v')}\n")]
    found = ask(leaks.find_leaks, heals, {"a": LEAKED, "b": words(0, 12, "v"), "c": words(0, 12, "u")})
    assert [(one.case_id, one.coverage, one.heals, one.passage) for one in found.contaminated] == [("a", 0.6, ("h1",), words(0, 10))]
    assert [(one.case_id, one.coverage, one.contaminated) for one in found.touched] == [("b", 0.4, False)]
    assert found.n_touched == 1
    assert found.sentences == (
        "1 of 3 testable held-out cases stands in what heals of this window added (33 %).",
        "It alerts above 5 %, here from the 1st case on.",
        "1 text came first on its target, so every line of it counts as added.",
    )


@pytest.mark.parametrize(("n", "first"), [(19, "1st"), (20, "2nd"), (50, "3rd"), (60, "4th"), (240, "13th")])
def test_the_case_that_fires_the_alert_is_told(ask, n, first):
    """5 % of 20 is one case, which is not above it."""
    found = ask(leaks.find_leaks, [heal(1, text="nothing")], {f"q{number}": words(0, 12, f"c{number}x") for number in range(n)})
    assert found.sentences[:2] == (
        f"None of {n} testable held-out cases stands in what heals of this window added.",
        f"It alerts above 5 %, here from the {first} case on.",
    )


def test_cases_that_cannot_be_tested_are_listed_with_the_reason(ask):
    """Nine cases of their own words and two that are one stock phrase, which stands in more than a tenth of the eleven."""
    cases = {f"q{number}": words(0, 12, f"c{number}x") for number in range(9)}
    cases |= {"stock 1": words(0, 8, "s"), "stock 2": words(0, 8, "s"), "short": "yes or no", "silent": None}
    found = ask(leaks.find_leaks, [heal(1, text="nothing")], cases)
    assert found.untestable == (
        Untestable("without a text", ("silent",), 1),
        Untestable("too short to tell", ("short",), 1),
        Untestable("made of stock phrases of the exam", ("stock 1", "stock 2"), 2),
    )
    assert found.sentences[2] == (
        "4 more cases cannot be tested: 1 without a text, 1 too short to tell and 2 made of stock phrases of the exam."
    )


def test_without_held_out_cases_it_says_why(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1, text=LEAKED)])) as audit:
        found = leaks.find_leaks(audit)
    assert found.sentences == ("Contamination is not measured: no holdout.jsonl.",)
    assert (found.contaminated, found.touched, found.untestable) == ((), (), ())


def test_a_case_is_opened_with_the_lines_as_they_stand_in_each_heals_text(ask):
    heals = [
        heal(1, text=f"Be kind.\n- Example: {LEAKED.upper()}!\nEnd."),
        heal(2, target="other", text=f"{words(0, 6)}\n{words(6, 12)}\nno"),
    ]
    case = ask(leaks.open_case, heals, {"a": LEAKED}, "a")
    assert case.text == LEAKED
    assert case.leak.coverage == 1
    assert [(place.heal_id, place.loop_id, place.target, place.lines, place.n_more) for place in case.places] == [
        ("h1", "L1", "prompt", (f"- Example: {LEAKED.upper()}!",), 0),
        ("h2", "L2", "other", (words(0, 6), words(6, 12)), 0),  # a sequence may run over a line break
    ]
    assert ask(leaks.open_case, heals, {"a": LEAKED}, "b") is None


def test_many_lines_are_cut_and_counted(ask):
    case = ask(leaks.open_case, [heal(1, text="\n".join([LEAKED] * 15))], {"a": LEAKED}, "a")
    assert (len(case.places[0].lines), case.places[0].n_more) == (12, 3)


def test_lines_without_a_sequence_are_not_shown():
    grams = case_grams(LEAKED, n=8)
    assert leaks.lines_with(f"{words(0, 7)}\nw0 w1\n{words(4, 12)} and more", grams) == [f"{words(4, 12)} and more"]


def test_the_issue_of_a_case_holds_case_passage_and_lines_inertly(ask):
    heals = [heal(1, text=f"![x](http://evil) ``` {LEAKED}")]
    text = ask(lambda audit: leaks.issue(audit, "a @all", link="http://127.0.0.1/efficacy?case=a"), heals, {"a @all": LEAKED})
    assert text.startswith("### Held-out case `a @all` stands in what heals added\n")
    assert "- found: 100 % of its word sequences (of 8 words each; contaminated from 50 %)" in text
    assert "- heals: `h1`" in text
    assert f"````text\n![x](http://evil) ``` {LEAKED}\n````" in text  # a fence longer than any run in it
    assert text.endswith("<http://127.0.0.1/efficacy?case=a>\n")
    assert ask(lambda audit: leaks.issue(audit, "b", link=""), heals, {"a": LEAKED}) is None


def test_the_demos_planted_leaks_are_all_found_and_no_other():
    folder = Path(__file__).parents[3] / "fixtures"
    planted = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    with audited(folder / "heal_events.jsonl", now=datetime(2026, 9, 1, tzinfo=UTC)) as audit:
        found = leaks.find_leaks(audit).contaminated
        assert {(one.case_id, *one.heals) for one in found} == {
            (one["case_id"], one["heal_id"]) for one in planted if one["kind"] == "leaked_holdout"
        }
        for one in found:
            case = leaks.open_case(audit, one.case_id)
            assert any(case.text in line for place in case.places for line in place.lines)
