"""What an import does to a workspace: only what is new, only plain files, all or nothing, and never a line that the reader would reject."""

import errno
import fcntl
import json
import multiprocessing
import os
import threading
from datetime import UTC, datetime

import pytest

from seam_core.importing import writing
from seam_core.importing.format import HEAL_LOG, RUN_LOG, Item, Left
from seam_core.importing.writing import WriteError, write
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder
from tests.seam_core.importing.conftest import RUN, TS

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def heal(n, **more):
    record = {"heal_id": f"h_{n}", "ts": TS, "loop_id": "l", "cycle": n, "level": 2, "trigger": {"failure_signature": "s"}}
    return Item(HEAL_LOG, record | more, "source")


def run(results, **more):
    return Item(RUN_LOG, {"run_id": "r", "ts": TS, "suite": "surface", "phase": "after", "results": results} | more, "source")


def counts(folder, *found):
    written, left = write(folder, found, now=NOW)
    return [(one.file, one.new, one.there, one.refused) for one in written], left


def test_what_is_there_is_not_written_again(tmp_path):
    assert counts(tmp_path, heal(1), heal(2)) == ([("heal_events.jsonl", 2, 0, 0)], [])
    assert counts(tmp_path, heal(2), heal(3)) == ([("heal_events.jsonl", 1, 1, 0)], [])
    assert [json.loads(line)["heal_id"] for line in (tmp_path / "heal_events.jsonl").open()] == ["h_1", "h_2", "h_3"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"imported_from": {"file": "a"}}, {"imported_from": {"file": "b"}}),
        ({"ts": TS, "ts_assumed": True}, {"ts": "2026-06-10T00:00:00Z", "ts_assumed": True}),
        ({"score": None}, {}),
    ],
    ids=["from another file", "another assumed time", "null and missing"],
)
def test_the_same_record_is_known_again(first, second, tmp_path):
    counts(tmp_path, heal(1, **first))
    assert counts(tmp_path, heal(1, **second)) == ([("heal_events.jsonl", 0, 1, 0)], [])


def test_a_record_that_is_there_with_other_content_is_refused(tmp_path):
    counts(tmp_path, heal(1, score=0.5))
    found, left = counts(tmp_path, heal(1, score=0.6), heal(2))
    assert found == [("heal_events.jsonl", 1, 0, 1)]
    assert left == [Left("source", "h_1", "is in heal_events.jsonl already, with other content; a log is never rewritten")]


def test_a_record_twice_in_what_is_read_is_one_and_another_content_is_refused(tmp_path):
    found, left = counts(tmp_path, heal(1), heal(1), heal(1, score=1))
    assert found == [("heal_events.jsonl", 1, 1, 1)]
    assert left[0].reason == "stands twice in what was read, with other content (also in source)"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (heal(1, score=1.5), "score must be a number from 0 to 1, found 1.5"),
        (heal(1, score=float("nan")), "not JSON: NaN is not a number"),
        (heal(0), "cycle must be a whole number from 1, found 0"),
        (heal(1, ts="yesterday"), 'ts must be a time such as 2026-06-09T14:22:31Z, found "yesterday"'),
        (heal(1, ts="2026-12-02T00:00:00Z"), "ts 2026-12-02T00:00:00Z is more than a day after the clock (2026-11-30T00:00:00+00:00)"),
        (run({"a": "skipped"}), 'results.a must be pass or fail, found "skipped"'),
    ],
)
def test_what_the_reader_would_reject_is_refused_with_its_reason(item, reason, tmp_path):
    found, left = counts(tmp_path, item)
    assert (found[0][1:], left[0].reason) == ((0, 0, 1), reason)
    assert not (tmp_path / item.log.file).exists(), "an empty log says something else than none"


def test_what_is_written_is_what_the_reader_keeps(tmp_path):
    counts(tmp_path, heal(1, score=1, raw={"é": "\u2028", "deep": [[[]]]}), heal(2), run({"a": "pass", "ü": "fail"}))
    store = Store(workspace_of_folder(tmp_path), now=NOW)
    store.refresh()
    assert (store.states["heals"].n_rows, store.states["runs"].n_rows, store.rejects()) == (2, 1, [])
    store.close()


@pytest.mark.parametrize("end", [b'{"half', b'{"heal_id": "x"}'])
def test_a_last_line_without_an_end_is_not_joined(end, tmp_path):
    log = tmp_path / "heal_events.jsonl"
    log.write_bytes(end)
    counts(tmp_path, heal(1))
    assert log.read_bytes().split(b"\n")[0] == end
    assert counts(tmp_path, heal(1))[0] == [("heal_events.jsonl", 0, 1, 0)]


def test_bad_lines_and_odd_ids_in_the_log_do_not_stop_an_import(tmp_path):
    odd = 'quote " and \\ and é'
    (tmp_path / "heal_events.jsonl").write_bytes(b'\xef\xbb\xbf{"heal_id": 3}\n[1]\nnot json\n\xff\n' + b"[" * 100_000 + b"\n\n")
    assert counts(tmp_path, heal(1, heal_id=odd))[0] == [("heal_events.jsonl", 1, 0, 0)]
    assert counts(tmp_path, heal(1, heal_id=odd))[0] == [("heal_events.jsonl", 0, 1, 0)]


def test_a_packed_log_is_not_written_to(tmp_path):
    (tmp_path / "heal_events.jsonl.gz").write_bytes(b"")
    with pytest.raises(WriteError, match="is packed and cannot be appended to; unpack it first"):
        counts(tmp_path, heal(1))


@pytest.mark.parametrize(
    "make", [lambda path, other: path.symlink_to(other), lambda path, _: os.mkfifo(path), lambda path, _: path.mkdir()]
)
def test_only_a_plain_file_is_written_to(make, tmp_path):
    """An agent that may write in the folder must not send our lines elsewhere, nor let us wait at a pipe."""
    other = tmp_path / "elsewhere"
    other.write_bytes(b"")
    make(tmp_path / "heal_events.jsonl", other)
    with pytest.raises(WriteError, match="records are imported into a plain file only"):
        counts(tmp_path, heal(1))
    assert other.read_bytes() == b""


def test_cases_go_where_the_fixtures_are(importer, put):
    (importer.folder / "fixtures").mkdir()
    xml = put("r.xml", '<testsuite name="s" timestamp="2026-06-09T14:00:00Z"><testcase name="a"/></testsuite>')
    importer("junit", xml, *RUN, "--with-cases")
    assert importer.lines("fixtures/surface.jsonl") == [{"id": "s::a"}]


def test_cases_do_not_follow_a_link_out_of_the_workspace(importer, put, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (importer.folder / "fixtures").symlink_to(tmp_path / "elsewhere")
    xml = put("r.xml", '<testsuite name="s" timestamp="2026-06-09T14:00:00Z"><testcase name="a"/></testsuite>')
    ran = importer("junit", xml, *RUN, "--with-cases")
    assert (ran.code, "is a link; records are imported into a folder of the workspace only" in ran.err) == (3, True)
    assert not list((tmp_path / "elsewhere").iterdir())
    assert not importer.runs


def test_a_full_disk_takes_back_what_was_written(tmp_path, monkeypatch):
    counts(tmp_path, heal(1))
    before = (tmp_path / "heal_events.jsonl").read_bytes()
    written = []

    def write_half(descriptor, data):
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(real(descriptor, data[: len(data) // 2]))
        return written[0]

    real = os.write
    monkeypatch.setattr(writing.os, "write", write_half)
    with pytest.raises(OSError, match="No space left"):
        counts(tmp_path, heal(2), heal(3))
    assert written
    assert (tmp_path / "heal_events.jsonl").read_bytes() == before


def import_heals(folder, start):
    write(folder, [heal(n) for n in range(start, start + 40)], now=NOW)


def test_imports_at_the_same_time_add_each_record_once(tmp_path):
    """Four processes bring 40 heals each, of which half overlap with the next one's: 100 in all."""
    processes = [multiprocessing.get_context("fork").Process(target=import_heals, args=(tmp_path, start)) for start in (1, 21, 41, 61)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    ids = [json.loads(line)["heal_id"] for line in (tmp_path / "heal_events.jsonl").open()]
    assert sorted(ids) == sorted(f"h_{n}" for n in range(1, 101))


def test_an_import_waits_for_whoever_holds_the_log(tmp_path):
    with (tmp_path / "heal_events.jsonl").open("a") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        waiting = threading.Thread(target=import_heals, args=(tmp_path, 1), daemon=True)
        waiting.start()
        waiting.join(timeout=0.3)
        assert waiting.is_alive()
        assert (tmp_path / "heal_events.jsonl").stat().st_size == 0
    waiting.join(timeout=20)
    assert (tmp_path / "heal_events.jsonl").read_text().count("\n") == 40
