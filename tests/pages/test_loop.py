"""The Loop page: which loop is shown, what the address may ask for, what is said where there is nothing to draw."""

import json

import pytest

from tests.pages.states import HEAL, ROOT
from tests.pages.test_pages_alone import opened, said

LOOP = ROOT / "pages" / "review" / "loop.py"
A = "Always look up the order before you answer, and never guess what a customer meant by a short question."
B = "Use the refund tool only after the ledger agrees; write the reason into the ticket, then close the step."
HOSTILE = "<style>body{display:none}</style><img src=http://evil.test/x.png> ![x](http://evil.test/y.png) right\u202eto left"


def page_text(app):
    """Everything the page says, without the marks that keep Markdown out."""
    shown = [one.value for kind in (app.main.markdown, app.main.text, app.main.caption) for one in kind]
    return " ".join(shown).replace("\\", "").replace("\u2060", "")


def chosen(app, name):
    value = app.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def box(app, label):
    return next(one for one in app.main.selectbox if one.label.startswith(label))


def cycles(folder, *changes, loop_id="L", **logs):
    folder.mkdir(exist_ok=True)
    lines = []
    for number, change in enumerate(changes, 1):
        own = {
            "heal_id": f"{loop_id}.{number}",
            "loop_id": loop_id,
            "cycle": number,
            "ts": f"2026-06-09T{number // 60:02d}:{number % 60:02d}:00Z",
        }
        lines.append(json.dumps(HEAL | own | change))
    (folder / "heal_events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, rows in logs.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def wrote(text, score=0.5, target="prompt"):
    return {"change": {"target": target, "after_text": text}, "score": score}


def test_without_a_loop_in_the_address_the_worst_one_is_shown_and_put_there(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch)
    assert not app.exception
    assert chosen(app, "loop") == "loop_096"
    assert box(app, "Loop").options[0].startswith("loop_096 · M 0.00 · 11 cycles · 3 dips · 1 revisit")
    assert "It wandered: its own score fell 3 times (1 is free), its text came back once" in page_text(app)
    assert "M = 1 − 0.4 · 2 − 0.4 · 1 − 0.2 · 1 = −0.40, held at 0.00" in page_text(app)
    assert "Cycle 8: came back near the text of cycle 5: 99 % alike" in page_text(app)
    assert "<ins>" in app.get("html")[0].proto.body


def test_another_loop_is_picked_and_forgets_the_pair(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch, pair="3-7")
    box(app, "Loop").set_value("loop_093").run()
    assert chosen(app, "loop") == "loop_093"
    assert chosen(app, "pair") is None
    assert "its own score fell twice (1 is free) and its text came back once" in page_text(app)


def test_a_pair_in_the_address_is_compared_and_another_one_picked(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch, loop="loop_096", pair="3-7")
    assert "cycle 3: h_0227" in app.get("html")[0].proto.body
    assert "cycle 7: h_0232" in app.get("html")[0].proto.body
    assert box(app, "Compare").value == "3-7"
    box(app, "Compare").set_value("5-8").run()
    assert chosen(app, "pair") == "5-8"
    assert "cycle 5: h_0229" in app.get("html")[0].proto.body
    app.pills[0].set_value("start-8").run()
    assert chosen(app, "pair") == "start-8"
    assert "before the loop: " in app.get("html")[0].proto.body


def test_the_certified_state_says_why_it_cannot_be_shown(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch, loop="loop_096", pair="certified-8")
    assert "No certified state can be shown" in said(app)
    assert "# Planner" in app.code[0].value


@pytest.mark.parametrize("pair", ["9-99", "7-3", "x", "<img>"])
def test_a_pair_that_is_not_there_is_one_sentence_and_another_is_shown(demo, monkeypatch, pair):
    app = opened(LOOP, demo, monkeypatch, loop="loop_096", pair=pair)
    assert not app.exception
    assert f"There is no pair {pair} in this loop of 11 cycles" in said(app)
    assert "Cycle 8: came back near" in page_text(app)


def test_a_loop_that_is_not_there_is_one_sentence_and_the_list_stays(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch, loop="nope")
    assert not app.exception
    assert said(app) == "There is no loop nope in the log; look at its id, or choose one in the list."
    box(app, "Loop").set_value("loop_096").run()
    assert "It wandered" in page_text(app)


def test_a_loop_outside_the_window_is_shown_and_says_so(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch, loop="loop_001")
    assert "It converged" in page_text(app)
    assert "has no heal in the window shown" in page_text(app)


def test_a_window_without_a_heal_and_filters_without_a_loop_say_so(demo, monkeypatch):
    app = opened(LOOP, demo, monkeypatch, end="2025-01-01")
    assert "No loop of this window has a heal in it: choose a longer window." in said(app)
    filtered = opened(LOOP, demo, monkeypatch, level="0", target="nothing")
    assert not filtered.exception


def test_a_loop_of_one_cycle_without_a_text_says_what_is_so(tmp_path, monkeypatch):
    app = opened(LOOP, cycles(tmp_path / "one", {"score": 0.5}), monkeypatch)
    assert "One cycle: it could neither fall nor go back" in page_text(app)
    assert "No cycle of this loop logs its text (change.after_text)" in page_text(app)


def test_a_loop_that_the_gate_stopped_whole_shows_its_heals_and_no_chart(tmp_path, monkeypatch):
    block = {"id": "p", "kind": "tool_permission", "target": "prompt"}
    app = opened(LOOP, cycles(tmp_path / "stopped", wrote(A), wrote(B), protected=[block]), monkeypatch)
    assert not app.exception
    assert "The boundary gate stopped every heal of this loop: there is nothing to judge." in page_text(app)
    assert not app.get("plotly_chart")
    assert "stopped by the boundary gate (block p)" in str(app.dataframe[0].value["What happened"].tolist())


def test_the_first_text_of_a_target_is_shown_whole(tmp_path, monkeypatch):
    app = opened(LOOP, cycles(tmp_path / "first", wrote(A)), monkeypatch)
    assert "holds no text of prompt from before this loop" in said(app)
    assert app.code[0].value == A


def test_hostile_names_and_texts_are_text(tmp_path, monkeypatch):
    hostile = [
        wrote(f"{A} {HOSTILE}", target=HOSTILE),
        wrote(f"{B} {HOSTILE}", target=HOSTILE),
        wrote(f"{A} {HOSTILE}", 0.4, target=HOSTILE),
    ]
    for change in hostile:
        change |= {"trigger": {"failure_signature": HOSTILE, "evidence": HOSTILE}, "actor": HOSTILE}
    app = opened(LOOP, cycles(tmp_path / "hostile", *hostile, loop_id=f"L {HOSTILE}"), monkeypatch)
    assert not app.exception
    body = app.get("html")[0].proto.body
    inner = body.split("</style>", 1)[1]
    assert "<img" not in inner
    assert "<style" not in inner
    assert "&lt;img src=http://evil.test/x.png&gt;" in inner
    assert "\\u202eto left" in inner
    figure = app.get("plotly_chart")[0].proto.spec
    assert "<img" not in figure
    assert "\\u202e" not in figure.replace("\\\\u202e", "")
    for one in (*app.main.markdown, *app.main.caption):
        assert "![x]" not in one.value


def test_a_long_loop_is_drawn_a_hundred_cycles_at_a_time(tmp_path, monkeypatch):
    folder = cycles(tmp_path / "long", *[wrote(text, 0.5 + number % 7 / 100) for number in range(65) for text in (A, B)])
    app = opened(LOOP, folder, monkeypatch, pair="118-120", win="all")
    assert not app.exception
    assert "Cycles 101 to 130 of 130." in page_text(app)
    figure = json.loads(app.get("plotly_chart")[1].proto.spec)
    drawn = [place for trace in figure["data"] if trace.get("name", "").startswith("return") for place in trace["x"]]
    assert 101 < min(drawn) < max(drawn) < 130
    again = opened(LOOP, folder, monkeypatch, pair="118-120", win="all", stretch="1")
    assert "Cycles 1 to 100 of 130." in page_text(again)
    for wrong in ("0", "99", "x"):
        assert not opened(LOOP, folder, monkeypatch, stretch=wrong).exception


def test_of_two_loops_whose_long_names_begin_alike_the_one_picked_is_shown(tmp_path, monkeypatch):
    first, second = (f"{'run ' * 60}{number}" for number in (1, 2))
    lines = [HEAL | {"heal_id": loop_id, "loop_id": loop_id} for loop_id in (first, second)]
    (tmp_path / "heal_events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    app = opened(LOOP, tmp_path, monkeypatch)
    assert chosen(app, "loop") == first
    loops = box(app, "Loop, worst first")
    assert len(set(loops.options)) == 2
    loops.select_index(1).run()
    assert chosen(app, "loop") == second
