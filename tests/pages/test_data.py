"""Data: the kinds of lines add up, every rejected line is found and opened as written, what is missing says what it adds."""

import json

from tests.pages.states import BAD_LINES, HEAL, ROOT
from tests.pages.test_pages_alone import opened, said

PAGE = ROOT / "pages" / "trust" / "data.py"


def texts(app):
    return " ".join(one.value for one in (*app.main.text, *app.main.caption)).replace("\\", "")


def table(app, column):
    return next(frame.value for frame in app.main.dataframe if column in frame.value)


def test_every_file_of_the_demo_is_listed_whole(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert "9 files: 954 lines, 0 not taken" in texts(app)
    files = table(app, "kept")
    assert dict(zip(files["name"], files["lines"], strict=True))["heal_events.jsonl"] == 240
    assert list(files["lines"]) == list(files["kept"])
    assert "certified.json: read as one object of 60 cases" in texts(app)
    assert "None: every line is a record" in texts(app)
    assert all(len(digest) == 64 for digest in table(app, "sha256")["sha256"])


def test_every_kind_of_bad_line_is_there_and_a_search_finds_it(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch)
    found = table(app, "line")
    assert list(found["line"]) == list(range(1, len(BAD_LINES) + 1))
    app.main.text_input[0].set_value("cycle").run()
    assert list(table(app, "line")["path"]) == ["cycle", "cycle"]
    app.main.text_input[0].set_value("no such reason").run()
    assert "No line is found." in texts(app)


def test_a_line_of_the_address_is_shown_as_it_was_written(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch, file="heal_events.jsonl", line="5")
    assert app.main.code[0].value == '{"heal_id": "\\xff"}'
    assert "rejected: not UTF-8" in texts(app)
    app.main.number_input[0].set_value(len(BAD_LINES) + 1).run()
    assert json.loads(app.main.code[0].value) == HEAL
    assert ": kept." in texts(app)
    assert app.query_params["line"] in (str(len(BAD_LINES) + 1), [str(len(BAD_LINES) + 1)])


def test_a_line_that_is_not_there_is_one_sentence_and_the_page_goes_on(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch, file="../../etc/passwd", line="1")
    assert "There is no log ../../etc/passwd in this workspace." in said(app)
    app = opened(PAGE, workspaces["one good"], monkeypatch, line="999")
    assert "heal_events.jsonl has no line 999" in said(app)
    assert "What is not there" in [header.value for header in app.main.header]


def test_hostile_lines_stay_text(one_good, monkeypatch):
    evil = "![x](http://evil.test/x.png) <img src=x> \u202e"
    line = json.dumps(HEAL | {"heal_id": evil, "cycle": "<b>1</b>", evil: 1}, ensure_ascii=False)
    (one_good / "heal_events.jsonl").write_text(f"{json.dumps(HEAL)}\n{line}\n", encoding="utf-8")
    app = opened(PAGE, one_good, monkeypatch, line="2")
    assert not app.exception
    assert "\\u202e" in app.main.code[0].value
    for one in (*app.main.markdown, *app.main.caption, *app.warning):
        assert "![" not in one.value
        assert "<img" not in one.value


def test_missing_files_say_what_they_would_add(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch)
    adds = table(app, "adds")
    assert adds["name"][0] == "failures.jsonl"
    assert "Signal" in adds["adds"][0]
    assert set(table(app, "feeds")["share"]) == {0}


def test_the_other_workspaces_are_listed_broken_ones_first(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["several"], monkeypatch, workspace="demo")
    states = table(app, "state")
    assert list(states["name"]) == ["all bad", "demo", "one good"]
    assert states["state"][0] == f"none of its first {len(BAD_LINES)} lines is a heal"
    assert "3 workspaces; 1 cannot be opened" in texts(app)
