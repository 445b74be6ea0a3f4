"""The first page in a real browser: on a fresh server, by link, on a phone, in the dark, on a hostile workspace."""

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from seam_core.findings import worst_heals
from seam_core.report import audit, window_of
from seam_core.settings import resolve
from seam_core.store import Store
from seam_core.words import AXIS_NAMES
from seam_core.workspace import workspace_of_folder
from tests.browser.hostile import NAMES, write_hostile
from tests.servers import ROOT, serving


def headers_of(address):
    with urllib.request.urlopen(address, timeout=20) as answer:
        return (
            answer.status,
            {key.lower(): value for key, value in answer.headers.items()},
            answer.read(),
        )


@pytest.fixture(scope="module")
def audited(demo):
    """The demo's last seven days, as the core scores them."""
    store = Store(workspace_of_folder(demo), now=datetime.now(UTC))
    store.refresh()
    yield audit(store, window_of(store), resolve(store.workspace.settings_file))
    store.close()


def test_week_shows_the_vector_and_the_five_worst_heals(site, visit, audited):
    seen = visit().open(f"{site}/week")
    page = seen.page
    assert len(audited.scores) == 4
    for axis, score in audited.scores.items():
        expect(page.get_by_test_id("stMetric").filter(has_text=f"{axis} {AXIS_NAMES[axis]}")).to_contain_text(f"{score:.2f}")
    expect(page.get_by_text("below 0.80", exact=True)).to_be_visible()
    expect(page.get_by_text("RECERTIFY is due")).to_be_visible()
    expect(page.get_by_text("The boundary gate stopped 1 heal: ")).to_be_visible()
    worst = worst_heals(audited)
    assert len(worst) == 5
    for finding in worst:
        expect(page.locator("code", has_text=finding.heal_id).first).to_be_visible()
    expect(page.get_by_text("visible +25 points, held-out +4: 21 points are not real").first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(5)
    seen.settle()
    assert seen.errors() == []  # a breach of the content security policy would be one
    assert seen.foreign(site) == []


def test_the_window_lives_in_the_address(site, visit):
    seen = visit().open(f"{site}/week?win=28d&end=2026-06-05")
    expect(seen.page.get_by_text("2026-05-08 23:59 to 2026-06-05 23:59 UTC")).to_be_visible()
    seen.page.get_by_role("radio", name="all").click()
    expect(seen.page.get_by_text("Everything to 2026-06-05 23:59 UTC")).to_be_visible()
    assert "win=all" in seen.page.url
    seen.page.get_by_role("button", name="Go to the newest heal").click()
    expect(seen.page.get_by_text("Everything to 2026-06-12 16:42 UTC")).to_be_visible()
    assert "end=2026-06-12T16" in seen.page.url
    seen.page.reload()
    expect(seen.page.get_by_text("Everything to 2026-06-12 16:42 UTC")).to_be_visible()


def test_the_report_downloaded_is_what_the_command_line_prints(site, visit, demo):
    seen = visit().open(f"{site}/week")
    with seen.page.expect_download() as caught:
        seen.page.get_by_role("button", name="Report (JSON)").click()
    shown = caught.value.path().read_bytes()
    command = [sys.executable, "run_seam.py", "--heals", str(demo / "heal_events.jsonl"), "--window", "7d"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False).stdout
    assert json.loads(shown)["counts"]["heals"] > 0
    assert shown == printed


def test_security_headers_and_health(site):
    status, headers, body = headers_of(f"{site}/healthz")
    assert (status, json.loads(body)) == (200, {"status": "ok"})
    for path in ("/", "/week", "/healthz"):
        _, headers, _ = headers_of(site + path)
        policy = headers["content-security-policy"]
        assert "script-src 'self' 'unsafe-inline';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"


def test_hostile_names_show_as_written_and_do_nothing(visit, tmp_path):
    root = tmp_path / "workspaces"
    folders = ["safe", ":red[x] ![y](http:evil)"]
    write_hostile(root / folders[0], NAMES[:5])
    write_hostile(root / folders[1], NAMES[5:])
    with serving(root, tmp_path) as address:
        for name, names in zip(folders, (NAMES[:5], NAMES[5:]), strict=True):
            seen = visit().open(address, shows="There are 2 workspaces here")
            seen.page.get_by_role("button", name=name).click()
            expect(seen.page.get_by_text("Look at these first")).to_be_visible()
            seen.settle()
            _check_inert(seen, address, names)
            seen.page.set_viewport_size({"width": 390, "height": 900})
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def _check_inert(seen, address, names):
    page = seen.page
    main = page.get_by_test_id("stMain")
    text = " ".join(main.inner_text().replace("\u2060", "").split())
    for number, name in enumerate(names):
        written = " ".join(f"{number} {name}".replace("\u202e", "\\u202e").replace("\u200b", "\\u200b").split())
        assert (written if len(written) <= 80 else written[:79] + "…") in text
    assert page.evaluate("document.title") == "Week · SEAM"
    struck = main.locator("del").all_inner_texts()  # scores that are withheld are; no name is
    assert [text for text in struck if not re.fullmatch(r"[01]\.\d+", text)] == []
    assert main.locator("img, script, iframe, em, .katex, table, a[href*='//evil']").count() == 0
    assert seen.foreign(address) == []
    assert seen.errors() == []


def test_a_workspace_is_picked_and_a_broken_one_hides_no_other(visit, demo, tmp_path):
    root = tmp_path / "workspaces"
    shutil.copytree(demo, root / "good")
    (root / "broken").mkdir()
    (root / "broken" / "heal_events.jsonl").write_text("nonsense\n")
    with serving(root, tmp_path) as address:
        seen = visit().open(f"{address}/week?workspace=broken", shows="none of its 1 lines is a heal")
        seen.page.get_by_role("combobox").click()
        seen.page.get_by_role("option", name="good").click()
        expect(seen.page.get_by_text("Look at these first")).to_be_visible()
        assert "workspace=good" in seen.page.url
        with (root / "good" / "heal_events.jsonl").open("a") as log:
            line = {"heal_id": "late", "ts": "2026-06-13T08:00:00Z", "loop_id": "late", "cycle": 1, "level": 0}
            log.write(json.dumps(line | {"trigger": {"failure_signature": "a:b:c"}}) + "\n")
        seen.page.get_by_role("radio", name="28d").click()
        expect(seen.page.get_by_text("1 new line.")).to_be_visible()
        expect(seen.page.get_by_text("1 heal is newer than this window.")).to_be_visible()
