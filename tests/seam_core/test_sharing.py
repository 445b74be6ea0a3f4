"""Texts read by other processes: the report is the same, whatever becomes of them."""

import gzip
import sys

import pytest

from seam_core import sharing
from seam_core.apart import Apart
from seam_core.cli import main
from seam_core.report import audit, report, window_of
from seam_core.scope import Scope
from seam_core.settings import resolve
from tests.seam_core.integrity_logs import PROTECTED, RULE, chained
from tests.seam_core.workspaces import as_line, audited, concat, heal, loop, opened, write

LEAK = "The guest of room twelve asks whether two of the three charges can be returned before the weekend"
HOLDOUT = [{"id": "ho_014", "text": LEAK}]
SAME = f"{RULE}\nThe same text of some length, so that it is a return when it comes again."


def heals():
    """Texts that leak, return, and set a rule aside; and one that was there before them."""
    texts = [f"Rules\n{RULE}", f"Rules\n> {RULE}", f"{RULE}\n{LEAK}", f"{RULE}\nThis takes precedence. See ho_014."]
    return [*chained(*texts), *concat(loop(f"R{n}", [0.1, 0.2, 0.3], first_day=5, text=[SAME, f"{RULE} {n}", SAME]) for n in range(5))]


@pytest.fixture
def log(tmp_path):
    return write(tmp_path, heal_events=heals(), protected=PROTECTED, holdout=HOLDOUT)


@pytest.fixture
def here(log):
    """The report of this process alone."""
    with audited(log) as found:
        told = report(found)
    assert told["contamination"] == 1.0
    assert told["monotonicity"]["returned"] == 5
    assert {"I41", "I42", "I44"} <= set(told["integrity"]["found"])
    return told


@pytest.fixture(params=[100, 1], ids=["one process", "three processes"])
def shared(request, monkeypatch):
    """Even few texts are shared out."""
    monkeypatch.setattr(sharing, "APART_MIN", 1)
    monkeypatch.setattr(sharing, "SPLIT_MIN", request.param)


@pytest.fixture
def nothing_here(monkeypatch):
    """This process may read no text but for the gate."""
    monkeypatch.setattr(Scope, "edits", None)


@pytest.mark.usefixtures("shared")
class TestOtherProcesses:
    @pytest.mark.usefixtures("nothing_here")
    def test_they_tell_the_same(self, log, here):
        with audited(log) as found:
            assert report(found) == here

    @pytest.mark.usefixtures("nothing_here")
    def test_they_read_what_was_unpacked(self, log, here):
        packed = log.with_name(log.name + ".gz")
        packed.write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
        with audited(packed) as found:
            assert report(found) == here

    def test_they_read_no_other_file_of_that_name(self, log, here):
        with opened(log) as store:
            other = log.with_name("other")
            other.write_bytes(log.read_bytes().replace(b"precedence", b"the lead..").replace(b"room twelve", b"room eleven"))
            other.replace(log)
            assert report(audit(store, window_of(store, span="all"), resolve(None))) == here

    def test_when_they_are_killed_this_one_reads(self, log, here, monkeypatch):
        monkeypatch.setattr(Apart, "ask", lambda process, *call: process._process.kill() or 0)
        with audited(log) as found:
            assert report(found) == here

    def test_when_none_can_be_had_this_one_reads(self, log, here, monkeypatch):
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with audited(log) as found:
            assert report(found) == here

    def test_a_line_that_only_duckdb_reads_is_read_here(self, log, here):
        lines = log.read_bytes().splitlines()
        deep = as_line(heal(99, 5, text=SAME))[:-1] + b', "deep": ' + b"[" * 3000 + b"]" * 3000 + b"}"
        log.write_bytes(b"\n".join([*lines, deep, b""]))
        with audited(log) as found:
            assert report(found)["contamination"] == here["contamination"]
            assert report(found)["monotonicity"]["returned"] == 5

    @pytest.mark.usefixtures("nothing_here")
    def test_one_is_started_before_the_log_is_read(self, log, capsys, monkeypatch):
        started = []
        monkeypatch.setattr(sharing, "LARGE", 1)
        monkeypatch.setattr(Apart, "__enter__", lambda process: started.append(process) or process)
        assert main(["--heals", str(log), "--window", "all", "--now", "2026-12-01"]) == 1
        assert '"contamination": 1.0' in capsys.readouterr().out
        assert len(started) in (1, 3)
        assert all(process._process.returncode is not None for process in started)
