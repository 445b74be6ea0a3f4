"""Each format: which cases pass, which heals there are, and what is refused, worked out by hand from a few lines of each."""

import json
import os
import subprocess
import sys
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from tests.seam_core.importing.conftest import RUN, TS

XML = '<testsuite name="s" timestamp="2026-06-09T14:00:00Z" time="1">{}</testsuite>'


def results(importer):
    (run,) = importer.runs
    return run["results"]


# ---- JUnit


@pytest.mark.parametrize(
    ("inside", "outcome"),
    [
        ("", "pass"),
        ("<failure/>", "fail"),
        ("<error/>", "fail"),
        ("<skipped/>", None),
        ("<skipped/><failure/>", "fail"),
        ("<skipped/><error/>", "fail"),
        ("<flakyFailure/>", "fail"),
        ("<rerunError/>", "fail"),
        ("<system-out>noise</system-out>", "pass"),
    ],
)
def test_an_element_in_a_test_case_decides(inside, outcome, importer, put):
    importer("junit", put("r.xml", XML.format(f'<testcase name="a">{inside}</testcase><testcase name="other"/>')), *RUN)
    assert results(importer) == ({"s::a": outcome} if outcome else {}) | {"s::other": "pass"}


@pytest.mark.parametrize(
    ("attribute", "outcome"),
    [
        ('status="disabled"', None),
        ('status="notrun"', None),
        ('result="suppressed"', None),
        ('status="failed"', "fail"),
        ('status="run"', "pass"),
    ],
)
def test_an_attribute_of_a_test_case_decides_where_no_element_does(attribute, outcome, importer, put):
    importer("junit", put("r.xml", XML.format(f'<testcase name="a" {attribute}/><testcase name="other"/>')), *RUN)
    assert results(importer).get("s::a") == outcome


@pytest.mark.parametrize(("first", "second"), [("", "<failure/>"), ("<failure/>", ""), ("", "<error/>"), ("<skipped/>", "<failure/>")])
def test_a_case_listed_twice_fails_if_either_did(first, second, importer, put):
    importer("junit", put("r.xml", XML.format(f'<testcase name="a">{first}</testcase><testcase name="a">{second}</testcase>')), *RUN)
    assert results(importer) == {"s::a": "fail"}


def test_a_case_that_passed_once_and_was_skipped_once_is_no_pass(importer, put):
    cases = '<testcase name="a"/><testcase name="a"><skipped/></testcase><testcase name="b"/>'
    ran = importer("junit", put("r.xml", XML.format(cases)), *RUN)
    assert results(importer) == {"s::b": "pass"}
    assert "left out: 1 × skipped (s::a)" in ran.out


def test_errored_cases_can_be_left_out_and_are_listed_then(importer, put):
    cases = '<testcase name="a"><error message="no key"/></testcase><testcase name="b"/>'
    ran = importer("junit", put("r.xml", XML.format(cases)), *RUN, "--errors", "leave-out")
    assert results(importer) == {"s::b": "pass"}
    assert "left out: 1 × error: no key (s::a)" in ran.out


def test_a_run_ends_when_its_last_suite_does(importer, put):
    suites = '<testsuite name="a" timestamp="2026-06-09T14:00:00" time="90"><testcase name="x"/></testsuite>'
    suites += '<testsuite name="b" timestamp="2026-06-09T14:01:00" time="5.5"><testcase name="x"/></testsuite>'
    importer("junit", put("r.xml", f"<testsuites>{suites}</testsuites>"), *RUN)
    assert importer.runs[0]["ts"] == "2026-06-09T14:01:30"  # no offset in the source, none made up
    assert results(importer) == {"a::x": "pass", "b::x": "pass"}


def test_output_and_the_tools_own_values_are_kept(importer, put):
    case = '<testcase name="a" time="0.5"><failure message="no">AssertionError</failure><system-out>printed</system-out></testcase>'
    importer("junit", put("r.xml", XML.format(case)), *RUN)
    (run,) = importer.runs
    assert run["evidence"] == {"s::a": "no\nAssertionError\nprinted"}
    assert run["raw"]["s::a"] == {"attributes": {"name": "a", "time": "0.5"}, "elements": ["failure", "system-out"]}
    assert run["imported_from"]["file"] == "r.xml"


@pytest.mark.parametrize("state", ["fail", "broken", "timeout", "Aborted", "inconclusive"])
def test_a_state_that_is_no_pass_is_none_without_an_element_that_says_so(state, importer, put):
    importer("junit", put("r.xml", XML.format(f'<testcase name="a" status="{state}"/><testcase name="b" status="run"/>')), *RUN)
    assert results(importer) == {"s::a": "fail", "s::b": "pass"}


def test_a_date_alone_is_no_time_of_a_run(importer, put):
    suite = '<testsuite name="s" timestamp="2026-06-09" time="90"><testcase name="a"/></testsuite>'
    ran = importer("junit", put("r.xml", suite), *RUN)
    assert (ran.code, importer.runs) == (3, [])
    assert "says nothing of when it was" in ran.err


def test_a_suite_cannot_say_how_many_cases_were_found_in_it(importer, put):
    suite = '<testsuite name="s" tests="3" seam-cases="9" timestamp="2026-06-09T14:00:00Z"><testcase name="a"/></testsuite>'
    assert "ran 3 tests and lists 1" in importer("junit", put("r.xml", suite), *RUN).out


def test_a_report_that_ran_more_than_it_lists_says_so(importer, put):
    suite = '<testsuite name="s" tests="3" timestamp="2026-06-09T14:00:00Z"><testcase name="a"/></testsuite>'
    ran = importer("junit", put("r.xml", suite), *RUN)
    assert ran.code == 1
    assert "could not be read: 1 × says that it ran 3 tests and lists 1: what is missing is no pass" in ran.out


def test_parts_of_one_run_are_merged(importer, put):
    one, two = (
        put("1.xml", XML.format('<testcase name="a"/>')),
        put("2.xml", XML.format('<testcase name="a"><failure/></testcase><testcase name="b"/>')),
    )
    importer("junit", one, two, *RUN, "--merge")
    assert results(importer) == {"s::a": "fail", "s::b": "pass"}


def test_safety_cases_are_marked_where_the_report_marks_them(importer, put):
    marked = '<testcase name="a"><properties><property name="safety" value="true"/></properties></testcase><testcase name="b"/>'
    importer("junit", put("r.xml", XML.format(marked)), *RUN, "--with-cases")
    assert importer.lines("surface.jsonl") == [{"id": "s::a", "safety": True}, {"id": "s::b"}]


TESTS = """
import pytest
def test_passes(): print("seen")
def test_fails(): assert 1 == 2
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.fixture
def broken(): raise ValueError
def test_errs(broken): pass
@pytest.mark.parametrize("n", [1, 2])
def test_each(n): assert n == 1
"""


def test_what_pytest_itself_writes_is_counted_as_pytest_counts(importer, put, tmp_path):
    """2 passed, 2 failed, 1 skipped, 1 xfailed, 1 error: five outcomes, of which the error is a fail."""
    put("tests/test_it.py", TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--junitxml",
        tmp_path / "runs" / "h_1.after.xml",
        tmp_path / "tests",
    ]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")} | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert "2 failed, 2 passed, 1 skipped, 1 xfailed, 1 error" in done.stdout
    importer.now = datetime.now(UTC).isoformat(timespec="seconds")
    ran = importer("pytest", tmp_path / "runs", "--suite", "surface")
    (run,) = importer.runs
    assert (run["heal_id"], run["phase"]) == ("h_1", "after")
    assert {name.rpartition("::")[2]: outcome for name, outcome in run["results"].items()} == {
        "test_passes": "pass",
        "test_fails": "fail",
        "test_errs": "fail",
        "test_each[1]": "pass",
        "test_each[2]": "fail",
    }
    assert "left out: 2 × skipped" in ran.out


def test_a_folder_of_runs_needs_names_that_say_what_they_were_for(importer, put, tmp_path):
    put("runs/somewhen.xml", XML.format('<testcase name="a"/>'))
    ran = importer("pytest", tmp_path / "runs", "--suite", "surface")
    assert ran.code == 3
    assert "its name does not say what the run was for: call it HEAL.before.xml, HEAL.after.xml or DATE.nightly.xml" in ran.err
    put("runs/2026-06-09.nightly.xml", XML.format('<testcase name="a"/>'))
    assert importer("pytest", tmp_path / "runs", "--suite", "surface").code == 1
    assert importer.runs[0]["night"] == "2026-06-09"


# ---- SWE-bench


def test_swebench_lists_by_steps(importer, put):
    report = {"generated": ["a", "b", "c", "d"], "no_generation": ["e"], "applied": ["a", "b", "d"], "no_apply": ["c"]}
    report |= {"resolved": ["a"], "test_timeout": ["d"], "install_fail": []}
    importer("swebench", put("r.json", report), *RUN, "--assume-ts", TS)
    (run,) = importer.runs
    assert run["results"] == {"a": "pass", "b": "fail", "c": "fail", "d": "fail", "e": "fail"}
    assert run["evidence"] == {"b": "not resolved", "c": "the patch does not apply", "d": "the tests took too long", "e": "no patch"}
    assert run["ts_assumed"] is True


def test_an_instance_that_is_resolved_and_an_error_at_once_is_no_pass(importer, put):
    report = {"resolved_ids": ["a", "b"], "unresolved_ids": [], "error_ids": ["a"]}
    importer("swebench", put("r.json", report), *RUN, "--assume-ts", TS)
    assert results(importer) == {"a": "fail", "b": "pass"}


def test_a_report_of_what_was_solved_alone_needs_the_instances(importer, put):
    report = put("r.json", {"stats": {"generated": 3, "resolved": 1}, "resolved": ["a"], "resolved_per_project": {"p": ["a"]}})
    ran = importer("swebench", report, *RUN, "--assume-ts", TS)
    assert ran.code == 3
    assert "names only the 1 resolved instances of the 3 that were tried: a run of passes alone would hide each failure" in ran.err
    ran = importer("swebench", report, *RUN, "--assume-ts", TS, "--instances", put("ids.txt", "a\nb\nc\n"))
    assert (ran.code, results(importer)) == (0, {"a": "pass", "b": "fail", "c": "fail"})


def test_reports_of_single_instances_are_one_run(importer, put):
    status = {"FAIL_TO_PASS": {"success": [], "failure": ["t_1"]}, "PASS_TO_PASS": {"success": [], "failure": ["t_2"]}}
    one = put("a/report.json", {"a": {"resolved": True, "patch_successfully_applied": True}})
    two = put("b/report.json", {"b": {"resolved": False, "patch_successfully_applied": True, "tests_status": status}})
    importer("swebench", one, two, *RUN, "--assume-ts", TS)
    (run,) = importer.runs
    assert run["results"] == {"a": "pass", "b": "fail"}
    assert run["evidence"] == {"b": "FAIL_TO_PASS failed: t_1\nPASS_TO_PASS failed: t_2"}


# ---- promptfoo


def answer(n, *, success=True, why=0, **more):
    return {"success": success, "score": int(success), "failureReason": why, "testIdx": n, "vars": {"q": n}} | more


def test_promptfoo_tells_a_failed_assertion_from_an_error(importer, put):
    rows = [answer(1), answer(2, success=False, why=1), answer(3, success=False, why=2, error="503"), answer(4, why=2)]
    rows = [row | {"testCase": {"description": f"t{n}"}} for n, row in enumerate(rows, start=1)]
    path = put("r.json", {"evalId": "e", "results": {"timestamp": TS, "results": rows}})
    ran = importer("promptfoo", path, *RUN, "--errors", "leave-out")
    assert results(importer) == {"t1": "pass", "t2": "fail"}
    assert "error: 503 (t3)" in ran.out
    importer("promptfoo", path, *RUN, "--run-id", "second")
    assert importer.runs[1]["results"] == {"t1": "pass", "t2": "fail", "t3": "fail", "t4": "fail"}


def test_tests_that_share_a_description_are_different_cases_and_repeats_are_one(importer, put):
    shared = {"testCase": {"description": "adds"}}
    rows = [answer(1) | shared, answer(2) | shared, answer(2, success=False, why=1) | shared]
    importer("promptfoo", put("r.json", {"results": {"timestamp": TS, "results": rows}}), *RUN)
    found = results(importer)
    assert sorted(found.values()) == ["fail", "pass"]
    assert all(name.startswith("adds · ") for name in found)


def test_prompts_and_providers_are_part_of_the_case_where_there_are_several(importer, put):
    rows = [answer(1, provider={"id": one}, promptId="p") | {"testCase": {"description": "adds"}} for one in ("x", "y")]
    importer("promptfoo", put("r.json", {"results": {"timestamp": TS, "results": rows}}), *RUN)
    assert set(results(importer)) == {"adds · x", "adds · y"}


# ---- Inspect


def sample(name, value="C", **more):
    return {"id": name, "epoch": 1, "input": "q", "target": "t", "scores": {"match": {"value": value}}} | more


def log(*samples, **more):
    head = {"version": 2, "status": "success", "eval": {"run_id": "r", "task_id": "t", "created": TS}, "stats": {"completed_at": TS}}
    return head | {"samples": list(samples)} | more


@pytest.fixture
def no_library(monkeypatch):
    """Read logs ourselves, whether or not Inspect is installed here."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_library")
def test_inspect_samples_are_cases_by_their_score(importer, put):
    samples = [sample("c"), sample("i", "I"), sample("p", "P"), sample("one", 1.0), sample("zero", 0), sample("nan", float("nan"))]
    samples += [sample("again") | {"epoch": 2}, sample(7, "C"), sample("bad", scores=None, error={"message": "boom"})]
    samples += [sample("void", invalidation={"author": "ana"}), sample("unscored", scores={})]
    ran = importer("inspect", put("log.json", log(*samples)), *RUN)
    assert results(importer) == {
        "c": "pass",
        "i": "fail",
        "p": "fail",
        "one": "pass",
        "zero": "fail",
        "nan": "fail",
        "again · epoch 2": "pass",
        "7": "pass",
        "bad": "fail",
    }
    assert "was invalidated (void)" in ran.out
    assert "has no score (unscored)" in ran.out
    assert importer.runs[0]["raw"]["p"]["scores"] == {"match": "P"}


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (log(sample("a"), status="cancelled"), "its status is 'cancelled'"),
        (log(), "holds no sample: only the summary was logged"),
        (
            log(sample("a", scores={"x": {"value": 1}, "y": {"value": 0}})),
            "has several scores: say which one judges a case with --score (x, y)",
        ),
        (log(sample("a", 0.7)), "a score is 0.7: say from where on a case passes with --pass-at"),
        (log(sample("a", "excellent")), "say what passes with --pass-label"),
        ({"eval": 3}, "is no Inspect log"),
        ([], "an Inspect log must be an object, found a list"),
    ],
)
def test_an_inspect_log_is_refused(content, sentence, importer, put):
    ran = importer("inspect", put("log.json", content), *RUN)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert sentence in ran.err


@pytest.mark.usefixtures("no_library")
def test_a_score_passes_from_where_the_caller_says(importer, put):
    path = put("log.json", log(sample("a", 0.7), sample("b", 0.69), sample("c", 0.7000000001)))
    importer("inspect", path, *RUN, "--pass-at", "0.7")
    assert results(importer) == {"a": "pass", "b": "fail", "c": "pass"}


def eval_file(path, members, *, zstd=False):
    """A zip file as Inspect makes it; with zstd, which Python's zipfile does not write, member by member."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            data = json.dumps(content).encode()
            if not zstd:
                archive.writestr(name, data)
                continue
            packed = zstandard.compress(data)
            info = zipfile.ZipInfo(name)
            archive.writestr(info, packed)  # stored, then called what it is
            info.compress_type, info.file_size = 93, len(data)
            info.CRC = zlib.crc32(data)
    return path


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize("zstd", [False, True], ids=["deflate", "zstd"])
def test_an_eval_file_gives_what_its_json_gives(zstd, importer, put, tmp_path):
    samples = [sample("a"), sample("b", "I")]
    members = {"header.json": log() | {"samples": None}} | {f"samples/{one['id']}_epoch_1.json": one for one in samples}
    importer("inspect", put("log.json", log(*samples)), *RUN)
    ran = importer("inspect", eval_file(tmp_path / "log.eval", members, zstd=zstd), *RUN)
    assert ran.out == "suite_runs.jsonl: 0 new, 1 already there, 0 refused\n"


@pytest.mark.usefixtures("no_library")
def test_an_eval_that_has_not_ended_is_refused(importer, tmp_path):
    ran = importer("inspect", eval_file(tmp_path / "log.eval", {"_journal/start.json": {}}), *RUN)
    assert "the eval has not ended, or was killed" in ran.err


# ---- Langfuse


def score(case, value, **more):
    return {"id": case, "timestamp": TS, "traceId": case, "name": "correct", "value": value, "dataType": "NUMERIC"} | more


def test_langfuse_scores_of_each_dataset_run_are_a_run(importer, put):
    rows = [score("a", 1, datasetRunId="r1"), score("b", 0, datasetRunId="r1"), score("a", 0, datasetRunId="r2")]
    importer("langfuse", put("s.json", {"data": rows}), *RUN)
    assert [run["results"] for run in importer.runs] == [{"a": "pass", "b": "fail"}, {"a": "fail"}]


def test_langfuse_labels_and_texts(importer, put):
    rows = [score("a", 0, dataType="CATEGORICAL", stringValue="good"), score("b", 1, dataType="CATEGORICAL", stringValue="bad")]
    rows += [score("c", 0, dataType="TEXT", stringValue="good")]
    ran = importer("langfuse", put("s.json", rows), *RUN, "--pass-label", "good")
    assert results(importer) == {"a": "pass", "b": "fail"}
    assert "its score is a text" in ran.out


def test_langfuse_needs_one_score_and_a_trace_alone_is_none(importer, put):
    ran = importer("langfuse", put("s.json", [score("a", 1), score("a", 1, name="tone")]), *RUN)
    assert "holds several scores: say which one judges a case with --score (correct, tone)" in ran.err
    ran = importer("langfuse", put("t.json", {"id": "trace", "observations": []}), *RUN)
    assert "is a trace without scores" in ran.err


# ---- heals


def test_reflexion_shows_its_own_tests_by_its_exit_rule(importer, put):
    """With a limit of two, `x` stopped early and `y` ran into it: what its own tests said at the end nothing shows."""
    tasks = [{"name": "x", "is_solved": False, "reflections": ["r1"]}, {"name": "y", "is_solved": True, "reflections": ["r1", "r2"]}]
    path = put("log.jsonl", "".join(json.dumps(task) + "\n" for task in tasks))
    importer("reflexion", path, "--visible", "own_tests", "--holdout", "is_solved", "--assume-ts", TS)
    keys = ("loop_id", "cycle", "ts", "visible_before", "visible_after", "holdout_after")
    assert [tuple(heal.get(key) for key in keys) for heal in importer.heals] == [
        ("log/x", 1, "2026-06-09T14:00:00Z", 0, 1, 0),
        ("log/y", 1, "2026-06-09T14:01:00Z", 0, 0, None),
        ("log/y", 2, "2026-06-09T14:02:00Z", 0, None, 1),
    ]
    assert all(heal["ts_assumed"] and "holdout_before" not in heal for heal in importer.heals)


def test_without_holdout_nothing_is_held_out(importer, put):
    path = put("log.jsonl", json.dumps({"name": "x", "is_solved": True, "reflections": ["r1"]}))
    importer("reflexion", path, "--visible", "is_solved", "--assume-ts", TS)
    (heal,) = importer.heals
    assert heal["visible_after"] == 1
    assert not [key for key in heal if key.startswith("holdout")]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Reflexion does not say what the loop saw and what was held out: give --visible NAME"),
        (("--visible", "own"), "--visible own: there is no such score; there are is_solved, own_tests"),
        (("--visible", "own_tests", "--holdout", "own_tests"), "what the loop saw was not held out"),
        (("--visible", "own_tests"), "says nothing of when it was; give a time with --assume-ts"),
    ],
)
def test_the_caller_has_to_declare_the_split_and_a_time(arguments, sentence, importer, put):
    path = put("log.jsonl", json.dumps({"name": "x", "is_solved": True, "reflections": ["r1"]}))
    ran = importer("reflexion", path, *arguments)
    assert (ran.code, ran.out) == (3, "")
    assert sentence in ran.err
    assert not importer.heals


def test_adas_compares_with_the_best_of_earlier_generations(importer, put):
    """Generation 3 stands before 1 in the file; before it stands generation 1 with 0.6, not generation 2 with 0.5."""

    def entry(generation, fitness, test):
        return {
            "generation": generation,
            "code": f"g{generation}",
            "thought": "t",
            "fitness": f"(1%, 2%), Median: {fitness}%",
            "test_fitness": test,
        }

    archive = [entry("initial", 40, 0.4), entry("3", 70.5, 0.5), entry(1, 60, 0.45), entry("2", 50, None), entry("x", 1, 1)]
    ran = importer("adas", put("a.json", archive), "--visible", "fitness", "--holdout", "test_fitness", "--assume-ts", TS)
    keys = ("cycle", "visible_before", "visible_after", "holdout_before", "holdout_after")
    assert [tuple(heal.get(key) for key in keys) for heal in importer.heals] == [
        (1, 0.4, 0.6, 0.4, 0.45),
        (2, 0.6, 0.5, 0.45, None),
        (3, 0.6, 0.705, 0.45, 0.5),
    ]
    assert ran.code == 1
    assert "its generation is neither initial nor a number from 1 (a.json entry 4)" in ran.out
    assert importer.heals[2]["raw"]["fitness"] == "(1%, 2%), Median: 70.5%"


def test_gepa_changes_are_those_against_the_best_parent(importer, put):
    candidates = [{"a": "A", "b": "B"}, {"a": "A2", "b": "B"}, {"a": "A", "b": "B2"}, {"a": "A2", "b": "B2"}]
    result = {"candidates": candidates, "parents": [[None], [0], [0], [1, 2]], "val_aggregate_scores": [0.5, 0.7, 0.6, 0.8]}
    importer("gepa", put("g.json", result), "--visible", "val", "--assume-ts", TS)
    found = [(heal["change"], heal["visible_before"], heal["visible_after"]) for heal in importer.heals]
    assert found == [
        ({"target": "a", "after_text": "A2"}, 0.5, 0.7),
        ({"target": "b", "after_text": "B2"}, 0.5, 0.6),
        ({"target": "b", "after_text": "B2"}, 0.7, 0.8),
    ]


def test_a_summary_of_gepa_has_one_text(importer, put):
    summary = {"val_scores_history": [0.5, 0.6, 0.8, 0.8], "best_prompt": "P", "dataset": "d"}
    importer("gepa", put("g.json", summary), "--visible", "val", "--assume-ts", TS)
    assert [heal["change"].get("after_text") for heal in importer.heals] == [None, "P", None]
    assert [(heal["visible_before"], heal["visible_after"]) for heal in importer.heals] == [(0.5, 0.6), (0.6, 0.8), (0.8, 0.8)]


# ---- OTLP


def attributes(**values):
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue", bool: "boolValue"}
    return [{"key": key.replace("__", "."), "value": {kinds[type(value)]: value}} for key, value in values.items()]


def evaluation(name, value, **more):
    said = {"gen_ai__evaluation__name": name, "gen_ai__evaluation__score__value": value} | more
    return {"name": "gen_ai.evaluation.result", "attributes": attributes(**said), "timeUnixNano": "1781013600000000000"}


def span(span_id, parent=None, events=(), **values):
    found = {"traceId": "t", "spanId": span_id, "name": span_id, "endTimeUnixNano": "1781013600123456789"}
    found |= {"attributes": attributes(**values), "events": list(events)}
    return found | ({"parentSpanId": parent} if parent else {})


def trace(*spans, records=()):
    found = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    return found | ({"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]} if records else {})


HEAL_SPAN = {"seam__heal_id": "h", "seam__loop_id": "l", "seam__cycle": 1, "seam__level": 2, "seam__trigger__failure_signature": "x"}


def test_a_heal_is_a_span_and_evaluations_are_its_scores(importer, put):
    before, after = evaluation("own", 0.5, seam__side="before"), evaluation("own", 0.9)
    record = evaluation("exam", 0.6) | {"traceId": "t", "spanId": "judge", "eventName": "gen_ai.evaluation.result"}
    spans = [span("heal", events=[before, after], gen_ai__usage__input_tokens=99, **HEAL_SPAN), span("judge", "heal")]
    spans += [
        span("chat", "judge", gen_ai__usage__input_tokens=30, gen_ai__usage__output_tokens=4),
        span("other", gen_ai__usage__input_tokens=7),
    ]
    importer("otlp", put("t.json", trace(*spans, records=[record])), "--visible", "own", "--holdout", "exam")
    (heal,) = importer.heals
    assert (heal["visible_before"], heal["visible_after"], heal["holdout_after"]) == (0.5, 0.9, 0.6)
    assert (heal["ts"], heal["tokens_spent"]) == ("2026-06-09T14:00:00.123456Z", 34)


def test_a_span_may_carry_every_key_of_a_heal_and_what_is_unknown_is_kept(importer, put):
    """As a recorder sends them: its scores are attributes and, again, evaluations of that name, which nobody has to declare."""
    more = {"seam__ts": "2026-06-09T13:59:59Z", "seam__visible_before": 0.25, "seam__was_real_failure": True, "seam__actor": "toy"}
    more |= {
        "seam__break_glass__by": "ana",
        "seam__break_glass__reason": "shop down",
        "seam__change__after_text": "new",
        "seam__written": True,
    }
    ran = importer("otlp", put("t.json", trace(span("a", events=[evaluation("visible_before", 0.25)], **HEAL_SPAN, **more))))
    assert ran.out == "heal_events.jsonl: 1 new, 0 already there, 0 refused\n"
    (heal,) = importer.heals
    assert (heal["ts"], heal["visible_before"], heal["was_real_failure"]) == ("2026-06-09T13:59:59Z", 0.25, True)
    assert (heal["break_glass"], heal["change"]) == ({"by": "ana", "reason": "shop down"}, {"after_text": "new"})
    assert heal["raw"]["seam.written"] is True
    assert "seam.actor" not in heal["raw"]


def test_a_heal_without_what_every_heal_needs_is_listed_and_the_others_are_read(importer, put):
    bad = {key: value for key, value in HEAL_SPAN.items() if key != "seam__cycle"} | {"seam__heal_id": "h_2"}
    ran = importer("otlp", put("t.json", trace(span("a", **HEAL_SPAN), span("b", **bad))))
    assert [heal["heal_id"] for heal in importer.heals] == ["h"]
    assert "has no whole number seam.cycle, which every heal needs (t.json h_2)" in ran.out


def test_evaluations_outside_heals_are_cases_of_a_run(importer, put):
    spans = [
        span("a", events=[evaluation("ok", 1.0)], test__case__name="c1"),
        span("b", events=[evaluation("ok", 0.0)], test__case__name="c2"),
        span("c", events=[evaluation("ok", 1.0, error__type="timeout")], test__case__name="c3"),
    ]
    path = put("t.jsonl", "".join(json.dumps(trace(one)) + "\n" for one in spans))
    ran = importer("otlp", path)
    assert "--suite and --phase would make a run of these" in ran.out
    importer("otlp", path, *RUN)
    assert results(importer) == {"c1": "pass", "c2": "fail", "c3": "fail"}


# ---- real samples and the tools themselves


REAL = Path(os.environ.get("SEAM_REAL_LOGS", os.devnull)) / "import_formats"
PATTERNS = {
    "junit": "junit/*",
    "inspect": "inspect/*",
    "promptfoo": "promptfoo/*",
    "langfuse": "langfuse/*",
    "otlp": "otlp/*",
    "swebench": "swebench_*",
}


@pytest.mark.skipif(not REAL.is_dir(), reason="SEAM_REAL_LOGS names no folder with import_formats")
@pytest.mark.parametrize("form", PATTERNS)
def test_every_real_file_is_imported_or_refused_with_a_sentence(form, importer):
    files = sorted(REAL.glob(PATTERNS[form]))
    assert files
    for path in files:
        time = ("--assume-ts", TS)
        ran = importer(form, path, *RUN, *time)
        assert (ran.code, ran.err.count("\n"), bool(ran.out)) in ((0, 0, True), (1, 0, True), (3, 1, False)), (path.name, ran.err)
    assert importer.runs or form in ("langfuse", "otlp")


HEALED = {
    "reflexion": ("reflexion/raw/*", ("--visible", "own_tests", "--holdout", "is_solved"), 88),
    "adas": ("adas/raw/*", ("--visible", "fitness", "--holdout", "test_fitness"), 3),
    "gepa": ("gepa/raw/*", ("--visible", "val"), 7),
}


@pytest.mark.skipif(not REAL.is_dir(), reason="SEAM_REAL_LOGS names no folder with import_formats")
@pytest.mark.parametrize("form", HEALED)
def test_the_heals_of_real_loops_are_all_there(form, importer):
    """As many as reflections were stored, programs proposed and candidates tried, by counting in the files."""
    pattern, declared, n = HEALED[form]
    (path,) = REAL.parent.glob(pattern)
    assert importer(form, path, *declared, "--assume-ts", TS).code == 0
    assert len(importer.heals) == n
