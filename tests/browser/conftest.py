"""A server on a copied demo and a Chromium to look at it with."""

import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from seam_core.simulate import write_demo
from tests.servers import ROOT, serving

CHROMIUM = os.environ.get("SEAM_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium") or "chromium"
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SETTLED = "[data-testid='stApp'][data-test-script-state='notRunning'][data-test-connection-state='CONNECTED']"
PATIENCE = 30_000  # ms; two busy cores are slow
TRIES = 6  # of a click that a redrawn page may lose, within one patience
HEIGHT = 900  # px
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
WAITED_IN_VAIN = ["TimeoutError", "Locator expected"]
SERIOUS = ("serious", "critical")
WHITE, BLACK = "rgb(255, 255, 255)", "rgb(18, 23, 28)"

expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items):
    """Browser tests are marked, and what waited in vain is tried once more: a click can be lost where two cores serve three browsers."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=WAITED_IN_VAIN))


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser") / "demo"
    if (ROOT / "fixtures" / "heal_events.jsonl").exists():
        shutil.copytree(ROOT / "fixtures", folder)
    else:
        write_demo(folder)
    return folder


@pytest.fixture(scope="session")
def site(demo, tmp_path_factory):
    with serving(demo, tmp_path_factory.mktemp("site")) as address:
        yield address


@pytest.fixture(scope="module")
def provider():
    """An OpenID Connect provider on loopback."""
    from tests.browser.people import providing  # here, since it imports this module

    with providing() as found:
        yield found


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def reader(chromium):
    """One reader, who has Streamlit's own files already; half of what a page costs is to fetch and compile them."""
    return chromium.new_context()


class Visit:
    """One browser page and what it did behind the reader's back."""

    def __init__(self, page):
        self.page = page
        self.requests = []
        self.complaints = []
        self.n_opened = 0
        page.set_default_timeout(PATIENCE)
        page.on("domcontentloaded", lambda _: setattr(self, "n_opened", self.n_opened + 1))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, address, shows="Look at these first"):
        self.page.goto(address)
        expect(self.page.get_by_text(shows).first).to_be_visible()
        self.settle()
        return self

    def settle(self):
        self.page.wait_for_selector(SETTLED)

    def foreign(self, address):
        """Requests that went anywhere but to the server."""
        own = (address, address.replace("http:", "ws:"), "data:", f"blob:{address}")
        return [url for url in self.requests if not url.startswith(own)]

    def errors(self):
        """Console errors, but for the two 404s with which Streamlit looks for its base path on each deep link."""
        harmless = [text for text in self.complaints if "404 (Not Found)" in text]
        return [text for text in self.complaints if text not in harmless] + harmless[2 * self.n_opened :]


@pytest.fixture
def visit(chromium, reader):
    """Call it for a new browser page: visit(width=390); visit(alone=True) is that of another person, with cookies of their own."""
    opened = []

    def make(width=1280, *, alone=False):
        browser = chromium.new_context() if alone else reader
        page = browser.new_page()
        opened.append(browser if alone else page)
        page.set_viewport_size({"width": width, "height": HEIGHT})
        return Visit(page)

    yield make
    for one in opened:
        one.close()


def click_cell(table, *, x, row, opens):
    """Click into a table until that opens something. Rows are 35 px high, the first is the header."""

    def click():
        table.scroll_into_view_if_needed()
        table.click(position={"x": x, "y": 35 * row + 17})

    click_until(click, opens=opens)


def click_until(click, *, opens):
    """Click until that opens something: what is clicked may be redrawn just then."""
    for _ in range(TRIES):
        click()
        try:
            expect(opens).to_be_visible(timeout=PATIENCE / TRIES)
        except AssertionError:
            continue
        return
    expect(opens).to_be_visible()


def axe_findings(page):
    """What axe finds serious on the page as it is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]]) for one in found if one["impact"] in SERIOUS]


def check_in_every_dress(page):
    """Nothing serious for axe in the light, in the dark and on a phone, and nothing wider than the screen."""
    for scheme, background, width in (("light", WHITE, 1280), ("dark", BLACK, 1280), ("light", WHITE, 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": HEIGHT})
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        page.wait_for_timeout(500)  # colours fade over, charts take the new width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert axe_findings(page) == [], (scheme, width)
