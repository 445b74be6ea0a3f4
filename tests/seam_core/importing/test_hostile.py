"""Whatever is thrown at an importer: one sentence and exit code 3, nothing written, no time and no memory lost."""

import io
import json
import os
import zipfile

import pytest
import zstandard

from seam_core.importing import reading, runs, unzip
from seam_core.importing.formats import FORMATS, format_named
from tests.seam_core.importing.conftest import RUN, TS

BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>
<testsuite name="&c;"><testcase name="a"/></testsuite>"""
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"/></testsuite>'


def arguments(name):
    form = format_named(name)
    found = [*RUN] if "suite" in form.needs and "phase" in form.options else ["--suite", "surface"] if "suite" in form.needs else []
    found += ["--assume-ts", TS] if "assume_ts" in form.options else []
    visible = {"reflexion": "own_tests", "adas": "fitness", "gepa": "val", "otlp": "own"}.get(name)
    return found + (["--visible", visible] if visible else [])


def refused(ran, importer):
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1), ran
    assert "Traceback" not in ran.err
    assert not list(importer.folder.iterdir())
    return ran.err


CONTENTS = {
    "nothing": b"",
    "white space": b" \n\n\n",
    "zeros": b"\0" * 1000,
    "not UTF-8": b"\xff\xfe\xfa{}",
    "half of it": b'{"results": {"results": [{"success": tr',
    "half of XML": b"<testsuite><testcase name='a'",
    "HTML": b"<html><body>Sign in</body></html>",
    "deep JSON": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "deep XML": b"<testsuite>" * 5_000,
    "entities": BOMB,
    "a file from outside": OUTSIDE,
    "null": b"null",
    "a number": b"1e999",
    "a list of lists": b"[[[1]]]",
    "an empty object": b"{}",
    "an empty list": b"[]",
    "huge number": b'{"results": {"results": [' + b"9" * 100_000 + b"]}}",
    "wrong types": json.dumps(
        {
            "results": {"results": "x"},
            "resolved_ids": 3,
            "resolved": {},
            "applied": 1,
            "eval": 1,
            "status": 2,
            "candidates": 1,
            "val_aggregate_scores": 2,
            "scores": 3,
            "resourceSpans": [1, {"scopeSpans": {"spans": 3}}],
            "name": [],
            "reflections": {},
        }
    ).encode(),
    "zip of something else": None,
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", FORMATS)
def test_it_is_refused_with_one_sentence(name, content, importer, put):
    data = CONTENTS[content]
    if data is None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("../../evil", "x")
        data = buffer.getvalue()
    path = put("folder/h_1.after.xml" if name == "pytest" else "in.json", data)
    refused(importer(name, path.parent if name == "pytest" else path, *arguments(name)), importer)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir(), os.mkfifo, lambda path: path.symlink_to(path)])
def test_what_is_no_file_is_refused(name, make, importer, tmp_path):
    path = tmp_path / "in.json"
    make(path)
    refused(importer(name, path, *arguments(name)), importer)


def test_the_sentence_on_entities_says_what_is_wrong(importer, put):
    assert "declares entities, which a report of tests has no need of" in refused(importer("junit", put("r.xml", BOMB), *RUN), importer)
    assert "declares entities" in refused(importer("junit", put("r.xml", OUTSIDE), *RUN), importer)


def archive_of(member, data, *, zstd=False):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        info = zipfile.ZipInfo(member)
        info.compress_type = zipfile.ZIP_STORED if zstd else zipfile.ZIP_DEFLATED
        archive.writestr(info, zstandard.compress(data) if zstd else data)
        if zstd:
            info.compress_type = 93
    return buffer.getvalue()


@pytest.mark.parametrize("zstd", [False, True], ids=["deflate", "zstd"])
def test_an_archive_that_unfolds_without_end_is_stopped(zstd, importer, put, monkeypatch):
    """Of 40 MB of zeros, packed into a few kB, no more than the bound (here 1 MB) is unpacked."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(unzip, "WHOLE_MAX", 2**20)
    data = archive_of("samples/1.json", b"0" * 40 * 2**20, zstd=zstd)
    assert len(data) < 60_000
    sentence = refused(importer("inspect", put("log.eval", data), *RUN), importer)
    assert "samples/1.json in it unpacks to more than is read of one log" in sentence


def test_a_damaged_archive_is_refused(importer, put, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for zstd in (False, True):
        data = bytearray(archive_of("samples/1.json", bytes(range(256)) * 100, zstd=zstd))
        at = data.find(b"samples/1.json") + 30
        data[at : at + 8] = b"\0" * 8
        assert "samples/1.json in it is damaged" in refused(importer("inspect", put("log.eval", bytes(data)), *RUN), importer)
    refused(importer("inspect", put("log.eval", bytes(data[:100])), *RUN), importer)


def test_a_file_larger_than_is_read_at_once_is_refused(importer, put, monkeypatch):
    monkeypatch.setattr(reading, "WHOLE_MAX", 1000)
    sentence = refused(importer("promptfoo", put("r.json", b" " * 1001), *RUN), importer)
    assert "export it in parts" in sentence


def test_names_are_only_names(importer, put):
    """A case, a run and a heal may be called like a path: nothing is opened or made by it."""
    cases = '<testcase name="../../etc/passwd"/><testcase name="&#10;&lt;b&gt;"/>'
    report = f'<testsuite name="s" timestamp="{TS}">{cases}</testsuite>'
    ran = importer("junit", put("r.xml", report), "--suite", "surface", "--phase", "after", "--heal-id", "../../h", "--run-id", "/tmp/x")
    assert ran.code == 0
    assert [path.name for path in importer.folder.iterdir()] == ["suite_runs.jsonl"]
    assert importer.runs[0]["results"] == {"s::../../etc/passwd": "pass", "s::\n<b>": "pass"}


def test_half_a_surrogate_pair_loses_its_case_and_no_other(importer, put):
    row = {"success": True, "failureReason": 0, "response": {"output": "\ud800"}}
    rows = [row | {"testCase": {"description": "bad \ud800"}}, row | {"testCase": {"description": "good"}}]
    ran = importer("promptfoo", put("r.json", json.dumps({"results": {"timestamp": TS, "results": rows}})), *RUN)
    assert (ran.code, importer.runs[0]["results"], importer.runs[0]["evidence"]) == (1, {"good": "pass"}, {"good": "?"})
    assert "its name is not Unicode text" in ran.out


def test_numbers_that_are_none_are_kept_as_words(importer, put):
    row = {
        "success": True,
        "failureReason": 0,
        "score": float("nan"),
        "cost": float("inf"),
        "latencyMs": 10**30,
        "testCase": {"description": "a"},
    }
    importer("promptfoo", put("r.json", {"results": {"timestamp": TS, "results": [row]}}), *RUN)
    assert importer.runs[0]["raw"]["a"] == {"success": True, "score": "nan", "failureReason": 0, "cost": "inf", "latencyMs": str(10**30)}


def test_long_output_is_cut_and_says_so(importer, put):
    row = {"success": True, "failureReason": 0, "response": {"output": "é" * 10_000}, "testCase": {"description": "a"}}
    importer("promptfoo", put("r.json", {"results": {"timestamp": TS, "results": [row]}}), *RUN)
    evidence = importer.runs[0]["evidence"]["a"]
    assert len(evidence.encode()) <= 4_000
    assert evidence.endswith("… cut, 20,000 bytes in all")


def test_one_bad_file_does_not_keep_the_others_out(importer, put):
    good = put("good.xml", '<testsuite name="s" timestamp="2026-06-09T14:00:00Z"><testcase name="a"/></testsuite>')
    ran = importer("junit", put("bad.xml", "<"), good, put("also-bad.xml", b""), *RUN)
    assert (ran.code, len(importer.runs)) == (1, 1)
    assert ran.out.count("could not be read") == 2


def test_the_outputs_of_a_run_are_bounded_together_and_that_is_said(importer, put, monkeypatch):
    monkeypatch.setattr(runs, "RUN_EVIDENCE_MAX", 100)
    rows = [{"success": True, "failureReason": 0, "response": {"output": "x" * 60}, "testCase": {"description": str(n)}} for n in range(3)]
    ran = importer("promptfoo", put("r.json", {"results": {"timestamp": TS, "results": rows}}), *RUN)
    assert list(importer.runs[0]["evidence"]) == ["0"]
    assert len(importer.runs[0]["results"]) == 3
    assert "the output was not kept" in ran.out
    assert "(2 cases)" in ran.out
