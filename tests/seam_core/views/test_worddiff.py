"""What changed between two texts: nothing is lost, words are what a reader sees, and hostile texts cost no more than others."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seam_core.views import worddiff
from seam_core.views.worddiff import Fold, Segment, compare, folded, in_short, said, unfolded

TEXTS = st.text(alphabet="ab, é東\n\r\u202e\u2028<&", max_size=40)


def sides(segments):
    """The old and the new text that segments stand for."""
    return "".join(one.text for one in segments if one.tag != "ins"), "".join(one.text for one in segments if one.tag != "del")


def as_pairs(found):
    return [(one.tag, one.text) for one in found.segments]


@settings(max_examples=300)
@given(old=TEXTS, new=TEXTS)
def test_both_texts_come_back_to_the_character(old, new):
    found = compare(old, new)
    assert sides(found.segments) == (old, new)
    assert sides(unfolded(found)) == (old, new)
    tags = [one.tag for one in found.segments]
    assert all(one.text for one in found.segments)
    assert all(first != second for first, second in pairwise(tags))
    assert found.is_same == (old == new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("same", "same", [("equal", "same")]),
        ("", "a b", [("ins", "a b")]),
        ("The cat sat", "The dog sat", [("equal", "The "), ("del", "cat"), ("ins", "dog"), ("equal", " sat")]),
        ("end", "end.", [("equal", "end"), ("ins", ".")]),
        ("wait 0.95 s", "wait 0.96 s", [("equal", "wait "), ("del", "0.95"), ("ins", "0.96"), ("equal", " s")]),
        ("call foo(old_name)", "call foo(new_name)", [("equal", "call foo("), ("del", "old_name"), ("ins", "new_name"), ("equal", ")")]),
        ("你好世界", "你好人间", [("equal", "你好"), ("del", "世界"), ("ins", "人间")]),
        ("a\nb\nc\n", "a\nc\n", [("equal", "a\n"), ("del", "b\n"), ("equal", "c\n")]),
        ("a\n b\n", "a\n  b\n", [("equal", "a\n"), ("del", " "), ("ins", "  "), ("equal", "b\n")]),
    ],
)
def test_words_numbers_and_signs_are_what_changes(old, new, expected):
    assert as_pairs(compare(old, new)) == expected


def test_words_that_match_by_chance_between_two_larger_changes_are_part_of_the_change():
    found = compare("Silent retries hide the first cause", "Ask before you touch the last backup")
    assert as_pairs(found) == [("del", "Silent retries hide the first cause"), ("ins", "Ask before you touch the last backup")]


def test_lines_that_stay_are_kept_apart_from_lines_that_were_rewritten():
    kept = "Never guess a column name.\n"
    found = compare(f"old first line\n{kept}old last line\n", f"one more thing\n{kept}and another matter\n")
    assert ("equal", f"\n{kept}") in as_pairs(found)


def test_the_sentence_counts_words_and_says_when_only_spaces_differ():
    assert said(compare("The cat sat on it", "The dog sat on it now")) == "2 words added, 1 removed, 4 unchanged."
    assert compare("a b c d", "a b c e").changed_share == pytest.approx(2 / 8)
    assert said(compare("a  b", "a b")) == "Only spaces or line breaks differ."
    assert said(compare("a", "a")) == "The two texts are identical."
    assert said(compare("", "")) == "Both texts are empty."
    assert said(compare("", "abc")) == "The first text is empty; the other has 3 characters."
    assert said(compare("abc", "")) == "The second text is empty; the other has 3 characters."


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ("a b " * 250_000, "c d " * 250_000, "lines"),
        ("a\nb\n" * 250_000, "c\nd\n" * 250_000, "sizes"),
        ("start\n" + "a " * 1_100_000, "start\n" + "b " * 1_100_000, "sizes"),
        ("x" * 1_000_000, "y" * 1_000_000, "words"),
    ],
    ids=["a megabyte of short words", "a megabyte of short lines", "longer than is compared", "one long word"],
)
def test_what_is_too_dear_to_compare_by_words_is_compared_more_coarsely_and_says_so(old, new, detail):
    found = compare(old, new)
    assert found.detail == detail
    assert sides(found.segments) == (old, new)
    if detail == "sizes":
        assert f"Too long to compare by words or lines ({len(old):,} and {len(new):,} characters)" in said(found)
    assert sum(len(piece.text) for piece in folded(found) if isinstance(piece, Segment)) < 20_000


def test_a_small_edit_of_a_long_text_is_still_found_by_words():
    lines = [f"line {n} of a long memory file" for n in range(30_000)]
    old = "\n".join(lines)
    lines[15_000] = "line 15000 of a short memory file"
    found = compare(old, "\n".join(lines))
    assert found.detail == "words"
    assert [one.text for one in found.segments if one.tag != "equal"] == ["long", "short"]
    assert [piece.said for piece in folded(found) if isinstance(piece, Fold)] == ["14,998 unchanged lines", "14,997 unchanged lines"]


def test_unchanged_lines_are_folded_but_three_on_either_side_of_a_change():
    before, after = [f"before {n}\n" for n in range(10)], [f"after {n}\n" for n in range(10)]
    found = compare("".join([*before, "old\n", *after]), "".join([*before, "new\n", *after]))
    shown = folded(found)
    assert shown[0] == Fold("7 unchanged lines")
    assert shown[1] == Segment("equal", "".join(before[7:]))
    assert shown[2:4] == [Segment("del", "old"), Segment("ins", "new")]
    assert shown[4:] == [Segment("equal", "\n" + "".join(after[:2])), Fold("8 unchanged lines")]


def test_two_lines_are_not_worth_folding():
    found = compare("a\nb\nc\nd\ne\nold", "a\nb\nc\nd\ne\nnew")
    assert not [piece for piece in folded(found) if isinstance(piece, Fold)]


def test_one_very_long_line_is_folded_by_characters():
    text = "word " * 2_000
    found = compare(f"{text}old", f"{text}new")
    assert folded(found)[0] == Fold("9,704 unchanged characters")  # 59 words of five characters and the space before them stay


def test_identical_texts_show_their_beginning():
    text = "".join(f"{n}\n" for n in range(40))
    assert folded(compare(text, text)) == [Segment("equal", "".join(f"{n}\n" for n in range(12))), Fold("28 unchanged lines")]


def test_a_page_gets_no_more_than_it_can_carry():
    found = compare("", "x" * 1_000_000)
    shown = unfolded(found)
    assert sum(len(piece.text) for piece in shown if isinstance(piece, Segment)) <= worddiff.ALL_CHARACTERS
    assert isinstance(shown[-1], Fold)
    assert shown[-1].said.endswith("more characters are not shown")
    assert folded(found)[1] == Fold("994,000 more characters added")


def test_in_short_the_first_changes_stand_one_a_line_and_the_rest_is_counted():
    assert in_short(compare("The cat sat", "The dog sat")) == ["− cat", "+ dog"]
    old = "".join(f"keep this line {n}\nold {n}\n" for n in range(5))
    told = in_short(compare(old, old.replace("old", "new")), lines=6)
    assert told == ["− old", "+ new", "− old", "+ new", "− old", "… and 5 more changes"]
    assert in_short(compare("", "word " * 100), length=10) == ["+ word word…"]
