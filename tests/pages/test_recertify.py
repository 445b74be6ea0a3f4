"""The Re-certify page: each look opens by its address, choices outlive the session, and what cannot be decided says why."""

import json
from pathlib import Path

import pytest

from pages.parts import identity
from seam_core.authority import Role
from seam_core.baseline.drafts import Draft, Drafts
from seam_core.ledger import Local, local_actor
from seam_core.ledger.kinds import COMMENT_MAX
from tests.browser.hostile import NAMES, write_hostile
from tests.pages.states import ROOT
from tests.pages.test_pages_alone import opened, said
from tests.seam_core.baselines import RUNS, add_runs, certified_once, opened_desk, outcomes, sent, world
from tests.seam_core.ledgers import opened_by_force
from tests.seam_core.views.test_issue_text import outside_code
from tests.seam_core.workspaces import run

PAGE = ROOT / "pages" / "decide" / "recertify.py"
BROKEN = [*RUNS[:-1], run("n4", "nightly", 4.5, outcomes("c0", "c1", "c2", "c3"))]


@pytest.fixture
def folder(tmp_path):
    """c0, a safety case, and c1, c2, c3 are not as certified in the newest full run, n4."""
    return world(tmp_path / "agent", runs=BROKEN)


@pytest.fixture
def show(folder, monkeypatch):
    def make(**query):
        app = opened(PAGE, folder, monkeypatch, **query)
        assert not app.exception
        return app

    return make


def texts(app):
    return "\n".join(one.value for one in (*app.main.text, *app.main.caption))


def headers(app):
    return [one.value.replace("\\", "") for one in (*app.main.header, *app.main.subheader)]


def button(app, label):
    return next(one for one in app.main.button if one.label == label)


def kept(folder):
    return Drafts(folder / "decisions.sqlite").get(local_actor(), "n4")


def test_the_page_says_why_it_is_due_why_this_baseline_and_what_changed_after_which_heal(show):
    app = show()
    assert "in the newest full run 4 of 10 cases (40 %) differ from the certified baseline" in said(app)
    assert headers(app) == [
        "Why this baseline",
        "What there is to decide",
        "What will be written",
        "By the heal that changed them",
        "Cases",
        "Safety cases, one by one",
    ]
    assert "Version 1 is certified.json as it was found" in texts(app)
    groups, cases, safety = (one.value for one in app.main.dataframe)
    assert list(groups["what"]) == ["Changed after one of these 2 heals.", "Changed after heal h2.", "Changed after heal h1."]
    assert (list(cases["case_id"]), list(safety["case_id"])) == (["c1", "c2", "c3"], ["c0"])
    assert app.query_params["run"] in ("n4", ["n4"])


def test_opening_every_look_writes_nothing(show, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for look in ("review", "back", "history", "who"):
        show(show=look, case="c0", heal="h2")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def of_group(show, heal):
    """The page with the group of a heal chosen, as a click on its row does it."""
    app = show()
    box = next(one for one in app.main.selectbox if one.label == "Of which heal")
    return box.select(next(option for option in box.options if heal in option)).run()


def test_a_group_is_decided_at_once_without_its_safety_case_and_the_choice_is_there_in_another_session(show, folder):
    app = of_group(show, "one of these 2 heals")
    button(app, "Accept the 1 of this group that are no safety cases").click().run()
    assert kept(folder) == Draft(accepted=frozenset({"c3"}))
    button(app, "Reject all 2 of this group").click().run()
    assert kept(folder) == Draft(rejected=frozenset({"c0", "c3"}))
    again = show()
    assert list(again.main.dataframe[1].value["choice"]) == ["", "", "rejected"]
    assert "of 4 cases that differ, 0 accepted, 2 rejected and 2 left for later." in texts(again)


def test_filters_change_what_is_seen_and_not_what_a_button_acts_on(show, folder):
    app = of_group(show, "heal h1")
    next(one for one in app.main.text_input if one.label == "Search").set_value("nothing like it").run()
    assert "0 of 1 pass the filters" in texts(app)
    button(app, "Accept all 1 of `h1`").click().run()
    assert kept(folder).accepted == {"c1"}


def test_a_safety_case_is_accepted_with_its_reason_and_not_without(show, folder):
    app = show(case="c0")
    button(app, "Accept this case").click().run()
    assert "c0 is a safety case: write why it may change, then accept it. Nothing was changed." in said(app)
    assert kept(folder) == Draft()
    box = next(one for one in app.main.text_area if one.label.startswith("Why this safety case"))
    box.set_value("the rule was withdrawn").run()
    button(app, "Accept this case").click().run()
    assert kept(folder) == Draft(accepted=frozenset({"c0"}), safety_reasons={"c0": "the rule was withdrawn"})
    assert list(show().main.dataframe[3].value["reason"]) == ["the rule was withdrawn"]


def test_one_case_shows_both_outcomes_since_when_and_how_often_it_flips(show):
    app = show(case="c1")
    assert [one.value for one in app.main.markdown if "Certified:" in one.value or "In this run" in one.value] == [
        "**Certified: pass**",
        "**In this run: fail**",
    ]
    assert (
        "Certified as pass, and fail in this run.\nChanged after heal h1 (run a1).\nIt flips by itself in 2 of 2 pairs of runs."
        in texts(app)
    )


def test_without_a_reason_nothing_is_asked_and_a_choice_is_forgotten_on_demand(show, folder):
    app = of_group(show, "heal h1")
    button(app, "Accept all 1 of `h1`").click().run()
    button(app, "Certify version 2 …").click().run()
    assert "Say why in a sentence." in said(app)
    button(app, "Forget my choices").click().run()
    assert kept(folder) == Draft()


def test_a_reason_longer_than_can_be_kept_is_cut_and_the_draft_stays_readable(show, folder):
    app = show()
    next(one for one in app.main.text_area if one.label.startswith("Why version 2")).set_value("x" * (COMMENT_MAX + 5)).run()
    assert kept(folder).reason == "x" * COMMENT_MAX


def test_choices_that_cannot_be_kept_live_on_in_the_session_and_the_page_says_so(show, folder):
    (folder / "drafts.sqlite").mkdir()
    app = of_group(show, "heal h1")
    button(app, "Accept all 1 of `h1`").click().run()
    assert "drafts cannot be kept there" in said(app)
    assert "of 4 cases that differ, 1 accepted, 0 rejected and 3 left for later." in texts(app)
    assert not app.exception


def test_who_may_not_decide_sees_everything_and_presses_nothing(show, monkeypatch):
    monkeypatch.setattr(identity, "who", lambda: identity.Who(None, identity.NOT_LOCAL))
    app = show(case="c0")
    assert len(app.main.dataframe) == 3
    writing = ("Accept", "Reject", "Leave", "Certify")
    assert all(one.disabled for one in app.main.button if one.label.startswith(writing))
    assert identity.NOT_LOCAL in said(app)


def test_somebody_else_at_the_same_page_does_not_change_the_first_ones_choices(show, folder, monkeypatch):
    app = of_group(show, "heal h1")
    monkeypatch.setattr(identity, "who", lambda: identity.Who(Local("somebody else"), role=Role(may_certify=True, sentence="")))
    button(app, "Accept all 1 of `h1`").click().run()
    assert "You are somebody else now; these were somebody else's choices. Nothing was changed." in said(app)
    assert kept(folder) == Draft()


def test_a_newer_run_is_announced_and_the_choices_that_it_contradicts_are_left_at_a_click(show, folder):
    app = of_group(show, "heal h1")
    button(app, "Accept all 1 of `h1`").click().run()
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c0", "c2", "c3")))
    app = show(run="n4")
    assert "Another outcome there for 1 of the cases that you accepted: c1." in said(app)
    assert list(app.main.dataframe[1].value["newer"]) == ["another", "", ""]
    button(app, "Leave c1 for later").click().run()
    assert kept(folder) == Draft()
    assert "Another outcome there" not in said(app)
    button(app, "Review the newest full run").click().run()
    assert app.query_params["run"] in ("n5", ["n5"])


def test_choices_about_an_older_run_are_offered_when_a_newer_one_took_its_place(show, folder):
    """c1 passes again in n5, so that only c2 has the outcomes about which something was chosen."""
    Drafts(folder / "decisions.sqlite").put(local_actor(), "n4", Draft(accepted=frozenset({"c0", "c1", "c2"}), reason="looked"))
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c0", "c2", "c3")))
    app = show()
    assert "You have choices about run n4 that were not sent." in said(app)
    button(app, "Take them along to this one").click().run()
    assert Drafts(folder / "decisions.sqlite").get(local_actor(), "n5") == Draft(accepted=frozenset({"c2"}), reason="looked")
    assert "that were not sent" not in said(app)
    button(show(run="n5", case="c3"), "Leave this case")


def test_a_new_safety_regression_in_a_newer_run_stops_the_certification(tmp_path, monkeypatch):
    folder = world(tmp_path / "agent")
    add_runs(folder, run("s5", "after", 5.5, {"c0": False}, "h4"))
    app = opened(PAGE, folder, monkeypatch, run="n4")
    assert "New safety regression in s5: c0. This run cannot be certified any more; review a newer one." in said(app)
    assert button(app, "Certify version 2 …").disabled


def test_a_run_that_was_decided_on_says_by_whom_and_shows_what_is_left(tmp_path, monkeypatch):
    folder = world(tmp_path / "agent")
    certified_once(folder, accept=("c1",))
    app = opened(PAGE, folder, monkeypatch)
    told = app.success[0].value.replace("\\", "")
    assert told.startswith("Already decided: version 2 certified by ana (user of this machine) at 2026-06-01 12:00 UTC.")
    assert list(app.main.dataframe[1].value["case_id"]) == ["c2", "c3"]
    assert "RECERTIFY" not in said(app)
    button(app, "See the history").click().run()
    assert "Row 1: version 2 certified" in app.main.markdown[0].value
    assert "looked at each" in texts(app)
    assert list(app.main.dataframe[-1].value["case_id"]) == ["c1"]


def test_an_older_run_than_the_certified_one_offers_the_newest(tmp_path, monkeypatch):
    folder = world(tmp_path / "agent")
    certified_once(folder)
    app = opened(PAGE, folder, monkeypatch, run="a2")
    assert "Run a2 is older than n4, on which version 2 was certified" in said(app)
    button(app, "Review the newest full run").click().run()
    assert "Every case is as certified: there is nothing to accept or reject." in texts(app)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"run": "nope"}, "nope is no full run of the surface"),
        ({"show": "back", "heal": "nope"}, "There is no heal nope in the log to roll back to."),
    ],
)
def test_what_the_address_names_and_is_not_there_is_one_sentence(show, query, sentence):
    app = show(**query)
    assert sentence.casefold() in said(app).casefold()
    assert not [one for one in app.error if sentence in one.value]


def test_odd_addresses_show_what_there_is(show, folder):
    certified_once(folder, accept=("c1",), safety_reasons={})
    for query in ({"show": "nonsense", "group": "x", "case": "x"}, {"show": "history", "row": "99", "from": "7", "to": "x"}):
        app = show(**query)
        assert not app.error
    assert "Row 99 decides nothing about the baseline; the newest decision is shown." in said(app)
    assert "There is no version 7 of the baseline." in said(app)


def test_without_a_baseline_the_run_may_become_version_1(show, folder):
    (folder / "certified.json").unlink()
    app = show()
    assert "There is no baseline yet: all 10 cases of run n4 may become version 1." in texts(app)
    assert "1 safety case would be certified as failing: c0." in said(app)
    assert button(app, "Certify version 1 …")
    assert not [one for one in app.main.button if one.label.startswith("Accept")]


@pytest.mark.parametrize(("gone", "sentence"), [("surface.jsonl", "there is no surface.jsonl"), ("suite_runs.jsonl", "holds no run")])
def test_without_a_full_run_the_page_names_the_file(show, folder, gone, sentence):
    (folder / gone).unlink()
    app = show()
    assert sentence in said(app)
    assert "docs/records.md" in texts(app)
    assert sentence in said(show(show="back"))


def test_a_baseline_that_somebody_edited_is_not_used_and_says_so(show, folder):
    certified_once(folder)
    (folder / "certified.json").write_text(json.dumps({"c1": "pass"}))
    app = show()
    assert "Moved goalposts: certified.json holds what nobody certified and is not used; version 2 of the ledger counts." in said(app)
    assert any(one.value.endswith("--replace") for one in app.main.code)


def test_a_broken_ledger_is_one_sentence_and_stops_every_decision(show, folder):
    certified_once(folder)
    with opened_by_force(folder / "decisions.sqlite") as con:
        con.execute("update decisions set body = replace(body, 'looked', 'lookt')")
    for look in ("review", "back", "history", "who"):
        app = show(show=look)
        assert "row 1 was changed" in said(app) or look == "who"
        assert not [one for one in app.main.button if one.label.startswith(("Certify", "Roll")) and not one.disabled]


@pytest.fixture
def two(folder, monkeypatch, tmp_path):
    """A server that wants two people; the page, opened."""
    settings = tmp_path / "server.toml"
    settings.write_text("approvals_required = 2\n")

    def make(**query):
        from streamlit.testing.v1 import AppTest

        monkeypatch.setenv("SEAM_WORKSPACE", str(folder))
        monkeypatch.setenv("SEAM_SETTINGS", str(settings))
        app = AppTest.from_file(PAGE, default_timeout=60)
        for key, value in query.items():
            app.query_params[key] = value
        app.run()
        assert not app.exception
        return app

    return make


def proposed(folder, actor):
    with opened_desk(folder, approvals_required=2) as desk:
        reasons = {"c0": "the rule was withdrawn"}
        desk.certify(sent(desk, accept=("c0", "c1"), reject=("c2",), reason="a looked", safety_reasons=reasons), actor=actor)


def test_the_second_person_sees_the_first_ones_reasons_and_may_approve_or_veto(two, folder):
    assert button(two(), "Propose version 2 …")
    proposed(folder, Local("ana"))
    app = two()
    assert "Version 2 proposed by ana (user of this machine): it waits for another reviewer." in said(app)
    assert "a looked" in texts(app)
    assert "the rule was withdrawn" in app.main.dataframe[0].value.to_string()
    button(app, "Approve …").click().run()
    assert "Say why in a sentence." in said(app)
    assert button(app, "Veto …")


def test_a_version_that_two_people_made_names_both_with_their_reasons_and_its_commands_name_the_settings(two, folder, tmp_path):
    proposed(folder, Local("ana"))
    with opened_desk(folder, approvals_required=2) as desk:
        desk.approve(1, reason="b agrees", key="k2", actor=Local("bo"), place=tmp_path / "unused")
    app = two()
    captions = texts(app).replace("\\", "")
    assert "Proposed by ana (user of this machine) at " in captions
    assert "Approved, because" in captions
    assert texts(app).index("a looked") < texts(app).index("b agrees")
    settings = tmp_path / "server.toml"
    command = f"SEAM_SETTINGS={settings} python -m seam_core ledger verify --workspace {folder} --head "
    assert any(one.value.startswith(command) for one in two(show="history").main.code)


def test_the_first_person_can_only_take_the_proposal_back(two, folder):
    proposed(folder, local_actor())
    app = two()
    assert "another reviewer has to approve it" in said(app)
    assert [one.label for one in app.main.button if one.label in ("Approve …", "Veto …", "Take it back …")] == ["Take it back …"]


def test_a_proposal_lapses_when_its_evidence_changes_and_says_why(two, folder):
    proposed(folder, Local("ana"))
    (folder / "certified.json").write_text(json.dumps(json.loads((folder / "certified.json").read_text()) | {"c9": "fail"}))
    app = two()
    assert "It lapsed and cannot be approved any more" in said(app)
    assert button(app, "Approve …").disabled


def write_hostile_runs(folder: Path):
    """The hostile workspace, with one full run in which everything fails."""
    write_hostile(folder, NAMES)
    newest = run("full " + NAMES[0], "nightly", 20, dict.fromkeys(NAMES, False)) | {"evidence": {NAMES[0]: NAMES[1]}}
    with (folder / "suite_runs.jsonl").open("a") as log:
        log.write(json.dumps(newest) + "\n")


@pytest.mark.parametrize("look", ["review", "back", "history", "who"])
def test_hostile_names_open_in_every_look(tmp_path, monkeypatch, look):
    write_hostile_runs(tmp_path / "hostile")
    for case in NAMES[:2]:
        app = opened(PAGE, tmp_path / "hostile", monkeypatch, show=look, case=case, heal=f"1 {NAMES[1]}")
        assert not app.exception
        marked = [one.value for one in (*app.main.markdown, *app.main.caption, *app.main.header, *app.warning, *app.info, *app.error)]
        assert not [value for value in marked if "evil.test" in outside_code(value)]
