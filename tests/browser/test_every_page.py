"""What holds of every page in a real browser: direct links, accessibility, phone and dark, no foreign host, hostile text inert."""

from __future__ import annotations

import json
import shutil
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from pages.parts.menu import PAGES
from tests.browser.conftest import check_in_every_dress
from tests.browser.hostile import NAMES, write_hostile
from tests.servers import serving

# A heal, a loop, a case and a signature as write_hostile names them.
SHOWN = {
    "heal": f"1 {NAMES[1]}",
    "loop": f"loop {NAMES[1]}",
    "case": NAMES[1],
    "signature": f"sig {NAMES[1]}",
}

every_page = pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.title)


def address_of(entry):
    return "/" + entry.file.rpartition("/")[2].removesuffix(".py")


def open_page(seen, address, entry, query=""):
    seen.page.goto(address + address_of(entry) + query)
    expect(seen.page.get_by_role("heading", level=1)).to_have_text(entry.title)
    seen.settle()
    expect(seen.page.get_by_test_id("stSpinner")).to_have_count(0)
    seen.settle()
    return seen.page


def test_a_direct_link_works_on_a_fresh_server_and_the_start_page_leads_to_the_week(demo, visit, tmp_path):
    with serving(demo, tmp_path) as address:
        last = PAGES[-1]
        first = open_page(visit(), address, last)  # before anybody asked for the page at which the menu starts
        assert first.url.startswith(address + address_of(last))
        for path in ("/", "/?win=28d"):
            start = visit().open(address + path).page
            assert start.url.startswith(f"{address}/week")
            expect(start.get_by_role("heading", level=1)).to_have_text("Week")
        assert "win=28d" in start.url


@every_page
def test_axe_finds_nothing_serious_and_nothing_overflows_light_dark_or_on_a_phone(entry, site, visit):
    seen = visit()
    page = open_page(seen, site, entry)
    assert page.url.startswith(site + address_of(entry))
    check_in_every_dress(page)
    assert seen.errors() == []  # a breach of the content security policy would be one
    assert seen.foreign(site) == []


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "agent"
    write_hostile(folder, NAMES)
    with serving(folder, tmp_path_factory.mktemp("hostile-site")) as address:
        yield address


@every_page
def test_an_agents_words_show_as_written_and_do_nothing(entry, hostile, visit):
    seen = visit()
    for query in ("", f"?{urlencode(SHOWN)}"):
        page = open_page(seen, hostile, entry, query)
        main = page.get_by_test_id("stMain")
        assert page.evaluate("document.title") == f"{entry.title} · SEAM"
        assert main.locator("img, script, iframe, em, .katex, a[href*='//evil'], a[href^=javascript]").count() == 0
        assert page.evaluate("getComputedStyle(document.body).display") != "none"
        assert "\u202e" not in main.inner_text()
    assert seen.foreign(hostile) == []
    assert seen.errors() == []


def test_what_the_sidebar_holds_goes_along_to_every_page(site, visit):
    seen = visit()
    page = open_page(seen, site, PAGES[-1], "?win=28d&end=2026-06-05&level=agent+config")
    for entry in PAGES:
        page.get_by_test_id("stSidebar").get_by_role("link", name=entry.title, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(entry.title)
        seen.settle()
        assert address_of(entry) in page.url
        for part in ("win=28d", "end=2026-06-05", "level=agent+config"):
            assert part in page.url, entry.title
        expect(page.get_by_role("textbox", name="Ends at (UTC)")).to_have_value("2026-06-05")


def test_heals_that_arrive_while_a_page_is_open_are_announced_and_brought_in_at_a_click(demo, visit, tmp_path):
    folder = tmp_path / "growing"
    shutil.copytree(demo, folder)
    with serving(folder, tmp_path) as address:
        seen = visit()
        page = open_page(seen, address, PAGES[0], "?win=28d&level=agent+config")
        seen.settle()
        line = {"ts": "2026-06-13T08:00:00Z", "loop_id": "late", "cycle": 1, "level": 2, "trigger": {"failure_signature": "a:b:c"}}
        with (folder / "heal_events.jsonl").open("a") as log:
            log.writelines(json.dumps({"heal_id": f"late {number}"} | line) + "\n" for number in range(12))
        page.get_by_role("button", name="12 new heals: load").click(timeout=60_000)
        expect(page.get_by_text("to 2026-06-13 08:00 UTC")).to_be_visible()
        assert "win=28d" in page.url
        assert "level=agent+config" in page.url
        assert "end=2026-06-13T08" in page.url
