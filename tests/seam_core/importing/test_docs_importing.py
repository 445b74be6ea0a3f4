"""docs/importing.md: each example is run as it stands there, and prints what stands there; a second time it adds nothing."""

import re
import shlex
from pathlib import Path

import pytest

from seam_core.importing.formats import FORMATS, format_named

PAGE = (Path(__file__).parents[3] / "docs" / "importing.md").read_text(encoding="utf-8")
SECTIONS = {title: text for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE) if "```text" in text}


def test_every_format_is_in_the_table_and_has_an_example():
    table = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert set(table) == set(FORMATS)
    assert len(SECTIONS) == len(FORMATS)
    assert {re.search(r"seam_core import (\w+)", text)[1] for text in SECTIONS.values()} == set(FORMATS)


def test_every_option_of_a_format_is_explained():
    named = set(re.findall(r"--[a-z-]+", PAGE))
    options = {f"--{name.replace('_', '-')}" for form in FORMATS for name in format_named(form).options}
    assert options - named == {"--run-id", "--night", "--loop-id"}  # what their help says is all there is to say


@pytest.mark.parametrize("title", SECTIONS)
def test_example(title, importer, put, tmp_path, monkeypatch):
    text = SECTIONS[title]
    for name, content in re.findall(r"`([\w./]+\.\w+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL):
        put(name, content)
    command = shlex.split(re.search(r"```sh\n(.*?)```", text, re.DOTALL)[1])
    assert command[:4] == ["python", "-m", "seam_core", "import"]
    (tmp_path / "my_agent").mkdir()
    monkeypatch.chdir(tmp_path)
    ran = importer.call(*command[3:], "--now", "2026-11-30T00:00:00Z")
    assert (ran.out, ran.err, ran.code) == (re.search(r"```text\n(.*?)```", text, re.DOTALL)[1], "", 0)
    again = importer.call(*command[3:], "--now", "2026-11-30T00:00:00Z")
    assert re.findall(r"(\d+) new", again.out) == ["0"] * ran.out.count(" new")
