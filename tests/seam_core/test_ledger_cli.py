"""``python -m seam_core ledger``: decisions taken out exactly, a chain that is checked, and logs that are held against a checkpoint."""

import gzip
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from seam_core.__main__ import COMMANDS, main
from seam_core.cli import main as report_main
from seam_core.ledger import Ledger, local_actor, verify
from tests.seam_core.conftest import caller
from tests.seam_core.ledgers import ANA, Clock, files_in, handed, opened_by_force
from tests.seam_core.workspaces import failure, heal, json_lines, run, write

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def seam(capsys, monkeypatch):
    """Call ``python -m seam_core`` in this process."""
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    return caller(main, capsys)


@pytest.fixture
def agent(tmp_path):
    """A workspace with every kind of log, and fixtures in a folder of their own."""
    folder = tmp_path / "agent"
    write(folder, heal_events=[heal(1), heal(2)], failures=[failure("Err:1", 1)], suite_runs=[run("r", "nightly", 1, {"c0": True})])
    write(folder / "fixtures", surface=[{"id": "c0"}], holdout=[{"id": "x"}], certified={"c0": "pass"})
    return folder


def decided(agent, n=3):
    """The workspace's ledger with `n` rows."""
    ledger = Ledger(agent / "decisions.sqlite", clock=Clock())
    for number in range(1, n + 1):
        ledger.write(handed(number, note="ünï\0"), actor=ANA)
    return ledger


def stored(path):
    names = ("seq", "ts", "actor", "kind", "body", "prev_sha256", "sha256")
    with closing(sqlite3.connect(path)) as con:
        return [dict(zip(names, row, strict=True)) for row in con.execute("select * from decisions order by seq")]


def answer(ran):
    return json.loads(ran.out)


# ---- export


def test_export_prints_exactly_what_is_kept_one_row_a_line(seam, agent):
    path = decided(agent).path
    ran = seam("ledger", "export", "--workspace", agent)
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 3)
    assert [json.loads(line) for line in ran.out.splitlines()] == stored(path)


def test_an_export_can_be_verified_without_the_ledger(seam, agent):
    decided(agent)
    prev = "0" * 64
    for line in seam("ledger", "export", "--workspace", agent).out.splitlines():
        *fields, digest = json.loads(line).values()
        assert digest == sha256(json.dumps(fields, separators=(",", ":")).encode()).hexdigest()
        assert fields[-1] == prev
        prev = digest


def test_export_of_a_broken_chain_still_gives_every_row(seam, agent):
    path = decided(agent).path
    with opened_by_force(path) as con:
        con.execute("update decisions set body = '{}' where seq = 2")
    assert [json.loads(line)["body"] for line in seam("ledger", "export", "--workspace", agent).out.splitlines()][1] == "{}"


def test_export_of_nothing_prints_nothing_and_makes_nothing(seam, agent):
    before = files_in(agent)
    ran = seam("ledger", "export", "--workspace", agent)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert files_in(agent) == before


# ---- verify


def test_verify_of_a_whole_chain_says_so_and_gives_the_head(seam, agent):
    ledger = decided(agent)
    before = files_in(agent)
    ran = seam("ledger", "verify", "--workspace", agent)
    assert (ran.code, ran.err) == (0, "")
    assert answer(ran) == {
        "ledger": str(ledger.path), "holds": True, "rows": 3, "head": ledger.rows()[-1].sha256, "seq": None, "reason": None, "noted": None,
        "history": {"state": "not checkable", "checkpoint": None, "ts": None, "logs": {}, "fixtures": {}},
    }  # fmt: skip
    assert files_in(agent) == before


def test_verify_names_the_first_row_that_does_not_hold(seam, agent):
    path = decided(agent).path
    with opened_by_force(path) as con:
        con.execute("update decisions set body = '{}' where seq = 2")
        con.execute("update decisions set body = '{}' where seq = 3")
    ran = seam("ledger", "verify", "--workspace", agent)
    told = "row 2 was changed: its sha256 is not that of what it says"
    assert (ran.code, answer(ran)["holds"], answer(ran)["seq"], answer(ran)["reason"], answer(ran)["rows"]) == (3, False, 2, told, 1)
    assert ran.err.startswith("python -m seam_core ledger verify: the chain of decisions does not hold: row 2 was changed")


def test_verify_without_a_decision_has_nothing_to_complain_of(seam, agent):
    ran = seam("ledger", "verify", "--workspace", agent)
    assert (ran.code, answer(ran)["rows"], answer(ran)["head"]) == (0, 0, None)
    assert not (agent / "decisions.sqlite").exists()


@pytest.mark.parametrize("spell", [str, str.upper])
def test_a_head_that_was_noted_is_found_or_not(seam, agent, spell):
    ledger = decided(agent)
    head = spell(ledger.rows()[1].sha256)
    ran = seam("ledger", "verify", "--workspace", agent, "--head", head)
    assert (ran.code, answer(ran)["noted"]) == (0, {"head": head.lower(), "seq": 2})
    ledger.path.unlink()
    decided(agent, 2)
    Ledger(ledger.path).write(handed(9), actor=ANA)
    assert seam("ledger", "verify", "--workspace", agent, "--head", head).code == 0
    ledger.path.unlink()
    Ledger(ledger.path).write(handed(9), actor=ANA)
    ran = seam("ledger", "verify", "--workspace", agent, "--head", head)
    assert (ran.code, answer(ran)["holds"], answer(ran)["noted"]["seq"]) == (3, False, None)
    assert f"contains no row with the sha256 {head.lower()}" in ran.err
    ledger.path.unlink()
    assert seam("ledger", "verify", "--workspace", agent, "--head", head).code == 3


def test_the_ledger_is_looked_for_where_the_server_keeps_it(seam, agent, tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    settings = tmp_path / "server.toml"
    settings.write_text('ledger = "kept"\n')
    monkeypatch.setenv("SEAM_SETTINGS", str(settings))
    decided(agent)
    assert answer(seam("ledger", "verify", "--workspace", agent))["rows"] == 0
    seam("ledger", "checkpoint", "--workspace", agent)
    assert verify(tmp_path / "kept" / "agent.sqlite").chain.rows == 1
    assert verify(agent / "decisions.sqlite").chain.rows == 3


# ---- checkpoint, and what became of the logs


def test_a_checkpoint_notes_sizes_and_digests_of_all_logs_and_fixtures(seam, agent):
    ran = seam("ledger", "checkpoint", "--workspace", agent)
    row = Ledger(agent / "decisions.sqlite").rows()[0]
    assert (ran.code, ran.err, row.by, row.kind) == (0, "", local_actor(), "checkpoint")
    paths = [agent / f"{name}.jsonl" for name in ("failures", "heal_events", "suite_runs")]
    paths += [agent / "fixtures" / name for name in ("certified.json", "holdout.jsonl", "surface.jsonl")]
    expected = {path.name: {"n_bytes": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()} for path in paths}
    assert answer(ran) == {"seq": 1, "ts": row.ts, "head": row.sha256, "files": expected}
    assert json.loads(row.body)["files"] == expected


def append(path, *rows):
    with path.open("ab") as log:
        log.write(json_lines(rows))


def edit(path):
    path.write_bytes(path.read_bytes().replace(b"h1", b"h7"))


def pack(path):
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


HEALS = "heal_events.jsonl"
HISTORIES = {
    "nothing happened": (lambda agent: None, HEALS, "same"),
    "lines were added": (lambda agent: append(agent / HEALS, heal(3)), HEALS, "grown"),
    "the log was packed": (lambda agent: pack(agent / HEALS), HEALS, "same"),
    "lines were added and the log was packed": (lambda agent: (append(agent / HEALS, heal(3)), pack(agent / HEALS)), HEALS, "grown"),
    "a line was edited": (lambda agent: edit(agent / HEALS), HEALS, "changed"),
    "a line was edited and others were added": (lambda agent: (edit(agent / HEALS), append(agent / HEALS, heal(3))), HEALS, "changed"),
    "the log was cut": (lambda agent: (agent / HEALS).write_bytes(b"{"), HEALS, "shorter"),
    "a log is gone": (lambda agent: (agent / "failures.jsonl").unlink(), "failures.jsonl", "gone"),
    "the heal log is gone": (lambda agent: (agent / HEALS).unlink(), HEALS, "gone"),
    "a log is there twice": (lambda agent: (agent / "heal_events.jsonl.gz").touch(), HEALS, "cannot be read"),
    "a log became a folder": (lambda agent: ((agent / HEALS).unlink(), (agent / HEALS).mkdir()), HEALS, "cannot be read"),
}


@pytest.mark.parametrize(("change", "name", "found"), HISTORIES.values(), ids=HISTORIES)
def test_verify_says_whether_the_logs_still_begin_as_they_did(seam, agent, change, name, found):
    seam("ledger", "checkpoint", "--workspace", agent)
    change(agent)
    ran = seam("ledger", "verify", "--workspace", agent)
    history = answer(ran)["history"]
    is_fine = found in ("same", "grown")
    assert (ran.code, history["state"], history["checkpoint"]) == ((0, "unchanged", 1) if is_fine else (2, "changed", 1))
    assert history["logs"] == dict.fromkeys(("failures.jsonl", HEALS, "suite_runs.jsonl"), "same") | {name: found}
    assert ran.err == "" if is_fine else f"since the checkpoint of row 1: {name} " in ran.err
    assert answer(ran)["holds"]


def test_a_fixture_may_change_and_it_is_said(seam, agent):
    seam("ledger", "checkpoint", "--workspace", agent)
    (agent / "fixtures" / "certified.json").write_text('{"c0": "fail"}')
    ran = seam("ledger", "verify", "--workspace", agent)
    assert (ran.code, answer(ran)["history"]["state"]) == (0, "unchanged")
    assert answer(ran)["history"]["fixtures"] == {"certified.json": "changed", "holdout.jsonl": "same", "surface.jsonl": "same"}


def test_the_newest_checkpoint_counts_and_a_new_log_is_no_edit(seam, agent):
    seam("ledger", "checkpoint", "--workspace", agent)
    edit(agent / HEALS)
    assert seam("ledger", "verify", "--workspace", agent).code == 2
    seam("ledger", "checkpoint", "--workspace", agent)
    write(agent / "fixtures", practice=[{"id": "p"}])
    ran = seam("ledger", "verify", "--workspace", agent)
    assert (ran.code, answer(ran)["history"]["checkpoint"]) == (0, 2)


def test_every_checkpoint_is_a_row_since_it_speaks_of_its_own_moment(seam, agent):
    assert [answer(seam("ledger", "checkpoint", "--workspace", agent))["seq"] for _ in range(3)] == [1, 2, 3]


def test_a_broken_chain_matters_more_than_a_changed_log(seam, agent):
    seam("ledger", "checkpoint", "--workspace", agent)
    path = decided(agent).path
    with opened_by_force(path) as con:
        con.execute("update decisions set body = '{}' where seq = 3")
    edit(agent / HEALS)
    ran = seam("ledger", "verify", "--workspace", agent)
    assert (ran.code, answer(ran)["seq"], answer(ran)["history"]["state"]) == (3, 3, "changed")


def test_a_checkpoint_in_a_row_that_does_not_hold_is_not_believed(seam, agent):
    seam("ledger", "checkpoint", "--workspace", agent)
    with opened_by_force(agent / "decisions.sqlite") as con:
        con.execute("update decisions set ts = '2027-01-01T00:00:00.000000Z'")
    assert answer(seam("ledger", "verify", "--workspace", agent))["history"]["state"] == "not checkable"


# ---- arguments


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ledger", "verify"], "Missing option '--workspace'"),
        (["ledger", "verfy"], "No such command 'verfy'"),
        (["legder"], "No such command 'legder'"),
        (["ledger", "verify", "--workspace", "/nowhere"], "/nowhere: no such folder"),
        (["ledger", "checkpoint", "--workspace", "/nowhere"], "/nowhere: no such folder"),
        (["ledger", "verify", "--workspace", "/dev/null"], "/dev/null: is not a folder"),
        (["ledger", "verify", "--workspace", ".", "--head", "abc"], "--head abc: a head is 64 hexadecimal digits"),
        (["ledger", "export", "--worksapce", "."], "No such option '--worksapce'"),
    ],
)
def test_arguments_that_cannot_be_used_get_one_sentence_and_code_3(seam, arguments, sentence):
    ran = seam(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert ran.err.startswith("python -m seam_core: ")
    assert sentence in ran.err


def test_a_checkpoint_needs_a_heal_log(seam, tmp_path):
    ran = seam("ledger", "checkpoint", "--workspace", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert "holds no heal_events.jsonl" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_ledger_gets_one_sentence_and_code_3(seam, agent):
    (agent / "decisions.sqlite").write_text("a text " * 1000)
    for command in ("export", "verify", "checkpoint"):
        ran = seam("ledger", command, "--workspace", agent)
        assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
        assert "is not a SQLite file" in ran.err


def test_a_fault_of_the_program_ends_with_code_4_and_its_traceback(seam, agent, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("a real bug")

    monkeypatch.setattr("seam_core.ledger.command.verify_chain", broken)
    ran = seam("ledger", "verify", "--workspace", agent)
    assert (ran.code, ran.out, ran.err.splitlines()[-1]) == (4, "", "ZeroDivisionError: a real bug")


def test_without_a_command_it_says_which_there_are(seam):
    assert seam().code == 3
    ran = seam("--help")
    assert (ran.code, [name in ran.out for name in COMMANDS]) == (0, [True] * len(COMMANDS))


def test_the_command_works_in_a_process_of_its_own(agent):
    decided(agent)
    command = [sys.executable, "-m", "seam_core", "ledger", "export", "--workspace", agent]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 3
    assert subprocess.run([*command[:4], "verify"], cwd=ROOT, capture_output=True, check=False).returncode == 3


# ---- the report


def reported(capsys, agent, *arguments):
    report_main(["--heals", str(agent / HEALS), "--window", "all", "--now", "2026-09-01", *arguments])
    return capsys.readouterr().out


def test_the_report_carries_the_head_and_nothing_else_of_it_moves(capsys, agent, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    without = reported(capsys, agent)
    assert json.loads(without)["ledger"] == {"head": None, "rows": 0}
    assert not (agent / "decisions.sqlite").exists()
    ledger = decided(agent)
    carried = json.loads(reported(capsys, agent))
    assert carried["ledger"] == {"head": ledger.rows()[-1].sha256, "rows": 3}
    assert carried | {"ledger": None} == json.loads(without) | {"ledger": None}
    assert list(carried)[-1] == "ledger"
    assert reported(capsys, agent) == reported(capsys, agent)


def test_a_ledger_that_cannot_be_read_is_said_and_costs_no_score(capsys, agent, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    before = json.loads(reported(capsys, agent))
    (agent / "decisions.sqlite").write_text("a text " * 1000)
    after = json.loads(reported(capsys, agent))
    assert (after["ledger"]["head"], after["ledger"]["rows"]) == (None, None)
    assert "is not a SQLite file" in after["ledger"]["fault"]
    drift = {"anchored_drift": None, "drift_run": None, "baseline_version": None}  # it may hold another baseline than certified.json
    assert after["aftermath"] | drift == before["aftermath"] | drift
    apart = {"ledger": None, "aftermath": None, "flags": None, "recertify_due": None, "integrity": None}
    assert after | apart == before | apart


def test_the_digest_in_markdown_stays_as_it_was(capsys, agent, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    before = reported(capsys, agent, "--format", "md")
    decided(agent)
    assert reported(capsys, agent, "--format", "md") == before
