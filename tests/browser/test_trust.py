"""Gates, Data and Settings in a real browser: the packet taken away and computed again, any bad line opened, the strips drawn."""

import json
import os
import shutil
import subprocess
import sys

from playwright.sync_api import expect

from tests.pages.states import BAD_LINES, HEAL
from tests.servers import ROOT, serving


def test_a_packet_taken_away_recomputes_after_the_workspace_has_grown(demo, visit, tmp_path):
    workspace = tmp_path / "agent"
    shutil.copytree(demo, workspace)
    with serving(workspace, tmp_path) as address:
        seen = visit().open(f"{address}/week")
        seen.page.get_by_role("button", name="Evidence packet (zip)").click()
        with seen.page.expect_download() as caught:
            seen.page.get_by_role("button", name="Save the packet").click()
        packet = tmp_path / "packet.zip"
        caught.value.save_as(packet)
        with seen.page.expect_download() as caught:
            seen.page.get_by_role("button", name="Report (JSON)").click()
        shown = caught.value.path().read_bytes()
    with (workspace / "heal_events.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(HEAL | {"heal_id": "late", "ts": "2026-06-12T16:00:00Z"}) + "\n")
    clean = tmp_path / "clean"
    shutil.copytree(ROOT / "seam_core", clean / "seam_core", ignore=shutil.ignore_patterns("__pycache__"))
    again = tmp_path / "again.json"
    command = [sys.executable, "-B", "-m", "seam_core", "packet", "verify", str(packet), "--report", str(again)]
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("SEAM_", "PYTHON"))}
    done = subprocess.run(command, cwd=clean, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert again.read_bytes() == shown


def test_a_rejected_line_is_found_clicked_and_seen_as_it_was_written(visit, tmp_path):
    workspace = tmp_path / "agent"
    workspace.mkdir()
    (workspace / "heal_events.jsonl").write_bytes(b"\n".join([*BAD_LINES, json.dumps(HEAL).encode()]) + b"\n")
    with serving(workspace, tmp_path) as address:
        seen = visit().open(f"{address}/data", shows="Lines that were not taken")
        page = seen.page
        page.get_by_label("Search by reason, key or line number").fill("holdout_scope")
        page.get_by_label("Search by reason, key or line number").press("Enter")
        expect(page.get_by_text(f"1 of {len(BAD_LINES)}")).to_be_visible()
        seen.settle()
        box = page.get_by_role("region", name="Lines that were not taken").bounding_box()
        page.mouse.click(box["x"] + 80, box["y"] + 52)
        expect(page.get_by_text(f"Line {len(BAD_LINES)} of heal_events.jsonl")).to_be_visible()
        expect(page.get_by_text('"holdout_scope": "week"')).to_be_visible()
        assert f"line={len(BAD_LINES)}" in page.url
        assert "rejects=holdout_scope" in page.url
        page.reload()
        expect(page.get_by_text('"holdout_scope": "week"')).to_be_visible()
        assert seen.foreign(address) == []


def test_settings_draw_each_axis_against_its_line(site, visit):
    seen = visit().open(f"{site}/settings", shows="What hangs on a threshold")
    expect(seen.page.locator(".js-plotly-plot")).to_have_count(1)
    expect(seen.page.get_by_text("re-certification would not be due (drift_max)")).to_be_visible()
    for axis in ("Signal: alert_s", "Efficacy: gap_max", "Aftermath: r_max", "Monotonicity: depth_cap"):
        expect(seen.page.locator(".ytick", has_text=axis)).to_have_count(1)
    seen.settle()
    assert seen.errors() == []
    assert seen.foreign(site) == []
