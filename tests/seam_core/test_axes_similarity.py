"""How alike two texts are: twice the longest common subsequence over the summed lengths, never below difflib."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_core.similarity import LONG_TEXT, compares_lines, revisit_similarity, similarity

TEXTS = st.text(alphabet="abc é東\n", max_size=40)


def by_table(one, other):
    """The textbook table of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for a in one:
        above, row = row, [0]
        for at, b in enumerate(other):
            row.append(above[at] + 1 if a == b else max(above[at + 1], row[at]))
    return 2 * row[-1] / (len(one) + len(other)) if one or other else 1.0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("", "", 1.0), ("a", "", 0.0), ("abc", "abc", 1.0), ("abc", "xyz", 0.0), ("abcd", "bcda", 0.75), ("abc", "abcabc", 2 / 3),
     ("東京", "京東", 0.5), ("a" * 20, "a" * 18 + "##", 0.9)],
)  # fmt: skip
def test_similarity_by_hand(one, other, expected):
    assert similarity(one, other) == pytest.approx(expected)


@settings(max_examples=200)
@given(one=TEXTS, other=TEXTS)
def test_it_is_the_textbook_measure_within_bounds_and_both_ways_the_same(one, other):
    value = similarity(one, other)
    assert value == pytest.approx(by_table(one, other))
    assert 0 <= value <= 1
    assert similarity(other, one) == value
    assert (value == 1) == (one == other)


@settings(max_examples=200)
@given(one=TEXTS, other=TEXTS)
def test_it_is_never_below_difflib_without_its_heuristic(one, other):
    assert similarity(one, other) >= SequenceMatcher(None, one, other, autojunk=False).ratio() - 1e-12


@settings(max_examples=60, deadline=None)
@given(base=st.text(alphabet="abcdefgh \n", min_size=150, max_size=400), cuts=st.lists(st.integers(0, 399), max_size=60))
def test_it_is_never_below_the_articles_rule_on_long_texts_either(base, cuts):
    """From 200 characters difflib's heuristic drops frequent letters, which only makes its ratio smaller."""
    edited = "".join("#" if at in cuts else letter for at, letter in enumerate(base))
    assert similarity(base, edited) >= similarity(base, edited, method="difflib") - 1e-12
    assert similarity(base, edited) >= SequenceMatcher(None, base, edited, autojunk=False).ratio() - 1e-12


@settings(max_examples=200)
@given(one=TEXTS, other=TEXTS, minimum=st.sampled_from([0, 0.3, 0.5, 0.75, 0.9, 1]), method=st.sampled_from(["indel", "difflib"]))
def test_a_revisit_is_what_is_more_alike_than_the_line_and_no_shortcut_changes_that(one, other, minimum, method):
    found = revisit_similarity(one, other, minimum=minimum, method=method)
    exact = similarity(one, other, method=method)
    assert found == (pytest.approx(exact) if exact > minimum + 1e-9 else None)


def test_the_line_itself_is_no_revisit():
    """2·18/40 = 0.9, and 2·9/20 = 0.9, whose binary form is a little more."""
    assert revisit_similarity("a" * 20, "a" * 18 + "##", minimum=0.9) is None
    assert revisit_similarity("abcdefghij", "abcdefghi#", minimum=0.9) is None
    assert revisit_similarity("a" * 20, "a" * 19 + "#", minimum=0.9) == pytest.approx(0.95)
    assert revisit_similarity("same", "same", minimum=1) is None  # nothing is more alike than equal


def test_difflib_is_the_articles_call_with_its_heuristic():
    """One character in ten replaced, every letter frequent: the heuristic finds next to nothing alike."""
    one = "the agent asks the person before it sends the money " * 8
    other = one.replace("e", "3")
    assert similarity(one, other, method="difflib") == SequenceMatcher(None, one, other).ratio()
    assert similarity(one, other, method="difflib") < SequenceMatcher(None, one, other, autojunk=False).ratio()


def test_texts_over_100_000_characters_are_compared_by_lines():
    """Of four lines three are equal: 2·3/8 = 0.75. At 100,000 characters exactly it still goes by character."""
    filler = ("x" * 33_332 + "\n") * 3
    long, short = filler + "y\n", filler + "\n"[:0]
    assert (len(filler), LONG_TEXT) == (99_999, 100_000)
    assert similarity("a\n" + long, "b\n" + long) == pytest.approx(8 / 10)
    assert not compares_lines(short + "a", short + "b")
    assert similarity(short + "a", short + "b") == pytest.approx(99_999 / 100_000)
    assert compares_lines(short + "ab", short)
