"""Every line of every file is accounted for, any of them can be seen as it was written, and what is missing says what it would add."""

import gzip
import hashlib
import json
from datetime import UTC, datetime

import pytest

from seam_core.views import files, others, record_lines
from seam_core.views.record_lines import NoSuchLineError
from tests.pages.states import BAD_LINES, HEAL
from tests.seam_core.workspaces import START, audited, failure, four, heal, json_lines, write

LINES = [
    heal(1, note={"x": 1}),
    "no json",
    "",
    heal(1, note={"x": 1}),
    heal(1, 5),
    heal(2, 2, ts="2026-06-03T12:00:00"),
    b"  \r",
    heal(3) | {"cycle": 1.5},
]
HALF = b'{"heal_id": "half'


@pytest.fixture
def workspace(tmp_path):
    return write(tmp_path, heal_events=json_lines(LINES) + HALF, failures=[failure("a", 1)], certified={"c": "pass", "d": "maybe"})


def test_the_kinds_of_lines_add_up_to_the_lines(workspace):
    with audited(workspace) as found:
        heals, failures, certified = files.files(found)
    assert (heals.lines, heals.kept, heals.repeated, heals.rewritten, heals.rejected, heals.pending, heals.blank) == (9, 2, 1, 1, 2, 1, 2)
    assert (heals.assumed_utc, heals.first, heals.last) == (1, START.replace(day=2), datetime(2026, 6, 3, 12, tzinfo=UTC))
    data = workspace.read_bytes()
    assert (heals.n_bytes, heals.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert heals.how == "in blocks of whole lines"
    assert (failures.lines, failures.kept, failures.blank) == (1, 1, 0)
    assert (certified.name, certified.kept, certified.rejected) == ("certified.json", 1, 1)


def test_times_that_an_importer_made_up_are_counted(tmp_path):
    text = 'a text with "ts_assumed": true in it'
    lines = [
        heal(1, ts_assumed=True),
        heal(2, ts_assumed=False),
        heal(3, text=text),
        b'{"ts_assumed":true,' + json.dumps(heal(4)).encode()[1:],
    ]
    with audited(write(tmp_path, heal_events=lines)) as found:
        (heals,) = files.files(found)
    assert (heals.kept, heals.assumed_time) == (4, 2)


def test_lines_add_up_however_a_file_is_read(tmp_path, either_path):
    log = write(tmp_path, heal_events=[heal(number) for number in range(1, 30)])
    with audited(log) as found:
        (heals,) = files.files(found)
    assert (heals.lines, heals.kept, heals.blank) == (29, 29, 0)
    assert heals.how == {"in blocks": "in blocks of whole lines", "by DuckDB": "as a whole by DuckDB"}[either_path]


def test_a_packed_file_is_counted_unpacked_and_a_damaged_one_says_so(workspace):
    data = workspace.read_bytes()
    packed = workspace.with_name("heal_events.jsonl.gz")
    packed.write_bytes(gzip.compress(data)[:-9])
    workspace.unlink()
    with audited(packed) as found:
        heals = files.files(found)[0]
    assert (heals.name, heals.how, heals.lines) == ("heal_events.jsonl.gz", "unpacked, then in blocks of whole lines", 9)
    assert "damaged or cut off" in heals.notes[0]


def test_long_files_are_digested_only_when_asked(workspace, monkeypatch):
    monkeypatch.setattr(files, "DIGEST_MAX", 10)
    with audited(workspace) as found:
        assert files.files(found)[0].sha256 is None
        assert files.sha256_of(found, "heal_events.jsonl") == hashlib.sha256(workspace.read_bytes()).hexdigest()
        assert files.sha256_of(found, "other") is None


def test_a_file_that_cannot_be_read_is_listed_with_why(workspace):
    (workspace.parent / "holdout.jsonl").mkdir()
    with audited(workspace) as found:
        holdout = next(one for one in files.files(found) if one.name == "holdout.jsonl")
        assert "holdout.jsonl" not in [one.name for one in files.missing(found)]
    assert "is a folder" in holdout.notes[0]
    assert holdout.how == "not read"


def test_missing_files_say_what_they_would_add(workspace):
    with audited(workspace) as found:
        absent = {one.name: one.adds for one in files.missing(found)}
    assert list(absent) == ["suite_runs.jsonl", "holdout.jsonl", "practice.jsonl", "surface.jsonl", "protected.jsonl"]
    assert absent["suite_runs.jsonl"].startswith("Aftermath")
    assert absent["holdout.jsonl"].startswith("Efficacy")


def test_keys_are_counted_over_the_heals_of_the_window_seldom_ones_first(tmp_path):
    rows = [heal(1, target="t", text="x") | four(0, 1, 0, 1), heal(2, tokens_spent=1), heal(3, break_glass={"by": "ana"})]
    with audited(write(tmp_path, heal_events=rows)) as found:
        keys = {key.name: (key.n, key.of) for key in files.keys(found)}
        assert files.keys(found)[0].n == 0
    assert keys["change.after_text"] == keys["visible_before"] == keys["tokens_spent"] == keys["break_glass"] == (1, 3)
    assert keys["was_real_failure"] == (0, 3)


def test_rejects_are_counted_whole_searched_by_reason_and_shown_up_to_a_limit(workspace, monkeypatch):
    monkeypatch.setattr(files, "REJECTS_SHOWN", 2)
    with audited(workspace) as found:
        everything = files.rejected(found)
        assert (everything.n, everything.n_found, len(everything.shown)) == (4, 4, 2)
        assert len(files.found_rejects(found)) == 4
        assert [(one.line, one.path) for one in files.rejected(found, "WHOLE number").shown] == [(8, "cycle")]
        assert [one.line for one in files.rejected(found, "2").shown] == [2]
        assert [one.file for one in files.rejected(found, "", "certified.json").shown] == ["certified.json"]
        assert files.rejected(found, "nothing like it").n_found == 0
    assert set(everything.files) == {"heal_events.jsonl", "certified.json"}
    assert sum(n for _, n in everything.reasons) == 4


def test_every_kind_of_bad_line_has_a_reason_that_is_counted_and_opens_as_written(tmp_path):
    data = b"\n".join([*BAD_LINES, json.dumps(HEAL).encode()]) + b"\n"
    with audited(write(tmp_path, heal_events=data)) as found:
        everything = files.rejected(found)
        assert everything.n == len(BAD_LINES)
        for number, line in enumerate(BAD_LINES, start=1):
            opened = record_lines.open_line(found, "heal_events.jsonl", number)
            assert opened.became.startswith("rejected: ")
            assert opened.text == line.decode("utf-8", "backslashreplace")


@pytest.mark.parametrize(
    ("number", "became", "earlier"),
    [
        (1, "kept", None),
        (2, "rejected: not JSON: expecting value at character 1", None),
        (3, "blank: nothing to read", None),
        (4, "repeated: equal to line 1", 1),
        (5, "not taken: rewritten: line 1 already has this heal_id", 1),
        (6, "kept", None),
        (7, "blank: nothing to read", None),
        (8, "rejected: cycle must be a whole number from 1, found 1.5", None),
        (9, "pending: it is only half written", None),
    ],
)
def test_any_line_says_what_became_of_it(workspace, number, became, earlier):
    with audited(workspace) as found:
        line = record_lines.open_line(found, "heal_events.jsonl", number)
    assert (line.became, line.earlier) == (became, earlier)
    written = (json_lines(LINES) + HALF).split(b"\n")[number - 1].rstrip(b"\r").decode()
    assert line.text == written


def test_unknown_keys_are_named_wherever_they_stand(tmp_path):
    row = heal(1, target="t", text="x", zoo=1, break_glass={"by": "a", "ticket": 7}) | {"mine": None}
    row["trigger"]["severity"] = "high"
    row["trigger"]["evidence"] = {"anything": 1}
    row["actor"] = {"model": "m"}
    with audited(write(tmp_path, heal_events=[row])) as found:
        line = record_lines.open_line(found, "heal_events.jsonl", 1)
    assert line.unknown_keys == ("break_glass.ticket", "mine", "trigger.severity", "zoo")
    assert json.loads(line.pretty) == row


def test_lines_far_into_a_file_are_found_by_counting(tmp_path, monkeypatch):
    monkeypatch.setattr(record_lines, "CHUNK", 64)
    log = write(tmp_path, heal_events=[heal(number) for number in range(1, 40)])
    lines = log.read_bytes().splitlines()
    with audited(log) as found:
        for number in (1, 2, 17, 39):
            assert record_lines.open_line(found, "heal_events.jsonl", number).text.encode() == lines[number - 1]
        with pytest.raises(NoSuchLineError, match="has no line 40"):
            record_lines.open_line(found, "heal_events.jsonl", 40)
        with pytest.raises(NoSuchLineError, match=r"no log ../x"):
            record_lines.open_line(found, "../x", 1)


def test_workspaces_that_cannot_be_opened_come_first_with_why(tmp_path):
    write(tmp_path / "good", heal_events=[heal(1)])
    write(tmp_path / "late", heal_events=["nonsense", heal(1)])
    write(tmp_path / "bad", heal_events=["nonsense"])
    write(tmp_path / "empty", heal_events=b"")
    write(tmp_path / "toml", heal_events=[heal(1)], settings="gap_mx = 1")
    write(tmp_path / "two", heal_events=[heal(1)]).with_suffix(".jsonl.gz").write_bytes(b"")
    with audited(tmp_path / "good" / "heal_events.jsonl") as found:
        seen = others.others(found, str(tmp_path))
        assert others.others(found, str(tmp_path / "good")) == ()
    assert [(one.name, bool(one.fault)) for one in seen] == [
        ("bad", True), ("empty", True), ("toml", True), ("two", True), ("good", False), ("late", False),
    ]  # fmt: skip
    faults = {one.name: one.fault for one in seen}
    assert faults["bad"] == "none of its first 1 line is a heal"
    assert faults["empty"] == "holds no heal yet"
    assert "did you mean gap_max?" in faults["toml"]
    assert "are both there" in faults["two"]
