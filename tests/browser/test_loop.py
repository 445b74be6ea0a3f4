"""The Loop page in a real browser: from the week to a loop, a click on an arc, the keyboard's way, a link, hostile texts."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.hostile import MARKUP
from tests.servers import serving

POINT = """([name, n]) => {
    const gd = document.querySelector('.js-plotly-plot');
    const trace = gd.data.find((one) => (one.name || '').startsWith(name));
    const {xaxis, yaxis} = gd._fullLayout;
    const box = gd.getBoundingClientRect();
    return [box.x + xaxis._offset + xaxis.d2p(trace.x[n]), box.y + yaxis._offset + yaxis.d2p(trace.y[n])];
}"""


def click_on(seen, trace, n=0):
    """Click on the n-th marker of a trace of the chart."""
    page = seen.page
    page.locator(".js-plotly-plot .points path.point").first.wait_for()
    page.locator(".js-plotly-plot").scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(POINT, [trace, n]))


def shows_pair(page, old, new):
    names = page.locator(".seam-diff .name")
    expect(names.nth(0)).to_contain_text(f"cycle {old}:")
    expect(names.nth(1)).to_contain_text(f"cycle {new}:")


def type_pair(seen, typed, *, offered):
    """Choose a pair with the keyboard alone."""
    seen.page.locator(".js-plotly-plot .points path.point").first.wait_for()  # the last part to come
    seen.settle()
    box = seen.page.get_by_role("combobox", name="Compare cycles")
    box.focus()
    box.fill(typed)
    expect(seen.page.get_by_role("option", name=offered).first).to_be_visible()
    seen.page.keyboard.press("Enter")


def test_from_the_week_to_the_worst_loop_its_return_and_what_changed(site, visit):
    seen = visit().open(f"{site}/week")
    page = seen.page
    page.get_by_test_id("stMain").get_by_role("link", name="loop_096").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Loop")
    expect(page.get_by_text("It wandered: its own score fell 3 times")).to_be_visible()
    seen.settle()
    click_on(seen, "dip")
    shows_pair(page, 2, 3)
    assert "pair=2-3" in page.url
    seen.settle()
    click_on(seen, "return: click")
    shows_pair(page, 5, 8)
    assert "pair=5-8" in page.url
    expect(page.locator(".seam-diff ins").first).to_be_visible()
    expect(page.get_by_text("came back near the text of cycle 5: 99 % alike").first).to_be_visible()
    assert seen.errors() == []
    assert seen.foreign(site) == []


def test_the_keyboard_reaches_every_pair_and_a_link_shows_it_again(site, visit):
    seen = visit().open(f"{site}/loop?loop=loop_096", shows="It wandered")
    page = seen.page
    shows_pair(page, 5, 8)
    type_pair(seen, "6 → 7", offered="6 → 7: own score rose")
    shows_pair(page, 6, 7)
    type_pair(seen, "3-9", offered="3-9")
    shows_pair(page, 3, 9)
    assert "pair=3-9" in page.url
    page.get_by_role("radio", name="loop's start").or_(page.get_by_role("button", name="loop's start")).click()
    expect(page.locator(".seam-diff .name").first).to_contain_text("before the loop:")
    seen.settle()
    page.get_by_role("radio", name="Unified").click()
    expect(page.locator(".seam-diff .row")).to_have_count(0)
    again = visit().open(page.url, shows="It wandered")
    expect(again.page.locator(".seam-diff .name").first).to_contain_text("before the loop:")
    expect(again.page.locator(".seam-diff .name").nth(1)).to_contain_text("cycle 9:")
    expect(again.page.locator(".seam-diff .row")).to_have_count(0)


def test_on_a_phone_two_columns_become_one(site, visit):
    seen = visit(width=390).open(f"{site}/loop?loop=loop_096&pair=5-8", shows="It wandered")
    row = seen.page.locator(".seam-diff .row").first
    row.wait_for()
    assert len(row.evaluate("(row) => getComputedStyle(row).gridTemplateColumns").split()) == 1
    expect(seen.page.get_by_text("One above the other, for there is no room for two columns.")).to_be_visible()
    wide = visit().open(f"{site}/loop?loop=loop_096&pair=5-8", shows="It wandered").page.locator(".seam-diff .row").first
    assert len(wide.evaluate("(row) => getComputedStyle(row).gridTemplateColumns").split()) == 2


@pytest.fixture
def hostile(tmp_path):
    """A loop that goes back, all of whose names and texts are attacks."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    texts = [
        f"first rule of this prompt, which is kept\n{MARKUP}\n<script>document.title='evil'</script>",
        f"something else, said at length\n</div>{MARKUP}",
    ]
    lines = [
        {
            "heal_id": f"{number} {MARKUP}",
            "ts": f"2026-06-09T10:0{number}:00Z",
            "loop_id": f"loop {MARKUP}",
            "cycle": number,
            "level": 2,
            "trigger": {"failure_signature": MARKUP, "evidence": MARKUP},
            "change": {"target": MARKUP, "after_text": texts[number % 2]},
            "score": 0.5 + number / 10,
            "actor": MARKUP,
        }
        for number in (1, 2, 3)
    ]
    (folder / "heal_events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_hostile_texts_show_as_written_and_do_nothing(hostile, visit, tmp_path):
    with serving(hostile, tmp_path) as address:
        seen = visit().open(f"{address}/loop?pair=1-2", shows="It wandered")
        page = seen.page
        page.locator(".seam-diff ins").first.wait_for()
        shown = page.locator(".seam-diff").inner_text()
        assert "<style>body{display:none}</style>" in shown
        assert "<img src=http://evil.test/q.png>" in shown
        assert "\\u202e" in shown
        assert page.evaluate("getComputedStyle(document.body).display") != "none"
        assert page.evaluate("document.title") == "Loop · SEAM"
        page.locator(".js-plotly-plot").scroll_into_view_if_needed()
        page.mouse.move(*page.evaluate(POINT, ["went back", 0]))
        expect(page.locator(".js-plotly-plot .hovertext").first).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.locator("img, script, iframe, a[href^='http://evil'], a[href^=javascript]").count() == 0
        assert page.locator(".js-plotly-plot a").count() == 0
        assert seen.foreign(address) == []
        assert seen.errors() == []
