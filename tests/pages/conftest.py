"""Workspaces to open pages on."""

import json
import shutil
from pathlib import Path

import pytest
import streamlit as st

from pages.parts import memory
from seam_core.simulate import write_demo
from tests.pages.states import BAD_LINES, HEAL, REAL, ROOT


@pytest.fixture(autouse=True)
def _fresh_caches(monkeypatch):
    st.cache_resource.clear()
    st.cache_data.clear()
    monkeypatch.setattr(memory, "N_PAST", 3)  # eight windows take their time


@pytest.fixture(scope="session")
def demo_source(tmp_path_factory):
    """The demo: the repository's, or a new one while it has none."""
    folder = tmp_path_factory.mktemp("source") / "demo"
    if (ROOT / "fixtures" / "heal_events.jsonl").exists():
        shutil.copytree(ROOT / "fixtures", folder)
    else:
        write_demo(folder)
    return folder


@pytest.fixture
def demo(demo_source, tmp_path):
    return Path(shutil.copytree(demo_source, tmp_path / "demo"))


@pytest.fixture
def workspaces(demo, tmp_path):
    """Name of a state → the folder that SEAM_WORKSPACE names."""
    made = {"demo": demo, "missing": tmp_path / "nowhere"} | ({"real": REAL} if REAL else {})
    logs = {
        "empty folder": None,
        "empty log": b"",
        "pending": b'{"heal_id": "h',
        "all bad": b"\n".join(BAD_LINES) + b"\n",
        "one good": b"\n".join([*BAD_LINES, json.dumps(HEAL).encode()]) + b"\n",
        "blank lines": b"\n\n\r\n",
    }
    for name, content in logs.items():
        made[name] = tmp_path / name
        made[name].mkdir()
        if content is not None:
            (made[name] / "heal_events.jsonl").write_bytes(content)
    made["bad settings"] = Path(shutil.copytree(made["one good"], tmp_path / "bad settings"))
    (made["bad settings"] / "seam.toml").write_text("gap_mx = 1\n")
    made["several"] = tmp_path / "several"
    for name in ("demo", "all bad", "one good"):
        shutil.copytree(made[name], made["several"] / name)
    return made
