"""A pytest run as a suite run: only what ran and held is a pass, also when xdist spreads the tests over processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

def test_holds(): pass
def test_breaks(): assert 1 == 2
@pytest.fixture
def broken(): raise RuntimeError("no database")
def test_cannot_start(broken): pass
@pytest.fixture
def untidy():
    yield
    raise RuntimeError("left something")
def test_cannot_end(untidy): pass
@pytest.mark.skip
def test_is_skipped(): pass
def test_skips_itself(): pytest.skip("not here")
@pytest.mark.xfail
def test_is_expected_to_fail(): assert 0
@pytest.mark.xfail
def test_passes_although(): pass
@pytest.mark.xfail(strict=True)
def test_may_not_pass(): pass
@pytest.mark.seam_case("case_07")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_is_one_of_three(n): assert n != 2
@pytest.mark.seam_case("case_08")
@pytest.mark.parametrize("n", [1, 2])
def test_is_one_of_two(n): pass
@pytest.mark.seam_case("case_09")
def test_holds_too(): pass
@pytest.mark.seam_case("case_09")
@pytest.mark.skip
def test_its_other_half(): pass
"""
OUTCOMES = {
    "test_holds": "pass",
    "test_breaks": "fail",
    "test_cannot_start": "fail",
    "test_cannot_end": "fail",
    "test_is_expected_to_fail": "fail",
    "test_passes_although": "pass",
    "test_may_not_pass": "fail",
    "case_07": "fail",
    "case_08": "pass",
}
SKIPPED = ["case_09", "test_is_skipped", "test_skips_itself"]


def run_pytest(folder, tests, *options, workspace="ws"):
    """What pytest said and its exit code, and the runs that are in the workspace afterwards."""
    (folder / "test_it.py").write_text(tests, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "seam_core.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", folder]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")} | {"PYTHONPATH": str(ROOT)}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # only the plugins that a test asks for: starting all of them takes longest
    where = ["--seam-workspace", folder / workspace] if workspace else []
    done = subprocess.run([*command, *where, *options, "test_it.py"], cwd=folder, env=environ, capture_output=True, text=True, check=False)
    log = folder / "ws" / "suite_runs.jsonl"
    runs = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    return done.stdout + done.stderr, done.returncode, runs


def plain(case):
    """A case without the name of its file."""
    return case.removeprefix("test_it.py::")


@pytest.mark.parametrize("options", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "xdist"])
def test_only_what_ran_and_held_is_a_pass(tmp_path, options):
    said, code, (run,) = run_pytest(tmp_path, TESTS, *options)
    assert {plain(case): outcome for case, outcome in run["results"].items()} == OUTCOMES
    assert sorted(map(plain, run["skipped"])) == SKIPPED
    assert (run["run_id"], run["suite"], run["phase"], code) == ("run_0001", "surface", "nightly", 1)
    assert "assert 1 == 2" in run["evidence"]["test_it.py::test_breaks"]
    assert "SEAM: run_0001: 3 of 9 cases passed, 3 skipped and left out" in said


def test_a_test_that_is_listed_twice_fails_if_either_did(tmp_path):
    tests = "done = []\ndef test_once():\n    done.append(1)\n    assert len(done) == 1\ndef test_fine(): pass\n"
    _, _, (run,) = run_pytest(
        tmp_path, tests, "--keep-duplicates", "test_it.py", "--seam-suite", "holdout", "--seam-phase", "after", "--seam-heal", "h_0007"
    )
    assert {plain(case): outcome for case, outcome in run["results"].items()} == {"test_once": "fail", "test_fine": "pass"}
    assert (run["suite"], run["phase"], run["heal_id"]) == ("holdout", "after", "h_0007")


def test_the_last_of_several_tries_counts_and_that_there_were_others_is_kept(tmp_path):
    tests = "done = []\ndef test_flaky():\n    done.append(1)\n    assert len(done) > 1\n"
    _, code, (run,) = run_pytest(
        tmp_path, tests, "-p", "pytest_rerunfailures", "--reruns", "2", "--seam-run-id", "mine", "--seam-night", "2026-06-09"
    )
    assert (run["results"], run["reruns"], code) == ({"test_it.py::test_flaky": "pass"}, {"test_it.py::test_flaky": 1}, 0)
    assert (run["run_id"], run["night"]) == ("mine", "2026-06-09")


@pytest.mark.parametrize(
    ("tests", "sentence"),
    [
        ("import nothing_of_that_name\ndef test_x(): pass\n", "the run was interrupted, or tests could not be collected"),
        ("def test_x(): raise KeyboardInterrupt\n", "the run was interrupted, or tests could not be collected"),
        ("", "no test was collected"),
        ("import pytest\n@pytest.mark.skip\ndef test_x(): pass\n", "every test was skipped"),
    ],
)
def test_half_a_run_is_not_written(tmp_path, tests, sentence):
    said, _, runs = run_pytest(tmp_path, tests)
    assert runs == []
    assert f"SEAM: no run was written: {sentence}" in said


def test_a_case_that_was_cut_short_has_no_outcome(tmp_path):
    tests = """
import pytest
@pytest.mark.seam_case(id="case_07")
def test_one_half(record_property): record_property(["any"], "thing")
def test_breaks(): assert 0
@pytest.mark.seam_case("case_07")
def test_other_half(): assert 0
def test_last(): pass
"""
    said, code, (run,) = run_pytest(tmp_path, tests, "-x")
    assert run["results"] == {"test_it.py::test_breaks": "fail"}
    assert sorted(map(plain, run["skipped"])) == ["case_07", "test_last"]
    assert "0 of 1 cases passed, 2 skipped and left out" in said
    assert code == 1


def test_a_session_with_an_exit_code_of_its_own_keeps_it_and_writes_nothing(tmp_path):
    said, code, runs = run_pytest(tmp_path, 'import pytest\ndef test_x(): pytest.exit("enough", returncode=42)\n')
    assert (code, runs) == (42, [])
    assert "Traceback" not in said


def test_a_run_of_a_heal_needs_to_know_of_which(tmp_path):
    said, code, runs = run_pytest(tmp_path, "def test_x(): pass\n", "--seam-phase", "before")
    assert (code, runs) == (4, [])
    assert "--seam-phase before: say of which heal with --seam-heal" in said


def test_what_cannot_be_collected_fails_under_its_files_name(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_fine(): pass\n", encoding="utf-8")
    _, _, (run,) = run_pytest(tmp_path, "import nothing_of_that_name\n", "--continue-on-collection-errors", "test_other.py")
    assert run["results"] == {"test_other.py::test_fine": "pass", "test_it.py": "fail"}


def test_a_run_that_cannot_be_written_fails_the_session(tmp_path):
    (tmp_path / "ws" / "suite_runs.jsonl").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    said, code, _ = run_pytest(tmp_path / "tests", "def test_x(): pass\n", workspace="../ws")
    assert code == 3
    assert "SEAM: cannot be written (Is a directory)" in said


def test_without_a_workspace_nothing_is_written(tmp_path):
    said, code, runs = run_pytest(tmp_path, "def test_x(): pass\n", workspace="")
    assert (code, runs) == (0, [])
    assert "SEAM" not in said
