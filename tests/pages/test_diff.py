"""The one place that writes HTML: whatever the texts hold, only div, ins and del come out, and both texts can be read back."""

from html import unescape
from html.parser import HTMLParser

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.diff import html_of
from seam_core import escape
from seam_core.views.worddiff import compare, unfolded

HOSTILE = [
    "<style>body{display:none}</style> every word",
    "<img src=http://evil.test/x.png onerror=alert(1)> a",
    "</div></div><script>alert(1)</script> b",
    "</ins></del><a href='javascript:alert(1)'>c</a>",
    "![x](http://evil.test/y.png) [a](javascript:alert(1)) d",
    '" onmouseover="alert(1) class="fold e',
    "right\u202eto left\u200b f",
    "&lt;b&gt; &amp; \x00 g",
    '<div class="fold">… 40 unchanged lines …</div> h',
    "\n\n  \t i\n",
    "",
]


class Reader(HTMLParser):
    """Tags met, attributes met, and the text on either side."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.tags, self.attributes, self.open = set(), set(), []
        self.old, self.new = "", ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append((tag, dict(attrs).get("class", "")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        kinds = " ".join(kind for _, kind in self.open).split()
        tags = [tag for tag, _ in self.open]
        if "name" not in kinds:
            self.old += "" if "ins" in tags else data
            self.new += "" if "del" in tags else data

    def handle_charref(self, name):
        self.handle_data(unescape(f"&#{name};"))

    def handle_entityref(self, name):
        self.handle_data(unescape(f"&{name};"))


def read(old, new, *, side_by_side=False):
    reader = Reader()
    reader.feed(html_of(unfolded(compare(old, new)), side_by_side=side_by_side, old_label=old, new_label=new))
    reader.close()
    assert reader.open == []
    return reader


def visible(text):
    return escape.visible(text, length=len(text))


@pytest.mark.parametrize("new", HOSTILE)
@pytest.mark.parametrize("old", HOSTILE)
def test_hostile_texts_come_out_as_text_and_both_can_be_read_back(old, new):
    for two in (False, True):
        reader = read(old, new, side_by_side=two)
        assert reader.tags <= {"div", "ins", "del"}
        assert reader.attributes <= {"class"}
    one = read(old, new)
    assert (one.old, one.new) == (visible(old), visible(new))


def test_characters_that_cannot_be_seen_are_written_out():
    shown = html_of(unfolded(compare("a", "a\u202eb\u200b")), side_by_side=False, old_label="old", new_label="new\u202e")
    assert "\u202e" not in shown
    assert "\u200b" not in shown
    assert "\\u202eb\\u200b" in shown


def test_a_change_of_spaces_alone_is_marked_so_that_it_can_be_seen():
    shown = html_of(unfolded(compare("a b", "a\n b")), side_by_side=False, old_label="old", new_label="new")
    assert '<ins class="blank break">\n </ins>' in shown


def test_carriage_returns_show_only_where_they_changed():
    same = html_of(unfolded(compare("a\r\nb\r\n", "a\r\nc\r\n")), side_by_side=True, old_label="old", new_label="new")
    assert "000d" not in same
    changed = html_of(unfolded(compare("a\nb\n", "a\r\nb\n")), side_by_side=True, old_label="old", new_label="new")
    assert "\\u000d" in changed


def test_equal_lines_stand_beside_each_other_and_changed_ones_too():
    shown = html_of(unfolded(compare("one\ntwo\nthree\n", "one\n2\nthree\n")), side_by_side=True, old_label="old", new_label="new")
    rows = shown.split('<div class="row')[2:]
    assert [row.startswith(" changed") for row in rows] == [False, True, False]
    assert "<del>two</del>\n" in rows[1]
    assert "<ins>2</ins>\n" in rows[1]


def page(old, new):
    from pages.parts import diff

    diff.show(old, new, old_label="before", new_label="after", key="d")


def test_long_unchanged_text_is_folded_until_all_is_asked_for():
    text = "".join(f"line {n}\n" for n in range(50))
    app = AppTest.from_function(page, args=(f"{text}old\n", f"{text}new\n")).run()
    assert not app.exception
    html = app.get("html")[0]
    assert "47 unchanged lines" in html.proto.body
    app.toggle[0].set_value(True).run()
    assert "unchanged lines" not in app.get("html")[0].proto.body
    assert "line 20" in app.get("html")[0].proto.body


def test_the_layout_is_chosen_in_the_page_or_by_the_address():
    app = AppTest.from_function(page, args=("a b", "a c")).run()
    assert '<div class="row' in app.get("html")[0].proto.body
    app.segmented_control[0].set_value("unified").run()
    assert '<div class="row' not in app.get("html")[0].proto.body
    again = AppTest.from_function(page, args=("a b", "a c"))
    again.query_params["diff"] = "unified"
    again.run()
    assert '<div class="row' not in again.get("html")[0].proto.body


def test_identical_and_empty_texts_say_so():
    app = AppTest.from_function(page, args=("a b", "a b")).run()
    assert app.text[0].value == "The two texts are identical."
    assert not app.toggle
    empty = AppTest.from_function(page, args=("", "")).run()
    assert empty.text[0].value == "Both texts are empty."
    assert not empty.get("html")
