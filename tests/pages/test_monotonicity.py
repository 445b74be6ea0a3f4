"""The Monotonicity page: the sum, the curves sheet by sheet, what judged each loop, what is missing, hostile names."""

import json

import pytest

from tests.browser.hostile import NAMES
from tests.pages.states import HEAL, ROOT
from tests.pages.test_pages_alone import opened, said
from tests.pages.test_signal import tables, text
from tests.seam_core.workspaces import concat, loop, write

PAGE = ROOT / "pages" / "axes" / "monotonicity.py"


def test_the_sum_the_curves_and_the_loops_are_shown(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, win="28d")
    assert not app.exception
    assert "M = 1 − 0.100 − 0.050 − 0.022 − 0.024 = 0.80" in text(app)
    assert "3 of 46 loops lost more than everything and count as 0" in text(app)
    assert len(next(frame for frame in tables(app) if "loop" in frame)) == 46
    assert "M 0.00 · its own score · 11 cycles" in text(app)
    assert len(app.main.get("plotly_chart")) == 13


def test_a_sheet_of_the_address_shows_other_loops_and_one_too_many_the_last(demo, monkeypatch):
    second = opened(PAGE, demo, monkeypatch, win="28d", sheet="2")
    last = opened(PAGE, demo, monkeypatch, win="28d", sheet="3")
    beyond = opened(PAGE, demo, monkeypatch, win="28d", sheet="999")
    assert "M 0.00" not in text(second)
    assert text(beyond) == text(last) != text(second)


@pytest.mark.parametrize("shown", ["extra dips", "returned", "idle", "at the cap"])
def test_curves_and_table_are_narrowed_by_what_was_lost_to(demo, monkeypatch, shown):
    app = opened(PAGE, demo, monkeypatch, win="28d", sheet="2")
    app.main.segmented_control[0].set_value(shown).run()
    assert not app.exception
    assert 0 < len(next(frame for frame in tables(app) if "loop" in frame)) < 46


def test_loops_of_one_cycle_have_no_curve_and_the_page_says_so(tmp_path, monkeypatch):
    write(tmp_path, heal_events=concat([loop("a", [0.5]), loop("b", [0.6])]))
    app = opened(PAGE, tmp_path, monkeypatch, win="all")
    assert not app.exception
    assert "a loop of one cycle can neither dip nor return" in text(app)


def test_loops_that_no_score_covers_are_listed_with_what_they_have(tmp_path, monkeypatch):
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(HEAL) + "\n")
    app = opened(PAGE, tmp_path, monkeypatch)
    assert not app.exception
    assert "1 loop left out" in text(app)
    assert "Log score, holdout_after or visible_after" in text(app)
    assert next(frame for frame in tables(app) if "has" in frame)["has"][0] == "no score at all"


def test_a_window_without_a_heal_says_so(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, end="2025-01-01")
    assert not app.exception
    assert "Nothing is scored in this window" in said(app)


def test_hostile_loops_are_shown_as_written(tmp_path, monkeypatch):
    write(tmp_path, heal_events=concat(loop(name, [0.6, 0.5, 0.6, 0.5]) for name in NAMES))
    app = opened(PAGE, tmp_path, monkeypatch, win="all")
    assert not app.exception
    assert "http://evil.test" not in " ".join(part.value for part in (*app.main.markdown, *app.main.caption))
