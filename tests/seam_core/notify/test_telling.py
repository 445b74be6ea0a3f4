"""Telling: once per event and hook, whatever fails, whoever is killed and however many tell at the same time."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from seam_core.notify import by_url, sending
from seam_core.notify.hooks import Hook, Hooks
from seam_core.notify.notices import Notice, Place, together
from seam_core.notify.outbox import LEASE, TRIES, WAITS, Outbox, OutboxError, outbox_file
from seam_core.notify.sending import send
from seam_core.notify.standing import states
from seam_core.notify.telling import tell
from tests.seam_core.ledgers import NOON
from tests.seam_core.receivers import MailServer, Program, WebService, running

ROOT = Path(__file__).parents[3]
PLACE = Place("agent", "https://seam.example.org")
ONE, TWO = (Notice(f"gate h{n}", "gate", f"A heal was stopped: agent {n}", f"text {n}", "https://x/y?a=1&b=2") for n in (1, 2))


@pytest.fixture
def outbox(tmp_path):
    return Outbox(tmp_path / "notices.sqlite")


@pytest.fixture
def pager(tmp_path):
    return Program(tmp_path / "bin")


def telling(outbox, hooks, *notices, at=NOON):
    return tell(outbox, Hooks(tuple(hooks)), PLACE, list(notices), clock=lambda: at)


# ---- once per event and hook


def test_an_event_is_sent_to_each_hook_once(outbox, pager, tmp_path):
    other = Program(tmp_path / "bin", name="chat")
    hooks = pager.hook(), other.hook("chat")
    assert [one.sentence for one in telling(outbox, hooks, ONE)] == [
        "1 event to pager (command pager.sh): sent",
        "1 event to chat (command chat.sh): sent",
    ]
    assert telling(outbox, hooks, ONE, at=NOON + timedelta(days=400)) == []
    assert [one.n_events for one in telling(outbox, hooks, ONE, TWO)] == [1, 1]
    assert pager.events == other.events == ["gate h1", "gate h2"]


def test_several_events_are_one_message(outbox, pager):
    assert [one.n_events for one in telling(outbox, [pager.hook()], ONE, TWO)] == [2]
    (message,) = pager.got
    assert message["title"] == "2 heals stopped: agent"
    assert [one["id"] for one in message["events"]] == ["gate h1", "gate h2"]


def test_an_event_that_nobody_wants_told_is_not_noted(outbox, pager):
    assert tell(outbox, Hooks((pager.hook(),), events=("decision",)), PLACE, [ONE], clock=lambda: NOON) == []
    assert not outbox.path.exists()


def test_a_hook_that_is_named_later_is_told_what_is_still_so(outbox, pager, tmp_path):
    telling(outbox, [pager.hook()], ONE)
    other = Program(tmp_path / "bin", name="chat")
    telling(outbox, [pager.hook(), other.hook("chat")], ONE)
    assert (pager.events, other.events) == (["gate h1"], ["gate h1"])


# ---- what fails


def test_a_failed_delivery_waits_is_tried_again_and_arrives(outbox, pager):
    pager.end_with(3)
    (told,) = telling(outbox, [pager.hook()], ONE)
    assert told.sentence == "1 event to pager (command pager.sh): ended with exit code 3; it is tried again"
    pager.end_with(0)
    assert telling(outbox, [pager.hook()], at=NOON + WAITS[0] - timedelta(seconds=1)) == []
    assert [one.fault for one in telling(outbox, [pager.hook()], at=NOON + WAITS[0])] == [""]
    assert pager.events == ["gate h1"] * 2  # the refused try and the good one
    assert telling(outbox, [pager.hook()], ONE, at=NOON + timedelta(days=30)) == []


def test_a_failing_hook_does_not_keep_the_others_from_being_told(outbox, pager, tmp_path):
    gone = Hook("gone", command=(str(tmp_path / "nothing"),))
    told = telling(outbox, [gone, pager.hook()], ONE)
    assert [one.fault for one in told] == ["cannot be started (No such file or directory)", ""]


def test_waits_grow_and_after_the_last_try_it_is_given_up_and_said(outbox, pager):
    pager.end_with(1)
    at, tries = NOON, []
    for wait in (*WAITS, timedelta()):
        tries += telling(outbox, [pager.hook()], ONE, at=at)
        assert telling(outbox, [pager.hook()], ONE, at=at + wait - timedelta(seconds=1)) == []
        at += wait
    assert [one.is_last for one in tries] == [False] * len(WAITS) + [True]
    assert sum(WAITS, timedelta()) == timedelta(hours=14, minutes=36)
    assert telling(outbox, [pager.hook()], ONE, at=at + timedelta(days=99)) == []
    (state,) = states(outbox, Hooks((pager.hook(),)))
    assert state.sentence == "nothing sent yet; 1 event given up (ended with exit code 1)"
    pager.end_with(0)
    assert outbox.again(now=at) == 1
    assert [one.fault for one in telling(outbox, [pager.hook()], at=at)] == [""]


def test_what_waits_is_still_sent_when_the_clock_was_set_back(outbox, pager):
    pager.end_with(1)
    telling(outbox, [pager.hook()], ONE)
    pager.end_with(0)
    assert [one.fault for one in telling(outbox, [pager.hook()], at=NOON - timedelta(days=900))] == [""]


def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(pager, tmp_path):
    mark = tmp_path / "child"
    slow = Program(tmp_path / "bin", name="slow", first=f"sleep 60 &\necho $! > {mark}\nwait")
    assert send(slow.hook(), together([ONE], PLACE), limit_s=0.3) == "took longer than 0.3 seconds"
    child = Path("/proc") / mark.read_text().strip() / "stat"
    for _ in range(100):  # killed, but perhaps not taken away yet
        if not child.exists() or child.read_text().split()[2] == "Z":
            break
        time.sleep(0.01)
    else:
        pytest.fail("a program's child is still at work")


def test_a_program_gets_the_message_as_json_and_in_its_arguments_and_no_secret_of_the_server(tmp_path, monkeypatch):
    monkeypatch.setenv("COOKIE_SECRET", "s3cret")
    kept = tmp_path / "kept"
    program = Program(tmp_path / "bin", first=f'printf "%s\\n" "$@" > {kept}; env >> {kept}; pwd >> {kept}')
    hostile = Notice("gate x", "gate", "$(touch pwned); {text} `id`", "one\ntwo", "https://x")
    assert send(program.hook("pager", "--title", "{title}", "{link} {workspace}"), together([hostile], PLACE)) == ""
    lines = kept.read_text().splitlines()
    assert lines[:3] == ["--title", "$(touch pwned); {text} `id`", "https://x agent"]
    assert "s3cret" not in kept.read_text()
    assert lines[-1] == "/"
    (said,) = program.got
    assert (said["title"], said["text"], said["link"], said["workspace"]) == (hostile.title, "one\ntwo\nhttps://x", "https://x", "agent")
    assert said["events"] == [{"id": "gate x", "kind": "gate", "title": hostile.title, "text": "one\ntwo", "link": "https://x"}]


# ---- several at once, and one that is killed

TELL = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from seam_core.notify.hooks import Hook, Hooks
from seam_core.notify.notices import Notice, Place
from seam_core.notify.outbox import Outbox
from seam_core.notify.telling import tell
file, program, go = sys.argv[1:4]
notices = [Notice(f"gate h{n}", "gate", "t", "x") for n in range(50)]
while not Path(go).exists():
    time.sleep(0.001)
for n in range(0, 50, 5):
    hooks = Hooks((Hook("pager", command=(program,)),))
    tell(Outbox(Path(file)), hooks, Place("agent"), notices[n : n + 5], clock=lambda: datetime.now(UTC))
"""


def test_two_processes_at_once_send_every_event_once(outbox, pager, tmp_path):
    command = [sys.executable, "-c", TELL, outbox.path, pager.path, tmp_path / "go"]
    both = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    (tmp_path / "go").touch()
    assert [one.wait(60) for one in both] == [0, 0]
    assert sorted(pager.events) == sorted(f"gate h{n}" for n in range(50))


def test_after_a_kill_while_it_is_sent_the_event_waits_for_the_lease_and_goes_out_again(outbox, pager, tmp_path):
    """At least once: nobody knows whether it arrived, and a lost notice is worse than one that comes twice."""
    mark = tmp_path / "pid"
    stuck = Program(tmp_path / "bin", name="stuck", first=f"echo $$ > {mark}; exec sleep 60")
    (tmp_path / "go").touch()
    process = subprocess.Popen([sys.executable, "-c", TELL, outbox.path, stuck.path, tmp_path / "go"], cwd=ROOT)
    while not (mark.exists() and mark.read_text().strip()):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.kill(int(mark.read_text()), signal.SIGKILL)
    (delivery,) = {(one.state, one.tries, one.due) for one in outbox.listing()}
    assert delivery[:2] == ("waiting", 1)
    due = datetime.fromisoformat(delivery[2])
    assert due - datetime.now(UTC) <= LEASE
    assert telling(outbox, [pager.hook()], at=due - timedelta(seconds=1)) == []
    assert [one.n_events for one in telling(outbox, [pager.hook()], at=due)] == [5]


def test_a_message_that_kills_its_sender_every_time_is_given_up_in_the_end(outbox, pager):
    outbox.add([ONE], Hooks((pager.hook(),)), now=NOON)
    at = NOON
    for _ in range(TRIES):
        assert len(outbox.claim(pager.hook(), now=at)) == 1
        at += LEASE
    assert outbox.claim(pager.hook(), now=at) == []
    (state,) = states(outbox, Hooks((pager.hook(),)))
    assert state.sentence == "nothing sent yet; 1 event given up (interrupted before it was known whether it arrived)"


# ---- the file of what was sent


def sqlite_of_another(path):
    with sqlite3.connect(path) as con:
        con.execute("create table deliveries (x)")
    con.close()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b"not a database, but long enough to look at" * 50), "is not a SQLite file"),
        (lambda path: path.symlink_to("elsewhere"), "is a link"),
        (lambda path: path.mkdir(), "is a folder"),
        (sqlite_of_another, "is another program's file"),
    ],
)
def test_without_a_file_that_can_be_believed_nothing_is_sent_and_the_reason_is_one_sentence(outbox, pager, spoil, said):
    spoil(outbox.path)
    with pytest.raises(OutboxError, match=said) as refused:
        telling(outbox, [pager.hook()], ONE)
    assert "so nothing is sent" in str(refused.value)
    assert pager.got == []
    with pytest.raises(OutboxError, match=said):
        states(outbox, Hooks((pager.hook(),)))


def test_looking_writes_nothing(outbox, pager):
    assert [one.sentence for one in states(outbox, Hooks((pager.hook(),)))] == ["nothing sent yet"]
    assert (outbox.listing(), outbox.again(now=NOON), outbox.claim(pager.hook(), now=NOON)) == ([], 0, [])
    assert not outbox.path.exists()


@pytest.mark.parametrize(("ledger", "file"), [("decisions.sqlite", "notices.sqlite"), ("agent.sqlite", "agent.notices.sqlite")])
def test_it_lies_beside_the_ledger_and_workspaces_do_not_share_one(tmp_path, ledger, file):
    assert outbox_file(tmp_path / ledger) == tmp_path / file


# ---- by URL


def test_a_url_is_told_by_a_process_of_its_own_that_shows_no_secret(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        sending.subprocess, "Popen", lambda command, **options: started.append((command, options["env"])) or popen(command, **options)
    )
    with running(WebService()) as service:
        assert send(Hook("team", url=service.url()), together([ONE], PLACE)) == ""
        ((path, headers, body),) = service.got
    assert (path, headers["User-Agent"]) == ("/hook/S3CRET", "SEAM")
    assert (body["title"], body["message"]) == (ONE.title, "text 1\nhttps://x/y?a=1&b=2")
    ((command, environ),) = started
    assert not [word for word in (*command, *environ.values()) if "S3CRET" in str(word) or "pa55word" in str(word)]


def test_why_a_service_did_not_take_it_is_said_without_its_url(capfd):
    with running(WebService()) as service:
        service.status = 503
        hook = Hook("team", url=service.url())
        assert send(hook, together([ONE], PLACE)) == "the service answered with 503"
        service.status, service.location = 307, "http://127.0.0.1:1/elsewhere"
        assert by_url.send(service.url(), title="t", text="x") == "the service answered with 307"  # not followed
    assert by_url.send(service.url(), title="t", text="x") == "the service could not be reached"
    assert by_url.send("slack://S3CRET", title="t", text="x") == "the URL is none that this service understands"
    said = "".join(capfd.readouterr())
    assert "S3CRET" not in said
    assert "pa55word" not in said


def test_mail_is_sent_as_plain_text():
    with running(MailServer()) as server:
        assert by_url.send(server.url(), title="RECERTIFY is due: agent", text="3 of 10 cases & more.\nhttps://x/y?a=1&b=2") == ""
        (mail,) = server.got
    assert "Subject: RECERTIFY is due: agent" in mail
    assert "To: ana@example.org" in mail
    assert json.dumps("3 of 10 cases")[1:-1] in mail
