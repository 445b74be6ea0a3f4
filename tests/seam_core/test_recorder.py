"""What an agent logs with the recorder is what it did, whatever goes wrong on the way, and the report says of it what the recorder said."""

import errno
import gzip
import hashlib
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs import make_reference
from seam_core.columns import columns_of
from seam_core.gates import BUDGET_ROWS
from seam_core.judge import judge, latest_time
from seam_core.recorder import BudgetVerdict, Change, Recorder, appending, hash_of, line, probe, schema
from seam_core.recorder.checking import judge_line
from seam_core.recorder.limits import spending
from seam_core.records import HEALS, LOGS
from tests.seam_core.test_axes_gates import BLOCKS
from tests.seam_core.test_axes_gates import HEALS as CHANGES
from tests.seam_core.workspaces import NOW as AUDITED
from tests.seam_core.workspaces import audited, heal, json_lines, kept, opened, rejected, write

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 6, 9, 14, 22, 31, tzinfo=UTC)


def recorder(folder, **options):
    return Recorder(folder, **({"sync": "system", "now": lambda: NOW, "aside": folder.parent} | options))


def lines(folder, name="heal_events"):
    path = folder / f"{name}.jsonl"
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def log_one(to, loop_id="L", **keys):
    with to.heal("timeout:tool:context", loop_id=loop_id, level=2) as one:
        for key, value in keys.items():
            setattr(one, key, value)
    return one


class Mute(Exception):  # noqa: N818  not an error of ours
    """What cannot say what it is."""

    def __str__(self):
        raise RuntimeError("no words")


class Suite(str, Enum):  # noqa: UP042  the older form, whose str() is the member's name
    """A choice as agents write it."""

    SURFACE = "surface"


# ---- on its own


def test_it_needs_nothing_but_the_standard_library_and_works_as_a_copied_folder(tmp_path):
    shutil.copytree(ROOT / "seam_core" / "recorder", tmp_path / "kept_by_an_agent")
    code = f"""
import sys
before = set(sys.modules)
sys.path.insert(0, {str(tmp_path)!r})
from kept_by_an_agent import Recorder
with Recorder({str(tmp_path / "ws")!r}).heal("a:b:c", loop_id="L", level=1) as heal:
    heal.score = 0.5
names = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(heal.written, names - set(sys.stdlib_module_names) - {{"kept_by_an_agent"}})
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout == "True set()\n"


def test_importing_it_from_the_project_loads_nothing_else_of_it():
    code = "import sys, seam_core.recorder; print({n for n in sys.modules if n.startswith('seam_core') and 'recorder' not in n})"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "{'seam_core'}\n"


def test_the_rules_it_carries_are_those_of_the_core():
    carried = {"heals": schema.HEALS, "failures": schema.FAILURES, "runs": schema.RUNS, "protected": schema.PROTECTED}
    for log in LOGS:
        if log.table in carried:
            assert [replace(column, description="") for column in columns_of(log)] == list(carried[log.table].columns)


# ---- a heal


def test_a_heal_is_logged_with_everything_that_was_set(tmp_path):
    to = recorder(tmp_path / "ws", actor={"agent": "a-3"})
    with to.heal("timeout:tool:x", loop_id="L", level=2, evidence=["t", 1], task_tokens=11000, probe=probe(lambda: False)) as one:
        one.visible_before, one.holdout_before = 0.7, 0.7
        one.change = Change("planner_prompt", "new text", "old text")
        one.visible_after, one.holdout_after = 0.95, 0.74
        one.spend(40000)
        one.spend(8200)
        one.extra["model"] = "m-1"
    (found,) = lines(tmp_path / "ws")
    assert found.pop("duration_s") >= 0
    assert found == {
        "heal_id": "h_0001",
        "ts": "2026-06-09T14:22:31.000Z",
        "loop_id": "L",
        "cycle": 1,
        "level": 2,
        "trigger": {"failure_signature": "timeout:tool:x", "evidence": ["t", 1]},
        "change": {"target": "planner_prompt", "before_hash": hashlib.sha256(b"old text").hexdigest(), "after_text": "new text"},
        "visible_before": 0.7,
        "visible_after": 0.95,
        "holdout_before": 0.7,
        "holdout_after": 0.74,
        "tokens_spent": 48200,
        "task_tokens": 11000,
        "was_real_failure": True,
        "label_source": "probe1",
        "actor": {"agent": "a-3"},
        "probe_votes": ["fail"],
        "model": "m-1",
    }
    assert (one.heal_id, one.cycle, one.written, list(to.problems)) == ("h_0001", 1, True, [])


def test_what_is_not_set_is_missing_and_not_zero(tmp_path):
    log_one(recorder(tmp_path / "ws"))
    assert lines(tmp_path / "ws")[0].keys() == {"heal_id", "ts", "loop_id", "cycle", "level", "trigger", "duration_s"}


@pytest.mark.parametrize("error", [ValueError("no route"), KeyboardInterrupt(), SystemExit(3)], ids=lambda error: type(error).__name__)
def test_an_exception_goes_on_and_the_heal_is_logged_without_what_was_not_measured(tmp_path, error):
    to = recorder(tmp_path / "ws")

    def repair():
        with to.heal("a:b:c", loop_id="L", level=2) as one:
            one.visible_before = 0.4
            raise error

    with pytest.raises(type(error)) as raised:
        repair()
    assert raised.value is error
    (found,) = lines(tmp_path / "ws")
    assert (found["visible_before"], found["error"].partition(":")[0]) == (0.4, type(error).__name__)
    assert "visible_after" not in found


def test_ids_and_cycles_go_on_where_the_log_left_off_whoever_wrote_it(tmp_path):
    written = [heal(1, heal_id="h_0041", loop_id="L", cycle=3), heal(2, heal_id="h_7", loop_id="M", cycle=1), heal(3, heal_id="other_900")]
    path = write(tmp_path / "ws", heal_events=written)
    path.write_bytes(path.read_bytes().replace(b'"loop_id": "L"', b'"loop_id":"L"'))
    to = recorder(tmp_path / "ws")
    assert [(one.heal_id, one.cycle) for one in (log_one(to), log_one(to, "new"), log_one(to), log_one(to, "M"))] == [
        ("h_0042", 4),
        ("h_0043", 1),
        ("h_0044", 5),
        ("h_0045", 2),
    ]
    assert [(one.heal_id, one.cycle) for one in (log_one(recorder(tmp_path / "ws"), "M"),)] == [("h_0046", 3)]


def test_another_log_under_the_same_name_is_read_anew(tmp_path):
    to = recorder(tmp_path / "ws")
    log_one(to)
    (tmp_path / "ws" / HEALS.file).rename(tmp_path / "ws" / "old")
    assert (log_one(to).heal_id, log_one(to).cycle) == ("h_0001", 2)
    (tmp_path / "ws" / HEALS.file).write_bytes(b"")
    assert log_one(to).heal_id == "h_0001"


def test_a_run_of_a_heal_is_written_after_it_and_carries_its_id(tmp_path):
    to = recorder(tmp_path / "ws")
    with to.heal("a:b:c", loop_id="L", level=2) as one:
        assert not to.suite_run("surface", "before", {"c1": True}, heal=one).written
        to.suite_run("surface", "after", {"c1": False, "c2": "pass"}, heal=one, evidence={"c1": "x" * 5000})
        assert lines(tmp_path / "ws", "suite_runs") == []
    late = to.suite_run("holdout", "after", {"h1": True}, heal=one)
    found = lines(tmp_path / "ws", "suite_runs")
    assert [(run["run_id"], run["phase"], run["heal_id"]) for run in found] == [
        ("run_0001", "before", "h_0001"),
        ("run_0002", "after", "h_0001"),
        ("run_0003", "after", "h_0001"),
    ]
    assert found[1]["results"] == {"c1": "fail", "c2": "pass"}
    assert len(found[1]["evidence"]["c1"]) == 4000
    assert (late.written, late.id) == (True, "run_0003")


def test_an_outcome_that_is_neither_is_left_out_of_a_run_and_never_a_pass(tmp_path):
    to = recorder(tmp_path / "ws")
    to.suite_run("surface", "nightly", {"a": np.True_, "b": None, "c": "skipped", 4: "fail", "4": True}, night="2026-06-09")
    (run,) = lines(tmp_path / "ws", "suite_runs")
    assert (run["results"], run["no_outcome"]) == ({"a": "pass", "4": "fail"}, {"b": "nothing", "c": "skipped"})
    assert [problem.sentence for problem in to.problems] == ["left out of a run, since they neither passed nor failed: b, c"]


def test_failures_are_logged_by_the_same_object(tmp_path):
    assert recorder(tmp_path / "ws").failure("a:b:c", source="monitor").written
    assert lines(tmp_path / "ws", "failures") == [{"source": "monitor", "ts": "2026-06-09T14:22:31.000Z", "failure_signature": "a:b:c"}]


# ---- what is wrong with a record

WRONG = {
    "a score above 1": ({"visible_after": 1.2}, "visible_after"),
    "a score that is no number": ({"holdout_before": float("nan")}, "holdout_before"),
    "tokens that are no whole number": ({"tokens_spent": 1.5}, "tokens_spent"),
    "a label nobody knows": ({"label_source": "guess"}, "label_source"),
    "a target that is no text": ({"change": Change(7, "text")}, "change.target"),
    "half of a break-glass": ({"break_glass": {"by": 3}}, "break_glass.by"),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_number_does_not_cost_the_heal(tmp_path, name):
    keys, path = WRONG[name]
    to = recorder(tmp_path / "ws")
    assert log_one(to, **keys, score=0.5).written
    (found,) = lines(tmp_path / "ws")
    assert (found["score"], list(found["not_recorded"])) == (0.5, [path])
    assert [problem.sentence.startswith(f"{path} must be") for problem in to.problems] == [True]
    with opened(tmp_path / "ws" / HEALS.file, now=NOW) as store:
        assert rejected(store) == []


def test_a_heal_that_is_none_is_refused_and_told_with_its_line(tmp_path, caplog):
    to = recorder(tmp_path / "ws")
    with caplog.at_level(logging.WARNING, "seam.recorder"), to.heal("a:b:c", loop_id="L", level=7) as one:
        pass
    assert (one.written, lines(tmp_path / "ws"), to.flush()) == (False, [], 0)
    (problem,) = to.problems
    assert problem.sentence == "not logged: level must be a whole number from 0 to 3, found 7"
    assert json.loads(problem.line)["level"] == 7
    assert problem.sentence in caplog.text


ODD_ATTRIBUTES = {
    "change as a mapping": (
        {"change": {"target": "prompt", "after_text": "new"}},
        {"change": {"target": "prompt", "after_text": "new"}},
        0,
    ),
    "change": ({"change": "new"}, {"change": None}, 1),
    "text before": ({"change": Change("prompt", "new", before_text=5)}, {"change": {"target": "prompt", "after_text": "new"}}, 1),
    "probe": ({"probe": True}, {"was_real_failure": None}, 1),
    "extra": ({"extra": None}, {"extra": None}, 0),
    "extra as a list": ({"extra": [1]}, {"extra": [1]}, 0),
    "score": ({"score": np.longdouble(0.5)}, {"score": None}, 1),
    "evidence": (
        {"evidence": [datetime.min]},
        {"trigger": {"failure_signature": "timeout:tool:context", "evidence": ["0001-01-01T00:00:00"]}},
        0,
    ),
}


@pytest.mark.parametrize("name", ODD_ATTRIBUTES)
def test_an_attribute_of_the_wrong_kind_neither_raises_nor_costs_the_heal(tmp_path, name):
    to = recorder(tmp_path / "ws")
    keys, logged, n_told = ODD_ATTRIBUTES[name]
    assert log_one(to, **keys).written
    [found] = lines(tmp_path / "ws")
    assert {key: found.get(key) for key in logged} == logged
    assert len(to.problems) == n_told


@pytest.mark.parametrize("tokens", [None, "7", [7]])
def test_a_sum_with_something_that_is_no_number_is_not_known(tmp_path, tokens):
    to = recorder(tmp_path / "ws")
    with to.heal("a:b:c", loop_id="L", level=1, task_tokens=10) as one:
        one.spend(70)
        one.spend(tokens)
        one.spend(5)
    assert one.written
    assert to.budget("L").verdict == "unknown"
    assert to.problems[-1].sentence.startswith("tokens_spent must be a whole number")


def test_an_error_that_cannot_be_shown_goes_on_as_it_is(tmp_path):
    to = recorder(tmp_path / "ws")
    with pytest.raises(Mute), to.heal("a:b:c", loop_id="L", level=1):
        raise Mute
    assert lines(tmp_path / "ws")[0]["error"] == "Mute: a Mute that cannot be shown (RuntimeError)"


def test_odd_arguments_do_not_raise(tmp_path):
    to = recorder(tmp_path / "ws")
    assert not to.failure("a:b:c", ts=5).written
    assert not to.suite_run("surface", "nightly", {"a": True}, ts=datetime.max).written
    with to.heal("a:b:c", loop_id=["L"], level=1) as one:
        pass
    assert not one.written
    to.break_glass(["L"], by="ana", reason="why")
    assert to.budget(["L"]).verdict == "unknown"
    assert to.suite_run(Suite.SURFACE, "after", {"a": Suite.SURFACE, "b": np.array([1, 2]), "c": True}, heal="h_0001").written
    [run] = lines(tmp_path / "ws", "suite_runs")
    assert (run["suite"], run["results"], run["heal_id"]) == ("surface", {"c": "pass"}, "h_0001")


def test_runs_of_a_heal_that_was_refused_do_not_become_those_of_the_next(tmp_path):
    to = recorder(tmp_path / "ws")
    with to.heal("a:b:c", loop_id="L", level=7) as refused:
        to.suite_run("surface", "before", {"a": True}, heal=refused)
    with to.heal("a:b:c", loop_id="L", level=1) as taken:
        to.suite_run("surface", "before", {"a": False}, heal=taken)
    assert (refused.heal_id, taken.heal_id) == (None, "h_0001")
    of_refused, of_taken = lines(tmp_path / "ws", "suite_runs")
    assert of_refused["heal_id"].startswith("h_refused_")
    assert of_taken["heal_id"] == "h_0001"


def test_an_id_of_the_callers_own_is_logged_once_and_the_second_is_told(tmp_path):
    first = recorder(tmp_path / "ws")
    with first.heal("a:b:c", loop_id="L", heal_id="mine é", level=2) as heal:
        pass
    assert heal.written
    to = recorder(tmp_path / "ws")  # another process would know no more than the log tells
    with to.heal("a:b:c", loop_id="M", heal_id="mine é", level=2) as second:
        to.suite_run("surface", "after", {"a": True}, heal=second)
    assert not second.written
    assert [line["loop_id"] for line in lines(tmp_path / "ws")] == ["L"]
    assert lines(tmp_path / "ws", "suite_runs")[0]["heal_id"].startswith("h_refused_")
    assert to.problems[0].sentence == "not logged: heal_id 'mine é' is in the log already, and the first one counts"
    assert b'"M"' in to.problems[0].line
    to.suite_run("surface", "nightly", {"a": True}, run_id="r1")
    to.suite_run("surface", "nightly", {"a": False}, run_id="r1")
    assert [run["results"] for run in lines(tmp_path / "ws", "suite_runs") if run["run_id"] == "r1"] == [{"a": "pass"}]


def test_a_run_of_a_heal_whose_block_never_ran_goes_to_no_other_heal(tmp_path):
    to = recorder(tmp_path / "ws")
    for _ in range(20):  # memory of a heal that is gone is used again
        to.suite_run("surface", "before", {"a": True}, heal=to.heal("a:b:c", loop_id="L", level=1))
    log_one(to)
    assert lines(tmp_path / "ws", "suite_runs") == []


def test_a_second_block_of_one_heal_is_a_second_heal(tmp_path):
    to = recorder(tmp_path / "ws")
    one = to.heal("a:b:c", loop_id="L", level=1)
    for score in (0.1, 0.2):
        with one:
            one.score = score
    assert [(found["heal_id"], found["cycle"], found["score"]) for found in lines(tmp_path / "ws")] == [
        ("h_0001", 1, 0.1),
        ("h_0002", 2, 0.2),
    ]


def test_a_line_nested_too_deeply_stops_neither_logging_nor_the_verdicts(tmp_path):
    to = recorder(tmp_path / "ws")
    deep = '{"heal_id": "x", "loop_id": "L", "id": "x", "a": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    for name in ("heal_events", "protected"):
        (tmp_path / "ws" / f"{name}.jsonl").write_text(deep)
    assert log_one(to, tokens_spent=1, task_tokens=1).written
    assert to.budget("L").verdict == "normal"
    assert to.gate(Change("prompt", "new")).passes


def test_a_budget_that_cannot_be_read_is_not_normal(tmp_path):
    to = recorder(tmp_path / "ws")
    log_one(to, tokens_spent=1, task_tokens=1)
    assert to.budget("L").verdict == "normal"
    (tmp_path / "ws" / "seam.toml").write_text("budget_elevated = ")
    found = to.budget("L")
    assert found.verdict == "unknown"
    assert "seam.toml is not TOML" in found.note


def test_a_pipe_acknowledges_nothing(tmp_path):
    to = recorder(tmp_path / "ws")
    os.mkfifo(tmp_path / "ws" / "heal_events.jsonl")
    assert not log_one(to).written
    assert "no plain file" in to.problems[-1].sentence
    (tmp_path / "ws" / "heal_events.jsonl").unlink()
    assert to.flush() == 0
    assert len(lines(tmp_path / "ws")) == 1


def test_a_slip_in_a_name_neither_raises_nor_loses_the_number(tmp_path):
    to = recorder(tmp_path / "ws")
    log_one(to, visble_after=0.9)
    assert lines(tmp_path / "ws")[0]["visble_after"] == 0.9
    assert "did you mean visible_after?" in to.problems[0].sentence


class Odd:
    def __str__(self):
        raise RuntimeError("no text")


def nested(n):
    return [nested(n - 1)] if n else []


ring = {}
ring["itself"] = ring


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(st.characters(codec=None))
        | st.just(np.float32(0.5))
        | st.builds(Odd),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from([column.path for column in schema.HEALS.columns] + [("extra",)]),
)
@settings(max_examples=150, deadline=None)
def test_whatever_a_key_holds_a_line_is_made_that_the_reader_takes_or_none(value, path):
    record = heal(1, text="t", label_source="probe1")
    inner = record
    for part in path[:-1]:
        inner = inner.setdefault(part, {})
    inner[path[-1]] = value
    made = line.line_of(record, schema.HEALS, latest=latest_time(NOW.replace(year=2027)))
    assert (judge(made.data, HEALS, latest=latest_time(NOW.replace(year=2027))) is None) == (made.fault is None)
    assert made.data.endswith(b"\n")
    assert made.data.count(b"\n") == 1
    if made.fault:
        assert any(column.required and column.path == path for column in schema.HEALS.columns)


@pytest.mark.parametrize("value", [nested(500), ring, 10**5000, {1: "a", "1": "b"}, {"b": b"\xff"}, "x\ud83dy"], ids=range(6))
def test_odd_evidence_does_not_cost_the_heal(tmp_path, value):
    to = recorder(tmp_path / "ws")
    log_one(to, evidence=value, score=0.5)
    with opened(tmp_path / "ws" / HEALS.file, now=NOW) as store:
        assert (len(kept(store)), rejected(store)) == (1, [])


def test_a_line_that_would_be_too_long_loses_its_longest_part(tmp_path, monkeypatch):
    monkeypatch.setattr(line, "LINE_MAX", 2000)
    log_one(recorder(tmp_path / "ws"), evidence="e" * 1500, change=Change("p", "t" * 1000))
    (found,) = lines(tmp_path / "ws")
    assert (list(found["not_recorded"]), len(found["change"]["after_text"])) == (["trigger.evidence"], 1000)


def test_lines_are_judged_the_same_with_and_without_the_core():
    for record in (heal(1), heal(1, cycle=0), heal(1, visible_after="0.5"), heal(1, ts="2026-06-31T00:00:00Z"), heal(1, sig="")):
        data = json_lines([record])
        assert judge_line(data, schema.HEALS, latest=NOW.replace(year=2027)) == judge(data, HEALS, latest=NOW.replace(year=2027))


# ---- what goes wrong while writing


def test_a_torn_line_of_a_killed_writer_is_ended_and_listed_alone(tmp_path):
    to = recorder(tmp_path / "ws")
    log_one(to)
    with (tmp_path / "ws" / HEALS.file).open("ab") as log:
        log.write(json_lines([heal(9)])[:40])
    assert log_one(to).heal_id == "h_0002"
    with opened(tmp_path / "ws" / HEALS.file, now=NOW) as store:
        assert kept(store) == [(1, "h_0001"), (3, "h_0002")]
        assert [number for number, _, _ in rejected(store)] == [2]


def test_a_whole_record_without_its_newline_counts_and_its_number_is_taken(tmp_path):
    path = write(tmp_path / "ws", heal_events=json_lines([heal(1, heal_id="h_0001", loop_id="L")])[:-1])
    one = log_one(recorder(tmp_path / "ws"))
    assert (one.heal_id, one.cycle) == ("h_0002", 2)
    with opened(path) as store:
        assert [name for _, name in kept(store)] == ["h_0001", "h_0002"]


def a_lost_folder(folder):
    folder.rename(folder.with_name("elsewhere"))
    return lambda: folder.with_name("elsewhere").rename(folder)


def a_folder_in_its_place(folder):
    (folder / HEALS.file).mkdir()
    return (folder / HEALS.file).rmdir


def a_packed_log(folder):
    (folder / f"{HEALS.file}.gz").write_bytes(gzip.compress(b""))
    return (folder / f"{HEALS.file}.gz").unlink


@pytest.mark.parametrize("spoil", [a_lost_folder, a_folder_in_its_place, a_packed_log])
def test_what_cannot_be_written_is_kept_told_and_written_later(tmp_path, spoil):
    to = recorder(tmp_path / "ws")
    mend = spoil(tmp_path / "ws")
    first, second = log_one(to, score=0.1), log_one(to, score=0.2)
    assert (first.written, second.written, [first.cycle, second.cycle]) == (False, False, [1, 2])
    (aside,) = tmp_path.glob("seam-aside-*.jsonl")
    assert [json.loads(text)["score"] for text in aside.read_text(encoding="utf-8").splitlines()] == [0.1, 0.2]
    assert f"the line is kept in {aside}" in to.problems[0].sentence
    assert (to.flush(), to.budget("L").n_heals) == (2, 2)
    mend()
    assert log_one(to, score=0.3).written
    found = lines(tmp_path / "ws")
    assert [(one["score"], one["cycle"]) for one in found] == [(0.1, 1), (0.2, 2), (0.3, 3)]
    assert len({one["heal_id"] for one in found}) == 3
    assert (to.flush(), list(tmp_path.glob("seam-aside-*"))) == (0, [])


def test_without_room_for_a_whole_line_the_log_stays_as_it_was_and_the_heal_waits(tmp_path):
    """The operating system gives room for some bytes of the line and then refuses, as it does on a full disk."""
    to = recorder(tmp_path / "ws")
    log_one(to, evidence="e" * 5000)
    before = (tmp_path / "ws" / HEALS.file).read_bytes()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 40, hard))
    try:
        waits = log_one(to)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert (waits.written, (tmp_path / "ws" / HEALS.file).read_bytes()) == (False, before)
    assert "File too large" in to.problems[0].sentence
    assert (to.flush(), [one["cycle"] for one in lines(tmp_path / "ws")]) == (0, [1, 2])


def test_with_no_place_left_at_all_lines_wait_in_memory(tmp_path):
    to = recorder(tmp_path / "ws", aside=tmp_path / "nowhere")
    mend = a_lost_folder(tmp_path / "ws")
    log_one(to)
    assert "kept in memory" in to.problems[0].sentence
    mend()
    assert (to.flush(), len(lines(tmp_path / "ws"))) == (0, 1)


def test_a_lock_that_is_not_given_back_does_not_hold_the_agent(tmp_path):
    to = recorder(tmp_path / "ws", wait_s=0.05)
    with appending.opened(tmp_path / "ws" / HEALS.file, wait_s=1):
        assert not log_one(to).written
    assert "another process has locked the log" in to.problems[0].sentence
    assert (to.flush(), len(lines(tmp_path / "ws"))) == (0, 1)


def test_a_line_that_may_not_be_on_the_disk_is_written_again_and_counts_once(tmp_path, monkeypatch):
    to = recorder(tmp_path / "ws", sync="disk")
    log_one(to)

    def broken(_fd):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(appending.os, "fsync", broken)
        assert not log_one(to).written
    to.flush()
    with opened(tmp_path / "ws" / HEALS.file, now=NOW) as store:
        assert (len(lines(tmp_path / "ws")), kept(store), rejected(store)) == (3, [(1, "h_0001"), (2, "h_0002")], [])


def test_threads_and_forked_children_number_in_one_row(tmp_path):
    to = recorder(tmp_path / "ws")
    threads = [threading.Thread(target=lambda: [log_one(to) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if not child:
        code = 0 if all(log_one(to).written for _ in range(10)) else 1
        os._exit(code)
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0
    found = lines(tmp_path / "ws")
    assert [one["heal_id"] for one in found] == [f"h_{n:04d}" for n in range(1, 51)]
    assert [one["cycle"] for one in found] == list(range(1, 51))


# ---- the retry probe

PROBES = [
    ([True], 1, False, "probe1"),
    ([False], 1, True, "probe1"),
    ([None], 1, None, None),
    ([True, True], 3, False, "probe3"),
    ([False, False], 3, True, "probe3"),
    ([True, False, True], 3, False, "probe3"),
    ([False, True, False], 3, True, "probe3"),
    ([None, False, True], 3, None, None),
    ([None, True, True], 3, False, "probe3"),
]


@pytest.mark.parametrize(("outcomes", "votes", "is_real", "source"), PROBES)
def test_a_failure_is_real_when_most_plain_retries_fail(outcomes, votes, is_real, source):
    replays = iter(outcomes)
    found = probe(lambda: next(replays), votes=votes)
    assert (found.was_real_failure, found.label_source) == (is_real, source)
    assert found.votes == tuple({True: "pass", False: "fail", None: "unknown"}[one] for one in outcomes)
    assert next(replays, "spent") == "spent", "what is decided is not tried again"


def test_a_retry_that_raises_has_failed():
    found = probe(lambda: 1 / 0)
    assert (found.was_real_failure, found.errors) == (True, ("ZeroDivisionError: division by zero",))


@pytest.mark.parametrize(
    ("answer", "vote"), [("fail", "fail"), ("pass", "pass"), ("I refunded it", "unknown"), (float("nan"), "unknown"), (0, "fail")]
)
def test_a_retry_that_answers_with_something_else_has_not_passed(answer, vote):
    assert probe(lambda: answer).votes == (vote,)


def test_a_retry_whose_error_cannot_be_shown_has_failed():
    def replay():
        raise Mute

    assert probe(replay).was_real_failure is True


def test_a_label_somebody_gave_stands_over_the_probe(tmp_path):
    log_one(recorder(tmp_path / "ws"), probe=probe(lambda: False), was_real_failure=False, label_source="person")
    (found,) = lines(tmp_path / "ws")
    assert (found["was_real_failure"], found["label_source"], found["probe_votes"]) == (False, "person", ["fail"])


# ---- the same verdicts as the report's


@pytest.mark.parametrize("name", CHANGES)
def test_the_gate_says_before_what_the_report_says_after(tmp_path, name):
    target, text, blocks = CHANGES[name]
    write(tmp_path / "ws", protected=BLOCKS)
    found = recorder(tmp_path / "ws").gate(Change(target, text))
    assert (list(found.blocks), found.passes) == (blocks, not blocks)


@pytest.mark.parametrize("place", ["fixtures/protected.jsonl", "protected.jsonl", "fixtures/protected.jsonl.gz"])
def test_protected_blocks_are_found_where_the_report_finds_them(tmp_path, place):
    path = tmp_path / "ws" / place
    path.parent.mkdir(parents=True)
    data = b"not JSON\n" + json_lines([*BLOCKS, BLOCKS[0] | {"text": "other"}])
    path.write_bytes(gzip.compress(data) if place.endswith("gz") else data)
    assert recorder(tmp_path / "ws").gate(Change("tools", "STOP")).blocks == ("tools",)
    if path.parent.name == "fixtures":
        write(path.parent, heal_events=[])
        assert recorder(tmp_path / "ws").gate(Change("tools", "STOP")).passes, "a fixtures folder with a heal log is another workspace"


def test_a_gate_that_cannot_read_its_blocks_does_not_pass(tmp_path):
    to = recorder(tmp_path / "ws")
    (tmp_path / "ws" / "protected.jsonl").mkdir()
    found = to.gate(Change("p", "text"))
    assert (found.verdict, found.passes, found.reason) == ("unknown", False, "protected.jsonl cannot be read (Is a directory)")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo with a dozen odd heals more, and thresholds of its own."""
    folder = Path(shutil.copytree(ROOT / "fixtures", tmp_path_factory.mktemp("budget") / "ws"))
    more = [
        heal(f"x{n}", 1, loop_id=f"x{n % 4}", tokens_spent=spent, task_tokens=task)
        for n, (spent, task) in enumerate([(0, 10), (40, 10), (None, 10), (10, 0), (70, 10), (41, 10), (10, None), (60, 10)])
    ]
    with (folder / HEALS.file).open("ab") as log:
        log.write(json_lines(more))
    (folder / "seam.toml").write_text("budget_elevated = 4\n", encoding="utf-8")
    return folder


def test_the_budget_says_before_what_the_report_says_after(demo):
    with audited(demo / HEALS.file) as found:
        rows = found.scope.query("select loop_id, list(verdict), count(*), sum(tokens_spent) from budget_rows group by loop_id")
        loops = {row[0] for row in found.scope.query("select distinct loop_id from heals")}
    to = recorder(demo, now=lambda: AUDITED)
    said = {loop_id: to.budget(loop_id) for loop_id in loops}
    order = ["escalated", "elevated", "unknown", "normal"]
    assert {loop_id: (found.verdict, found.n_heals, found.tokens_spent) for loop_id, found in said.items() if found.n_heals} == {
        loop_id: (next(one for one in order if one in verdicts), n, tokens or 0) for loop_id, verdicts, n, tokens in rows
    }
    assert {found.verdict for found in said.values()} >= {"escalated", "elevated", "unknown", "normal"}
    assert len(rows) < len(loops), "the demo has a loop whose only heal was stopped at the gate"


@given(st.integers(0, 10**15) | st.none(), st.integers(0, 10**6) | st.none(), st.sampled_from([3.0, 0.1, 6.5]))
@settings(max_examples=60, deadline=None)
def test_one_heal_is_as_dear_for_the_recorder_as_for_the_report(spent, task, elevated):
    """The report's SQL, by itself, on the same two numbers."""
    source = "(select 'h' heal_id, now() ts, 'L' loop_id, 'p' target, false has_break_glass, 1 row, "
    source += "$spent::bigint tokens_spent, $task::integer task_tokens)"
    sql = f"select verdict from ({BUDGET_ROWS.replace('window_heals', source)})"
    binds = {"spent": spent, "task": task, "elevated": elevated + 1e-9, "escalated": 2 * elevated + 1e-9}
    assert (spending(spent, task, elevated=elevated, escalated=2 * elevated),) == duckdb.execute(sql, binds).fetchone()


def test_the_budget_slows_down_asks_and_can_be_lifted_with_name_and_reason(tmp_path):
    to = recorder(tmp_path / "ws")
    assert to.budget("L") == BudgetVerdict("normal", elevated=3, escalated=6)
    said = []
    for spent in (300, 301, 601):
        log_one(to, tokens_spent=spent, task_tokens=100)
        found = to.budget("L")
        said.append((found.verdict, found.slow_down, found.ask_a_person))
    assert said == [("normal", False, False), ("elevated", True, False), ("escalated", True, True)]
    assert (to.budget("L").heal_id, to.budget("L").tokens_spent, to.budget("L").ratio) == ("h_0003", 1202, 6.01)
    to.break_glass("L", by="ana", reason="checkout was down")
    found = to.budget("L")
    assert (found.verdict, found.is_lifted, found.slow_down, found.by) == ("escalated", True, False, "ana")
    log_one(to)
    log_one(to, "M")
    assert [one.get("break_glass") for one in lines(tmp_path / "ws")[-2:]] == [{"by": "ana", "reason": "checkout was down"}, None]
    assert recorder(tmp_path / "ws").budget("L").reason == "checkout was down"


def test_thresholds_are_those_of_the_report(tmp_path, monkeypatch):
    to = recorder(tmp_path / "ws")
    (tmp_path / "ws" / "seam.toml").write_text("budget_elevated = 2\nbudget_escalated = 9\nalert_s = 0.5\n", encoding="utf-8")
    (tmp_path / "server.toml").write_text("[thresholds]\nbudget_escalated = 5\n", encoding="utf-8")
    assert (to.budget("L").elevated, to.budget("L").escalated) == (2, 9)
    monkeypatch.setenv("SEAM_SETTINGS", str(tmp_path / "server.toml"))
    assert (to.budget("L").elevated, to.budget("L").escalated) == (2, 5), "a workspace may not loosen the server's"
    (tmp_path / "ws" / "seam.toml").write_text("budget_elevated = 'much'\n", encoding="utf-8")
    assert (to.budget("L").elevated, to.budget("L").note) == (
        3,
        "seam.toml: budget_elevated must be a number above 0 and at most 1e+06, found 'much'",
    )


def test_the_hash_is_that_of_the_text():
    assert hash_of("é") == hashlib.sha256("é".encode()).hexdigest()


def test_the_carried_schema_is_made_by_the_reference():
    assert make_reference.CARRIED in make_reference.files()
