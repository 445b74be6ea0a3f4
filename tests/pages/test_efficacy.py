"""The Efficacy page: its sum can be redone, its address counts, and what is missing is said."""

import json
import re

import pytest

from tests.browser.hostile import NAMES, write_hostile
from tests.pages.states import HEAL, ROOT
from tests.pages.test_pages_alone import opened, said

PAGE = ROOT / "pages" / "axes" / "efficacy.py"
SIGNS = str.maketrans({"÷": "/", "−": "-", "×": "*", ",": None})
GAIN = {"visible_before": 0.5, "visible_after": 0.75, "holdout_before": 0.5, "holdout_after": 0.54}


def texts(app):
    """Everything that the page says, but for tables and charts."""
    parts = (*app.text, *app.caption, *app.markdown, *app.header, *app.subheader)
    return " ".join(part.value for part in parts).replace("\\", "").replace("\u2060", "")


def everything(app):
    """The same page over all of history."""
    return app.sidebar.segmented_control[0].set_value("all").run()


def tables(app):
    return [list(table.value.columns) for table in app.dataframe]


@pytest.fixture
def folder(tmp_path):
    """A function that writes a workspace of some heals."""

    def write(*heals, holdout=None):
        (tmp_path / "heal_events.jsonl").write_text("".join(json.dumps(HEAL | heal) + "\n" for heal in heals), encoding="utf-8")
        if holdout:
            (tmp_path / "holdout.jsonl").write_text("".join(json.dumps(case) + "\n" for case in holdout), encoding="utf-8")
        return tmp_path

    return write


def test_both_sums_give_what_they_say_when_they_are_redone(demo, monkeypatch):
    app = everything(opened(PAGE, demo, monkeypatch))
    sums = [code.value for code in app.code if "÷" in code.value]
    assert len(sums) == 2
    for one in sums:
        terms, result = one.translate(SIGNS).split(" = ")
        assert f"{eval(terms):.2f}" == result
    assert sums[0].endswith("÷ 223 = 0.88")
    assert sums[1].endswith("÷ 96 = 0.86")


def test_the_whole_page_is_there_on_the_demo(demo, monkeypatch):
    app = everything(opened(PAGE, demo, monkeypatch))
    assert not app.exception
    assert [header.value for header in app.header] == [
        "The score as a sum",
        "The truth gap over time",
        "Visible against held-out gain",
        "Heals left out",
        "Contamination: held-out cases in what heals added",
        "Cost per real point",
    ]
    shown = texts(app)
    for sentence in (
        "One held-out case of 50 is 2 points. That is up to 0.08 of a heal's E.",
        "The gap is widening: over the last 16 loops the gap rose by 8 points (p < 0.001), and the test already fired a week before.",
        "23 of 54 loops whose visible score rose by a point or more gained no held-out point.",
        "12 of 235 heals have no E, because a score is missing in the log.",
        "4 of 50 testable held-out cases stand in what heals of this window added (8 %).",
    ):
        assert sentence in shown
    assert {metric.label: metric.value for metric in app.metric}["Tokens per held-out point"] == "35,481"


def test_the_toggle_turns_heals_into_loops(demo, monkeypatch):
    app = everything(opened(PAGE, demo, monkeypatch))
    assert "223 heals, one mark each." in texts(app)
    assert "Heals, worst first" in texts(app)
    app.segmented_control(key="each").set_value("loop").run()
    assert "96 loops, one mark each." in texts(app)
    assert "Loops, worst first" in texts(app)


def test_a_heal_of_the_address_is_shown_with_its_scores(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal="h_0240")
    assert not app.exception
    assert "Over its whole loop: visible +25 points, held-out +4: 21 points are not real." in texts(app)
    assert ["Score", "Before", "After", "Gain (points)"] in tables(app)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nobody", "There is no heal nobody in this workspace."),
        ("h_0001", "Heal h_0001 is of 2026-04-18 06:26 UTC, outside of this window."),
    ],
)
def test_a_heal_that_is_not_there_is_one_sentence_and_the_rest_works(demo, monkeypatch, name, sentence):
    app = opened(PAGE, demo, monkeypatch, heal=name)
    assert sentence.split(" of 2026")[0] in said(app)
    assert "Heals, worst first" in texts(app)
    assert not app.exception


def test_a_case_of_the_address_is_opened_and_another_is_one_sentence(demo, monkeypatch):
    app = everything(opened(PAGE, demo, monkeypatch, case="ho_032"))
    assert app.session_state["leaked case"] == "ho_032"
    app = everything(opened(PAGE, demo, monkeypatch, case="nothing"))
    assert "Nothing of a held-out case nothing was found" in said(app)
    assert app.session_state["leaked case"] == "ho_023"


def test_the_trend_and_a_case_can_be_copied_as_an_issue(demo, monkeypatch):
    app = everything(opened(PAGE, demo, monkeypatch))
    titles = [code.value.splitlines()[0] for code in app.code if code.value.startswith("### ")]
    assert titles == ["### Truth gap: widening", "### Held-out case `ho_023` stands in what heals added"]


def test_without_scores_it_says_which_key_would_fill_it_and_which_are_missing(folder, monkeypatch):
    app = opened(PAGE, folder({"visible_before": 0.5, "visible_after": 0.6, "holdout_after": 0.5}), monkeypatch)
    assert "Efficacy is not scored: no heal of this window carries holdout_before." in said(app)
    assert next(header.value for header in app.header) == "The truth gap over time"
    assert "1 of 1 heal has no E, because a score is missing in the log." in texts(app)
    assert "Contamination is not measured: no holdout.jsonl." in texts(app)
    assert "No loop logs both tokens_spent and all four scores." in texts(app)
    assert not app.metric


def test_one_heal_is_enough_for_every_part_but_the_trend(folder, monkeypatch):
    app = opened(PAGE, folder(GAIN), monkeypatch)
    assert not app.exception
    assert "(1 − 0.21 ÷ 0.25) ÷ 1 = 0.16" in [code.value for code in app.code]
    assert "Too few loops for a trend: only 1 loop has a heal with all four scores" in texts(app)
    assert "1 of 1 loop whose visible score rose" not in texts(app)  # 4 held-out points are some
    assert "None: the only loop whose visible score rose gained held-out points, too." in texts(app)


def test_filters_narrow_lists_and_charts_and_never_the_score(demo, monkeypatch):
    app = everything(opened(PAGE, demo, monkeypatch, level="agent config"))
    assert not app.exception
    shown = texts(app)
    assert "223 heals, one mark each" not in shown
    assert "Filtered by the sidebar; the scores above are not." in shown
    assert any(code.value.endswith("÷ 223 = 0.88") for code in app.code)


def test_a_window_of_many_heals_is_drawn_as_means(desk, monkeypatch):
    monkeypatch.setattr("seam_core.views.gains.DRAWN_MAX", 100)
    monkeypatch.setattr("seam_core.views.gains.ROWS_MAX", 50)
    app = everything(opened(PAGE, desk, monkeypatch))
    assert "223 heals: too many to tell apart, so each mark is the mean of one day." in texts(app)
    assert "the 50 worst of 223, a shorter window shows the rest" in texts(app)


def test_nothing_of_an_agent_is_read_as_markup(tmp_path, monkeypatch):
    write_hostile(tmp_path / "agent", NAMES)
    for number, name in enumerate(NAMES):
        app = everything(opened(PAGE, tmp_path / "agent", monkeypatch, heal=f"{number} {name}", case=name))
        assert not app.exception
        read = (part.value for part in (*app.markdown, *app.caption, *app.warning, *app.info, *app.error))
        outside_code = [re.sub(r"(`+)[^`].*?\1", "", text) for text in read]
        assert not [text for text in outside_code if re.search(r"(?<!\\)(!\[|<img|<script|:red\[|\]\()", text)]
