"""What can be taken away: nothing is made before it is asked for, and what is made is what is on the screen."""

import json

from seam_core.packet import verify_packet
from tests.pages.states import ROOT
from tests.pages.test_pages_alone import opened, said

WEEK = ROOT / "pages" / "review" / "week.py"


def press(app):
    return next(button for button in app.main.button if button.label == "Evidence packet (zip)").click().run()


def offered(app):
    return [one.label for one in app.main.get("download_button") if one.label.startswith("Save the packet")]


def test_a_packet_is_made_on_demand_and_recomputes(demo, monkeypatch, tmp_path):
    app = opened(WEEK, demo, monkeypatch)
    assert not offered(app)
    press(app)
    assert not app.exception
    assert len(offered(app)) == 1
    assert "The report was computed from the files in this packet" in " ".join(one.value for one in app.main.caption).replace("\\", "")
    path = tmp_path / "p.zip"
    path.write_bytes(app.session_state["packet"].data())
    found = verify_packet(path)
    assert found.matches
    assert json.loads(found.report)["counts"]["heals"] == 29


def test_a_packet_of_another_window_is_not_offered(demo, monkeypatch):
    app = press(opened(WEEK, demo, monkeypatch))
    assert offered(app)
    app.sidebar.segmented_control[0].set_value("28d").run()
    assert not offered(app)


def test_a_log_cut_under_our_hands_is_one_sentence(desk, monkeypatch):
    app = opened(WEEK, desk, monkeypatch)
    from pages.parts import downloads

    real = downloads.make_packet

    def cut(file, audit, asked, **options):
        (desk / "heal_events.jsonl").write_bytes(b"")
        return real(file, audit, asked, **options)

    monkeypatch.setattr(downloads, "make_packet", cut)
    app = press(app)
    assert not app.exception
    assert "was shortened while it was being copied; try again" in said(app)
    assert not offered(app)
