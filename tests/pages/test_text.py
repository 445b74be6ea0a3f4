"""What agents wrote shows as it was written, and does nothing."""

import re

import pytest

from pages.parts import tables
from seam_core import escape

HOSTILE = [
    "![x](http://evil.test/x.png)",
    "<img src=x onerror=alert(1)>",
    ":red[x] :material/warning: :smile: :streamlit:",
    "$x$ and $$y$$",
    "[a](javascript:alert(1))",
    "http://evil.test https://evil.test www.evil.test a@evil.test",
    "**a** _b_ ~c~ `d` ``e`",
    "# a",
    "1. a",
    "- a",
    "> a",
    "| a | b |",
    "a -> b <- c -- d ~= e >= f",
    "&lt;b&gt; \\* \\",
]


def unescaped(markdown):
    """What CommonMark makes of backslash escapes, the joiners that keep Streamlit's own signs apart left out."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace("\u2060", "")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_plain_escapes_every_sign_and_keeps_the_text(hostile):
    shown = escape.plain(hostile)
    assert unescaped(shown) == hostile
    bare = re.sub(r"\\.", "", shown)
    assert not re.search(r"[!-/:-@\[-`{-~]", bare)


@pytest.mark.parametrize("hostile", ["http://evil.test", "www.evil.test", "a@evil.test", ":material/home:", ":smile:", "a -> b"])
def test_plain_breaks_what_streamlit_reads_after_escapes_are_gone(hostile):
    assert "\u2060" in escape.plain(hostile)


@pytest.mark.parametrize("hostile", [*HOSTILE, "`", "``", "```", " `a` ", "`a", "a`"])
def test_code_is_fenced_by_more_backticks_than_it_holds(hostile):
    shown = escape.code(hostile)
    fence = re.match("`+", shown).group()
    inside = shown[len(fence) : -len(fence)]
    assert shown.endswith(fence)
    assert fence not in re.findall("`+", inside)
    assert inside.strip().replace("\u2060", "") == " ".join(hostile.split())


def test_code_of_nothing_still_shows_something():
    assert escape.code("") == escape.code(" \n ") == "`(empty)`"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("a\x00b\x1b", "a\\u0000b\\u001b"),
        ("\ufeffa\u00ad", "\\ufeffa\\u00ad"),
        ("a\u061c\u2028b", "a\\u061c\\u2028b"),
        ("a\u3164b", "a\\u3164b"),
        ("tab\tand\nline é 漢 😀", "tab\tand\nline é 漢 😀"),
    ],
)
def test_invisible_and_direction_changing_characters_are_written_out(hidden, shown):
    assert escape.visible(hidden) == shown


def test_long_texts_are_cut_with_an_ellipsis():
    assert escape.visible("x" * 50, length=10) == "x" * 9 + "…"
    assert escape.visible("x" * 10, length=10) == "x" * 10


def test_csv_neutralises_cells_and_headings_but_not_numbers():
    rows = [{"id": "=HYPERLINK(1)", "@gain": -0.25, "note": 'a "b", c'}, {"id": "h_1", "@gain": None, "note": "two\nlines"}]
    assert tables.csv_bytes(rows) == b'id,\'@gain,note\r\n\'=HYPERLINK(1),-0.25,"a ""b"", c"\r\nh_1,,"two\nlines"\r\n'


def test_no_rows_make_an_empty_csv():
    assert tables.csv_bytes([]) == b""
