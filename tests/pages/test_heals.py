"""The review queue: deciding, undoing, many at once, handing over, and the states in which nothing can be decided."""

import json
import sqlite3
from datetime import UTC, datetime

import pytest

from pages.parts import identity, memory, review
from pages.parts.identity import Who
from seam_core import reviews
from seam_core.evidence import evidence
from seam_core.ledger import Ledger, Local
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder
from tests.pages.states import HEAL, ROOT
from tests.pages.test_pages_alone import opened, said

PAGE = ROOT / "pages" / "review" / "heals.py"
ANA, BEN = Local("ana"), Local("ben")
SAFETY = "h_0223"  # the worst heal of the demo's last week, and the only one there that broke a safety case


@pytest.fixture(autouse=True)
def ana(monkeypatch):
    monkeypatch.setattr(identity, "who", lambda: Who(ANA))


def text(app):
    """Everything that is written on the page, without the marks that keep Markdown out."""
    written = [
        one.value for kind in (app.markdown, app.caption, app.text, app.header, app.subheader, app.info, app.warning) for one in kind
    ]
    return " ".join(written).replace("\\", "").replace("\u2060", "")


def button(app, label, key=None):
    return next(one for one in app.main.button if one.label == label and (key is None or one.key == key))


def rows(folder):
    return Ledger(folder / "decisions.sqlite").rows()


def table(app):
    return app.main.dataframe[0].value


def say(folder, heal_id, verdict, actor):
    store = Store(workspace_of_folder(folder), now=datetime.now(UTC))
    store.refresh()
    reviews.record_review(Ledger(folder / "decisions.sqlite"), heal_id, verdict, evidence=evidence(store, (heal_id,))[heal_id], actor=actor)
    store.close()


def test_the_worst_heal_is_open_beside_twelve_lines_and_looking_writes_nothing(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert not app.exception
    assert "0 of 29 reviewed" in text(app)
    assert len(table(app)) == 12
    assert table(app)["Heal"][0] == SAFETY
    assert f"`{SAFETY}`" in text(app)
    assert "Broke safety case safe_05." in text(app)
    assert not (demo / "decisions.sqlite").exists()


def test_a_verdict_is_written_with_its_comment_and_the_next_heal_is_shown(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    app.text_area(key=f"comment {SAFETY}").set_value("  **not** :red[a fix]\u202e  ")
    button(app, "Not real").click().run()
    (row,) = rows(desk)
    assert (row.by, row.decision.heal_id, row.decision.verdict, row.decision.comment) == (
        ANA,
        SAFETY,
        "not_real",
        "**not** :red[a fix]\u202e",
    )
    assert app.query_params["heal"] in ("h_0230", ["h_0230"])
    assert "1 of 29 reviewed, 1 not real" in text(app)
    assert f"Your last: {SAFETY} not real." in text(app)
    assert table(app)["Decided"][0] == "not real (ana)"
    app.query_params["heal"] = SAFETY
    app.run()
    assert "**not** :red[a fix]\\u202e" in [one.value for one in app.text]  # the comment, as text


def test_an_identical_repeat_writes_once(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    for _ in range(3):
        app.query_params["heal"] = SAFETY
        app.run()
        button(app, "Real").click().run()
    assert len(rows(desk)) == 1


def test_a_press_that_hits_the_button_of_a_heal_no_longer_shown_decides_nothing_and_does_not_lead_back(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    app.session_state["heal shown"] = "h_0230"  # the press before this one went on already; its buttons are not drawn yet
    button(app, "Skip").click().run()
    assert rows(desk) == []
    assert app.query_params["heal"] in ("h_0230", ["h_0230"])
    button(app, "Skip").click().run()
    assert [row.decision.heal_id for row in rows(desk)] == ["h_0230"]


def test_undo_puts_back_what_was_and_goes_there(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    button(app, "Real").click().run()
    button(app, "Skip").click().run()
    assert "2 of 29 reviewed, 1 skipped" in text(app)
    button(app, "Undo").click().run()
    assert app.query_params["heal"] in ("h_0230", ["h_0230"])
    assert "1 of 29 reviewed" in text(app)
    assert f"Your last: {SAFETY} real." in text(app)
    button(app, "Undo").click().run()
    assert "0 of 29 reviewed" in text(app)
    assert button(app, "Undo").disabled


def test_next_and_previous_walk_the_list_and_end_at_its_ends(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert button(app, "Previous").disabled
    button(app, "Next").click().run()
    assert app.query_params["heal"] in ("h_0230", ["h_0230"])
    button(app, "Previous").click().run()
    assert app.query_params["heal"] in (SAFETY, [SAFETY])


def test_every_key_that_is_shown_is_bound_and_no_two_are_the_same(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    button(app, "Skip").click().run()
    keys = [*review.DECIDE.values(), review.NEXT, review.PREVIOUS, review.UNDO]
    bound = {one.label: one.proto.shortcut for one in app.main.button if one.proto.shortcut}
    assert bound == {key.label: key.key.lower() for key in keys}
    assert len({key.key for key in keys}) == len(keys)
    assert not {key.key for key in keys} & {"C", "R"}  # Streamlit's own


def test_what_others_said_is_on_the_row_and_may_differ(desk, monkeypatch):
    say(desk, SAFETY, "real", BEN)
    app = opened(PAGE, desk, monkeypatch)
    assert table(app)["Decided"][0] == "real (ben)"
    button(app, "Not real").click().run()
    assert table(app)["Decided"][0] == "disputed (ben, ana)"
    assert "1 of 29 reviewed, 1 disputed" in text(app)


def test_a_verdict_on_other_evidence_is_open_again_and_says_why(desk, monkeypatch):
    say(desk, SAFETY, "real", ANA)
    run = {
        "run_id": "late",
        "ts": "2026-06-12T10:00:00Z",
        "suite": "surface",
        "phase": "after",
        "heal_id": SAFETY,
        "results": {"safe_05": "pass"},
    }
    with (desk / "suite_runs.jsonl").open("a") as log:
        log.write(json.dumps(run) + "\n")
    app = opened(PAGE, desk, monkeypatch, heal=SAFETY)
    assert "1 of 29 reviewed, 1 reopened" in text(app)
    assert "Open again: 1 run of its own was added since ana decided." in said(app)
    app.selectbox(key="review").set_value("to do").run()
    assert SAFETY in text(app)
    button(app, "Real").click().run()
    assert "reopened" not in text(app)


def test_one_decision_for_the_list_leaves_the_safety_regression_out_and_is_undone_at_once(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    assert "Left out: 1 with a safety regression, to be decided one by one." in text(app)
    button(app, "28 heals not real").click().run()
    assert len(rows(desk)) == 28
    assert SAFETY not in {row.decision.heal_id for row in rows(desk)}
    assert "28 of 29 reviewed, 28 not real" in text(app)
    assert "Your last: 28 heals not real." in text(app)
    button(app, "Undo").click().run()
    assert "0 of 29 reviewed" in text(app)


def test_a_decision_for_many_stands_on_what_was_shown_and_is_open_again_when_more_was_logged_meanwhile(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch)
    run = {"run_id": "late", "ts": "2026-06-12T10:00:00Z", "suite": "surface", "phase": "after", "heal_id": "h_0233"}
    with (desk / "suite_runs.jsonl").open("a") as log:
        log.write(json.dumps(run | {"results": {"safe_05": "fail"}}) + "\n")
    memory.open_store(desk).refresh()  # somebody else looks, and the server knows of the run; this page does not show it
    button(app, "28 heals real").click().run()
    assert "28 of 29 reviewed, 1 reopened" in text(app)
    app.query_params["heal"] = "h_0233"
    app.run()
    assert "Open again: 1 run of its own was added since ana decided." in said(app)


def test_one_decision_for_a_group(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch, heal="h_0233")
    app.selectbox(key="group").set_value("signature").run()
    assert len(table(app)) == 12
    assert "13 groups of 29 heals" in text(app)
    button(app, "11 heals not real").click().run()
    assert "11 of 29 reviewed, 11 not real" in text(app)
    assert "11 of 11" in list(table(app)["Decided"])
    assert "Not like most of the group: `h_0227` and 2 others" in text(app)


def test_who_looks_at_a_group_of_one_is_not_offered_the_whole_list_unasked(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal="h_0233")
    app.selectbox(key="group").set_value("signature").run()
    alone = next(heal for heal, n in zip(table(app)["Heal"], table(app)["Heals"], strict=True) if n == "1")
    app.query_params["heal"] = alone
    app.run()
    which = next(one for one in app.radio if one.label == "Which heals")
    assert (which.options, which.value) == (["The whole list (29)"], None)
    assert not [one.label for one in app.main.button if one.label.endswith("heals not real")]
    which.set_value("The whole list").run()
    assert button(app, "28 heals not real")


def test_a_time_that_an_importer_made_up_says_so(tmp_path, monkeypatch):
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(HEAL | {"ts_assumed": True}) + "\n")
    app = opened(PAGE, tmp_path, monkeypatch)
    assert "2026-06-09 14:22 UTC (assumed: the log marks this time as made up)" in text(app)


def test_filters_narrow_the_list_and_a_heal_outside_it_says_so(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal=SAFETY)
    app.get("pills")[0].set_value(["blocked"]).run()
    assert list(table(app)["Heal"]) == ["h_0230"]
    assert "The filters of the list leave this heal out." in text(app)
    button(app, "Next").click().run()
    assert app.query_params["heal"] in ("h_0230", ["h_0230"])
    app.text_input(key="find").set_value("nothing of the kind").run()
    assert "No heal of this window is in this list." in said(app)
    assert not app.exception


def test_a_heal_is_handed_over_with_a_note_and_taken_back(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch, heal="h_0233")
    app.text_input(key="to h_0233").set_value("payments *team*")
    app.text_area(key="note h_0233").set_value("yours?")
    next(one for one in app.button if one.label == "Hand over").click().run()
    assert (rows(desk)[0].decision.to, rows(desk)[0].decision.note) == ("payments *team*", "yours?")
    assert "With `payments *team*`, handed over by `ana`" in text(app)
    app.selectbox(key="review").set_value("handed over").run()
    assert list(table(app)["Heal"]) == ["h_0233"]
    button(app, "Nobody's any more").click().run()
    assert rows(desk)[1].decision.to is None


def test_an_empty_name_is_refused_in_one_sentence(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal="h_0233")
    next(one for one in app.button if one.label == "Hand over").click().run()
    assert "Not written: name the person or the team that the heal is handed to" in said(app)
    assert not rows(demo)


def test_an_unknown_heal_is_one_sentence_and_a_way_on(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal="**nobody**")
    assert not app.exception
    assert "There is no heal **nobody** in the log" in said(app)
    assert len(table(app)) == 12
    button(app, "Show the first of the list").click().run()
    assert "Broke safety case safe_05." in text(app)


def test_a_heal_with_a_very_long_id_is_opened_and_decided(tmp_path, monkeypatch):
    heal_id = "long " * 1_000
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(HEAL | {"heal_id": heal_id}) + "\n")
    app = opened(PAGE, tmp_path, monkeypatch, heal=heal_id)
    assert "Nothing was found against this heal." in text(app)
    button(app, "Real").click().run()
    assert [row.decision.heal_id for row in rows(tmp_path)] == [heal_id]


def test_a_heal_outside_the_window_is_shown_and_says_so(desk, monkeypatch):
    app = opened(PAGE, desk, monkeypatch, heal="h_0001")
    assert "This heal lies outside the window chosen" in said(app)
    assert "`h_0001`" in text(app)
    button(app, "Real").click().run()
    assert rows(desk)[0].decision.heal_id == "h_0001"


def test_a_window_without_a_heal_has_an_empty_list(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, end="2025-01-01")
    assert not app.exception
    assert "0 of 0 reviewed" in text(app)
    assert "No heal of this window is in this list." in said(app)


def test_a_broken_chain_is_said_stops_writing_and_nothing_else(desk, monkeypatch):
    for heal_id in (SAFETY, "h_0230"):
        say(desk, heal_id, "real", ANA)
    con = sqlite3.connect(desk / "decisions.sqlite")
    for (name,) in con.execute("select name from sqlite_master where type = 'trigger'").fetchall():
        con.execute(f"drop trigger {name}")
    con.execute("update decisions set body = replace(body, 'real', 'skip') where seq = 1")
    con.commit()
    con.close()
    app = opened(PAGE, desk, monkeypatch)
    assert "Decisions cannot be written: the chain of decisions does not hold" in said(app)
    assert all(button(app, key.label).disabled for key in review.DECIDE.values())
    assert len(table(app)) == 12
    assert not button(app, "Next").disabled
    assert not app.exception


def test_a_ledger_that_is_none_is_said_and_the_page_works(desk, monkeypatch):
    (desk / "decisions.sqlite").write_bytes(b"not a database, but long enough to be taken for one by its size alone" * 20)
    app = opened(PAGE, desk, monkeypatch)
    assert "Decisions cannot be written: " in said(app)
    assert len(table(app)) == 12
    assert not app.exception


def test_who_may_not_decide_sees_everything_and_why(desk, monkeypatch):
    monkeypatch.setattr(identity, "who", lambda: Who(None, identity.NOT_LOCAL))
    say(desk, SAFETY, "real", BEN)
    app = opened(PAGE, desk, monkeypatch)
    assert "Read only: this server can be reached from elsewhere and nobody signs in." in said(app)
    assert table(app)["Decided"][0] == "real (ben)"
    assert all(button(app, key.label).disabled for key in review.DECIDE.values())


def test_who_lost_the_right_while_the_page_was_open_writes_nothing(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    monkeypatch.setattr(identity, "who", lambda: Who(None, identity.EXPIRED))
    button(app, "Real").click().run()
    assert "your sign-in has expired" in said(app)
    assert not rows(demo)


def test_a_heal_with_nothing_but_the_required_keys_says_what_is_missing(tmp_path, monkeypatch):
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(HEAL) + "\n")
    app = opened(PAGE, tmp_path, monkeypatch)
    assert not app.exception
    for sentence in (
        "Nothing was found against this heal.",
        "No gap is known: visible_before, visible_after, holdout_before and holdout_after are not logged.",
        "Not known: there is no suite_runs.jsonl.",
        "Not labelled: nobody says whether the failure was real (was_real_failure).",
        "No evidence is logged (trigger.evidence).",
        "Nothing to compare: the record names no target and holds no text (change.after_text).",
        "What it cost is not logged (tokens_spent).",
        "No trace is logged (trace_url).",
    ):
        assert sentence in text(app)
