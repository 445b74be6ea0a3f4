"""A server on a copied demo and a Chromium to look at it with."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from seam_core.simulate import write_demo

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("SEAM_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
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

expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@contextmanager
def serving(workspace, tmp_path, settings=None):
    """The address of a fresh server on a workspace. settings: from that address, the text of its server settings."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.address", "127.0.0.1"]
    environ = {key: value for key, value in os.environ.items() if key != "SEAM_SETTINGS"} | {"SEAM_WORKSPACE": str(workspace)}
    if settings:
        environ["SEAM_SETTINGS"] = str(tmp_path / f"server-{port}.toml")
        Path(environ["SEAM_SETTINGS"]).write_text(settings(address), encoding="utf-8")
    log = tmp_path / f"server-{port}.log"
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait_for(f"{address}/healthz", server, log)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(address, server, log):
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the server did not start:\n{log.read_text()}")


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


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


class Visit:
    """One browser page and what it did behind the reader's back."""

    def __init__(self, page):
        self.page = page
        self.requests = []
        self.complaints = []
        page.set_default_timeout(PATIENCE)
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
        """Console errors, but for the two 404s with which Streamlit looks for its base path on a deep link."""
        harmless = [text for text in self.complaints if "404 (Not Found)" in text]
        return [text for text in self.complaints if text not in harmless] + harmless[2:]


@pytest.fixture
def visit(chromium):
    """Call it for a new browser page: visit(width=390, dark=True)."""
    contexts = []

    def make(width=1280, dark=False):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
        contexts.append(context)
        return Visit(context.new_page())

    yield make
    for context in contexts:
        context.close()
