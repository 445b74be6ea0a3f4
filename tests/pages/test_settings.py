"""Settings: what is in force and who set it, what hangs on it, what the server says."""

from streamlit.testing.v1 import AppTest

from tests.pages.states import ROOT
from tests.pages.test_pages_alone import opened, said

PAGE = ROOT / "pages" / "trust" / "settings.py"


def texts(app):
    return " ".join(one.value for one in (*app.main.text, *app.main.caption)).replace("\\", "")


def table(app, column):
    frame = next(frame.value for frame in app.main.dataframe if column in frame.value)
    return {row["name"]: row for row in frame.to_dict("records")}


def test_every_threshold_is_there_with_default_unit_and_meaning(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    rows = table(app, "meaning")
    assert len(rows) == 24
    assert "All 24 thresholds are at their default." in texts(app)
    assert (rows["gap_max"]["value"], rows["gap_max"]["unit"], rows["gap_max"]["set_by"]) == ("0.25", "score", "default")
    assert "SEAM_SETTINGS is not set, so this is local use" in said(app)
    assert "re-certification would not be due (drift_max)" in texts(app)
    assert table(app, "flips")["gap_max"]["low"] == "0.2: Efficacy 0.45"
    assert table(app, "flips")["trend_p"]["high"] == "not computed"


def test_who_set_what_and_what_the_server_refused(desk, monkeypatch, tmp_path):
    (desk / "seam.toml").write_text("gap_max = 0.5\nr_max = 0.2\n")
    server = tmp_path / "server.toml"
    server.write_text('reviewers = ["ana"]\n[thresholds]\nr_max = 0.04\n')
    monkeypatch.setenv("SEAM_WORKSPACE", str(desk))
    monkeypatch.setenv("SEAM_SETTINGS", str(server))
    app = AppTest.from_file(PAGE, default_timeout=60).run()
    assert not app.exception
    rows = table(app, "meaning")
    assert list(rows)[:2] == ["gap_max", "r_max"]
    assert (rows["gap_max"]["set_by"], rows["r_max"]["set_by"], rows["r_max"]["held"]) == ("seam.toml", "server settings", "0.04")
    assert "Not followed: seam.toml sets r_max = 0.2; the server holds it at 0.04." in said(app)
    assert "Looser than the default: seam.toml sets gap_max to 0.50 (default 0.25)." in said(app)
    assert "Who may certify: 1 reviewer: ana" in texts(app)
    assert "local use" not in said(app)


def test_a_workspace_without_scores_says_why_nothing_is_moved(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch)
    assert "No verdict hangs on a fifth more or less" in texts(app)
    assert "Efficacy is not scored" in texts(app)


def test_hooks_are_shown_by_name_with_what_arrived_and_never_a_secret(demo, monkeypatch, tmp_path):
    server = tmp_path / "server.toml"
    server.write_text(
        'public_url = "https://seam.example.org"\n[hooks.urls]\nteam = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"\n'
    )
    monkeypatch.setenv("SEAM_WORKSPACE", str(demo))
    monkeypatch.setenv("SEAM_SETTINGS", str(server))
    app = AppTest.from_file(PAGE, default_timeout=60).run()
    assert "Hook team (slack): nothing sent yet." in texts(app)
    assert "whoever can write there can keep a message from being sent" in said(app)
    assert "TIiajkdnlazkcOXrIdevi7FQ" not in texts(app) + said(app)
