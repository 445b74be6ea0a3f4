"""Every page opens, alone and inside the shell, whatever the workspace holds."""

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import menu
from pages.parts.empty import FIRST_LINE
from seam_core.records import Heal
from tests.pages.states import BAD_LINES, HEAL, REAL, ROOT

PAGES = sorted(path for path in (ROOT / "pages").glob("*/[!_]*.py") if path.parent.name != "parts")

# What the state of a workspace makes a page say; None: it shows numbers.
SAYS = {
    "demo": None,
    "one good": None,
    "missing": "Check SEAM_WORKSPACE: there is no such folder",
    "empty folder": "holds no heal_events.jsonl",
    "empty log": "holds no heal",
    "blank lines": "holds no heal",
    "pending": "half-written",
    "all bad": f"none of its {len(BAD_LINES)} lines is a heal",
    "bad settings": "did you mean gap_max?",
    "several": "There are 3 workspaces here",
} | ({"real": None} if REAL else {})


def said(app):
    """Alerts as a reader sees them: without the marks that keep Markdown out."""
    return " ".join(alert.value.replace("\\", "").replace("\u2060", "") for alert in (*app.info, *app.error, *app.warning))


def opened(path, folder, monkeypatch, **query):
    monkeypatch.setenv("SEAM_WORKSPACE", str(folder))
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    app = AppTest.from_file(path, default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
@pytest.mark.parametrize("state", SAYS)
def test_page_opens_on_its_own(page, state, workspaces, monkeypatch):
    app = opened(page, workspaces[state], monkeypatch)
    assert not app.exception
    if SAYS[state]:
        assert SAYS[state] in said(app)
        assert not app.metric


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
@pytest.mark.parametrize("state", SAYS)
def test_page_opens_inside_the_shell(page, state, workspaces, monkeypatch):
    app = opened(ROOT / "pages" / "shell.py", workspaces[state], monkeypatch)
    app.switch_page(str(page.relative_to(ROOT / "pages"))).run()
    assert not app.exception
    assert len(app.title) == 1
    if SAYS[state]:
        assert SAYS[state] in said(app)


def test_the_shell_lists_every_page_and_no_other():
    assert sorted(ROOT / "pages" / entry.file for entry in menu.PAGES) == PAGES


def test_the_line_shown_on_an_empty_page_is_a_heal_that_scores_something():
    heal = msgspec.json.decode(FIRST_LINE, type=Heal)
    assert None not in (heal.visible_before, heal.visible_after, heal.holdout_before, heal.holdout_after, heal.was_real_failure)
    assert heal.trigger.failure_signature
    assert HEAL.keys() <= msgspec.json.decode(FIRST_LINE).keys()
