"""Gates and budget: what was stopped, what became of it, what is protected, what cost too much; hostile names stay text."""

import json

from tests.pages.states import HEAL, ROOT
from tests.pages.test_pages_alone import opened, said

PAGE = ROOT / "pages" / "decide" / "gates.py"
EVIL = "<script>alert(1)</script> ![x](http://evil.test/x.png)"


def texts(app):
    return " ".join(one.value for one in (*app.main.text, *app.main.markdown, *app.main.caption)).replace("\\", "")


def write(folder, name, *rows):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_stopped_heal_shows_what_became_of_the_block(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert not app.exception
    assert "1 of 29 heals was stopped" in texts(app)
    assert "`h_0230` wanted to change `router_prompt`" in texts(app)
    assert "The block is gone: nothing in the text is like it." in texts(app)
    assert "Standing rule: customer data never leaves its own tenant." in app.main.code[0].value
    assert "### Self-repair `h_0230` needs a look" in app.main.code[1].value


def test_the_address_names_the_heal_and_a_wrong_one_leaves_the_rest_of_the_page(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, heal="h_0109", win="all")
    assert "`h_0109` wanted to change" in texts(app)
    assert "8 of its 9 words are left in the passage most like it" in texts(app)
    app = opened(PAGE, demo, monkeypatch, heal="<b>nobody</b>")
    assert "The gate did not stop a heal <b>nobody</b> in this window. Shown is h_0230." in said(app)
    assert "Budget" in [header.value for header in app.main.header]


def test_another_stopped_heal_can_be_chosen_by_keyboard(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, win="all")
    box = next(box for box in app.main.selectbox if box.label == "Stopped heal")
    assert len(box.options) == 5
    box.set_value("h_0046").run()
    assert app.query_params["heal"] in ("h_0046", ["h_0046"])
    assert "`h_0046` wanted to change `triage_skill`" in texts(app)


def test_budget_says_who_is_over_a_limit_and_who_lifted_one(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, win="all")
    assert "5 heals went over 6 times the task's own tokens" in texts(app)
    tables = [frame.value for frame in app.main.dataframe]
    lifted = next(table for table in tables if "lifted" in table and len(table) == 2)
    assert set(lifted["lifted"]) == {"r.okafor: customers were waiting, paid for it"}
    over = next(table for table in tables if "verdict" in table)
    assert list(over["verdict"]) == ["escalated"] * 5 + ["elevated"] * 6


def test_without_blocks_and_without_tokens_the_page_says_so(workspaces, monkeypatch):
    app = opened(PAGE, workspaces["one good"], monkeypatch)
    assert "Nothing is protected: there is no protected.jsonl" in texts(app)
    assert "Not known for 1 of 1 heal: neither tokens_spent nor task_tokens is logged." in texts(app)
    assert "To know the cost, log tokens_spent and task_tokens" in texts(app)
    assert app.main.code[0].value.startswith('{"id": "rule_1"')


def test_blocks_that_protect_nothing_are_named(one_good, monkeypatch):
    block = {"id": EVIL, "kind": "tool_permission", "target": "promt", "text": "x"}
    write(one_good, "heal_events.jsonl", HEAL | {"change": {"target": "prompt", "after_text": "x"}})
    write(one_good, "protected.jsonl", block, block | {"id": "blank", "target": "prompt", "text": " "})
    app = opened(PAGE, one_good, monkeypatch)
    assert "2 blocks protect nothing" in said(app)
    table = next(frame.value for frame in app.main.dataframe if "fault" in frame.value)
    assert any("did you mean prompt?" in fault for fault in table["fault"])


def test_hostile_names_and_texts_stay_text(one_good, monkeypatch):
    heal = HEAL | {"heal_id": EVIL, "loop_id": EVIL, "change": {"target": EVIL, "after_text": f"{EVIL} is here now"}}
    write(
        one_good,
        "heal_events.jsonl",
        heal | {"break_glass": {"by": EVIL, "reason": EVIL}, "tokens_spent": 90, "task_tokens": 1},
    )
    write(one_good, "protected.jsonl", {"id": EVIL, "kind": "tool_permission", "target": EVIL, "text": f"{EVIL} is not here"})
    app = opened(PAGE, one_good, monkeypatch)
    assert not app.exception
    for one in (*app.main.markdown, *app.main.caption, *app.warning):
        bare = one.value.replace(f"`{EVIL}`", "")
        assert "<script" not in bare
        assert "![" not in bare
    assert all("<script" not in one.value for one in app.main.get("html") if hasattr(one, "value"))
