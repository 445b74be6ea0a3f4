"""The command: what the caller has to declare, what is said in the end, and the list of what was left out."""

import json

import pytest

from seam_core.importing.format import Asked, Format
from seam_core.importing.formats import FORMATS, format_named
from seam_core.importing.options import HELP
from tests.seam_core.importing.conftest import RUN, TS

CASES = '<testcase name="a"/><testcase name="b"><skipped/></testcase><testcase/>'
XML = f'<testsuite name="s" timestamp="{TS}">{CASES}</testsuite>'


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_says_what_it_reads_and_takes_known_options(name):
    form = format_named(name)
    assert isinstance(form, Format)
    assert set(form.needs) <= set(form.options) <= set(HELP) == set(Asked.__dataclass_fields__)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "junit does not say it, so you have to: --suite, which suite was run (surface, holdout, practice)"),
        (("--suite", "surface"), "junit does not say it, so you have to: --phase"),
        (("--suite", "visible", "--phase", "after"), "--suite visible: write surface, holdout or practice"),
        (("--suite", "surface", "--phase", "after"), "--phase after: say of which heal with --heal-id"),
        (("--suite", "surface", "--phase", "nightly", "--night", "June"), "--night June: is no date such as 2026-06-09"),
        ((*RUN, "--assume-ts", "2026-06-09"), "--assume-ts 2026-06-09: needs a time of day"),
        ((*RUN, "--assume-ts", "soon T"), "--assume-ts soon T: is no time such as"),
        ((*RUN, "--errors", "pass"), "--errors pass: write fail or leave-out"),
        ((*RUN, "--visible", "x"), "No such option '--visible'"),
        ((*RUN, "--run-id", " "), "--run-id: is empty or no Unicode text"),
    ],
)
def test_what_is_declared_wrongly_is_refused(arguments, sentence, importer, put):
    ran = importer("junit", put("r.xml", XML), *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert sentence in ran.err
    assert not list(importer.folder.iterdir())


def test_a_workspace_has_to_be_there(importer, put, tmp_path):
    importer.folder = tmp_path / "nowhere"
    ran = importer("junit", put("r.xml", XML), *RUN)
    assert ran.code == 3
    assert "there is no such folder; `python -m seam_core init` makes one" in ran.err


def test_everything_that_was_left_out_can_be_written_to_a_file(importer, put, tmp_path):
    ran = importer("junit", put("r.xml", XML), *RUN, "--list", tmp_path / "left.jsonl")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "suite_runs.jsonl: 1 new, 0 already there, 0 refused",
        "could not be read: 1 × has no name that could identify a case (r.xml test case 3)",
        "left out: 1 × skipped (s::b)",
    ]
    assert [json.loads(line) for line in (tmp_path / "left.jsonl").open()] == [
        {"file": "r.xml", "where": "test case 3", "reason": "has no name that could identify a case", "left_out": False},
        {"file": "r.xml", "where": "s::b", "reason": "skipped", "left_out": True},
    ]


def test_one_source_may_be_two_runs(importer, put):
    """What stood after one heal stands before the next."""
    path = put("r.xml", XML)
    importer("junit", path, *RUN)
    importer("junit", path, "--suite", "surface", "--phase", "before", "--heal-id", "h_2")
    assert [(run["phase"], run["heal_id"]) for run in importer.runs] == [("after", "h_1"), ("before", "h_2")]
    assert len({run["run_id"] for run in importer.runs}) == 2


def test_an_import_of_both_sides_of_a_heal_switches_aftermath_on(importer, put, capsys):
    heal = {"heal_id": "h_1", "ts": TS, "loop_id": "l", "cycle": 1, "level": 2, "trigger": {"failure_signature": "s"}}
    (importer.folder / "heal_events.jsonl").write_text(json.dumps(heal) + "\n")
    before = '<testsuite name="s" timestamp="2026-06-09T13:00:00Z"><testcase name="a"/><testcase name="b"/></testsuite>'
    after = before.replace("13:00", "14:00").replace('<testcase name="b"/>', '<testcase name="b"><failure/></testcase>')
    importer("junit", put("1.xml", before), "--suite", "surface", "--phase", "before", "--heal-id", "h_1")
    importer("junit", put("2.xml", after), *RUN)
    ran = importer.call("report", "--heals", importer.folder / "heal_events.jsonl", "--window", "all", "--now", "2026-11-30")
    assert json.loads(ran.out)["A"] == 0  # one of two cases broke, and from 5 % on a heal's Aftermath is 0
