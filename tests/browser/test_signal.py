"""From a signature of the Signal page to its timeline, from there to a heal, and back to the worst."""

import re
import shutil
from urllib.parse import quote

from playwright.sync_api import expect

from seam_core.ledger import Ledger
from tests.browser.conftest import check_in_every_dress
from tests.servers import serving

SPLIT = "parse_error:queue_peek:onboarding_split"
WORST = "timeout:fetch_tool:checkout_flow"
HEAD, ROW = 36, 36  # px of a table's header and of a row


def open_signal(visit, site, query=""):
    seen = visit().open(f"{site}/signal?win=28d{query}", shows="Probably one failure")
    expect(seen.page.locator(".js-plotly-plot")).to_have_count(3)
    seen.settle()
    return seen


def test_a_row_opens_its_timeline_and_a_heal_of_it_opens_the_heal(site, visit):
    seen = open_signal(visit, site)
    page = seen.page
    picker = page.get_by_role("combobox", name="Signature")
    table = page.get_by_test_id("stDataFrame").nth(1)
    table.scroll_into_view_if_needed()
    table.click(position={"x": 120, "y": HEAD + ROW // 2})
    expect(page.get_by_text("Verdict real. 11 heals in 1 loop")).to_be_visible()
    assert f"signature={quote(WORST, safe='')}" in page.url
    expect(picker).to_have_value(WORST)
    seen.settle()
    heals = page.get_by_role("figure", name="Heals by label").locator(".scatterlayer .trace").nth(2)  # after what came back: lines, marks
    heals.locator(".point").first.scroll_into_view_if_needed()
    heals.locator(".point").first.click(force=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("Heals")
    assert "heal=h_" in page.url
    assert "win=28d" in page.url


def test_the_picker_takes_a_name_that_is_typed_and_goes_back_to_the_worst(site, visit):
    seen = open_signal(visit, site)
    picker = seen.page.get_by_role("combobox", name="Signature")
    picker.click()
    picker.fill(SPLIT)
    seen.page.get_by_role("option", name=SPLIT, exact=True).click()
    expect(seen.page.get_by_text("Verdict real. 6 heals in 1 loop")).to_be_visible()
    assert "onboarding_split" in seen.page.url
    picker.click()
    picker.fill("the 10")
    seen.page.get_by_role("option", name="the 10 worst").click()
    expect(seen.page.get_by_text("Verdict real. 6 heals")).to_have_count(0)
    assert "signature=" not in seen.page.url


def test_a_chosen_signature_has_nothing_serious_for_axe(site, visit):
    seen = open_signal(visit, site, f"&signature={quote(SPLIT)}")
    expect(seen.page.get_by_text("likely duplicates")).to_be_visible()
    check_in_every_dress(seen.page)
    assert seen.errors() == []


def test_a_merge_is_confirmed_shows_s_merged_and_is_taken_back(demo, tmp_path, visit):
    desk = shutil.copytree(demo, tmp_path / "desk")
    with serving(desk, tmp_path) as address:
        seen = open_signal(visit, address)
        page = seen.page
        expect(page.get_by_text("Suggested because: ")).to_be_visible()
        expect(page.get_by_text("S as logged: ")).to_have_count(0)
        first = page.get_by_role("combobox", name=re.compile("^To decide")).input_value()
        page.get_by_role("button", name="One failure", exact=True).click()
        expect(page.get_by_text("S as logged: ")).to_be_visible()
        expect(page.get_by_text("it stands beside S and never replaces it")).to_be_visible()
        expect(page.get_by_text("one failure, merged")).to_be_visible()
        expect(page.get_by_role("combobox", name=re.compile("^To decide"))).not_to_have_value(first)
        page.get_by_role("button", name="Several failures", exact=True).click()
        expect(page.get_by_text("several failures, kept apart")).to_be_visible()
        seen.settle()
        check_in_every_dress(page)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.get_by_role("button", name="Take back").last.click()
        expect(page.get_by_text("S as logged: ")).to_have_count(0)
        expect(page.get_by_text("Row 1 is taken back.")).to_be_visible()
        assert [row.kind for row in Ledger(desk / "decisions.sqlite").rows()] == [
            "signature_merge", "signature_merge", "signature_merge_taken_back",
        ]  # fmt: skip
        assert seen.errors() == []
