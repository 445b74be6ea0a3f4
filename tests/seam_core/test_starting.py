"""init, doctor and the report as one of the commands."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from seam_core import cli
from seam_core.__main__ import COMMANDS, main
from seam_core.inputs import ADDS
from seam_core.settings import Settings, bounds, resolve
from tests.seam_core.conftest import caller

ROOT = Path(__file__).resolve().parents[2]
NOW = ("--now", "2026-11-30")


@pytest.fixture
def command(capsys, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    return caller(main, capsys)


def test_a_new_workspace_has_an_empty_log_and_settings_that_change_nothing(command, tmp_path):
    folder = tmp_path / "new" / "agent"
    ran = command("init", folder)
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"{folder}: made heal_events.jsonl and seam.toml")
    assert sorted(path.name for path in folder.iterdir()) == ["fixtures", "heal_events.jsonl", "seam.toml"]
    assert (folder / "heal_events.jsonl").read_bytes() == b""
    assert tomllib.loads((folder / "seam.toml").read_text()) == {}


def test_each_threshold_can_be_switched_on_by_taking_its_sign_away(command, tmp_path):
    command("init", tmp_path)
    file = tmp_path / "seam.toml"
    lines = [line[1:] if line.startswith("#") and not line.startswith("# ") else line for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines))
    assert set(tomllib.loads(file.read_text())) == set(bounds())
    assert resolve(file).settings == Settings()


def test_init_changes_nothing_that_is_there(command, tmp_path):
    (tmp_path / "seam.toml").write_text("gap_max = 0.1\n")
    (tmp_path / "heal_events.jsonl.gz").write_bytes(b"packed")
    ran = command("init", tmp_path)
    assert "is a workspace already; nothing was changed" in ran.out
    assert (tmp_path / "seam.toml").read_text() == "gap_max = 0.1\n"
    assert not (tmp_path / "heal_events.jsonl").exists()


@pytest.mark.parametrize("name", ["heal_events.jsonl", "seam.toml"])
def test_init_says_where_something_else_has_the_name_of_a_file(command, tmp_path, name):
    (tmp_path / name).mkdir()
    ran = command("init", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert f"{name}: is a folder where a workspace has a file" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_backup_beside_it_is_no_heal_log(command, tmp_path):
    (tmp_path / "heal_events.jsonl.bak").write_text("")
    assert "made heal_events.jsonl and seam.toml" in command("init", tmp_path).out


@pytest.mark.parametrize("name", ["init", "doctor"])
def test_a_name_that_no_folder_can_have_is_refused(command, tmp_path, name):
    ran = command(name, tmp_path / ("n" * 300))
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert "cannot be used (File name too long)" in ran.err


def test_init_over_a_file_is_refused(command, tmp_path):
    (tmp_path / "x").write_text("")
    for place in (tmp_path / "x", tmp_path / "x" / "y"):
        ran = command("init", place)
        assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)


def test_doctor_has_nothing_to_add_where_everything_is_there(command, tmp_path):
    folder = Path(shutil.copytree(ROOT / "docs" / "example", tmp_path / "example"))
    (folder / "failures.jsonl").touch()
    (folder / "practice.jsonl").touch()
    ran = command("doctor", folder, *NOW)
    assert ran.code == 0
    assert ran.out.count("can be scored") == 4
    assert "Missing" not in ran.out


def test_doctor_says_what_each_missing_file_would_add(command, tmp_path):
    shutil.copy(ROOT / "docs" / "example" / "heal_events.jsonl", tmp_path)
    ran = command("doctor", tmp_path, *NOW)
    assert ran.code == 1
    for name, adds in ADDS.items():
        assert f"  {name:20} {adds}\n" in ran.out
    assert "  Aftermath            not scored: there is no suite_runs.jsonl." in ran.out


def test_doctor_says_of_how_much_an_axis_could_be_scored(command, tmp_path):
    heal = {"ts": "2026-06-09T14:00:00Z", "cycle": 1, "level": 2, "trigger": {"failure_signature": "s"}}
    heals = [heal | {"heal_id": "a", "loop_id": "l", "score": 0.5}, heal | {"heal_id": "b", "loop_id": "m"}]
    (tmp_path / "heal_events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in heals))
    said = command("doctor", tmp_path, *NOW).out
    assert "  Monotonicity         can be scored\n" in said
    assert "Note: 1 of 2 loops left out of M: no score covers every cycle\n" in said


def test_doctor_says_which_keys_no_heal_carries_and_which_lines_are_bad(command, tmp_path):
    heal = {"heal_id": "h", "ts": "2026-06-09T14:00:00Z", "loop_id": "l", "cycle": 1, "level": 2, "trigger": {"failure_signature": "s"}}
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(heal) + "\n" + "{}\n" * 5)
    ran = command("doctor", tmp_path, *NOW)
    assert "  was_real_failure     Signal\n" in ran.out
    assert "5 lines could not be read\n  heal_events.jsonl:2 heal_id is missing; every record needs it\n" in ran.out
    assert "  and 2 more: " in ran.out


def test_doctor_of_a_workspace_without_heals(command, tmp_path):
    command("init", tmp_path)
    (tmp_path / "suite_runs.jsonl").write_text("")
    ran = command("doctor", tmp_path)
    assert ran.code == 1
    assert "heal_events.jsonl: holds no heal, and without one nothing is scored" in ran.out
    assert "  suite_runs.jsonl     there\n" in ran.out
    (tmp_path / "heal_events.jsonl").unlink()
    assert "heal_events.jsonl: missing, and without one" in command("doctor", tmp_path).out
    assert command("doctor", tmp_path / "nowhere").code == 3


def test_the_report_is_the_same_by_either_name(command, capsys):
    arguments = ("--heals", ROOT / "docs" / "example" / "heal_events.jsonl", *NOW)
    ran = command("report", *arguments)
    alone = caller(cli.main, capsys)(*arguments)
    assert (ran.code, ran.out) == (alone.code, alone.out) != (3, "")
    assert command("report").err == "python -m seam_core: Missing option '--heals'.\n"
    assert command("report", *arguments, "--require", "X").code == 3


def test_a_simulated_workspace_can_be_made_and_looked_at(command, tmp_path):
    ran = command("simulate", "workspace", tmp_path / "w", "--heals", "12", "--weeks", "1")
    assert (ran.code, ran.err) == (0, "")
    assert "can be scored" in command("doctor", tmp_path / "w").out
    (tmp_path / "file").write_text("")
    assert command("simulate", "demo", tmp_path / "file").code == 3


def test_every_command_has_a_help(command):
    out = command("--help").out
    assert all(f"  {name} " in out for name in COMMANDS)


def test_another_python_is_told_which_one_to_take():
    done = subprocess.run([sys.executable, "-S", "-m", "seam_core", "init", "x"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "run it with the project's own Python, .venv/bin/python" in done.stderr
