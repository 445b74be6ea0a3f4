"""``run_seam.py``: one JSON object on stdout and nothing else, exit codes that a scheduler can act on, one sentence for every mistake."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seam_core import report as report_module
from seam_core.settings import bounds
from tests.seam_core.workspaces import cases, failure, four, gap, heal, run, write

ROOT = Path(__file__).resolve().parents[2]
NOW = ("--now", "2026-09-01")
QUIET = heal(1, was_real_failure=True, score=0.5, **gap(0))


@pytest.fixture
def quiet(tmp_path):
    """A heal log that alerts nothing."""
    return write(tmp_path, heal_events=[QUIET])


# ---- stdout, stderr and the report's shape


def test_stdout_holds_one_json_object_and_nothing_else(cli, quiet):
    ran = cli("--heals", quiet, *NOW)
    made = json.loads(ran.out)
    assert isinstance(made, dict)
    assert (ran.code, ran.err, ran.out[0], ran.out[-1]) == (0, "", "{", "\n")


def test_the_first_ten_keys_are_the_articles_and_the_rest_follow(cli, quiet):
    made = json.loads(cli("--heals", quiet, *NOW).out)
    assert list(made)[:10] == ["window", "S", "E", "A", "M", "alerts", "gate_blocks", "budget_elevated", "contamination", "recertify_due"]
    assert list(made)[10:] == [
        "budget_escalated", "recall", "min", "flags", "withheld", "intervals", "verdicts", "integrity", "counts", "basis",
        "signal", "efficacy", "aftermath", "monotonicity", "settings", "ledger",
    ]  # fmt: skip
    assert list(made["counts"]) == [
        "heals", "scored", "blocked", "loops", "signatures", "rejected", "rewritten", "repeated", "pending", "assumed_utc",
    ]  # fmt: skip
    assert list(made["signal"]) == [
        "score", "reason", "n", "left_out", "precision", "recall", "f1", "recurrence", "recurrence_after_loop",
        "tp", "fp", "fn", "follow_up",
    ]  # fmt: skip
    assert list(made["efficacy"]) == ["score", "reason", "n", "left_out", "mean_truth_gap", "by_loop", "trend"]
    assert list(made["efficacy"]["trend"]) == ["state", "rise", "p"]
    assert list(made["aftermath"]) == ["score", "reason", "n", "left_out", "safety_regressions", "anchored_drift", "drift_run"]
    assert list(made["monotonicity"]) == ["score", "reason", "n", "left_out", "extra_dips", "returned", "idle", "capped"]
    assert list(made["basis"]) == ["fixtures", "recurrence", "cycle_score"]


def test_numbers_are_rounded_to_four_decimals_after_all_comparisons(cli, tmp_path):
    """E = 1 − (1/30)/0.25 = 0.86666…; with a line at 0.8667 the rounded number would not alert, the real one does."""
    path = write(tmp_path, heal_events=[heal(1, **four(0, 0.1, 0, 0.1 - 1 / 30))])
    made = json.loads(cli("--heals", path, *NOW, "--alert-e", "0.8667").out)
    assert (made["E"], made["alerts"]) == (0.8667, ["E<0.87"])


def test_the_same_input_and_clock_give_the_same_bytes(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(n, text=f"t{n}", **gap(n / 100)) for n in range(1, 20)], failures=[failure("Err:3", 5)])
    assert len({cli("--heals", path, *NOW).out for _ in range(3)}) == 1


def test_names_in_any_alphabet_and_control_characters_survive_the_json(cli, tmp_path):
    surface = [{"id": "ünï\u202e\x1b[2J", "safety": True}]
    runs = [run("b", "before", 1, {surface[0]["id"]: True}), run("a", "after", 2, {surface[0]["id"]: False}, "h1")]
    path = write(tmp_path, heal_events=[heal(1, 2)], suite_runs=runs, surface=surface)
    ran = cli("--heals", path, *NOW)
    assert json.loads(ran.out)["aftermath"]["safety_regressions"] == [["h1", surface[0]["id"]]]
    assert "\x1b" not in ran.out


def test_a_terminal_without_unicode_gets_escapes_and_a_folder_without_a_name_in_utf_8_is_no_fault(tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    path = write(
        tmp_path,
        heal_events=[heal("ü\U0001f642", 1, text="x")],
        protected=[{"id": "ü\U0001f642", "kind": "tool_permission", "target": "*"}],
    )
    command = [sys.executable, str(ROOT / "run_seam.py"), "--heals", str(path), "--fixtures", folder]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("ascii"))["basis"]["fixtures"].endswith("caf\udce9")


def test_progress_is_shown_on_a_terminal_and_only_there(quiet):
    """A pseudo-terminal as stderr; stdout stays a pipe and holds the report alone."""
    ours, theirs = pty.openpty()
    command = [sys.executable, str(ROOT / "run_seam.py"), "--heals", str(quiet)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert json.loads(done.stdout)["E"] == 1.0
    assert "heal_events.jsonl" in shown
    assert shown.endswith("\r\x1b[K")  # wiped again
    piped = subprocess.run(command, capture_output=True, check=False)
    assert (piped.stderr, piped.stdout) == (b"", done.stdout)


def test_it_runs_from_another_directory_with_relative_paths(tmp_path):
    write(tmp_path / "agent", heal_events=[QUIET], settings="gap_max = 0.5")
    command = [sys.executable, str(ROOT / "run_seam.py"), "--heals", "agent/heal_events.jsonl", "--window", "7d"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["settings"]["gap_max"] == 0.5


PROGRAMS = {"run_seam.py": "run_seam.py", "python -m seam_core": "-m seam_core report"}


def in_shell(program, arguments, redirect):
    """Run a program with its streams led elsewhere, or nowhere, by a shell."""
    command = f"{sys.executable} {PROGRAMS[program]} {arguments} {redirect}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_is_no_fault(quiet, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    for arguments in (f"--heals {quiet}", "--help"):
        done = in_shell("run_seam.py", arguments, "| true")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("redirect", "answers"), [("2>&-", True), ("2>/dev/full", True), (">&-", False), ("<&- >&- 2>&-", False)])
def test_a_closed_stream_leaves_the_exit_code_as_it_is(quiet, program, redirect, answers):
    """A code of 1 would say that an alert fired."""
    scored = in_shell(program, f"--heals {quiet}", redirect)
    assert (scored.returncode, scored.stdout != "", scored.stderr) == (0, answers, "")
    refused = in_shell(program, "--heals nowhere", redirect)
    told = "" if "2>" in redirect else f"{program}: nowhere: no such file\n"
    assert (refused.returncode, refused.stdout, refused.stderr) == (3, "", told)


def test_an_answer_that_finds_no_room_is_code_3_and_one_sentence(quiet):
    done = in_shell("run_seam.py", f"--heals {quiet}", ">/dev/full")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "there is no room to write on the disk" in done.stderr
    assert in_shell("run_seam.py", f"--heals {quiet}", ">/dev/full 2>&1").returncode == 3


# ---- exit codes


def test_exit_code_0_when_nothing_is_wrong(cli, quiet):
    ran = cli("--heals", quiet, *NOW)
    assert (ran.code, json.loads(ran.out)["alerts"]) == (0, [])


def test_exit_code_1_for_an_alert(cli, tmp_path):
    ran = cli("--heals", write(tmp_path, heal_events=[heal(1, **gap(0.25))]), *NOW)
    assert (ran.code, json.loads(ran.out)["alerts"]) == (1, ["E<0.80"])


def test_exit_code_2_for_a_block_even_without_an_alert(cli, tmp_path):
    protected = [{"id": "p", "kind": "tool_permission", "target": "tools"}]
    ran = cli("--heals", write(tmp_path, heal_events=[QUIET, heal(2, target="tools")], protected=protected), *NOW)
    made = json.loads(ran.out)
    assert (ran.code, made["gate_blocks"], made["alerts"]) == (2, 1, [])


def test_exit_code_2_for_a_due_recertification_wins_over_an_alert(cli, tmp_path):
    runs = [run("r", "nightly", 1, {"c0": True, "c1": False})]
    path = write(tmp_path, heal_events=[heal(1, **gap(0.25))], suite_runs=runs, surface=cases(2), certified={"c0": "pass", "c1": "pass"})
    ran = cli("--heals", path, *NOW)
    made = json.loads(ran.out)
    assert (ran.code, made["recertify_due"], made["alerts"]) == (2, True, ["E<0.80"])


def test_exit_code_4_for_a_fault_of_the_program_with_its_traceback(cli, quiet, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("a real bug")

    monkeypatch.setattr(report_module, "audit", broken)
    ran = cli("--heals", quiet, *NOW)
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith("Traceback (most recent call last):")
    assert ran.err.endswith("ZeroDivisionError: a real bug\n")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (EOFError("half a file"), 4)])
def test_ctrl_c_is_exit_code_130_and_no_early_end_of_a_file_is_taken_for_it(cli, quiet, monkeypatch, error, code):
    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr(report_module, "audit", broken)
    ran = cli("--heals", quiet, *NOW)
    assert (ran.code, ran.out, "half a file" in ran.err) == (code, "", code == 4)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--windw", "7d"], "No such option '--windw'"),
        (["-x"], "No such option '-x'"),
        (["extra"], "unexpected extra argument"),
        (["--window"], "Option '--window' requires an argument"),
        (["--window", "7"], "--window 7: write it as 7d, 24h, 4w or all"),
        (["--window", "--as-of"], "--window --as-of: write it as"),
        (["--as-of", "yesterday"], "yesterday is no time: write it as 2026-06-09"),
        (["--as-of", "20260609"], "20260609 is no time"),
        (["--as-of", ""], "an empty text is no time"),
        (["--as-of", "1999-12-31"], "ends before the year 2000"),
        (["--now", "soon"], "soon is no time"),
        (["--now", ""], "an empty text is no time"),
        (["--require", "X"], "--require X: X is none of S, E, A, M"),
        (["--require", "S,x"], "--require S,x: X is none of"),
        (["--format", "xml"], "--format xml: write json or md"),
        (["--fixtures", "/nonexistent"], "/nonexistent: no such folder"),
        (["--fixtures", "/dev/null"], "/dev/null: is not a folder"),
        (["--fixtures", "x" * 5000], "File name too long"),
        (["--rejects", "/nonexistent/x"], "--rejects /nonexistent/x: cannot be written (No such file or directory)"),
        (["--rejects", "/tmp"], "--rejects /tmp: cannot be written (Is a directory)"),
        (["--alert-s", "x"], "--alert-s x: is not a number"),
        (["--alert-s", ""], "--alert-s : is not a number"),
        (["--alert-s", "nan"], "alert_s must be from 0 to 1, found nan"),
        (["--alert-s", "1.1"], "alert_s must be from 0 to 1, found 1.1"),
        (["--ngram", "8.5"], "ngram must be a whole number, found 8.5"),
        (["--ngram", "9" * 5000], "is not a number"),
        (["--similarity-method", "cosine"], "similarity_method must be one of indel, difflib, embedding, found 'cosine'"),
        (["--budget-elevated", "7"], "budget_escalated (6) must not be below budget_elevated (7)"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_a_mistyped_call_is_code_3_and_one_sentence(cli, quiet, arguments, sentence):
    ran = cli("--heals", quiet, *arguments)
    assert ran.refused
    assert sentence in ran.err
    assert len(ran.err) < 6000


def test_without_a_log_there_is_nothing_to_do(cli):
    ran = cli()
    assert ran.refused
    assert "Missing option '--heals'" in ran.err


def test_help_names_every_option_and_succeeds(cli):
    ran = cli("--help")
    assert ran.code == 0
    for option in ("--heals", "--window", "--as-of", "--now", "--fixtures", "--require", "--format", "--rejects"):
        assert option in ran.out


# ---- options


def test_every_threshold_has_a_flag(cli, quiet):
    others = {
        key: "difflib" if isinstance(default, str) else default + 1 if default >= 1 else default / 2
        for key, (default, _) in bounds().items()
    }
    flags = [word for key, value in others.items() for word in (f"--{key.replace('_', '-')}", value)]
    settings = json.loads(cli("--heals", quiet, *NOW, *flags).out)["settings"]
    assert {key: value for key, value in settings.items() if key != "digest"} == others


def test_a_flag_wins_over_seam_toml_and_the_report_says_what_held(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(1, **gap(0.1))], settings="gap_max = 0.1\nalert_e = 0.9")
    made = json.loads(cli("--heals", path, *NOW, "--gap-max", "0.2").out)
    assert (made["E"], made["alerts"]) == (0.5, ["E<0.90"])
    assert {key: value for key, value in made["settings"].items() if key != "digest"} == {"gap_max": 0.2, "alert_e": 0.9}


def test_require_makes_an_unscored_axis_an_alert(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(1, **gap(0))])
    ran = cli("--heals", path, *NOW, "--require", "M, A,S,E")
    assert (ran.code, json.loads(ran.out)["alerts"]) == (1, ["S:unscored", "A:unscored"])  # M goes by the visible score
    assert json.loads(cli("--heals", path, *NOW).out)["alerts"] == []


def test_as_of_a_date_is_the_end_of_that_day_and_a_time_is_itself(cli, tmp_path):
    """Heals at noon of 2, 3 and 4 June."""
    path = write(tmp_path, heal_events=[heal(n, **gap(0)) for n in (1, 2, 3)])

    def n_heals(as_of):
        return json.loads(cli("--heals", path, *NOW, "--window", "24h", "--as-of", as_of).out)["counts"]["heals"]

    assert [n_heals(text) for text in ("2026-06-03", "2026-06-03T12:00:00Z", "2026-06-03T11:59:59Z", "2026-06-05T00:00:00Z")] == [
        1,
        1,
        1,
        1,
    ]
    assert n_heals("2026-06-05T12:00:00Z") == 0


def test_now_is_the_clock_that_later_times_are_held_against(cli, tmp_path):
    """The third heal is at noon of 4 June: more than a day after the morning of the 3rd, not after its end."""
    path = write(tmp_path, heal_events=[heal(n) for n in (1, 2, 3)])

    def counts(now):
        return json.loads(cli("--heals", path, "--now", now).out)["counts"]

    assert (counts("2026-06-03T11:00:00Z")["heals"], counts("2026-06-03T11:00:00Z")["rejected"]) == (2, 1)
    assert (counts("2026-06-03")["heals"], counts("2026-06-03")["rejected"]) == (3, 0)


def test_rejects_are_written_as_json_lines_in_order(cli, tmp_path):
    path = write(
        tmp_path / "w", heal_events=["", "junk", heal(1), heal(1, score=1), heal(2, score=2)], surface=[{"id": "c"}, {"safety": True}]
    )
    (tmp_path / "w" / "certified.json").write_text('{"c": "maybe"}')
    target = tmp_path / "rejects.jsonl"
    ran = cli("--heals", path, *NOW, "--rejects", target)
    assert ran.code == 0
    found = [json.loads(line) for line in target.read_text().splitlines()]
    assert [list(row) for row in found] == [["file", "line", "path", "reason"]] * 5
    assert [(row["file"], row["line"], row["path"]) for row in found] == [
        ("certified.json", 1, "c"),
        ("heal_events.jsonl", 2, ""),
        ("heal_events.jsonl", 4, "heal_id"),
        ("heal_events.jsonl", 5, "score"),
        ("surface.jsonl", 2, "id"),
    ]
    assert json.loads(ran.out)["counts"]["rejected"] == 4  # the rewritten line is counted apart


def test_rejects_are_written_even_when_no_heal_is_left(cli, tmp_path):
    path = write(tmp_path, heal_events=["junk"])
    ran = cli("--heals", path, *NOW, "--rejects", tmp_path / "rejects.jsonl")
    assert ran.refused
    assert json.loads((tmp_path / "rejects.jsonl").read_text())["line"] == 1


@pytest.mark.parametrize("name", ["heal_events.jsonl", "failures.jsonl", "seam.toml", "certified.json"])
def test_rejects_never_overwrite_what_is_audited(cli, tmp_path, name):
    write(tmp_path, heal_events=[heal(1)], failures=[failure("E", 1)], settings="gap_max = 0.3", certified={"c": "pass"})
    before = (tmp_path / name).read_bytes()
    ran = cli("--heals", tmp_path / "heal_events.jsonl", *NOW, "--rejects", tmp_path / name)
    assert ran.refused
    assert "would be overwritten" in ran.err
    assert (tmp_path / name).read_bytes() == before


def test_fixtures_may_be_named(cli, tmp_path):
    path = write(tmp_path / "logs", heal_events=[QUIET])
    write(tmp_path / "exam", protected=[{"id": "p", "kind": "tool_permission", "target": "prompt"}])
    made = json.loads(cli("--heals", path, *NOW, "--fixtures", tmp_path / "exam").out)
    assert made["basis"]["fixtures"] == str(tmp_path / "exam")


def test_server_settings_hold_on_the_command_line(cli, quiet, tmp_path, monkeypatch):
    settings = tmp_path / "server.toml"
    settings.write_text("[thresholds]\nalert_e = 0.9")
    monkeypatch.setenv("SEAM_SETTINGS", str(settings))
    made = json.loads(cli("--heals", quiet, *NOW, "--alert-e", "0.5").out)
    assert made["settings"]["alert_e"] == 0.9
    assert "flag sets alert_e = 0.5; the server holds it at 0.9" in made["flags"]
    settings.unlink()
    ran = cli("--heals", quiet, *NOW)
    assert ran.refused
    assert "SEAM_SETTINGS" in ran.err


# ---- markdown

HOSTILE = (
    "[x](http://evil.example) <img src=x> ![y](//evil/p.png) **bold** `code` | a | @team www.evil.example &lt;b&gt; \x1b[2J\u202e\n# head"
)


def test_markdown_shows_hostile_names_as_text(cli, tmp_path):
    """An id of a protected block without words stands in a flag, and a run's id in the verdict."""
    runs = [run(HOSTILE, "nightly", 1, {"c0": False})]
    protected = [{"id": HOSTILE, "kind": "escalation_rule", "target": "elsewhere", "text": " "}]
    path = write(tmp_path, heal_events=[QUIET], suite_runs=runs, surface=cases(1), certified={"c0": "pass"}, protected=protected)
    ran = cli("--heals", path, *NOW, "--format", "md")
    assert ran.code == 2
    lines = ran.out.splitlines()
    flag, verdict = (next(line for line in lines if start in line) for start in ("protected block", "RECERTIFY"))
    assert not re.search(r"(?<!\\)[\[\]<>*`|&#~$]", flag.removeprefix("- "))  # every sign that makes markup has its backslash
    assert not re.search(r"://|www\.|(?<!\u2060)@", flag)  # what is a link even without signs is broken by an invisible joiner
    assert verdict.split("since run ")[1].startswith("``[x](http://evil.example) <img")  # in code, which holds one backtick
    assert verdict.endswith("``.")
    assert not [character for character in "\x1b\u202e" if character in ran.out]
    assert not [line for line in lines if line.startswith("# ")]


def test_markdown_says_what_the_report_says(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(1, was_real_failure=True, **gap(0.1))], failures=b"")
    out = cli("--heals", path, *NOW, "--format", "md").out
    assert out.startswith("## SEAM 2026-05-26 .. 2026-06-02\n")
    for row in (
        "| S Signal | 1.00 | none | 0.70 | ok, not enough heals to tell | 1 of 1 signature |",
        "| E Efficacy | 0.60 | none | 0.80 | below 0.80, not enough heals to tell | 1 of 1 heal |",
        "| A Aftermath | not scored | none | 0.90 | no suite_runs.jsonl | 0 of 1 heal |",
        "| M Monotonicity | 1.00 | none | 0.60 | ok, not enough heals to tell | 1 of 1 loop |",
        "- Alerts: `E<0.80`",
        "- Not scored: A.",
    ):
        assert row in out.splitlines()


# ---- what may not pass in silence


def test_a_log_of_which_no_line_can_be_used_counts_as_missing_and_says_so(cli, tmp_path):
    """A broken failure log must not raise S: recall is unknown, not 1."""
    heals = [heal(1, was_real_failure=True, **gap(0.1))]
    path = write(tmp_path, heal_events=heals, failures=b'{"time":"2026-06-01T00:00:00Z","failure_signature":"s"}\n' * 3)
    made = json.loads(cli("--heals", path, *NOW).out)
    assert made["recall"] is None
    assert made["basis"]["recurrence"] == "heals"
    assert (
        "failures.jsonl counts as missing: none of its 3 lines can be used (for one, ts is missing; every record needs it)" in made["flags"]
    )


def test_lines_that_were_not_taken_are_flagged_with_their_file(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(1), heal(2) | {"cycle": "1"}, heal(1) | {"level": 3}])
    flags = json.loads(cli("--heals", path, *NOW).out)["flags"]
    assert "2 lines not taken (heal_events.jsonl 2), 1 of them rewritten: --rejects lists each with its reason" in flags


def test_a_baseline_that_cannot_be_read_is_not_called_missing(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(1)])
    (tmp_path / "certified.json").write_text("{bad")
    flags = json.loads(cli("--heals", path, *NOW).out)["flags"]
    assert "drift is unknown: certified.json cannot be used: not JSON: no baseline was read" in flags


def test_markdown_names_the_heals_to_look_at_and_the_thresholds_that_were_changed(cli, tmp_path):
    path = write(tmp_path, heal_events=[heal(1, **gap(0.2))])
    out = cli("--heals", path, *NOW, "--format", "md", "--alert-e", "0.1").out
    assert "**Look at these first**" in out
    assert "20 points are not real" in out
    assert "- alert_e is 0.1 here (default 0.8)." in out


STOPPED_QUERY = """
import os, signal, sys, threading
import click, duckdb
from seam_core.commandline import run

@click.command()
def command():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    duckdb.connect().execute("select sum(i) from range(1_000_000_000_000) t(i)").fetchall()

sys.exit(run(command, [], program="stopped"))
"""


def test_ctrl_c_while_duckdb_works_is_exit_code_130_too():
    done = subprocess.run([sys.executable, "-c", STOPPED_QUERY], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
