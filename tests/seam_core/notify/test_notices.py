"""What is told: the events of an audit and of the ledger, their ids, and that what an agent named is only text."""

from datetime import timedelta
from pathlib import Path

import pytest

from pages.parts.menu import PAGES as MENU
from seam_core.ledger import Ledger, SignedIn
from seam_core.ledger.kinds import Checkpoint
from seam_core.notify.hooks import EVENTS
from seam_core.notify.notices import LISTED, PAGES, Notice, Place, of_audit, of_decision, of_ledger, plain, together
from seam_core.report import audit, window_of
from seam_core.settings import resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder
from tests.seam_core.baselines import RUNS, add_runs, certified_once, opened_desk, outcomes, sent, world
from tests.seam_core.ledgers import ANA, BEN, NOON, opened_by_force
from tests.seam_core.workspaces import NOW, audited, heal, run, write

PLACE = Place("agent", "https://seam.example.org")
PROTECTED = [
    {"id": "rule_1", "kind": "safety_instruction", "target": "t1", "text": "Ask first."},
    {"id": "tools", "kind": "tool_permission", "target": "*", "text": "Read only."},
]


def noticed(folder, *, span="all", place=PLACE):
    """The notices of an audit of all history."""
    store = Store(workspace_of_folder(folder), now=NOW, ledger=folder / "decisions.sqlite")
    try:
        store.refresh()
        return of_audit(audit(store, window_of(store, span=span), resolve(None)), place, span=span)
    finally:
        store.close()


def test_recertify_names_value_line_run_version_and_the_way_there(tmp_path):
    (found,) = noticed(world(tmp_path / "agent"))
    assert found == Notice(
        "recertify since start",
        "recertify",
        "RECERTIFY is due: agent",
        "In the newest full run, n4, 3 of 10 cases (30 %) differ from version 1 of the certified baseline; the line is 20 %,"
        " first reached in run a2. A person has to review it.",
        "https://seam.example.org/recertify?workspace=agent&run=n4",
    )


def test_it_stays_one_event_until_a_person_decides_and_is_a_new_one_after(tmp_path):
    folder = world(tmp_path / "agent")
    first = noticed(folder)[0].id
    add_runs(folder, run("n5", "nightly", 5.0, outcomes("c1", "c2", "c3", "c4")))
    assert noticed(folder)[0].id == first
    certified_once(folder, accept=("c1", "c2", "c3", "c4"))
    assert noticed(folder) == []
    add_runs(folder, run("n6", "nightly", 6.0, outcomes()))
    (found,) = noticed(folder)
    assert found.id != first
    assert "4 of 10 cases (40 %) differ from version 2" in found.text


def test_a_stopped_heal_is_told_once_with_all_that_it_breaks(tmp_path):
    folder = world(tmp_path / "agent", runs=[], protected=PROTECTED, heals=[heal(1, target="t1", text="Do it."), heal(2)])
    (found,) = noticed(folder, span="7d")
    assert (found.id, found.kind, found.title) == ("gate h1", "gate", "A heal was stopped: agent")
    assert found.text == (
        "The boundary gate stopped heal h1 of loop L1: its change of t1 breaks rule_1 (safety instruction) and tools (tool permission)."
        " It is not scored; a person has to look."
    )
    assert found.link == "https://seam.example.org/gates?workspace=agent&win=7d&end=2026-06-03T12%3A00%3A00Z&heal=h1"


def test_a_withheld_axis_is_told_with_the_rules_that_withhold_it(tmp_path):
    """One question that stands in both exams."""
    question = {"id": "q1", "text": "Which of the two keys opens the back door?"}
    log = write(tmp_path / "agent", heal_events=[heal()], holdout=[question], practice=[question])
    with audited(log) as audit_of_it:
        (told,) = of_audit(audit_of_it, PLACE)
    assert (told.id, told.kind) == ("withheld E I64", "withheld")
    assert told.text == "Efficacy is not to be believed: the checks I64 found something."
    assert told.link.startswith("https://seam.example.org/integrity")


def test_nothing_is_told_of_a_workspace_in_which_nothing_is_due(tmp_path):
    assert noticed(world(tmp_path / "agent", runs=RUNS[:3])) == []


def test_without_a_public_url_there_is_no_link(tmp_path):
    assert [one.link for one in noticed(world(tmp_path / "agent"), place=Place("agent"))] == [""]


def test_decisions_say_who_did_what_on_which_run(tmp_path):
    folder = world(tmp_path / "agent")
    with opened_desk(folder) as desk:
        row = desk.certify(sent(desk, accept=("c1", "c2"), reject=("c3",)), actor=SignedIn("https://id.example", "u1", "Ana <b>@all")).row
        found = of_decision(row, PLACE)
        assert found.title == "Version 2 certified: agent"
        assert found.text == (
            "Ana ·b··all certified version 2 on run n4 (drift 30 %): 2 accepted, 1 rejected and 0 left."
            f" Row 1 of the ledger, sha256 {row.sha256}."
        )
        assert found.link == "https://seam.example.org/recertify?workspace=agent"
        back = desk.roll_back(sent(desk, "n4", key="k2"), heal_id="h2", place=tmp_path / "back", actor=ANA).row
        assert of_decision(back, PLACE).text.startswith("ana decided after run n4 (drift 10 %) to go back to what heal h2 left. Row 2 ")
        assert len({of_decision(row, PLACE).id, of_decision(back, PLACE).id}) == 2


def test_proposals_call_for_a_second_person_and_vetoes_say_what_they_close(tmp_path):
    with opened_desk(world(tmp_path / "agent"), approvals_required=2) as desk:
        row = desk.certify(sent(desk, accept=("c1", "c2")), actor=ANA).row
        assert of_decision(row, PLACE).title == "A second person is asked: agent"
        assert of_decision(row, PLACE).text == (
            "ana proposes in row 1 to certify version 2 on run n4 (drift 30 %): 2 accepted, 0 rejected and 1 left."
            f" Another reviewer has to approve or veto it. Row 1 of the ledger, sha256 {row.sha256}."
        )
        veto = desk.veto(1, reason="not yet", key="k2", actor=BEN).row
        assert of_decision(veto, PLACE).text.startswith("Ben vetoed what row 1 proposes. Row 2 ")
        back = desk.roll_back(sent(desk, key="k3"), heal_id="h2", place=tmp_path / "back", actor=ANA).row
        assert "ana proposes in row 3 after run n4 (drift 30 %) to go back to what heal h2 left." in of_decision(back, PLACE).text
        assert [one.id for one in of_ledger(desk.ledger, PLACE, now=NOON)] == [f"decision {one.sha256}" for one in (row, veto, back)]


def test_the_ledger_tells_decisions_of_the_last_seven_days_and_nothing_of_checkpoints(tmp_path):
    folder = world(tmp_path / "agent")
    row = certified_once(folder)  # dated NOON
    ledger = Ledger(folder / "decisions.sqlite")
    assert [one.id for one in of_ledger(ledger, PLACE, now=NOON + timedelta(days=7))] == [f"decision {row.sha256}"]
    assert of_ledger(ledger, PLACE, now=NOON + timedelta(days=7, seconds=1)) == []
    ledger.write(Checkpoint(files={}), actor=ANA)
    assert len(of_ledger(ledger, PLACE, now=NOON)) == 1


def test_a_ledger_that_does_not_hold_is_told_and_none_of_its_rows_is(tmp_path):
    folder = world(tmp_path / "agent")
    certified_once(folder)
    with opened_by_force(folder / "decisions.sqlite") as con:
        con.execute("update decisions set ts = '2026-06-02T00:00:00.000000Z'")
    (found,) = of_ledger(Ledger(folder / "decisions.sqlite"), PLACE, now=NOON)
    assert found.kind == "ledger"
    assert found.text.startswith("The ledger of decisions does not hold from row 1 on.")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("h_0042", "h_0042"),
        ("run.2026-06", "run.2026-06"),
        ("loop.7", "loop.7"),
        ("[pay](http://evil.example)", "·pay··http···evil·example·"),
        ("**bold** _it_ __u__ `code`", "··bold·· ·it· ··u·· ·code·"),
        ("<!channel> @here <@U1>", "··channel· ·here ··U1·"),
        ("www.evil.example", "www·evil·example"),
        ("a\nb\tc\x00\x1b[31m", "a b c···31m"),
        ("abc\u202edef\u200b", "abc·def·"),
        ("x" * 60, "x" * 39 + "···"),
        ("größe-5", "größe-5"),
        ("\ud800", "·"),
        ("", "·"),
    ],
)
def test_a_name_from_an_agent_is_text_without_links_marks_or_calls(name, shown):
    assert plain(name) == shown


def test_hostile_ids_come_through_every_message_as_text(tmp_path):
    evil = "<!channel> [x](https://evil.example) \u202e\x00"
    heals = [heal(1, target=evil, text="Do it.") | {"heal_id": evil, "loop_id": evil}]
    protected = [{"id": evil, "kind": "safety_instruction", "target": "*", "text": "Ask first."}]
    runs = [run(evil, "nightly", 4.5, outcomes("c1", "c2", "c3"))]
    found = noticed(world(tmp_path / "agent", heals=heals, runs=runs, protected=protected))
    assert [one.kind for one in found] == ["recertify", "gate"]
    message = together(found, Place(evil))
    for text in (message.title, message.text, *(one.title + one.text for one in found)):
        said = "".join(line for line in text.splitlines() if not line.startswith("https://seam.example.org/"))
        assert not set(said) & set("<>[]!@\u202e\x00")
        assert "evil.example" not in said
    assert all(one.link.isascii() and one.link.isprintable() and " " not in one.link for one in found)


def test_an_id_of_any_length_makes_a_short_message_and_event(tmp_path):
    heals = [heal(1, target="t1", text="Do it.") | {"heal_id": "x" * 5000}]
    (found,) = noticed(world(tmp_path / "agent", heals=heals, runs=[], protected=PROTECTED))
    assert len(found.id) < 100
    assert len(found.text) < 300
    assert found.link.endswith("Z")


def notices(kind, n):
    return [Notice(f"{kind} {i}", kind, f"one {kind}", f"text {i}", f"https://x/{i}") for i in range(n)]


def test_one_event_is_sent_as_it_is_and_several_as_one_message():
    (one,) = notices("gate", 1)
    assert (together([one], PLACE).title, together([one], PLACE).text) == ("one gate", "text 0\nhttps://x/0")
    found = together([*notices("recertify", 1), *notices("gate", 2), *notices("decision", 1)], PLACE)
    assert found.title == "RECERTIFY is due, 2 heals stopped and 1 decision: agent"
    assert found.text.splitlines()[:4] == ["- text 0", "https://x/0", "- text 0", "https://x/0"]
    assert found.link == "https://x/0"


def test_a_thousand_stopped_heals_are_one_message_of_ten_lines():
    found = together(notices("gate", 1000), PLACE)
    assert found.title == "1,000 heals stopped: agent"
    lines = [line for line in found.text.splitlines() if line.startswith("- ")]
    assert (len(lines), lines[-1]) == (LISTED + 1, "- and 990 more")


def test_every_link_leads_to_a_page():
    there = {Path(entry.file).stem for entry in MENU} | {"recertify"}  # the page of re-certification is there with the others or comes
    assert set(PAGES.values()) <= there
    assert set(PAGES) == set(EVENTS)
