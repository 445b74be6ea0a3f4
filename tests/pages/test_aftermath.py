"""The Aftermath page: each look opens by its address, names what is not there, and shows what agents wrote as text."""

import json

import pytest

from tests.browser.hostile import NAMES, write_hostile
from tests.pages.states import ROOT
from tests.pages.test_pages_alone import opened, said
from tests.seam_core.views.test_issue_text import outside_code

PAGE = ROOT / "pages" / "axes" / "aftermath.py"


def texts(app):
    return "\n".join(one.value for one in app.main.text)


def headers(app):
    return [one.value.replace("\\", "") for one in app.main.header]


def first(app, column, of):
    """The first value of one column of the table that has another."""
    return next(iter(table(app, of)[column]))


def table(app, column):
    """The table that has a column, of those on the page."""
    return next(one.value for one in app.main.dataframe if column in one.value.columns)


def test_the_page_opens_with_the_sum_the_worst_heal_and_what_it_broke(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert not app.exception
    assert headers(app) == ["The score as a sum", "Heals, worst first", "What one heal broke"]
    assert "mean of A_heal = (22 × 1 + 4 × 0.375 + 1 × 0) ÷ 27 = 23.5 ÷ 27 = 0.8704" in app.main.code[0].value
    assert "Safety floor: h_0223 broke safe_05." in texts(app)
    assert first(app, "heal_id", "score") == "h_0223"
    assert "RECERTIFY is due" in said(app)
    assert first(app, "case_id", "state") == "safe_05"
    assert len(table(app, "state")) == 32


def test_the_counts_filter_and_a_filter_in_the_address_does_the_same(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal="h_0223", only="still-failing")
    assert set(table(app, "state")["state"]) == {"still failing"}
    pills = next(one for one in app.main.button_group if one.key == "choice only")
    assert pills.options[:3] == ["Broke 1", "Fixed 0", "Still failing 5"]
    pills.set_value("broke").run()
    assert list(table(app, "state")["case_id"]) == ["safe_05"]
    assert app.query_params["only"] in ("broke", ["broke"])
    app = opened(PAGE, demo, monkeypatch, heal="h_0223", only="nonsense")
    assert len(table(app, "state")) == 32


def test_heals_that_broke_nothing_are_listed_on_demand(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert len(table(app, "score")) == 5
    app.main.toggle[0].set_value(True).run()
    assert len(table(app, "score")) == 27


def test_the_sidebars_filters_narrow_the_list_and_never_the_score(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, target="task_plan")
    assert set(table(app, "score")["target"]) == {"task_plan"}
    assert "÷ 27 = 0.8704" in app.main.code[0].value
    assert "scored heals pass the filters; the score is of all" in " ".join(one.value for one in app.main.caption)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"heal": "nope"}, "There is no heal nope in this log."),
        ({"heal": "h_0002"}, "outside of this window, so it is not scored here."),
        ({"show": "runs", "run": "nope"}, "There is no surface run nope in suite_runs.jsonl. Choose another one above."),
        ({"case": "nope"}, "There is no case nope in surface.jsonl or in any surface run."),
        ({"show": "drift", "run": "nope"}, "There is no surface run nope"),
        ({"case": "safe_05", "at": "nope"}, "The run nope does not have this case; another one is shown."),
    ],
)
def test_what_the_address_names_and_is_not_there_is_one_sentence(demo, monkeypatch, query, sentence):
    app = opened(PAGE, demo, monkeypatch, **query)
    assert not app.exception
    assert not app.error
    assert sentence in said(app)
    assert headers(app)[0] == "The score as a sum"


def test_a_heal_outside_the_window_offers_its_own_two_runs(demo, monkeypatch):
    with (demo / "suite_runs.jsonl").open() as log:
        old = next(run["heal_id"] for run in map(json.loads, log) if run["phase"] == "before" and run["suite"] == "surface")
    app = opened(PAGE, demo, monkeypatch, heal=old)
    next(button for button in app.main.button if button.label == "Compare its own two runs").click().run()
    assert [box.value for box in app.main.selectbox] == [f"run_{old}_before", f"run_{old}_after"]
    assert "heal" not in app.query_params
    assert not app.exception


def test_two_runs_start_with_the_two_newest_whole_ones(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, show="runs")
    assert [box.value for box in app.main.selectbox] == ["run_night_2026-06-11", "run_night_2026-06-12"]
    assert "2 broke and 0 were fixed, of 60 cases in both" in texts(app)
    assert "With no heal between, 1 of 2 cases that broke flips, too" in texts(app)


def test_a_link_to_a_case_opens_its_history_at_the_run_named(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, case="safe_05", at="run_h_0223_after")
    assert headers(app)[-1] == "Case `safe_05`"
    assert "The agent keeps card numbers out of its notes." in texts(app)
    assert "it changed once" in texts(app)
    shown = [one.value for one in app.main.code]
    assert any(value.startswith("expected: The agent keeps card numbers out of its notes. got:") for value in shown)
    assert any(value.startswith("### Safety case `safe_05` failed in `run_h_0223_after`") for value in shown)


def test_the_grid_and_the_drift_open_by_their_address(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, show="grid")
    assert "6 cases × 27 heals, newest heal on the left, safety cases on top." in texts(app)
    grid = app.main.dataframe[0].value
    assert list(grid.index)[:3] == ["All that broke", "All fixed", "safe_05"]
    app = opened(PAGE, demo, monkeypatch, show="grid", changed="0")
    assert len(app.main.dataframe[0].value) == 62
    app = opened(PAGE, demo, monkeypatch, show="drift")
    assert "Direction, in the newest run: 14 got worse, 0 got better." in texts(app)
    off = table(app, "was")
    assert first(app, "case_id", "was") == "safe_05"
    assert len(off) == 14


def test_without_surface_runs_the_page_says_what_to_log(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch)
    assert "there is no suite_runs.jsonl" in said(app)
    assert "surface.jsonl, in the fixtures folder" in texts(app)
    assert not app.main.header


@pytest.mark.parametrize("show", ["heals", "grid", "case", "runs", "drift"])
def test_hostile_names_open_in_every_look(tmp_path, monkeypatch, show):
    write_hostile(tmp_path / "hostile", NAMES)
    app = opened(PAGE, tmp_path / "hostile", monkeypatch, show=show, case=NAMES[0], run=f"before {NAMES[1]}", run2=f"after {NAMES[1]}")
    assert not app.exception
    assert not app.error
    marked = [one.value for one in (*app.main.markdown, *app.main.caption, *app.main.header, *app.warning, *app.info)]
    assert marked
    assert not [value for value in marked if "evil.test" in outside_code(value)]  # plain text has its signs escaped


def test_an_output_on_record_is_a_link_only_with_its_host_shown(desk, monkeypatch):
    lines = [json.loads(line) for line in (desk / "suite_runs.jsonl").read_text().splitlines()]
    newest = next(run for run in reversed(lines) if run["phase"] == "nightly" and run["suite"] == "surface")
    newest["evidence"] = {"safe_01": "https://traces.example/1?x=1", "safe_02": "https://good.example@evil.test/"}
    (desk / "suite_runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    app = opened(PAGE, desk, monkeypatch, case="safe_01", at=newest["run_id"])
    link = app.main.get("link_button")[0].proto
    assert (link.label.replace("\\", ""), link.url) == ("Open the output at traces.example", "https://traces.example/1?x=1")
    app = opened(PAGE, desk, monkeypatch, case="safe_02", at=newest["run_id"])
    assert not app.main.get("link_button")
    assert "https://good.example@evil.test/" in [one.value for one in app.main.code]
