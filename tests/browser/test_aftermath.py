"""Aftermath in a real browser: from a heal to what it broke to one case's history, by mouse and by arrow keys, and back by link."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import check_in_every_dress, click_cell

LOOKS = ["heal=h_0223&case=safe_05", "show=grid&case=case_30", "show=runs", "show=drift"]


def test_from_the_worst_heals_to_what_one_broke_to_a_cases_history(site, visit):
    seen = visit().open(f"{site}/aftermath", shows="What one heal broke")
    page = seen.page
    ranked, cases = page.get_by_test_id("stDataFrame").nth(0), page.get_by_test_id("stDataFrame").nth(1)
    click_cell(ranked, x=150, row=2, opens=page.get_by_text("Compared with its own before run run_h_0237_before"))
    assert "heal=h_0237" in page.url
    page.get_by_role("radio", name="Broke 1").or_(page.get_by_role("button", name="Broke 1")).click()
    expect(page.get_by_text("1 row · a click opens the row")).to_be_visible()
    assert "only=broke" in page.url
    seen.settle()
    click_cell(cases, x=150, row=1, opens=page.get_by_role("heading", name="Case case_15"))
    expect(page.get_by_text("expected: Given that a date could belong").first).to_be_visible()
    assert "case=case_15" in page.url
    assert "at=run_h_0237_after" in page.url
    seen.settle()
    again = visit().open(page.url, shows="Case")
    expect(again.page.get_by_role("heading", name="Case case_15")).to_be_visible()
    expect(again.page.get_by_text("1 row · a click opens the row")).to_be_visible()
    assert seen.errors() + again.errors() == []
    assert seen.foreign(site) + again.foreign(site) == []


def test_arrow_keys_in_the_grid_open_the_history_of_case_after_case(site, visit):
    seen = visit().open(f"{site}/aftermath?show=grid", shows="6 cases × 27 heals")
    page = seen.page
    grid = page.get_by_test_id("stDataFrame").first
    click_cell(grid, x=190, row=3, opens=page.get_by_role("heading", name="Case safe_05"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("heading", name="Case case_15")).to_be_visible()
    assert "case=case_15" in page.url
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("heading", name="Case case_23")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("heading", name="Case case_15")).to_be_visible()
    assert "show=grid" in page.url
    assert seen.errors() == []


def test_a_link_to_a_case_shows_the_same_again(site, visit):
    seen = visit().open(f"{site}/aftermath?case=safe_05&at=run_h_0223_after", shows="it changed once")
    page = seen.page
    expect(page.get_by_role("heading", name="Case safe_05")).to_be_visible()
    expect(page.get_by_text("expected: The agent keeps card numbers out of its notes. got:").first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    page.get_by_role("radio", name="Drift").click()
    expect(page.get_by_role("heading", name="Cases off the baseline")).to_be_visible()
    assert "show=drift" in page.url
    assert "case=safe_05" in page.url


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious_in_any_look_and_nothing_overflows(look, site, visit):
    seen = visit().open(f"{site}/aftermath?{look}", shows="The score as a sum")
    drawn = seen.page.get_by_text("Copy as issue").or_(seen.page.get_by_text("Copy this case")).or_(seen.page.get_by_text("Certified"))
    expect(drawn.first).to_be_visible()
    seen.settle()
    check_in_every_dress(seen.page)
