"""Reviewing heals in a real browser: by keyboard alone, by two people at once, and from a pasted link."""

import shutil
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import TimeoutError as WaitedInVain
from playwright.sync_api import expect

from seam_core.ledger import Ledger
from tests.browser.conftest import SETTLED, axe_findings
from tests.servers import serving

QUEUE = ("h_0223", "h_0230", "h_0222", "h_0227", "h_0233")  # the demo's last week, worst first


@pytest.fixture
def desk(demo, tmp_path):
    """A workspace of its own, since these tests write in it."""
    return shutil.copytree(demo, tmp_path / "desk")


@pytest.fixture
def at_work(desk, tmp_path):
    with serving(desk, tmp_path) as address:
        yield address


def shows(page, heal_id):
    expect(page.get_by_role("heading", level=2, name=heal_id)).to_be_visible()
    expect(page.get_by_role("button", name="Skip S")).to_be_visible()
    page.wait_for_selector(SETTLED)


def press(page, key, *, leads_to):
    """Press a key, and once more where a busy browser did not listen yet: the heal shown has not changed then."""
    page.keyboard.press(key)
    try:
        page.get_by_role("heading", level=2, name=leads_to).wait_for(timeout=15_000)
    except WaitedInVain:
        page.keyboard.press(key)
    shows(page, leads_to)


def heal_in(url):
    return parse_qs(urlsplit(url).query).get("heal", [None])[0]


def progress(page, sentence):
    expect(page.get_by_text(sentence, exact=True)).to_be_visible()


def decided(desk):
    return [(row.decision.heal_id, row.decision.verdict) for row in Ledger(desk / "decisions.sqlite").rows("review")]


def test_three_heals_are_reviewed_by_three_keys_and_are_still_so_after_a_reload(at_work, desk, visit):
    page = visit().open(f"{at_work}/heals", shows="0 of 29 reviewed").page
    for at, (key, said) in enumerate((("n", "not real"), ("y", "real"), ("s", "skipped"))):
        shows(page, QUEUE[at])
        page.keyboard.press(key)
        expect(page.get_by_text(f"Your last: {QUEUE[at]} {said}.")).to_be_visible()
    shows(page, QUEUE[3])
    assert decided(desk) == [("h_0223", "not_real"), ("h_0230", "real"), ("h_0222", "skip")]
    assert f"heal={QUEUE[3]}" in page.url
    page.reload()
    shows(page, QUEUE[3])
    progress(page, "3 of 29 reviewed, 1 not real, 1 skipped")
    page.keyboard.press("u")
    progress(page, "2 of 29 reviewed, 1 not real")
    shows(page, QUEUE[2])
    page.keyboard.press("j")
    shows(page, QUEUE[3])
    page.keyboard.press("k")
    shows(page, QUEUE[2])


def test_a_comment_is_typed_without_deciding_and_goes_with_the_verdict(at_work, desk, visit):
    page = visit().open(f"{at_work}/heals", shows="0 of 29 reviewed").page
    shows(page, QUEUE[0])
    page.get_by_label("Comment, kept with the verdict").fill("yny: js **not** <b>bold</b>")
    page.get_by_test_id("stButton").filter(has_text="Not real").get_by_role("button").click()
    shows(page, QUEUE[1])
    (row,) = Ledger(desk / "decisions.sqlite").rows("review")
    assert (row.decision.verdict, row.decision.comment) == ("not_real", "yny: js **not** <b>bold</b>")
    page.keyboard.press("k")
    shows(page, QUEUE[0])
    expect(page.get_by_test_id("stText").filter(has_text="yny: js **not** <b>bold</b>")).to_be_visible()
    page.get_by_test_id("stPopover").filter(has_text="Hand over").get_by_role("button").click()
    page.get_by_role("textbox", name="Person or team").fill("payments")
    page.get_by_test_id("stFormSubmitButton").filter(has_text="Hand over").get_by_role("button").click()
    expect(page.get_by_text("handed over by")).to_be_visible()
    expect(page.get_by_role("textbox", name="Person or team")).to_have_count(0)  # the box has closed


def test_two_people_at_once_lose_nothing_and_see_each_other(at_work, desk, visit):
    first, second = (visit(alone=True).open(f"{at_work}/heals", shows="0 of 29 reviewed").page for _ in range(2))
    for page in (first, second):
        shows(page, QUEUE[0])
    press(second, "j", leads_to=QUEUE[1])
    press(first, "y", leads_to=QUEUE[1])
    press(second, "n", leads_to=QUEUE[2])
    assert sorted(decided(desk)) == [("h_0223", "real"), ("h_0230", "not_real")]
    first.keyboard.press("j")
    second.keyboard.press("j")
    for page in (first, second):
        progress(page, "2 of 29 reviewed, 1 not real")


def test_a_link_with_filters_shows_the_same_to_somebody_else(at_work, visit):
    page = visit().open(f"{at_work}/heals", shows="0 of 29 reviewed").page
    shows(page, QUEUE[0])
    page.get_by_role("button", name="gap", exact=True).click()
    expect(page.get_by_text("heals, window 29")).to_be_visible()
    page.get_by_role("combobox", name="Order").click()
    page.get_by_role("option", name="newest first").click()
    page.wait_for_url("**order=newest**")
    page.wait_for_selector(SETTLED)
    box = page.get_by_role("textbox", name="Search")
    box.fill("planner")
    box.press("Enter")  # to the box, wherever the closing list of orders puts the focus
    page.wait_for_url("**find=planner**")
    expect(page.get_by_text("11 heals, window 29")).to_be_visible()
    page.get_by_role("heading", level=1).click()  # out of the box, where keys are letters
    page.wait_for_selector(SETTLED)
    before = heal_in(page.url)
    page.keyboard.press("j")
    page.wait_for_url(lambda url: heal_in(url) not in (None, before))
    heal_id = heal_in(page.url)
    shows(page, heal_id)
    other = visit(alone=True).open(page.url, shows="0 of").page
    shows(other, heal_id)
    expect(other.get_by_text("11 heals, window 29")).to_be_visible()
    expect(other.get_by_role("textbox", name="Search")).to_have_value("planner")
    expect(other.get_by_role("combobox", name="Order")).to_have_value("newest first")


def test_a_click_opens_a_row_and_the_group_can_be_decided_at_once(at_work, desk, visit):
    seen = visit().open(f"{at_work}/heals?group=signature", shows="13 groups of 29 heals")
    page = seen.page
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    page.mouse.click(box["x"] + 110, box["y"] + 35 + 3 * 35 + 17)  # the fourth line: eleven heals of one signature
    shows(page, QUEUE[3])
    expect(page.get_by_text("Heals of this group (11)")).to_be_visible()
    page.get_by_role("button", name="Decide many").click()
    expect(page.get_by_role("button", name="11 heals not real")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_role("button", name="11 heals not real").click()
    progress(page, "11 of 29 reviewed, 11 not real")
    assert len(decided(desk)) == 11
    assert seen.errors() == []


def test_a_page_goes_on_after_the_server_let_go_of_its_workspace_for_others(desk, visit, tmp_path):
    root = tmp_path / "several"
    for name in ("first", "second", "third"):
        shutil.copytree(desk, root / name)
    with serving(root, tmp_path) as address:
        pages = [visit().open(f"{address}/heals?workspace={name}", shows="0 of 29 reviewed").page for name in ("first", "second", "third")]
        shows(pages[0], QUEUE[0])
        press(pages[0], "j", leads_to=QUEUE[1])
        pages[0].keyboard.press("n")
        progress(pages[0], "1 of 29 reviewed, 1 not real")
    assert decided(root / "first") == [(QUEUE[1], "not_real")]
