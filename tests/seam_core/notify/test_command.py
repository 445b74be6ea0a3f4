"""``python -m seam_core notify``: what a scheduler runs, what a decision sends by itself, and what stands under `baseline status`."""

import json
import re
import sys
import time
from datetime import UTC, datetime

import pytest

from seam_core.__main__ import main
from seam_core.ledger import Ledger, verify
from seam_core.notify.telling import after_decision
from tests.seam_core.baselines import certified_once, world
from tests.seam_core.conftest import Ran
from tests.seam_core.ledgers import files_in
from tests.seam_core.receivers import Program
from tests.seam_core.workspaces import heal

PROTECTED = [{"id": "tools", "kind": "tool_permission", "target": "*", "text": "Read only."}]


@pytest.fixture
def folder(tmp_path):
    return world(tmp_path / "agent")


@pytest.fixture
def pager(tmp_path):
    return Program(tmp_path / "bin")


@pytest.fixture
def server(tmp_path, monkeypatch, pager):
    """Server settings with one hook, and the ledger outside the workspace."""
    (tmp_path / "kept").mkdir()
    file = tmp_path / "server.toml"

    def put(more=""):
        file.write_text(f'ledger = "kept"\npublic_url = "https://seam.example.org"\n{more}\n[hooks.commands]\npager = ["{pager.path}"]\n')
        monkeypatch.setenv("SEAM_SETTINGS", str(file))
        return tmp_path / "kept"

    put()
    return put


@pytest.fixture
def notify(capsys, folder):
    def call(*arguments, command=("notify",)):
        code = main([*command, "--workspace", str(folder), *arguments])
        sys.stdout.flush()
        return Ran(code, *capsys.readouterr())

    return call


def test_what_is_due_is_sent_once_and_noted_beside_the_ledger(notify, server, pager, folder):
    before = files_in(folder)
    ran = notify()
    assert (ran.code, ran.out, ran.err) == (0, "1 event to pager (command pager.sh): sent\n", "")
    assert [(one["title"], one["link"]) for one in pager.got] == [
        ("RECERTIFY is due: agent", "https://seam.example.org/recertify?workspace=agent&run=n4")
    ]
    assert (notify().code, notify().out, len(pager.got)) == (0, "nothing to send\n", 1)
    assert files_in(folder) == before
    assert (server() / "agent.notices.sqlite").exists()


def test_a_failure_is_code_1_until_it_arrived_and_again_does_not_wait(notify, server, pager):
    pager.end_with(7)
    ran = notify()
    assert (ran.code, ran.out) == (1, "1 event to pager (command pager.sh): ended with exit code 7; it is tried again\n")
    later = notify()
    assert later.code == 1
    assert later.out.startswith(
        "pager (command pager.sh): nothing sent yet; 1 event not delivered (ended with exit code 7), next try from "
    )
    found = json.loads(notify("--list", "--format", "json").out)
    assert [(one["state"], one["tries"], one["reason"]) for one in found["deliveries"]] == [("waiting", 1, "ended with exit code 7")]
    assert "RECERTIFY is due: agent: waiting (ended with exit code 7)" in notify("--list").out
    pager.end_with(0)
    assert notify("--again", "--format", "json").code == 0
    assert len(pager.got) == 2


def test_a_dry_run_shows_what_there_is_and_sends_and_writes_nothing(notify, server, pager, folder):
    ran = notify("--dry-run")
    assert ran.code == 0
    assert "RECERTIFY is due: agent\n  In the newest full run, n4, 3 of 10" in ran.out
    assert ran.out.endswith("  to: pager (command pager.sh)\n")
    assert (pager.got, list(server().iterdir())) == ([], [])
    notify()
    assert json.loads(notify("--dry-run", "--format", "json").out)["events"][0]["to"] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[hooks]\nevents = ["nothing"]', "unknown event nothing"),
        ("[hooks]\nevents = []", "there is nobody to tell: SEAM_SETTINGS names no hook"),
    ],
)
def test_settings_that_tell_nobody_are_code_3_and_a_sentence(notify, server, more, said):
    server(more)
    ran = notify()
    assert (ran.code, ran.out) == (3, "")
    assert said in ran.err


def test_without_server_settings_there_is_nobody_to_tell(notify, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    assert (notify().code, notify().err) == (3, "python -m seam_core: there is nobody to tell: SEAM_SETTINGS is not set\n")
    assert notify("--format", "xml").code == 3


def test_logs_that_cannot_be_read_are_said_and_what_waits_is_sent_all_the_same(notify, server, pager, folder):
    pager.end_with(1)
    notify()
    pager.end_with(0)
    (folder / "heal_events.jsonl").write_text("nonsense\n")
    ran = notify("--again")
    assert (ran.code, ran.out) == (3, "1 event to pager (command pager.sh): sent\n")
    assert "none of its 1 lines is a heal" in ran.err


def test_without_a_place_to_note_it_nothing_is_sent(notify, server, pager):
    (server() / "agent.notices.sqlite").mkdir()
    ran = notify()
    assert (ran.code, ran.out, pager.got) == (1, "", [])
    assert "is a folder, so nothing is sent" in ran.err


def test_stopped_heals_are_one_message_with_the_rest(notify, server, pager, folder):
    world(folder, protected=PROTECTED, heals=[heal(n, target="t1", text="Do it.") for n in (1, 2, 3)])
    assert notify().code == 0
    (message,) = pager.got
    assert message["title"] == "RECERTIFY is due and 3 heals stopped: agent"
    assert sorted(pager.events) == ["gate h1", "gate h2", "gate h3", "recertify since start"]


# ---- decisions


def certify(notify, *arguments):
    status = json.loads(notify("--format", "json", command=("baseline", "status")).out)
    decided = ("--run", status["run"], "--digest", status["digest"], "--reason", "looked", "--accept-all")
    return notify(*decided, *arguments, command=("baseline", "certify"))


def test_a_decision_is_told_at_once_and_not_again_by_the_scheduler(notify, server, pager):
    ran = certify(notify)
    assert (ran.code, ran.err) == (0, "")
    (message,) = pager.got
    assert message["title"] == "Version 2 certified: agent"
    assert "certified version 2 on run n4 (drift 30 %): 3 accepted, 0 rejected and 0 left." in message["text"]
    assert (notify().code, len(pager.got)) == (0, 1)
    head = re.search(r"sha256 ([0-9a-f]{64})\.", message["text"])[1]
    assert verify(server() / "agent.sqlite", head=head).holds


def test_a_hook_that_fails_changes_nothing_of_the_decision_and_is_said(notify, server, pager):
    pager.end_with(9)
    ran = certify(notify)
    assert ran.code == 0
    assert "the decision is written; not everybody was told: 1 event to pager (command pager.sh): ended with exit code 9" in ran.err
    assert len(Ledger(server() / "agent.sqlite").rows()) == 1
    status = notify(command=("baseline", "status")).out
    assert "Notifications to pager (command pager.sh): nothing sent yet; 1 event not delivered (ended with exit code 9)" in status


def test_after_a_decision_nobody_waits_for_the_hooks(server, pager, tmp_path, folder):
    slow = Program(tmp_path / "bin", name="pager", first="sleep 0.3")
    row = certified_once(folder)
    began = time.monotonic()
    thread = after_decision(folder, row)
    assert time.monotonic() - began < 0.2
    thread.join(20)
    assert slow.events == [f"decision {row.sha256}"]


def test_a_decision_that_the_page_could_not_tell_of_is_found_by_the_scheduler(notify, server, pager, folder):
    """The process ended before its thread had begun: the row is in the ledger, and nobody was told."""
    ledger = Ledger(server() / "agent.sqlite", clock=lambda: datetime.now(UTC))
    row = certified_once(folder)
    again = ledger.write(row.decision, actor=row.by)
    notify()
    assert pager.events == [f"decision {again.sha256}"]


def test_broken_server_settings_do_not_reach_a_decision(server, pager, folder):
    row = certified_once(folder)
    server("[hooks]\nnonsense = 1")
    thread = after_decision(folder, row)
    thread.join(20)
    assert pager.got == []
