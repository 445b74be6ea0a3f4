"""From a curve or a row of the Monotonicity page to its loop, and from sheet to sheet."""

from playwright.sync_api import expect

from tests.browser.conftest import axe_findings

HEAD, ROW = 36, 36  # px of a table's header and of a row


def open_monotonicity(visit, site, query=""):
    seen = visit().open(f"{site}/monotonicity?win=28d{query}", shows="What each loop was judged by")
    seen.settle()
    return seen


def test_the_name_over_a_curve_opens_its_loop(site, visit):
    seen = open_monotonicity(visit, site)
    expect(seen.page.locator(".js-plotly-plot")).to_have_count(13)
    seen.page.get_by_test_id("stMain").get_by_role("link", name="loop_096").click()
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("Loop")
    seen.page.wait_for_url("**win=28d**")  # the page puts what the sidebar holds into the address when it has run
    assert "loop=loop_096" in seen.page.url
    assert seen.errors() == []


def test_a_row_opens_its_loop(site, visit):
    seen = open_monotonicity(visit, site)
    table = seen.page.get_by_test_id("stDataFrame").nth(1)
    table.scroll_into_view_if_needed()
    table.click(position={"x": 120, "y": HEAD + ROW + ROW // 2})
    expect(seen.page.get_by_role("heading", level=1)).to_have_text("Loop")
    assert "loop=loop_077" in seen.page.url


def test_sheets_and_what_is_shown_stand_in_the_address(site, visit):
    seen = open_monotonicity(visit, site)
    page = seen.page
    page.get_by_role("button", name="Page 2", exact=True).first.click()
    expect(page.get_by_test_id("stMain").get_by_role("link", name="loop_096")).to_have_count(0)
    assert "sheet=2" in page.url
    page.reload()
    expect(page.get_by_text("What each loop was judged by")).to_be_visible()
    expect(page.get_by_test_id("stMain").get_by_role("link", name="loop_096")).to_have_count(0)
    page.get_by_role("radio", name="returned").click()
    expect(page.get_by_test_id("stMain").get_by_role("link", name="loop_096")).to_be_visible()
    assert "loops=returned" in page.url
    assert "sheet=" not in page.url
    seen.settle()
    assert axe_findings(page) == []
