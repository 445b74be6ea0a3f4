"""The Efficacy screen in a real browser: the toggle, a heal chosen by name, its link, the way to the heal, a click on a chart."""

import re

from playwright.sync_api import expect


def open_all(seen, site, query=""):
    seen.page.goto(f"{site}/efficacy?win=all{query}")
    expect(seen.page.get_by_role("heading", name="Cost per real point")).to_be_visible()
    seen.settle()
    return seen.page


def test_the_toggle_turns_heals_into_loops_and_lives_in_the_address(site, visit):
    page = open_all(visit(), site)
    expect(page.get_by_text("223 heals, one mark each.")).to_be_visible()
    page.get_by_role("radio", name="loop").click()
    expect(page.get_by_text("96 loops, one mark each.")).to_be_visible()
    assert "each=loop" in page.url
    page.reload()
    expect(page.get_by_text("96 loops, one mark each.")).to_be_visible()


def test_a_heal_chosen_by_name_is_marked_kept_in_the_link_and_opened(site, visit):
    page = open_all(visit(), site)
    twin = page.get_by_role("combobox", name="Heal")
    twin.click()
    twin.press_sequentially("h_0240")
    page.get_by_role("option", name="h_0240: gap +21, E 0.16").click()
    sentence = page.get_by_text("Over its whole loop: visible +25 points, held-out +4: 21 points are not real.")
    expect(sentence).to_be_visible()
    expect(page.get_by_text("chosen", exact=True)).to_be_visible()
    assert "heal=h_0240" in page.url
    again = open_all(visit(), site, "&heal=h_0240")
    expect(again.get_by_text("Over its whole loop: visible +25 points, held-out +4: 21 points are not real.")).to_be_visible()
    page.get_by_role("link", name="Open heal").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Heals")
    assert "heal=h_0240" in page.url


def test_a_click_on_a_mark_chooses_what_is_under_it(site, visit):
    page = open_all(visit(), site, "&each=loop")
    chart = page.locator(".js-plotly-plot").filter(has=page.get_by_text("held-out gain (points)"))
    chart.scroll_into_view_if_needed()
    chart.locator(".scatterlayer .trace").last.locator(".point").first.click(force=True)
    expect(page.get_by_role("link", name="Open loop")).to_be_visible()
    assert re.search("[?&]loop=loop_", page.url)


def test_a_leaked_case_names_the_heal_that_added_it(site, visit):
    page = open_all(visit(), site, "&case=ho_032")
    expect(page.get_by_role("combobox", name="Held-out case")).to_have_value("ho_032: 100 % of its word sequences")
    page.get_by_role("link", name="h_0074").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Heals")
    assert "heal=h_0074" in page.url
