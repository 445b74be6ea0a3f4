"""Calling ``python -m seam_core import`` in this process, and reading what it wrote."""

import json

import pytest

from seam_core.__main__ import main
from tests.seam_core.conftest import caller

NOW = "2026-11-30T00:00:00Z"
TS = "2026-06-09T14:00:00Z"
RUN = ("--suite", "surface", "--phase", "after", "--heal-id", "h_1")


class Importer:
    """A workspace to import into."""

    def __init__(self, folder, call):
        self.folder, self.call, self.now = folder, call, NOW

    def __call__(self, form, *arguments):
        return self.call("import", form, *arguments, "--workspace", self.folder, "--now", self.now)

    def lines(self, name):
        path = self.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def runs(self):
        return self.lines("suite_runs.jsonl")

    @property
    def heals(self):
        return self.lines("heal_events.jsonl")


@pytest.fixture
def importer(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    folder = tmp_path / "workspace"
    folder.mkdir()
    return Importer(folder, caller(main, capsys))


@pytest.fixture
def put(tmp_path):
    """Writes a file to import: text or bytes as they are, anything else as JSON."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write
