"""E: has the agent learnt its exam? Word sequences of held-out cases in the lines that heals added."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_core import sharing
from seam_core.exam import Scanner, added_lines, build_exam, case_grams, tokens_of
from seam_core.scope import Scope
from tests.seam_core.workspaces import audited, heal, report_on, reports_with, words, write


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Refund, the CUSTOMER!", ["refund", "the", "customer"]),
        ("don't e-mail 3.5", ["don", "t", "e", "mail", "3", "5"]),
        ("ＡＢＣ １２", ["abc", "12"]),
        ("ﬁle Straße", ["file", "strasse"]),
        ("東京a承認", ["東", "京", "a", "承", "認"]),
        ("  \n", []),
        ("🙂 —", []),
    ],
)
def test_words_are_folded_and_cjk_characters_are_words(text, tokens):
    assert tokens_of(text) == tokens


@pytest.mark.parametrize(
    ("text", "n_grams"),
    [
        (words(0, 27), 20),
        (words(0, 8), 1),
        (words(0, 7), 1),  # shorter than one sequence: the whole text
        ("four words of text!!", 1),  # 4 words, 20 characters
        ("four words of text!", 0),  # 19 characters
        ("only three words though long enough"[:35], 1),
        ("internationalisation internationalisation x", 0),  # 3 words
        ("", 0),
        ("a " * 30, 1),  # the same sequence again and again
    ],
)
def test_a_case_is_its_word_sequences_or_its_whole_text_when_that_can_tell(text, n_grams):
    assert len(case_grams(text, n=8)) == n_grams


@pytest.mark.parametrize(
    ("before", "after", "runs"),
    [
        (None, "a\nb", [["a", "b"]]),
        ("a\nb", "a\nb", []),
        ("a\nb", "a\nx\nb\ny\nz", [["x"], ["y", "z"]]),
        ("a\nb", "b\na", []),
        ("a", "a\na", []),
        ("", "a", [["a"]]),
        ("a", "", []),
        ("a", "a \nA", [["a ", "A"]]),
    ],
)
def test_added_lines_are_those_the_text_before_does_not_have(before, after, runs):
    assert added_lines(None if before is None else set(before.splitlines()), after.splitlines()) == runs


def coverage(cases, *heals):
    """Case → share of its word sequences that stand in what heals added; a heal is a list of runs of lines."""
    scanner = Scanner(build_exam(cases, n=8))
    for number, runs in enumerate(heals):
        scanner.scan(number, runs)
    return {case: trace.share for case, trace in scanner.traces().items()}


CASE = [("case", words(0, 27))]  # 20 sequences of 8 words


@pytest.mark.parametrize(
    ("runs", "share"),
    [
        ([[words(0, 27)]], 1.0),
        ([[words(0, 17)]], 0.5),  # 17 words hold 10 sequences
        ([[words(0, 16)]], 0.45),
        ([[words(10, 27)]], 0.5),
        ([[words(0, 8)], [words(19, 27)]], 0.1),
        ([[words(0, 7)]], None),
        ([[words(0, 9), words(9, 17)]], 0.5),  # across the break between two added lines
        ([[words(0, 9)], [words(9, 17)]], 0.15),  # across an old line: 2 + 1
        ([["", words(0, 4), "", words(4, 8), "…"]], 0.05),  # blank lines and signs between
        ([[*(f"w{at}" for at in range(27))]], 1.0),  # one word a line
        ([[f"so {words(0, 17).upper()} there"]], 0.5),
        ([[words(0, 8).replace(" ", ", ")]], 0.05),
        ([[words(0, 4) + " x " + words(4, 12)]], 0.05),  # words 4 to 11 are whole, what crosses the x is not
    ],
)
def test_coverage_of_a_case_of_27_words(runs, share):
    assert coverage(CASE, runs).get("case") == (None if share is None else pytest.approx(share))


def test_several_heals_add_up_and_are_named():
    scanner = Scanner(build_exam(CASE, n=8))
    scanner.scan(1, [[words(0, 12)]])
    scanner.scan(2, [[words(8, 17)]])
    (found,) = scanner.traces().values()
    assert found.rows == [1, 2]
    assert found.share == pytest.approx(7 / 20)  # sequences 0–4 and 8–9
    assert found.passage == words(0, 12)


EXAM = [("a", words(0, 12)), ("b", f"{words(6, 14)} {words(30, 38)}"), ("c", words(3, 10)), ("d", "x y z")]
LINES = st.lists(
    st.builds(lambda start, length: words(start, start + length), st.integers(0, 38), st.integers(0, 12)), min_size=1, max_size=4
)


@settings(max_examples=100, deadline=None)
@given(runs=st.lists(LINES, min_size=1, max_size=4), more=st.lists(LINES, max_size=2))
def test_coverage_is_what_plain_sets_give_and_never_falls_with_more_lines(runs, more):
    def by_sets(all_runs):
        seen = [tokens_of(" ".join(run)) for run in all_runs]
        found = {}
        for case, text in EXAM:
            grams = case_grams(text, n=8)
            hits = {gram for gram in grams for run in seen if any(tuple(run[at : at + len(gram)]) == gram for at in range(len(run)))}
            if hits:
                found[case] = len(hits) / len(grams)
        return found

    before, after = coverage(EXAM, runs), coverage(EXAM, runs, more)
    assert before == pytest.approx(by_sets(runs))
    assert after == pytest.approx(by_sets([*runs, *more]))
    assert all(after[case] >= share for case, share in before.items())
    assert all(0 < share <= 1 for share in after.values())


def test_stock_phrases_of_many_cases_are_left_out():
    """Of eleven cases two hold the same 8 words (18 %): that sequence counts in neither, and the case made of it alone is out."""
    stock = words(100, 108)
    cases = [(f"c{n}", words(10 * n + 200, 10 * n + 210)) for n in range(9)] + [("opens", f"{stock} {words(300, 320)}"), ("only", stock)]
    exam = build_exam(cases, n=8)
    assert "only" not in exam.grams
    assert (len(exam.grams), len(exam.grams["opens"])) == (10, 20)  # 28 words hold 21 sequences
    assert len(build_exam(cases[2:], n=8).grams) == 9  # fewer than ten cases: nothing is stock


# ---- in a report


def exam_of(n):
    """`n` held-out cases of 10 words each."""
    return [{"id": f"q{place}", "text": words(0, 10, f"q{place}x")} for place in range(n)]


def leaked(*places):
    return "\n".join(words(0, 10, f"q{place}x") for place in places)


@pytest.mark.parametrize(
    ("n", "rate", "alerts"),
    [(20, 0.05, []), (19, 0.0526, ["contamination>0.05"]), (40, 0.025, [])],
    ids=["1 of 20, exactly the line", "1 of 19", "1 of 40"],
)
def test_more_than_one_case_in_twenty_alerts(tmp_path, n, rate, alerts):
    found = report_on(write(tmp_path, heal_events=[heal(1, text=leaked(0))], holdout=exam_of(n)))
    assert (found["contamination"], found["alerts"]) == (rate, alerts)


def texts(*rows):
    """Heals a day apart: (target, text)."""
    return [heal(number, number, target=target, text=text) for number, (target, text) in enumerate(rows)]


@pytest.mark.parametrize(
    ("heals", "contaminated"),
    [
        (texts(("a", "base"), ("a", f"base\n{leaked(0)}")), ["q0"]),
        (texts(("a", leaked(0)), ("a", f"{leaked(0)}\nmore")), ["q0"]),  # the first text counts as added, whole
        (texts(("a", "base"), ("b", leaked(0)), ("a", f"base\n{leaked(1)}")), ["q0", "q1"]),
        (texts((None, leaked(0)), (None, leaked(0))), ["q0"]),  # without a target there is no text before
        (texts(("a", "base"), ("a", None), ("a", f"base\n{leaked(2)}")), ["q2"]),
        (texts(("a", "base"), ("a", f"base\n{leaked(3)}"), ("a", "base")), ["q3"]),  # taken out again: it was there
        (texts(("a", "nothing"), ("b", "to see")), []),
    ],
    ids=["added", "there from the first", "per target", "no target", "no text between", "added and taken out", "clean"],
)
def test_what_was_added_is_judged_against_the_text_before_on_the_same_target(tmp_path, heals, contaminated):
    with audited(write(tmp_path, heal_events=heals, holdout=exam_of(30))) as found:
        assert sorted(row["case_id"] for row in found.scope.rows("contamination_rows") if row["contaminated"]) == contaminated


@pytest.mark.parametrize("split_min", [1, 100], ids=["three processes", "one process"])
def test_other_processes_find_the_same_additions(split_min, tmp_path, monkeypatch):
    """Of several each of two has half of the heals. Days 3 and 4 are the second half: what stood there before came in the first."""
    heals = texts(("a", leaked(0)), ("b", ""), (None, leaked(1)), ("a", f"{leaked(0)}\n{leaked(2)}"), ("b", leaked(2)), (None, leaked(1)))
    log = write(tmp_path, heal_events=heals, holdout=exam_of(30))
    monkeypatch.setattr(sharing, "APART_MIN", 1)
    monkeypatch.setattr(sharing, "SPLIT_MIN", split_min)
    monkeypatch.setattr(Scope, "edits", None)
    with audited(log) as found:
        assert {row["case_id"]: row["heals"] for row in found.scope.rows("contamination_rows")} == {
            "q0": ["h0"], "q1": ["h2", "h5"], "q2": ["h3", "h4"],
        }  # fmt: skip
        assert found.efficacy.contamination.n_first_texts == 4  # day 4 follows an empty text


def test_the_text_before_the_window_is_no_addition_inside_it(tmp_path):
    """The leak of day 0 was there before the week that ends on day 9; over all history it counts."""
    path = write(tmp_path, heal_events=texts(*[("a", leaked(0))] * 10), holdout=exam_of(30))
    assert report_on(path, window="7d")["contamination"] == 0.0
    assert report_on(path)["contamination"] == round(1 / 30, 4)


def test_a_blocked_heal_is_no_text_before_and_adds_nothing(tmp_path):
    """Day 1 is stopped. What day 2 shares with it was added by day 2."""
    heals = texts(("a", "STOP"), ("a", leaked(0)), ("a", f"STOP\n{leaked(0)}"))
    protected = [{"id": "p", "kind": "escalation_rule", "target": "a", "text": "STOP"}]
    with audited(write(tmp_path, heal_events=heals, holdout=exam_of(30), protected=protected)) as found:
        (row,) = found.scope.rows("contamination_rows")
        assert (row["case_id"], row["heals"]) == ("q0", ["h2"])
    with audited(write(tmp_path, heal_events=heals[:2], holdout=exam_of(30), protected=protected)) as found:
        assert found.scope.rows("contamination_rows") == []


def test_first_texts_are_said(tmp_path):
    found = report_on(write(tmp_path, heal_events=texts(("a", "x"), ("b", "y"), ("a", "z")), holdout=exam_of(3)))
    assert [flag for flag in found["flags"] if flag.startswith("2 texts came first on a target")]


@pytest.mark.parametrize(
    ("logs", "reason"),
    [
        ({}, "no holdout.jsonl"),
        ({"holdout": []}, "no held-out case has a text long enough to test"),
        ({"holdout": [{"id": "q", "text": "too short"}, {"id": "r"}]}, "no held-out case has a text long enough to test"),
    ],
    ids=["no exam", "empty exam", "nothing testable"],
)
def test_without_an_exam_it_is_null_with_a_reason(tmp_path, logs, reason):
    found = report_on(write(tmp_path, heal_events=[heal(1, text="x")], **logs))
    assert found["contamination"] is None
    assert f"contamination is not measured: {reason}" in found["flags"]
    assert found["alerts"] == []


def test_sequence_length_and_coverage_are_settings(tmp_path):
    """Five words of ten: with sequences of 5 words that is 1 of 6."""
    path = write(tmp_path, heal_events=[heal(1, text=words(0, 5, "q0x"))], holdout=exam_of(1))
    rows = [{}, {"ngram": 5}, {"ngram": 5, "ngram_coverage": 0.17}, {"ngram": 5, "ngram_coverage": 1 / 6}]
    assert [found["contamination"] for found in reports_with(path, *rows)] == [0.0, 0.0, 0.0, 1.0]


def test_a_line_is_looked_at_closely_when_it_may_show_an_n_gram():
    scanner = Scanner(build_exam([("a", "one two three four five six seven eight nine")], n=8))
    assert scanner.may_show(["one two three four five six seven eight"])
    assert scanner.may_show(["five six seven eight nine", "one two three four"])
    assert not scanner.may_show(["one two three four"])
    assert not scanner.may_show(["five six seven eight nine", "", "other words"])
