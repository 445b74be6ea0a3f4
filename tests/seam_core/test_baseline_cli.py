"""``python -m seam_core baseline``: what stands, certifying and rolling back from a terminal, and packets of what was certified."""

import json
import sys
from pathlib import Path

import pytest

from seam_core.__main__ import main
from seam_core.cli import main as report_main
from seam_core.ledger import Ledger, Local, local_actor
from seam_core.packet import verify_packet
from tests.seam_core.baselines import PASSES, RUNS, add_runs, outcomes, world
from tests.seam_core.conftest import Ran
from tests.seam_core.ledgers import files_in
from tests.seam_core.workspaces import run


@pytest.fixture
def folder(tmp_path):
    return world(tmp_path / "agent", runs=[*RUNS, run("n5", "nightly", 5.5, outcomes("c0", "c1", "c2"))])


@pytest.fixture
def baseline(capsys, monkeypatch, folder):
    """Call ``python -m seam_core baseline`` on the workspace in this process."""
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)

    def call(command, *arguments):
        code = main(["baseline", command, "--workspace", str(folder), *(str(argument) for argument in arguments)])
        sys.stdout.flush()
        return Ran(code, *capsys.readouterr())

    return call


def told(ran):
    return json.loads(ran.out)


def shown(baseline, *arguments):
    return told(baseline("status", "--format", "json", *arguments))


def decide(baseline, command, *arguments, digest=None):
    status = shown(baseline)
    return baseline(command, "--run", status["run"], "--digest", digest or status["digest"], "--reason", "looked", *arguments)


def test_status_gives_run_digest_due_drift_and_version_and_writes_nothing(baseline, folder):
    before = files_in(folder)
    found = shown(baseline)
    assert [found[key] for key in ("run", "due", "drift", "version", "first_due_run")] == ["n5", True, 0.3, 1, "a2"]
    assert len(found["digest"]) == 64
    assert [(case["case"], case["certified"], case["now"], case["safety"]) for case in found["cases"]] == [
        ("c0", "pass", "fail", True), ("c1", "pass", "fail", False), ("c2", "pass", "fail", False),
    ]  # fmt: skip
    assert "RECERTIFY is due" in baseline("status").out
    assert shown(baseline, "--run", "a1")["drift"] == 0.1
    assert files_in(folder) == before


def test_accept_all_leaves_safety_cases_and_keeps_what_is_rejected(baseline, folder):
    ran = decide(baseline, "certify", "--accept-all", "--reject", "c2", "--format", "json")
    found = told(ran)
    assert (ran.code, ran.err) == (0, "")
    assert (found["version"], found["accepted"], found["rejected"], found["left"]) == (2, ["c1"], ["c2"], ["c0"])
    assert found["actor"]["name"] == local_actor().name
    assert json.loads((folder / "certified.json").read_text()) == PASSES | {"c1": "fail"}
    assert (shown(baseline)["due"], shown(baseline)["drift"], shown(baseline)["version"]) == (False, 0.2, 2)
    history = told(baseline("history", "--format", "json"))["decisions"]
    assert [(one["kind"], one["version"], one["run"], one["reason"]) for one in history] == [("certification", 2, "n5", "looked")]
    assert "version 2 certified on run n5 (1 accepted, 1 rejected, 1 left): looked" in baseline("history").out


def test_a_stale_digest_ends_with_1_and_a_sentence_and_nothing_is_written(baseline, folder):
    ran = decide(baseline, "certify", "--accept-all", digest="0" * 64)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith("python -m seam_core baseline certify: what there is to see of run n5 is not what was shown")
    assert not (folder / "decisions.sqlite").exists()


def test_a_safety_case_is_accepted_with_its_own_reason(baseline):
    refused = decide(baseline, "certify", "--accept", "c0")
    assert (refused.code, "c0: a safety case is accepted one by one" in refused.err) == (3, True)
    found = told(decide(baseline, "certify", "--accept", "c0", "--safety-reason", "c0=a=b", "--format", "json"))
    assert (found["accepted"], found["safety_reasons"], found["left"]) == (["c0"], {"c0": "a=b"}, ["c1", "c2"])


def test_rollback_writes_a_folder_and_says_where(baseline, folder):
    ran = decide(baseline, "rollback", "--to", "h2", "--format", "json")
    found = told(ran)
    assert (ran.code, found["heal"], found["restored"], found["not_restored"]) == (0, "h2", ["t0", "t1"], [])
    place = Path(found["folder"])
    assert (place.parent, (place / "manifest.json").is_file()) == (folder / "rollbacks", True)
    assert "rolled back to heal h2 after run n5 (2 targets restored): looked" in baseline("history").out


def test_repair_brings_the_copy_in_step_and_leaves_what_nobody_certified_unless_told(baseline, folder):
    decide(baseline, "certify", "--accept-all")
    (folder / "certified.json").write_text(json.dumps(PASSES))
    assert (baseline("repair").code, json.loads((folder / "certified.json").read_text())["c1"]) == (0, "fail")
    (folder / "certified.json").write_text("{}")
    ran = baseline("repair")
    assert (ran.code, "moved goalposts" in ran.err, (folder / "certified.json").read_text()) == (1, True, "{}")
    assert baseline("repair", "--replace", "--format", "json").code == 0
    assert len(list(folder.glob("certified.moved-*.json"))) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["status", "--format", "md"], "--format md: write text or json"),
        (["status", "--run", "zz"], "zz is no full run of the surface"),
        (["certify", "--run", "n5", "--digest", "0"], "Missing option '--reason'"),
    ],
)
def test_arguments_that_cannot_be_used_get_one_sentence_and_code_3(baseline, arguments, sentence):
    ran = baseline(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert sentence in ran.err


def test_a_ledger_elsewhere_is_where_the_server_says(baseline, folder, tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    (tmp_path / "server.toml").write_text('ledger = "kept"\n')
    monkeypatch.setenv("SEAM_SETTINGS", str(tmp_path / "server.toml"))
    assert decide(baseline, "certify", "--accept-all").code == 0
    assert not (folder / "decisions.sqlite").exists()
    assert [row.kind for row in Ledger(tmp_path / "kept" / "agent.sqlite").rows()] == ["certification"]
    assert shown(baseline)["version"] == 2


def test_a_packet_of_a_certified_workspace_comes_out_the_same_to_the_byte(baseline, folder, tmp_path, capsys):
    decide(baseline, "certify", "--accept-all")
    add_runs(folder, run("n6", "nightly", 6.5, outcomes("c1", "c2", "c3")))
    arguments = ["--heals", str(folder / "heal_events.jsonl"), "--window", "all", "--now", "2026-09-01"]
    report_main([*arguments, "--packet", str(tmp_path / "p.zip")])
    first = capsys.readouterr().out
    assert json.loads(first)["aftermath"]["anchored_drift"] == 0.1
    decide(baseline, "certify", "--accept-all")  # what is decided later is not in the packet
    found = verify_packet(tmp_path / "p.zip")
    assert (found.matches, found.report.decode()) == (True, first)
    report_main(arguments)
    assert json.loads(capsys.readouterr().out)["aftermath"]["anchored_drift"] == 0.0


def test_a_certification_is_a_checkpoint_of_the_logs(baseline, folder, capsys):
    decide(baseline, "certify", "--accept-all")
    log = folder / "suite_runs.jsonl"
    log.write_bytes(log.read_bytes().replace(b"n0b", b"n0x"))
    assert main(["ledger", "verify", "--workspace", str(folder)]) == 2
    history = json.loads(capsys.readouterr().out)["history"]
    assert (history["checkpoint"], history["logs"]["suite_runs.jsonl"], history["fixtures"]["certified.json"]) == (1, "changed", "same")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ('reviewers = ["bo"]', "ana is not among the reviewers in"),
        ('reviewers = ["ana"]\n[sign_in]\nissuer = "https://id.test"', "decide on the dashboard"),
    ],
)
def test_who_is_no_reviewer_decides_nothing_at_the_command_line(baseline, folder, tmp_path, monkeypatch, settings, why):
    monkeypatch.setattr("seam_core.baseline.command.local_actor", lambda: Local("ana"))
    server = tmp_path / "server.toml"
    monkeypatch.setenv("SEAM_SETTINGS", str(server))
    server.write_text(settings)
    before = files_in(folder)
    for refused in (decide(baseline, "certify", "--accept-all"), decide(baseline, "rollback", "--to", "h1")):
        assert (refused.code, refused.out) == (3, "")
        assert "you may not certify: " in refused.err
        assert why in refused.err
    assert files_in(folder) == before
    server.write_text('reviewers = ["ana"]')
    assert decide(baseline, "certify", "--accept-all").code == 0


def test_two_people_at_the_command_line(baseline, tmp_path, monkeypatch):
    def as_user(name):
        monkeypatch.setattr("seam_core.baseline.command.local_actor", lambda: Local(name))

    server = tmp_path / "server.toml"
    server.write_text("approvals_required = 2\n")
    monkeypatch.setenv("SEAM_SETTINGS", str(server))
    as_user("ana")
    proposed = decide(baseline, "certify", "--accept-all", "--format", "json")
    assert (proposed.code, told(proposed)["kind"], told(proposed)["seq"]) == (0, "proposal", 1)
    assert "another person has to `baseline approve --proposal 1`" in proposed.err
    alone = baseline("approve", "--proposal", "1", "--reason", "me again")
    assert (alone.code, "two different people" in alone.err) == (3, True)
    as_user("cat")
    assert "row 1 proposes version 2 on run n5 (2 accepted, 0 rejected, 1 left): looked; another person may" in baseline("status").out
    done = baseline("approve", "--proposal", "1", "--reason", "agreed", "--format", "json")
    assert (done.code, told(done)["kind"], told(done)["version"], told(done)["proposal"]) == (0, "certification", 2, 1)
    late = baseline("veto", "--proposal", "1", "--reason", "no")
    assert (late.code, "no proposal that waits" in late.err) == (1, True)
    assert [line.split(": ")[0].split(" ")[1] for line in baseline("history").out.splitlines()] == ["ana", "cat"]
