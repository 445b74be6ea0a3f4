"""Whatever is thrown at the loader: one clear sentence, the right line number, and every good line still scored."""

import fcntl
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seam_core import loading
from seam_core.certified import read_certified
from seam_core.errors import UnreadableLogError
from seam_core.records import HEALS
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder, workspace_of_log
from tests.seam_core.workspaces import (
    DIRECT_MIN,
    NOW,
    as_line,
    at,
    audited,
    cases,
    failure,
    gap,
    heal,
    json_lines,
    kept,
    loop,
    opened,
    rejected,
    report_on,
    run,
    texts_of,
    write,
)

ROOT = Path(__file__).resolve().parents[2]
BOM = b"\xef\xbb\xbf"


# ---- files that cannot be read at all: each maker puts something at `path` and returns what to open


def nothing_there(path):
    return path


def a_folder(path):
    path.mkdir()
    return path


def a_path_through_a_file(path):
    path.write_text("x")
    return path / "heal_events.jsonl"


def a_pipe(path):
    os.mkfifo(path)
    return path


def a_link_to_itself(path):
    path.symlink_to(path)
    return path


def a_broken_link(path):
    path.symlink_to(path.with_name("nowhere"))
    return path


def a_name_too_long(path):
    return path.with_name("x" * 5000)


def a_device(path):
    return Path("/dev/null")


def named(value):
    return value.__name__.replace("_", " ") if callable(value) else ""


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (nothing_there, "no such file"),
        (a_folder, "is a folder, not a file"),
        (a_path_through_a_file, "cannot be read (Not a directory)"),
        (a_pipe, "is not a regular file"),
        (a_link_to_itself, "cannot be read (Too many levels of symbolic links)"),
        (a_broken_link, "no such file"),
        (a_name_too_long, "cannot be read (File name too long)"),
        (a_device, "is not a regular file"),
    ],
    ids=named,
)
def test_a_log_that_cannot_be_opened_gets_one_sentence(cli, tmp_path, make, reason):
    path = make(tmp_path / "heal_events.jsonl")
    ran = cli("--heals", path)
    assert ran.refused
    assert f"{path}: {reason}" in ran.err


READ_AS_NOBODY = """
import os, sys
from seam_core.cli import main
good, secret = sys.argv[1:]
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
assert main(["--heals", good]) == 0  # whatever is imported late is imported now
os.dup2(out, 1)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(main(["--heals", secret]))
"""


def test_a_log_that_nobody_may_read_gets_one_sentence():
    """Root may read everything, so the process gives up its rights first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # pytest's own folders are closed to everybody else
        good = write(folder / "good", heal_events=[heal(1)])
        secret = write(folder / "secret", heal_events=[heal(1)])
        secret.chmod(0)
        command = [sys.executable, "-c", READ_AS_NOBODY, str(good), str(secret)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
        assert done.stderr == f"run_seam.py: {secret}: cannot be read (Permission denied)\n"
        assert (done.returncode, done.stdout) == (3, "")


ARRAY = json.dumps([heal(1), heal(2)]).encode() + b"\n"
OTHER_TOOL = json_lines([{"timestamp": at(1), "event": "repair"}, {"timestamp": at(2), "event": "repair"}])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", "holds no heal; it is empty", id="empty"),
        pytest.param(b"\n\r\n  \n\t\n", "holds no heal; it is empty", id="only blank lines"),
        pytest.param(BOM, "holds no heal; it is empty", id="only a BOM"),
        pytest.param(b"heal_id,ts\nh1,2026-06-01\n", "none of its 2 lines is a heal of this format (line 1: not JSON", id="CSV"),
        pytest.param(ARRAY, "(line 1: must be an object, found a list)", id="one array"),
        pytest.param(json.dumps([heal(1)], indent=1).encode() + b"\n", "(line 1: not JSON", id="an array over many lines"),
        pytest.param(OTHER_TOOL, "none of its 2 lines is a heal of this format (line 1: heal_id is missing", id="another tool's lines"),
        pytest.param(b'{"heal_id": "h1", "ts"', "its only line is half-written", id="half a line"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00\n", "(line 1: not UTF-8: byte 1 of the line is 0x89)", id="a picture"),
        pytest.param(json.dumps(heal(1)).encode("utf-16"), "its only line is half-written", id="UTF-16"),
        pytest.param(b"\x00" * 4096 + b"\n", "(line 1: not JSON", id="zeros"),
        pytest.param(
            json_lines([heal(1) | {"ts": "\n\x1b[2J"}]), r'found "\n\u001b[2J"', id="control characters do not reach the terminal"
        ),
    ],
)
def test_a_file_without_a_heal_gets_one_sentence(cli, tmp_path, content, reason):
    path = write(tmp_path, heal_events=content)
    ran = cli("--heals", path)
    assert ran.refused
    assert f"{path}: " in ran.err
    assert reason in ran.err


def test_a_link_out_of_the_folder_is_followed_by_whoever_runs_it_alone_and_never_by_a_server(cli, tmp_path, monkeypatch):
    """The agent may write in its folder, and the server may read more than the agent: its settings, with the cookie secret, for one."""
    server = tmp_path / "etc" / "seam.toml"
    server.parent.mkdir()
    server.write_text("approvals_required = 2\n")
    folder = write(tmp_path / "agent", heal_events=[heal(1, **gap(0))])
    for name in ("failures.jsonl", "certified.json", "surface.jsonl"):
        (folder.parent / name).symlink_to(server)
    (folder.parent / "holdout.jsonl").symlink_to(folder.parent / "cases")  # inside the folder: fine
    (folder.parent / "cases").write_bytes(json_lines(cases(3)))
    alone = json.loads(cli("--heals", folder).out)
    assert any("failures.jsonl counts as missing" in flag for flag in alone["flags"])
    monkeypatch.setenv("SEAM_SETTINGS", str(server))
    ran = cli("--heals", folder)
    refused = [flag for flag in json.loads(ran.out)["flags"] if "is a link out of its folder" in flag]
    assert len(refused) == 3
    assert "approvals_required" not in ran.out
    (folder.parent / "seam.toml").symlink_to(server)
    stopped = cli("--heals", folder)
    assert stopped.refused
    assert "seam.toml: is a link out of its folder, which a server with settings of its own does not follow" in stopped.err


def test_other_files_that_cannot_be_read_are_flags_and_the_rest_is_scored(tmp_path):
    heals = write(tmp_path, heal_events=[heal(1, **gap(0))], surface=cases(1))
    a_folder(tmp_path / "failures.jsonl")
    a_pipe(tmp_path / "suite_runs.jsonl")
    a_link_to_itself(tmp_path / "holdout.jsonl")
    (tmp_path / "surface.jsonl.gz").write_bytes(gzip.compress(json_lines(cases(1))))
    a_pipe(tmp_path / "certified.json")
    with audited(heals) as found:
        assert found.efficacy.score == 1.0
        assert found.signal.fn is None
        said = " | ".join(found.flags)
        rejects = found.scope.store.rejects()
    for sentence in (
        f"{tmp_path / 'failures.jsonl'}: is a folder, not a file",
        f"{tmp_path / 'suite_runs.jsonl'}: is not a regular file",
        f"{tmp_path / 'holdout.jsonl'}: cannot be read (Too many levels",
        f"{tmp_path}: surface.jsonl and surface.jsonl.gz are both there; keep one of them",
    ):
        assert sentence in said
    assert [(reject.file, reject.reason) for reject in rejects] == [("certified.json", "is not a regular file")]


def test_a_heal_log_that_is_there_twice_is_not_guessed_at(tmp_path):
    write(tmp_path, heal_events=[heal(1)])
    (tmp_path / "heal_events.jsonl.gz").write_bytes(gzip.compress(json_lines([heal(1)])))
    with pytest.raises(UnreadableLogError, match=r"heal_events\.jsonl and heal_events\.jsonl\.gz are both there"):
        workspace_of_folder(tmp_path)


# ---- lines that break a rule

BASE = heal(50, change={"target": "prompt", "after_text": "x"}, **gap(0.1))


def spoilt(**changes):
    """A heal with some keys changed; `...` takes one out."""
    return as_line({key: value for key, value in (BASE | changes).items() if value is not ...})


def raw(key, value):
    """A heal whose `key` stands last, with a value that Python's encoder would not write."""
    rest = {name: kept_value for name, kept_value in BASE.items() if name != key}
    return as_line(rest)[:-1] + f', "{key}": {value}}}'.encode()


def twice(key, value):
    """A heal in which `key` stands a second time."""
    return as_line(BASE)[:-1] + f', "{key}": {value}}}'.encode()


NOT_A_TIME = "must be a time such as 2026-06-09T14:22:31Z, found "
SHARE = "must be a number from 0 to 1, found "
LATE = NOW + timedelta(days=1)

BAD = {
    # not JSON, or no object
    "cut in the middle": (as_line(BASE)[:60], "", "not JSON: "),
    "two objects": (as_line(BASE) + as_line(BASE), "", "not JSON: extra data at character"),
    "trailing comma": (as_line(BASE)[:-1] + b",}", "", "not JSON: "),
    "trailing comma further in": (raw("x", "[1, ]"), "", "not JSON: "),
    "invalid UTF-8": (spoilt(loop_id="caf?").replace(b"?", b"\xe9"), "", "not UTF-8: byte "),
    "raw NUL": (spoilt(loop_id="a?b").replace(b"?", b"\x00"), "", "not JSON: invalid control character"),
    "raw tab in a text": (spoilt(loop_id="a?b").replace(b"?", b"\t"), "", "not JSON: invalid control character"),
    "half a surrogate pair": (raw("x", r'"\ud800"'), "", "not Unicode: half of a surrogate pair"),
    "leading zero": (raw("cycle", "01"), "", "not JSON: "),
    "single quotes": (raw("x", "'a'"), "", "not JSON: "),
    "a comment": (as_line(BASE) + b" // done", "", "not JSON: extra data"),
    "odd white space": (b"\x0b" + as_line(BASE), "", "not JSON: "),
    "a list": (b"[1, 2]", "", "must be an object, found a list"),
    "a number": (b"12", "", "must be an object, found 12"),
    "a text": (b'"heal"', "", 'must be an object, found "heal"'),
    "null": (b"null", "", "must be an object, found null"),
    "NaN where no key is ours": (raw("x", "NaN"), "", "not JSON: NaN is not a number"),
    "nan in small letters": (raw("x", "nan"), "", "not JSON: "),
    "inf further in": (raw("x", "[1,-inf]"), "", "not JSON: "),
    # scores
    "score NaN": (raw("score", "NaN"), "", "not JSON: NaN is not a number"),
    "score Infinity": (raw("score", "Infinity"), "", "not JSON: Infinity is not a number"),
    "score -Infinity": (raw("score", "-Infinity"), "", "not JSON: -Infinity is not a number"),
    "score 1e400": (raw("score", "1e400"), "score", "is too large for a number"),
    "score of 400 digits": (raw("score", "9" * 400), "score", "must be a number from 0 to 1"),
    "score of 5000 digits": (raw("score", "9" * 5000), "score", "is too large for a number"),
    "score true": (spoilt(score=True), "score", SHARE + "true"),
    "score as text": (spoilt(score="0.5"), "score", SHARE + '"0.5"'),
    "score 1.2": (spoilt(score=1.2), "score", SHARE + "1.2"),
    "score -0.1": (spoilt(score=-0.1), "score", SHARE + "-0.1"),
    "score just above 1": (spoilt(score=1.0000001), "score", SHARE + "1.0000001"),
    "visible_before 1.2": (spoilt(visible_before=1.2), "visible_before", SHARE + "1.2"),
    "visible_after list": (spoilt(visible_after=[0.5]), "visible_after", SHARE + "a list"),
    "holdout_before object": (spoilt(holdout_before={}), "holdout_before", SHARE + "an object"),
    "holdout_after -1": (spoilt(holdout_after=-1), "holdout_after", SHARE + "-1"),
    # missing and mistyped keys
    "no heal_id": (spoilt(heal_id=...), "heal_id", "is missing; every record needs it"),
    "no ts": (spoilt(ts=...), "ts", "is missing; every record needs it"),
    "no loop_id": (spoilt(loop_id=...), "loop_id", "is missing; every record needs it"),
    "no cycle": (spoilt(cycle=...), "cycle", "is missing; every record needs it"),
    "no level": (spoilt(level=...), "level", "is missing; every record needs it"),
    "no trigger": (spoilt(trigger=...), "trigger", "is missing; every record needs it"),
    "no signature": (spoilt(trigger={}), "trigger.failure_signature", "is missing; every record needs it"),
    "null for a required key": (spoilt(heal_id=None), "heal_id", "must be text that is not empty, found null"),
    "empty heal_id": (spoilt(heal_id=""), "heal_id", 'must be text that is not empty, found ""'),
    "heal_id number": (spoilt(heal_id=7), "heal_id", "must be text that is not empty, found 7"),
    "loop_id list": (spoilt(loop_id=["a"]), "loop_id", "must be text that is not empty, found a list"),
    "key in capitals": (spoilt(heal_id=..., Heal_id="h50"), "heal_id", "is missing; every record needs it"),
    "trigger text": (spoilt(trigger="Err"), "trigger", 'must be an object, found "Err"'),
    "trigger null": (spoilt(trigger=None), "trigger", "must be an object, found null"),
    "signature null": (spoilt(trigger={"failure_signature": None}), "trigger.failure_signature", "must be text that is not empty"),
    "signature empty": (spoilt(trigger={"failure_signature": ""}), "trigger.failure_signature", "must be text that is not empty"),
    "change list": (spoilt(change=[]), "change", "must be an object, found a list"),
    "target number": (spoilt(change={"target": 1}), "change.target", "must be text, found 1"),
    "before_hash number": (spoilt(change={"before_hash": 1}), "change.before_hash", "must be text, found 1"),
    "after_text number": (spoilt(change={"after_text": 5}), "change.after_text", "must be text, found 5"),
    "after_text object": (spoilt(change={"after_text": {"a": 1}}), "change.after_text", "must be text, found an object"),
    "after_text list": (spoilt(change={"after_text": ["a"]}), "change.after_text", "must be text, found a list"),
    "after_text true": (spoilt(change={"after_text": True}), "change.after_text", "must be text, found true"),
    "was_real_failure 0": (spoilt(was_real_failure=0), "was_real_failure", "must be true or false, found 0"),
    "was_real_failure text": (spoilt(was_real_failure="true"), "was_real_failure", 'must be true or false, found "true"'),
    "unknown label_source": (spoilt(label_source="me"), "label_source", 'must be one of probe1, probe3, judge, person, found "me"'),
    "unknown holdout_scope": (spoilt(holdout_scope="HEAL"), "holdout_scope", 'must be one of heal, loop, found "HEAL"'),
    "tokens_spent 1e2": (raw("tokens_spent", "1e2"), "tokens_spent", "must be a whole number from 0, found 100.0"),
    "tokens_spent -1": (spoilt(tokens_spent=-1), "tokens_spent", "must be a whole number from 0, found -1"),
    "tokens_spent too many": (spoilt(tokens_spent=10**15 + 1), "tokens_spent", "is too large for a number"),
    "task_tokens text": (spoilt(task_tokens="5"), "task_tokens", 'must be a whole number from 0, found "5"'),
    "break_glass number": (spoilt(break_glass=5), "break_glass", "must be an object, found 5"),
    "break_glass by a number": (spoilt(break_glass={"by": 5}), "break_glass.by", "must be text, found 5"),
    # cycle and level
    "cycle 0": (spoilt(cycle=0), "cycle", "must be a whole number from 1, found 0"),
    "cycle 1.5": (spoilt(cycle=1.5), "cycle", "must be a whole number from 1, found 1.5"),
    "cycle 3.0": (raw("cycle", "3.0"), "cycle", "must be a whole number from 1, found 3.0"),
    "cycle text": (spoilt(cycle="3"), "cycle", 'must be a whole number from 1, found "3"'),
    "cycle true": (spoilt(cycle=True), "cycle", "must be a whole number from 1, found true"),
    "cycle of 24 digits": (spoilt(cycle=10**23), "cycle", "is too large for a number"),
    "level 7": (spoilt(level=7), "level", "must be a whole number from 0 to 3, found 7"),
    "level -1": (spoilt(level=-1), "level", "must be a whole number from 0 to 3, found -1"),
    "level 257": (spoilt(level=257), "level", "must be a whole number from 0 to 3, found 257"),
    # keys that stand twice
    "key twice": (twice("cycle", 1), "cycle", "stands twice in one object"),
    "required key twice": (twice("heal_id", '"h50"'), "heal_id", "stands twice in one object"),
    "key twice, once escaped": (twice("heal\\u005fid", '"h50"'), "heal_id", "stands twice in one object"),
    "object twice": (twice("trigger", '{"failure_signature": "E"}'), "trigger", "stands twice in one object"),
    "key twice in trigger": (
        raw("trigger", '{"failure_signature": "E", "failure_signature": "F"}'), "trigger.failure_signature", "stands twice in one object",
    ),
    "key twice in change": (raw("change", '{"target": "a", "target": "a"}'), "change.target", "stands twice in one object"),
    "text twice in change": (raw("change", '{"after_text": "a", "after_text": "b"}'), "change.after_text", "stands twice in one object"),
    # times
    "ts number": (spoilt(ts=1780000000), "ts", NOT_A_TIME + "1780000000"),
    "ts bare date": (spoilt(ts="2026-06-01"), "ts", NOT_A_TIME + '"2026-06-01"'),
    "ts yesterday": (spoilt(ts="yesterday"), "ts", NOT_A_TIME + '"yesterday"'),
    "ts without seconds": (spoilt(ts="2026-06-01T10:00Z"), "ts", NOT_A_TIME),
    "ts 24:00": (spoilt(ts="2026-06-01T24:00:00Z"), "ts", NOT_A_TIME),
    "ts second 60": (spoilt(ts="2026-06-30T23:59:60Z"), "ts", NOT_A_TIME),
    "ts with a comma": (spoilt(ts="2026-06-01T10:00:00,5Z"), "ts", NOT_A_TIME),
    "ts with a point and nothing": (spoilt(ts="2026-06-01T10:00:00.Z"), "ts", NOT_A_TIME),
    "ts offset without colon": (spoilt(ts="2026-06-01T10:00:00+0200"), "ts", NOT_A_TIME),
    "ts in wide digits": (spoilt(ts="２０２６-06-01T10:00:00Z"), "ts", NOT_A_TIME),
    "ts with a newline": (spoilt(ts="2026-06-01T10:00:00Z\n"), "ts", NOT_A_TIME),
    "ts 30 February": (spoilt(ts="2026-02-30T10:00:00Z"), "ts", "is not a day and time of the calendar"),
    "ts year 1": (spoilt(ts="0001-01-01T00:00:00Z"), "ts", "0001-01-01T00:00:00Z is before the year 2000"),
    "ts before year 1": (spoilt(ts="0001-01-01T00:00:00+05:00"), "ts", "is outside the calendar"),
    "ts year 9999": (spoilt(ts="9999-12-31T23:59:59Z"), "ts", "is more than a day after the clock (2026-09-01T00:00:00+00:00)"),
    "ts after year 9999": (spoilt(ts="9999-12-31T23:59:59-05:00"), "ts", "is outside the calendar"),
    "ts just before 2000": (spoilt(ts="1999-12-31T23:59:59.999999Z"), "ts", "is before the year 2000"),
    "ts a microsecond too late": (spoilt(ts="2026-09-02T00:00:00.000001Z"), "ts", "is more than a day after the clock"),
}  # fmt: skip


def good(number, **changes):
    return as_line(heal(number, 1, **changes))


ODD_BUT_GOOD = {
    "unknown keys": as_line(heal("odd1", 1, colour="red", nested={"a": [1, {"b": None}]})),
    "null for every optional key": as_line(
        heal("odd2", 1) | dict.fromkeys(["change", "score", "break_glass", "was_real_failure", "actor"])
    ),
    "null inside change": as_line(heal("odd3", 1, change={"target": None, "before_hash": None, "after_text": None})),
    "score at both ends": as_line(heal("odd4", 1, visible_before=0, visible_after=1, holdout_before=-0.0, holdout_after=1.0)),
    "texts that look like JSON": as_line(heal("odd5", 1, text="[1, ]", target='{"a": NaN, }')),
    "text true": as_line(heal("odd6", 1, text="true")),
    "text of digits": as_line(heal("odd7", 1, text="12.5")),
    "escaped key and text": as_line(heal("odd8", 1)).replace(b'"heal_id"', b'"heal\\u005fid"').replace(b"odd8", b"\\u006fdd8"),
    "NUL as an escape": as_line(heal("odd9", 1, text="a\0b")),
    "a BOM in the middle of the file": BOM + as_line(heal("odd10", 1)),
    "spaces around": b"  \t" + as_line(heal("odd11", 1)) + b" \t",
    "a carriage return inside": as_line(heal("odd12", 1)).replace(b", ", b",\r"),
    "a long unknown number": as_line(heal("odd13", 1))[:-1] + b', "x": ' + b"1" * 5000 + b"}",
    "an unknown number that overflows": as_line(heal("odd14", 1))[:-1] + b', "x": 1e999}',
    "nested deeper than Python can": as_line(heal("odd15", 1))[:-1] + b', "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "same key in other letters": as_line(heal("odd16", 1, HEAL_ID=5)),
    "any kind of evidence": as_line(heal("odd17", 1, actor=[1], trace_url=5, trigger={"failure_signature": "E", "evidence": {"a": 1}})),
    "break_glass without keys": as_line(heal("odd18", 1, break_glass={})),
    "line separators inside": as_line(heal("odd19", 1, text="a\u2028b\x85c\x0bd")),
}


@pytest.fixture(scope="module", params=DIRECT_MIN)
def messy(request, tmp_path_factory):
    """One log with every bad and every odd line in it, each after blank lines of all kinds and before a good line with CRLF."""
    lines, at_line = [BOM + good(0)], {}
    for place, (name, line) in enumerate({**{name: row[0] for name, row in BAD.items()}, **ODD_BUT_GOOD}.items(), start=1):
        lines += [b"\r", line + b"\r" * (place % 2), b"", b" \t", good(place) + b"\r"]
        at_line[name] = len(lines) - 3
    path = write(tmp_path_factory.mktemp("messy"), heal_events=lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "DIRECT_MIN", DIRECT_MIN[request.param])
        store = Store(workspace_of_log(path), now=NOW)
        store.refresh()
    yield {"store": store, "at": at_line, "n_good": place + 1, "rejects": {row[0]: row[1:] for row in rejected(store)}}
    store.close()


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_listed_with_its_number_key_and_reason(messy, name):
    _, path, reason = BAD[name]
    found_path, found_reason = messy["rejects"][messy["at"][name]]
    assert found_path == path
    assert found_reason.startswith(reason) or reason in found_reason


@pytest.mark.parametrize("name", ODD_BUT_GOOD)
def test_an_odd_line_that_breaks_no_rule_is_kept(messy, name):
    kept_lines = dict(kept(messy["store"]))
    assert kept_lines[messy["at"][name]].startswith("hodd")


def test_nothing_else_is_listed_and_every_good_line_is_kept(messy):
    assert sorted(messy["rejects"]) == sorted(messy["at"][name] for name in BAD)
    assert len(kept(messy["store"])) == messy["n_good"] + len(ODD_BUT_GOOD)
    assert messy["store"].counts()["rejected"] == len(BAD)


def test_texts_of_odd_lines_come_back_as_written(messy):
    store = messy["store"]
    rows = dict(store.cursor().execute("select heal_id, row from heals").fetchall())
    texts = texts_of(store, [rows[name] for name in ("hodd5", "hodd9", "hodd15", "hodd19", "hodd1")])
    assert texts == ["[1, ]", "a\0b", None, "a\u2028b\x85c\x0bd", None]


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=st.lists(st.sampled_from(sorted({**BAD, **ODD_BUT_GOOD})), min_size=1, max_size=6, unique=True),
    way=st.sampled_from(sorted(DIRECT_MIN)),
)
def test_what_is_said_of_a_line_does_not_depend_on_its_neighbours(tmp_path_factory, names, way):
    lines = [BAD[name][0] if name in BAD else ODD_BUT_GOOD[name] for name in names]
    path = write(tmp_path_factory.mktemp("few"), heal_events=[good(0), *lines])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "DIRECT_MIN", DIRECT_MIN[way])
        with opened(path) as store:
            assert [row[0] for row in kept(store)] == [1, *(place for place, name in enumerate(names, start=2) if name in ODD_BUT_GOOD)]
            for place, name in enumerate(names, start=2):
                if name in BAD:
                    found = {row[0]: row[1:] for row in rejected(store)}[place]
                    assert found[0] == BAD[name][1]
                    assert BAD[name][2] in found[1]


def test_ten_thousand_bad_lines_are_all_listed_in_seconds(either_path, tmp_path):
    """Good and bad lines take turns, so that no part of the file is clean."""
    bad = [row[0] for name, row in BAD.items() if len(row[0]) < 2000]
    rng = random.Random(1)
    lines = [line for number in range(10_000) for line in (good(number), rng.choice(bad))]
    path = write(tmp_path, heal_events=lines)
    began = time.monotonic()
    with opened(path) as store:
        assert [row[0] for row in rejected(store)] == list(range(2, 20_001, 2))
        assert store.cursor().execute("select count(*) from heals").fetchall() == [(10_000,)]
    assert time.monotonic() - began < 15


TIMES = {
    "2026-06-01T10:00:00": "2026-06-01T10:00:00+00:00",
    "2026-06-01T10:00:00+02:00": "2026-06-01T08:00:00+00:00",
    "2026-06-01T10:00:00-05:30": "2026-06-01T15:30:00+00:00",
    "2026-06-01T23:30:00+14:00": "2026-06-01T09:30:00+00:00",
    "2026-06-01T10:00:00-23:59": "2026-06-02T09:59:00+00:00",
    "2026-06-01T10:00:00-00:00": "2026-06-01T10:00:00+00:00",
    "2026-06-01t10:00:00z": "2026-06-01T10:00:00+00:00",
    "2026-06-01 10:00:00Z": "2026-06-01T10:00:00+00:00",
    "2026-06-01T10:00:00.5Z": "2026-06-01T10:00:00.500000+00:00",
    "2026-06-01T10:00:00.123456789Z": "2026-06-01T10:00:00.123456+00:00",
    "2026-06-01T10:00:00.123456789012345678Z": "2026-06-01T10:00:00.123456+00:00",
    "2000-01-01T00:00:00Z": "2000-01-01T00:00:00+00:00",
    "2026-09-02T00:00:00Z": "2026-09-02T00:00:00+00:00",
    "2024-02-29T12:00:00Z": "2024-02-29T12:00:00+00:00",
}


def test_times_are_read_with_their_offset_and_without_one_as_utc(either_path, tmp_path):
    heals = [heal(number, ts=text) for number, text in enumerate(TIMES)]
    with opened(write(tmp_path, heal_events=heals)) as store:
        found = store.cursor().execute("select ts, assumed_utc from heals order by row").fetchall()
        assert [moment.astimezone(UTC).isoformat() for moment, _ in found] == list(TIMES.values())
        assert [text for text, (_, assumed) in zip(TIMES, found, strict=True) if assumed] == ["2026-06-01T10:00:00"]
        assert store.counts()["assumed_utc"] == 1


# ---- lines that stand twice


def test_a_line_that_is_repeated_counts_once_and_a_rewritten_one_keeps_its_first_content(either_path, tmp_path):
    first = heal(1, score=0.5)
    backwards = dict(reversed(first.items()))
    lines = [first, heal(2), b"", backwards, heal(1, score=0.6), json.dumps(first, indent=None, separators=(",", ":")), heal(2)]
    with opened(write(tmp_path, heal_events=lines)) as store:
        assert kept(store) == [(1, "h1"), (2, "h2")]
        assert store.cursor().execute("select score from heals order by row").fetchall() == [(0.5,), (None,)]
        assert rejected(store) == [(5, "heal_id", "rewritten: line 1 already has this heal_id")]
        assert {key: store.counts()[key] for key in ("rejected", "rewritten", "repeated")} == {"rejected": 0, "rewritten": 1, "repeated": 3}


def test_failures_have_no_identity_and_only_equal_lines_are_one(either_path, tmp_path):
    """Blank lines and one signature throughout: nothing but the lines' own bytes can tell which is which."""
    one, other = failure("Err:1", 1), failure("Err:1", 1) | {"where": "elsewhere"}
    write(tmp_path, heal_events=[heal(1)], failures=[one, "", other, "", "", one, other, failure("Err:1", 2)])
    with opened(tmp_path / "heal_events.jsonl") as store:
        assert [line for line, _ in kept(store, "failures")] == [1, 3, 8]
        assert store.counts()["repeated"] == 2


def test_lines_that_the_standard_does_not_allow_are_no_fault_of_the_program_when_they_repeat(either_path, tmp_path):
    """Beyond the first 64 kB a large log is not searched for what DuckDB takes for JSON."""
    lax = raw("x", "[1,]").replace(b'"h50"', b'"lax"')
    deep = ODD_BUT_GOOD["nested deeper than Python can"]
    head = [good(number, text="x" * 1000) for number in range(70)]
    with opened(write(tmp_path, heal_events=[*head, lax, lax, deep, deep, deep])) as store:
        assert store.counts()["repeated"] == (3 if either_path == "by DuckDB" else 2)
        assert [row[0] for row in rejected(store)] == ([] if either_path == "by DuckDB" else [71, 72])
        rows = [row for (row,) in store.cursor().execute("select row from heals order by row").fetchall()]
        assert texts_of(store, rows)[70:] == (["x", None] if either_path == "by DuckDB" else [None])


@pytest.mark.parametrize("at_the_start", [True, False], ids=["from the start", "later on"])
def test_a_text_that_looks_like_a_number_is_kept_and_a_number_is_not(either_path, at_the_start, tmp_path):
    """A large log is read as plain text first, which does not tell `"17"` from `17`."""
    values = ["17", "-1.5e3", "true", "[]", "{}"]
    texts = [raw("loop_id", f'"{value}"').replace(b'"h50"', b'"q%d"' % n) for n, value in enumerate(values)]
    others = [raw("loop_id", value).replace(b'"h50"', b'"n%d"' % n) for n, value in enumerate(values)]
    rest = [good(number, text="x" * 1000) for number in range(70)]
    lines = [*texts, *others, *rest] if at_the_start else [*rest, *texts, *others]
    with opened(write(tmp_path, heal_events=lines)) as store:
        assert [line for line, *_ in rejected(store)] == [lines.index(other) + 1 for other in others]
        found = store.cursor().execute("select loop_id from heals where heal_id like 'q%' order by heal_id").fetchall()
        assert [loop_id for (loop_id,) in found] == values


# ---- half-written lines


def test_a_half_written_last_line_is_pending_and_counts_once_it_is_whole(either_path, tmp_path):
    whole = as_line(heal(2, **gap(0.25)))
    path = write(tmp_path, heal_events=[heal(1, **gap(0))])
    with path.open("ab") as log, opened(path) as store:
        for cut in (10, 60, len(whole) - 1):
            log.write(whole[log.tell() - len(as_line(heal(1, **gap(0)))) - 1 : cut])
            log.flush()
            store.refresh()
            assert (store.counts()["pending"], store.counts()["rejected"], len(kept(store))) == (1, 0, 1)
        log.write(b"}")
        log.flush()
        store.refresh()
        assert (store.counts()["pending"], kept(store)) == (0, [(1, "h1"), (2, "h2")])  # a whole record without its newline
        log.write(b"\r\n" + as_line(heal(3)) + b"\n")
        log.flush()
        store.refresh()
        assert kept(store) == [(1, "h1"), (2, "h2"), (3, "h3")]
        assert store.counts() == {"rejected": 0, "rewritten": 0, "repeated": 0, "pending": 0, "assumed_utc": 0}


def test_a_pending_line_is_flagged_and_is_no_fault(tmp_path):
    path = write(tmp_path, heal_events=json_lines([heal(1, **gap(0))]) + b'{"heal_id": "h2"')
    found = report_on(path)
    assert (found["counts"]["pending"], found["counts"]["rejected"], found["E"]) == (1, 0, 1.0)
    assert "1 half-written last line pending" in found["flags"]


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"{}", [(2, "heal_id", "is missing; every record needs it")]),
        (b"   ", []),
        (BOM, []),
        (as_line(heal(1)), []),
        (as_line(heal(1, score=1)), [(2, "heal_id", "rewritten: line 1 already has this heal_id")]),
    ],
    ids=["no heal", "blank", "BOM", "a repeat", "a rewrite"],
)
def test_a_last_line_without_a_newline_is_taken_back_when_more_follows(tmp_path, tail, expected):
    """Whatever was said of it is said again of the longer line, once."""
    path = write(tmp_path, heal_events=json_lines([heal(1)]) + tail)
    with opened(path) as store:
        assert rejected(store) == expected
        with path.open("ab") as log:
            log.write(b" and more\n" + as_line(heal(2)) + b"\n")
        store.refresh()
        assert kept(store) == [(1, "h1"), (3, "h2")]
        assert [row[0] for row in rejected(store)] == [2]
        assert (store.counts()["repeated"], store.counts()["rewritten"]) == (0, 0)


# ---- long lines, long texts, many keys


def test_a_line_of_25_megabytes_is_read_and_one_over_the_limit_is_listed(tmp_path):
    text = "x" * 25_000_000
    lines = [heal(1), heal(2, text=text), b"", b'{"x": "' + b"y" * (64 * 2**20) + b'"}', heal(3)]
    with opened(write(tmp_path, heal_events=lines)) as store:
        assert kept(store) == [(1, "h1"), (2, "h2"), (5, "h3")]
        assert rejected(store) == [(4, "", "longer than 64 MB (67 MB)")]
        assert texts_of(store, [1]) == [text]


def test_a_line_of_25_megabytes_is_read_by_duckdb_too(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "DIRECT_MIN", 0)
    with opened(write(tmp_path, heal_events=[heal(1), heal(2, text="x" * 25_000_000), heal(3)])) as store:
        assert kept(store) == [(1, "h1"), (2, "h2"), (3, "h3")]


def test_a_loop_of_megabyte_texts_is_compared_by_lines_in_seconds(tmp_path):
    """20,000 lines of 50 characters; each cycle changes one, the last returns to the text of the third before it."""
    lines = [f"{number:049d}\n" for number in range(20_000)]
    texts = ["".join([f"cycle {cycle}\n", *lines]) for cycle in range(5)]
    heals = loop("L", [0.5] * 6, text=[*texts, texts[1]])
    began = time.monotonic()
    with audited(write(tmp_path, heal_events=heals)) as found:
        pairs = [(row["later"], row["earlier"]) for row in found.scope.rows("revisit_rows")]
        assert pairs == [(3, 1), (4, 1), (4, 2), (5, 1), (5, 2), (5, 3), (6, 1), (6, 2), (6, 3), (6, 4)]  # 20,000 of 20,001 lines
        assert "9 pairs of texts over 100,000 characters were compared by lines" in found.flags  # (6, 2) is equal
    assert time.monotonic() - began < 15


def test_texts_over_100_000_characters_are_no_revisit_when_their_lines_differ(tmp_path):
    """One of four lines differs: 2·3/8 = 0.75, though nearly every character is the same. Shorter texts go by character."""
    long, short = "x" * 40_000 + "\n", "x" * 30_000 + "\n"
    heals = [*loop("long", [0.5] * 3, text=["a\n" + long * 3, "", "b\n" + long * 3])]
    heals += loop("short", [0.5] * 3, text=["a\n" + short * 3, "", "b\n" + short * 3])
    with audited(write(tmp_path, heal_events=heals)) as found:
        assert [(row["loop_id"], row["later"], row["earlier"]) for row in found.scope.rows("revisit_rows")] == [("short", 3, 1)]
        assert "1 pair of texts over 100,000 characters was compared by lines" in found.flags


def test_results_with_100_000_keys_are_read(either_path, tmp_path):
    names = {f"case {number}": number % 2 == 0 for number in range(100_000)}
    write(
        tmp_path,
        heal_events=[heal(1, 2)],
        suite_runs=[run("r1", "before", 1, dict.fromkeys(names, True)), run("r2", "after", 2, names, "h1")],
    )
    with audited(tmp_path / "heal_events.jsonl") as found:
        row = found.scope.rows("aftermath_rows")[0]
        assert (row["n_cases"], row["n_regressed"]) == (100_000, 50_000)


BAD_RESULTS = {
    '{"a": "PASS"}': ("results.a", 'must be pass or fail, found "PASS"'),
    '{"a": null}': ("results.a", "must be pass or fail, found null"),
    '{"a": 1}': ("results.a", "must be pass or fail, found 1"),
    '{"a": true}': ("results.a", "must be pass or fail, found true"),
    '{"a": ["pass"]}': ("results.a", "must be pass or fail, found a list"),
    '{"a": "pass", "a": "pass"}': ("results.a", "stands twice in one object"),
    '{"a": "pass", "\\u0061": "fail"}': ("results.a", "stands twice in one object"),
    "[]": ("results", "must be an object of case_id → pass or fail, found a list"),
    "null": ("results", "must be an object of case_id → pass or fail, found null"),
    '"pass"': ("results", 'must be an object of case_id → pass or fail, found "pass"'),
}
GOOD_RESULTS = ["{}", '{"": "pass"}', '{"a.b": "pass", "\\"": "fail", "*": "pass", "$.x": "pass", "\\\\": "fail", "\\u0000": "pass"}']


def test_results_that_are_neither_pass_nor_fail_reject_the_run(either_path, tmp_path):
    lines = []
    for number, results in enumerate([*BAD_RESULTS, *GOOD_RESULTS]):
        record = run(f"r{number}", "after", 1, {}, "h1")
        record.pop("results")
        lines.append(as_line(record)[:-1] + f', "results": {results}}}'.encode())
    write(tmp_path, heal_events=[heal(1, 2)], suite_runs=lines)
    with opened(tmp_path / "heal_events.jsonl") as store:
        assert rejected(store, "suite_runs.jsonl") == [(place, *row) for place, row in enumerate(BAD_RESULTS.values(), start=1)]
        assert [line for line, _ in kept(store, "runs")] == [11, 12, 13]


BAD_ELSEWHERE = [
    ("failures", {"ts": at(1)}, "failure_signature", "is missing; every record needs it"),
    ("failures", {"ts": "2026-06-01", "failure_signature": "E"}, "ts", NOT_A_TIME),
    ("suite_runs", run("r", "tomorrow", 1, {}), "phase", "must be one of before, after, nightly, control, rescore"),
    ("suite_runs", run("r", "after", 1, {}, suite="all"), "suite", "must be one of surface, holdout, practice"),
    ("suite_runs", run("r", "after", 1, {}) | {"claim": "yes"}, "claim", 'must be true or false, found "yes"'),
    ("suite_runs", run("r", "after", 1, {}) | {"night": 5}, "night", "must be text, found 5"),
    ("suite_runs", {"ts": at(1), "suite": "surface", "phase": "after", "results": {}}, "run_id", "is missing; every record needs it"),
    ("surface", {"id": "c", "safety": "yes"}, "safety", 'must be true or false, found "yes"'),
    ("surface", {"safety": True}, "id", "is missing; every record needs it"),
    ("holdout", {"id": "c", "slice": "new"}, "slice", "must be one of core, rotating"),
    ("practice", {"id": "c", "text": 5}, "text", "must be text, found 5"),
    ("protected", {"id": "p", "kind": "wall", "target": "*"}, "kind", "must be one of safety_instruction, tool_permission"),
    ("protected", {"id": "p", "kind": "tool_permission", "target": ""}, "target", "must be text that is not empty"),
]


def test_every_log_has_its_own_rules(either_path, tmp_path):
    """Each bad line stands behind a blank one."""
    logs = {}
    for log, line, _, _ in BAD_ELSEWHERE:
        logs[log] = [*logs.get(log, []), b"", line]
    with opened(write(tmp_path, heal_events=[heal(1)], **logs)) as store:
        for log in logs:
            found = rejected(store, f"{log}.jsonl")
            expected = [(path, reason) for name, _, path, reason in BAD_ELSEWHERE if name == log]
            assert [(line, path) for line, path, _ in found] == [(2 * place, path) for place, (path, _) in enumerate(expected, start=1)]
            assert all(reason.startswith(start) for (_, _, reason), (_, start) in zip(found, expected, strict=True))


# ---- certified.json


@pytest.mark.parametrize(
    ("content", "outcomes", "rejects"),
    [
        pytest.param(b'{"a": "pass", "b": "fail"}', {"a": True, "b": False}, [], id="good"),
        pytest.param(BOM + b'{"a": "pass"}', {"a": True}, [], id="BOM"),
        pytest.param(b"{}", {}, [], id="empty object"),
        pytest.param(b'{"a": "pass",\n', None, [("", "not JSON: no baseline was read")], id="broken"),
        pytest.param(b"", None, [("", "not JSON: no baseline was read")], id="empty"),
        pytest.param(b'{"a": "\xff"}', None, [("", "not JSON: no baseline was read")], id="invalid UTF-8"),
        pytest.param(b'["a"]', None, [("", "must be an object of case_id \u2192 pass or fail")], id="not an object"),
        pytest.param(
            b'{"a": "pass", "b": "PASS", "c": 1, "d": null, "e": {"f": 1}}',
            {"a": True},
            [("b", 'must be pass or fail, found "PASS"'), ("c", "must be pass or fail, found 1"),
             ("d", "must be pass or fail, found null"), ("e", "must be pass or fail, found an object")],
            id="bad entries",
        ),
        pytest.param(b'{"a": "pass", "a": "fail", "b": "pass"}', {"b": True}, [("a", "stands twice in one object")], id="a case twice"),
        pytest.param(b'{"\\ud800": "pass"}', {}, [("\\ud800", "not Unicode: half of a surrogate pair")], id="half a surrogate pair"),
        pytest.param(b'{"a": ' + b"1" * 5000 + b"}", {}, [("a", "must be pass or fail, found inf")], id="a number of 5000 digits"),
        pytest.param(b"[" * 100_000, None, [("", "not JSON: no baseline was read")], id="deep nesting"),
    ],
)  # fmt: skip
def test_a_baseline_is_read_as_far_as_it_is_one(tmp_path, content, outcomes, rejects):
    path = tmp_path / "certified.json"
    path.write_bytes(content)
    found = read_certified(path)
    assert found.outcomes == outcomes
    assert [(reject.path, reject.reason) for reject in found.rejects] == rejects


@pytest.mark.parametrize("make", [a_folder, a_pipe, a_link_to_itself, a_broken_link], ids=named)
def test_a_baseline_that_cannot_be_read_is_listed(tmp_path, make):
    found = read_certified(make(tmp_path / "certified.json"))
    assert found.outcomes is None
    assert [reject.file for reject in found.rejects] == ["certified.json"]


def test_certified_cases_that_the_surface_does_not_know_are_left_out_and_said(tmp_path):
    runs = [run("r1", "nightly", 1, {"c0": True, "c1": False})]
    write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=cases(2), certified={"c0": "pass", "c1": "pass", "gone": "pass"})
    found = report_on(tmp_path / "heal_events.jsonl")
    assert found["aftermath"]["anchored_drift"] == 0.5
    assert "1 certified case not in surface.jsonl: left out of the drift" in found["flags"]


# ---- packed files


def packed_gz(data):
    return gzip.compress(data)


def packed_zst(data):
    return zstandard.compress(data)


HUNDRED = [heal(number, 1) for number in range(100)]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", packed_gz), (".zst", packed_zst)], ids=["gz", "zst"])
@pytest.mark.parametrize(
    ("make", "n_heals", "note"),
    [
        (lambda pack: pack(json_lines(HUNDRED)), 100, None),
        (lambda pack: pack(json_lines(HUNDRED[:50])) + pack(json_lines(HUNDRED[50:])), 100, None),
        (lambda pack: pack(json_lines(HUNDRED[:50])) + pack(json_lines(HUNDRED[50:]))[:-9], None, "is damaged or cut off after "),
        (lambda pack: pack(json_lines(HUNDRED[:50])) + b"junk", 50, "is damaged or cut off after "),
    ],
    ids=["whole", "two members", "cut off", "junk behind"],
)
def test_packed_logs_are_read_whole_or_as_far_as_they_go(tmp_path, suffix, pack, make, n_heals, note):
    path = tmp_path / f"heal_events.jsonl{suffix}"
    path.write_bytes(make(pack))
    with opened(path) as store:
        n_found = len(kept(store))
        assert n_found == n_heals if n_heals else 50 <= n_found <= 100
        assert [message.startswith(f"{path.name} {note}") for message in store.notes()] == ([True] if note else [])


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_is_not_packed_as_its_name_says_gets_one_sentence(cli, tmp_path, suffix):
    path = tmp_path / f"heal_events.jsonl{suffix}"
    path.write_bytes(json_lines(HUNDRED))
    ran = cli("--heals", path)
    assert ran.refused
    assert f"{path}: holds no heal; {path.name} is not packed as its name says" in ran.err


# ---- files that change while they are watched


def replaced(path):
    other = path.with_name("other")
    other.write_bytes(json_lines([heal(8), heal(9)]))
    other.replace(path)
    return [(1, "h8"), (2, "h9")]


def shortened(path):
    path.write_bytes(json_lines([heal(1)]))
    return [(1, "h1")]


def edited_at_the_same_size(path):
    path.write_bytes(path.read_bytes().replace(b'"h2"', b'"h5"'))
    return [(1, "h1"), (2, "h5"), (3, "h3")]


def edited_and_longer(path):
    path.write_bytes(path.read_bytes().replace(b'"h2"', b'"h2000"') + as_line(heal(4)) + b"\n")
    return [(1, "h1"), (2, "h2000"), (3, "h3"), (4, "h4")]


def truncated_and_written_again(path):
    path.write_bytes(b"")
    path.write_bytes(json_lines([heal(number) for number in range(10, 20)]))
    return [(place, f"h{place + 9}") for place in range(1, 11)]


@pytest.mark.parametrize(
    "change", [replaced, shortened, edited_at_the_same_size, edited_and_longer, truncated_and_written_again], ids=named
)
def test_a_history_that_changed_is_read_anew_and_noted(either_path, tmp_path, change):
    path = write(tmp_path, heal_events=[heal(1), heal(2), heal(3)])
    os.utime(path, (1, 1))  # an older file than what is written now, whatever the clock's grain
    with opened(path) as store:
        version = store.version
        expected = change(path)
        refreshed = store.refresh()
        assert kept(store) == expected
        assert refreshed.notes == ("heal_events.jsonl was replaced, shortened or edited; it was read anew",)
        assert store.version == version + 1


def test_a_log_that_goes_and_comes_is_noted_and_a_lost_heal_log_is_an_error(tmp_path):
    write(tmp_path, heal_events=[heal(1)], failures=[failure("Err:1", 2)])
    heals, failures = tmp_path / "heal_events.jsonl", tmp_path / "failures.jsonl"
    with opened(heals) as store:
        failures.unlink()
        assert store.refresh().notes == ("failures.jsonl is gone",)
        assert not store.has("failures")
        failures.write_bytes(b"")
        version = store.version
        store.refresh()
        assert store.has("failures")
        assert store.version == version + 1
        heals.unlink()
        with pytest.raises(UnreadableLogError, match="no such file"):
            store.refresh()
        write(tmp_path, heal_events=[heal(1), heal(2)])
        store.refresh()
        assert kept(store) == [(1, "h1"), (2, "h2")]


WRITER = """
import fcntl, json, os, sys, time
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
log = os.open(path, os.O_WRONLY | os.O_APPEND)
for number in range(count):
    record = {"heal_id": f"{name}{number}", "ts": "2026-06-02T10:00:00Z", "loop_id": name, "cycle": number + 1, "level": 1,
              "trigger": {"failure_signature": "E"}, "change": {"target": "t", "after_text": "x" * (number % 50)}}
    line = json.dumps(record).encode() + b"\\n"
    fcntl.flock(log, fcntl.LOCK_EX)  # writers take turns; readers know nothing of it and see half lines
    os.write(log, line[: len(line) // 2])
    time.sleep(0.001)
    os.write(log, line[len(line) // 2 :])
    fcntl.flock(log, fcntl.LOCK_UN)
"""


def test_two_processes_append_while_a_store_refreshes_and_nothing_is_lost(tmp_path):
    path = write(tmp_path, heal_events=[heal(1)])
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name, "300"]) for name in "ab"]
    seen = [1]
    with opened(path) as store:
        while any(writer.poll() is None for writer in writers):
            store.refresh()
            seen.append(store.cursor().execute("select count(*) from heals").fetchall()[0][0])
        store.refresh()
        names = [name for _, name in kept(store)]
        assert sorted(names) == sorted(["h1", *(f"{name}{number}" for name in "ab" for number in range(300))])
        assert [line for line, _ in kept(store)] == list(range(1, 602))
        assert store.counts() == {"rejected": 0, "rewritten": 0, "repeated": 0, "pending": 0, "assumed_utc": 0}
        rows = store.cursor().execute("select row, heal_id from heals where heal_id like 'a%' order by row").fetchall()
        texts = texts_of(store, [row for row, _ in rows])
        assert texts == ["x" * (int(name[1:]) % 50) for _, name in rows]
    assert seen == sorted(seen)
    assert all(writer.returncode == 0 for writer in writers)


def test_half_a_line_of_one_writer_is_pending_while_it_holds_the_lock(tmp_path):
    path = write(tmp_path, heal_events=[heal(1)])
    with path.open("ab", buffering=0) as log, opened(path) as store:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.write(as_line(heal(2))[:40])
        store.refresh()
        assert store.counts()["pending"] == 1
        log.write(as_line(heal(2))[40:] + b"\n")
        store.refresh()
        assert (store.counts()["pending"], kept(store)) == (0, [(1, "h1"), (2, "h2")])


# ---- names that would mean something to DuckDB


@pytest.mark.parametrize("name", ["agent[1]", "agent*", "what?", "it's", 'the "best"', "a b;c", "größe", "~", "{x}"])
def test_a_folder_of_any_name_is_read_as_itself(tmp_path, monkeypatch, name):
    monkeypatch.setattr(loading, "DIRECT_MIN", 0)
    write(tmp_path / "agent1", heal_events=[heal(99)])  # what a pattern would match
    write(tmp_path / name, heal_events=[heal(1), heal(2)])
    monkeypatch.chdir(tmp_path)
    with opened(Path(name) / HEALS.file) as store:
        assert kept(store) == [(1, "h1"), (2, "h2")]


def test_the_clock_at_either_end_of_the_calendar_is_no_fault(tmp_path):
    path = write(tmp_path, heal_events=[heal(1)])
    with opened(path, now=datetime.max.replace(tzinfo=UTC)) as store:
        assert len(kept(store)) == 1
    with opened(path, now=datetime.min.replace(tzinfo=UTC)) as store:
        assert len(rejected(store)) == 1


def test_a_disk_without_room_for_temporary_files_is_said_in_one_sentence(tmp_path):
    """A limit on what a process may write stands for a full disk: the log is not clean and has to be staged."""
    log = write(tmp_path, heal_events=[heal(n) for n in range(1, 40)])
    log.write_bytes(log.read_bytes() + b"no heal\n")
    command = f"ulimit -f 1; exec {sys.executable} run_seam.py --heals {log}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "run_seam.py: there is no room to write on the disk (File too large); make some, also for temporary files\n"
