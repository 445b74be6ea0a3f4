"""Workspaces to open pages on."""

import json
import shutil
from pathlib import Path

import pytest

from pages.parts import memory
from seam_core.simulate import write_demo
from tests.pages.states import BAD_LINES, HEAL, REAL, ROOT


@pytest.fixture(autouse=True)
def _few_windows(monkeypatch):
    monkeypatch.setattr(memory, "N_PAST", 3)  # eight take their time


def _copy_of_the_demo(to):
    """The demo: the repository's, or a new one while it has none."""
    if (ROOT / "fixtures" / "heal_events.jsonl").exists():
        return Path(shutil.copytree(ROOT / "fixtures", to))
    write_demo(to)
    return to


def _state_of(folder):
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The demo, for tests that write nothing: what is kept of it in memory serves them all."""
    folder = _copy_of_the_demo(tmp_path_factory.mktemp("source") / "demo")
    before = _state_of(folder)
    yield folder
    assert _state_of(folder) == before, "a test wrote in the demo of all tests; let it have `desk`"


@pytest.fixture
def desk(tmp_path):
    """The demo for one test alone."""
    return _copy_of_the_demo(tmp_path / "demo")


@pytest.fixture(scope="session")
def workspaces(demo, tmp_path_factory):
    """Name of a state → the folder that SEAM_WORKSPACE names; for tests that write nothing."""
    folder = tmp_path_factory.mktemp("workspaces")
    made = {"demo": demo, "missing": folder / "nowhere"} | ({"real": REAL} if REAL else {})
    logs = {
        "empty folder": None,
        "empty log": b"",
        "pending": b'{"heal_id": "h',
        "all bad": b"\n".join(BAD_LINES) + b"\n",
        "one good": b"\n".join([*BAD_LINES, json.dumps(HEAL).encode()]) + b"\n",
        "blank lines": b"\n\n\r\n",
    }
    for name, content in logs.items():
        made[name] = folder / name
        made[name].mkdir()
        if content is not None:
            (made[name] / "heal_events.jsonl").write_bytes(content)
    made["bad settings"] = Path(shutil.copytree(made["one good"], folder / "bad settings"))
    (made["bad settings"] / "seam.toml").write_text("gap_mx = 1\n")
    made["several"] = folder / "several"
    for name in ("demo", "all bad", "one good"):
        shutil.copytree(made[name], made["several"] / name)
    return made


@pytest.fixture
def one_good(workspaces, tmp_path):
    """A heal and every kind of bad line, for one test alone."""
    return Path(shutil.copytree(workspaces["one good"], tmp_path / "one good"))
