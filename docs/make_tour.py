"""Make the screenshots of docs/tour.md anew from the demo:  python docs/make_tour.py  (needs Chromium, as the browser tests do)."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.browser.conftest import ARGS, CHROMIUM, SETTLED  # noqa: E402 -- found from the line above on
from tests.servers import serving  # noqa: E402 -- the same

WIDTH = 1280
STILL_MS = 1500  # charts fade in


class Stop(NamedTuple):
    """One picture of the tour: its name, the address below the server, the words that must be there, and its height in px."""

    name: str
    address: str
    shows: str
    height: int = 900


STOPS = (
    Stop("week", "/week", "Look at these first", 1500),
    Stop("heals", "/heals", "reviewed", 1250),
    Stop("loop", "/loop?loop=loop_096", "What changed", 1500),
    Stop("signal", "/signal", "The score as a sum", 1250),
    Stop("efficacy", "/efficacy", "The truth gap over time", 1400),
    Stop("aftermath", "/aftermath", "What one heal broke", 1500),
    Stop("monotonicity", "/monotonicity", "Loops, worst first", 1100),
    Stop("recertify", "/recertify?group=08113045bd7f&case=safe_05", "What will be written", 3450),
    Stop("gates", "/gates", "Stopped by the boundary gate", 1300),
    Stop("data", "/data", "Files", 900),
    Stop("settings", "/settings", "Settings", 1100),
)


def photograph(page: Page, address: str, stop: Stop, folder: Path) -> None:
    """Open one address, wait until it stands still, and save what is seen."""
    page.set_viewport_size({"width": WIDTH, "height": stop.height})
    page.goto(address + stop.address)
    expect(page.get_by_text(stop.shows).first).to_be_visible()
    page.wait_for_selector(SETTLED)
    expect(page.get_by_test_id("stSpinner")).to_have_count(0)
    page.wait_for_timeout(STILL_MS)
    page.screenshot(path=folder / f"{stop.name}.png")


def main(folder: Path) -> None:
    """Photograph every stop of the tour on a copy of the demo, so that nothing is written beside the original."""
    with tempfile.TemporaryDirectory() as place:
        demo = Path(shutil.copytree(ROOT / "fixtures", Path(place) / "demo"))
        with serving(demo, Path(place)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            for stop in STOPS:
                photograph(browser.new_page(), address, stop, folder)
            browser.close()


if __name__ == "__main__":
    main(ROOT / "docs" / "images")
