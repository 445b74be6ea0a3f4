"""The frame around the pages: window and workspace from the address, what is read anew, what is said beside the numbers."""

import json
import shutil

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts import frame, memory
from pages.parts.frame import View
from tests.pages.states import BAD_LINES, HEAL, ROOT
from tests.pages.test_pages_alone import opened, said

WEEK = ROOT / "pages" / "review" / "week.py"
NEWEST = "2026-06-12T16:42:31Z"


def captions(app):
    return " ".join(one.value for one in (*app.caption, *app.sidebar.caption)).replace("\\", "")


def metrics(app):
    return {one.label: one.value for one in app.metric}


def append(folder, log, **record):
    with (folder / log).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def test_without_an_end_the_window_ends_at_the_newest_heal_and_says_so_in_the_address(demo, monkeypatch):
    app = opened(WEEK, demo, monkeypatch)
    assert app.query_params["end"] in (NEWEST, [NEWEST])
    assert "2026-06-05 16:42 to 2026-06-12 16:42 UTC" in captions(app)
    assert "newer than this window" not in captions(app)


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        ("2026-06-05", "2026-05-29 23:59 to 2026-06-05 23:59 UTC"),
        ("2026-06-05T12:00:00Z", "2026-05-29 12:00 to 2026-06-05 12:00 UTC"),
        ("2026-06-05T12:00:00+02:00", "2026-05-29 10:00 to 2026-06-05 10:00 UTC"),
    ],
)
def test_an_end_in_the_address_counts_and_newer_heals_are_announced(demo, monkeypatch, end, shown):
    app = opened(WEEK, demo, monkeypatch, end=end)
    assert shown in captions(app)
    assert "newer than this window" in captions(app)
    app.sidebar.button[0].click().run()
    assert "to 2026-06-12 16:42 UTC" in captions(app)


@pytest.mark.parametrize("typed", ["yesterday", "2026-02-30"])
def test_an_end_that_is_no_time_is_one_sentence(demo, monkeypatch, typed):
    app = opened(WEEK, demo, monkeypatch, end=typed)
    assert not app.exception
    assert len(app.error) == 1
    assert said(app).startswith(typed)
    app.sidebar.text_input[0].set_value("").run()
    assert "to 2026-06-12 16:42 UTC" in captions(app)


def test_other_lengths_can_be_typed(demo, monkeypatch):
    app = opened(WEEK, demo, monkeypatch)
    app.sidebar.segmented_control[0].set_value("other").run()
    app.sidebar.text_input[0].set_value("36h").run()
    assert "2026-06-11 04:42 to 2026-06-12 16:42 UTC" in captions(app)
    app.sidebar.text_input[0].set_value("fortnight").run()
    assert said(app).startswith("Length must be like 24h, 7d or 4w; fortnight is")
    assert "--window" not in said(app)
    app.sidebar.text_input[0].set_value("99999w").run()  # only this one window fits into the calendar
    assert not app.exception
    assert "to 2026-06-12 16:42 UTC" in captions(app)


def test_all_of_history_has_no_window_before(demo, monkeypatch):
    app = opened(WEEK, demo, monkeypatch)
    assert any(one.delta for one in app.metric)
    app.sidebar.segmented_control[0].set_value("all").run()
    assert "Everything to 2026-06-12 16:42 UTC" in captions(app)
    assert not any(one.delta for one in app.metric)


def test_a_window_without_a_heal_says_so_and_scores_nothing(demo, monkeypatch):
    app = opened(WEEK, demo, monkeypatch, end="2025-01-01")
    assert not app.exception
    assert "Nothing is scored in this window" in said(app)
    assert not set(metrics(app)) & {"S Signal", "E Efficacy", "A Aftermath", "M Monotonicity"}


def test_appended_lines_are_read_and_counted(desk, monkeypatch):
    app = opened(WEEK, desk, monkeypatch)
    assert "lines." in captions(app)
    app.run()
    assert "nothing new" in captions(app)
    append(desk, "heal_events.jsonl", **HEAL | {"heal_id": "late", "loop_id": "late", "ts": "2026-06-12T17:00:00Z"})
    app.run()
    assert "1 new line." in captions(app)
    assert "1 heal is newer than this window." in captions(app)


def test_old_windows_are_not_scored_again_for_new_lines_but_are_for_old_ones(desk, monkeypatch):
    opened(WEEK, desk, monkeypatch)
    scored = []
    real = frame.report.audit
    monkeypatch.setattr(frame.report, "audit", lambda store, window, resolved: scored.append(window.label) or real(store, window, resolved))
    append(desk, "heal_events.jsonl", **HEAL | {"heal_id": "late", "loop_id": "late", "ts": "2026-06-25T17:00:00Z"})
    opened(WEEK, desk, monkeypatch, end=NEWEST)
    assert scored == ["2026-06-05 .. 2026-06-12"]
    append(desk, "heal_events.jsonl", **HEAL | {"heal_id": "early", "loop_id": "early", "ts": "2026-06-06T00:00:00Z"})
    opened(WEEK, desk, monkeypatch, end=NEWEST)
    # this window again, and the one before, whose seven days of follow-up reach 6 June; not the one that ends on 29 May
    assert scored[1:] == ["2026-06-05 .. 2026-06-12", "2026-05-29 .. 2026-06-05"]


def test_local_use_is_said_unless_the_server_has_settings(demo, monkeypatch, tmp_path):
    app = opened(WEEK, demo, monkeypatch)
    assert "whoever can write in the workspace can replace everything" in captions(app)
    settings = tmp_path / "server.toml"
    settings.write_text("[thresholds]\nalert_m = 0.9\n")
    monkeypatch.setenv("SEAM_SETTINGS", str(settings))
    app = AppTest.from_file(WEEK, default_timeout=60).run()
    assert "whoever can write" not in captions(app)
    assert "Monotonicity" in next(one.value for one in app.markdown if "below 0\\.90" in one.value)


def test_one_of_several_workspaces_is_chosen_by_a_button_or_by_the_address(workspaces, monkeypatch):
    app = opened(WEEK, workspaces["several"], monkeypatch)
    next(button for button in app.main.button if button.label == "demo").click().run()
    assert "S Signal" in metrics(app)
    again = opened(WEEK, workspaces["several"], monkeypatch, workspace="all bad")
    assert "is a heal of this format" in said(again)
    assert again.sidebar.selectbox[0].options == ["all bad", "demo", "one good"]
    unknown = opened(WEEK, workspaces["several"], monkeypatch, workspace="demmo")
    assert "There is no workspace demmo here" in said(unknown)
    next(button for button in unknown.main.button if button.label == "demo").click().run()
    assert "S Signal" in metrics(unknown)


def test_rejected_lines_are_announced_with_where_and_why(workspaces, monkeypatch):
    app = opened(WEEK, workspaces["one good"], monkeypatch)
    assert "the first is heal_events.jsonl, line 1: not JSON" in said(app)


def test_only_two_workspaces_are_kept_open(demo, tmp_path):
    folders = [str(shutil.copytree(demo, tmp_path / f"copy {n}")) for n in range(3)]
    stores = [memory._store(folder) for folder in folders]
    assert memory._store(folders[2]) is stores[2]
    assert memory._store(folders[0]) is not stores[0]


def test_a_view_is_current_until_somebody_else_has_more_read_or_its_workspace_is_let_go(desk, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(frame, "View", lambda *args: seen.append(View(*args)) or seen[-1])
    opened(WEEK, desk, monkeypatch)
    view = seen[-1]
    assert view.is_current()
    append(desk, "heal_events.jsonl", **HEAL)
    memory.open_store(desk).refresh()
    assert not view.is_current()
    opened(WEEK, desk, monkeypatch)
    view = seen[-1]
    assert view.is_current()
    for name in ("second", "third"):
        memory.open_store(shutil.copytree(desk, tmp_path / name))
    assert not view.is_current()


def test_the_strip_says_in_words_what_is_below_its_line_and_what_is_due(demo, monkeypatch):
    monkeypatch.setenv("SEAM_WORKSPACE", str(demo))

    def page():
        from pages.parts import frame, strip

        strip.show(frame.view())

    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    shown = " ".join(one.value for one in (*app.main.markdown, *app.main.caption)).replace("\\", "")
    assert "below 0.80" in shown
    assert "below 0.80; the gap is widening" in shown
    assert "early: ok so far (line 0.70)" in shown
    assert "RECERTIFY due" in shown
    assert "1 gate block" in shown
    assert "rejected" not in shown


def test_the_week_tells_how_often_cases_break_get_fixed_and_flip_by_themselves(demo, monkeypatch):
    app = opened(WEEK, demo, monkeypatch)
    (told,) = [one.value for one in app.main.caption if one.value.startswith("Cases broke")]
    assert "With no heal between" in told


def test_the_strip_gives_a_reason_for_what_is_not_scored(workspaces, monkeypatch):
    monkeypatch.setenv("SEAM_WORKSPACE", str(workspaces["one good"]))

    def page():
        from pages.parts import frame, strip

        strip.show(frame.view())

    app = AppTest.from_function(page, default_timeout=60).run()
    shown = " ".join(one.value for one in (*app.main.markdown, *app.main.caption))
    assert "not scored" in shown
    assert "no heal in the window says whether its failure was real" in shown
    assert f"{len(BAD_LINES)} rejected lines" in shown


def test_clearing_the_cache_clears_every_store(demo):
    first = memory._store(str(demo))
    st.cache_resource.clear()
    assert memory._store(str(demo)) is not first
