"""The Signal page: the sum in words, one signature chosen by the address, what is missing, verdicts beside labels, hostile names."""

import json

import pytest

from seam_core import reviews
from seam_core.ledger import Ledger, Local, ledger_file
from seam_core.merges import say_same
from seam_core.settings import ServerSettings
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder
from tests.browser.hostile import NAMES, write_hostile
from tests.pages.states import HEAL, ROOT
from tests.pages.test_pages_alone import opened, said
from tests.seam_core.ledgers import opened_by_force
from tests.seam_core.workspaces import NOW

PAGE = ROOT / "pages" / "axes" / "signal.py"
SPLIT = "parse_error:queue_peek:onboarding_split"


def text(app):
    """Everything that the page says, without the marks that keep Markdown out."""
    parts = (*app.main.markdown, *app.main.caption, *app.main.text, *app.main.code, *app.main.header)
    return " ".join(part.value for part in parts).replace("\\", "").replace("\u2060", "")


def tables(app):
    return [frame.value for frame in app.main.dataframe]


def test_the_sum_and_the_rows_behind_it_are_shown(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, win="28d")
    assert not app.exception
    assert "S = 0.6 · " in text(app)
    assert "Of 34 signatures with 7 days behind the last heal, 5 came back" in text(app)
    names = next(frame for frame in tables(app) if "verdict" in frame)
    assert len(names) == 51
    assert names["cost"].is_monotonic_decreasing


def test_a_signature_of_the_address_is_told_in_a_sentence_with_its_events(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, win="28d", signature=SPLIT)
    assert not app.exception
    assert "Verdict real. 6 heals in 1 loop" in text(app)
    assert "likely duplicates" in text(app)
    events = next(frame for frame in tables(app) if "what" in frame)
    assert len(events) == 7
    assert app.main.selectbox[0].value == SPLIT


def test_a_signature_that_is_not_there_is_one_sentence_and_the_rest_stays(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, signature="![x](http://evil.test/x.png)")
    assert not app.exception
    assert said(app) == "No heal and no logged failure of this workspace has this signature."
    assert "The score as a sum" in text(app)
    app.main.selectbox[0].set_value("").run()
    assert said(app) == ""


@pytest.mark.parametrize(("shown", "n"), [("not real", 4), ("missed", 5), ("came back", 7)])
def test_the_list_is_narrowed_by_what_happened(demo, monkeypatch, shown, n):
    app = opened(PAGE, demo, monkeypatch, win="28d")
    app.main.segmented_control[0].set_value(shown).run()
    assert len(next(frame for frame in tables(app) if "verdict" in frame)) == n


def test_what_is_missing_is_said_with_the_file_that_would_fill_it(tmp_path, monkeypatch):
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(HEAL) + "\n")
    app = opened(PAGE, tmp_path, monkeypatch)
    assert not app.exception
    assert "Fill was_real_failure in heal_events.jsonl" in text(app)
    (tmp_path / "heal_events.jsonl").write_text(json.dumps(HEAL | {"was_real_failure": True}) + "\n")
    app = opened(PAGE, tmp_path, monkeypatch)
    assert "There is no failures.jsonl" in text(app)


def test_a_window_without_a_heal_says_so(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch, end="2025-01-01")
    assert not app.exception
    assert "Nothing is scored in this window" in said(app)


def test_verdicts_of_people_stand_beside_labels(desk, monkeypatch):
    store = Store(workspace_of_folder(desk), now=NOW)
    store.refresh()
    ledger = Ledger(ledger_file(desk, ServerSettings()))
    shown = reviews.evidence(store, ["h_0240"])
    reviews.record_review(ledger, "h_0240", "not_real", evidence=shown["h_0240"], actor=Local("*ana*"))
    store.close()
    app = opened(PAGE, desk, monkeypatch)
    assert not app.exception
    assert "S with people's verdicts on 1 heal: 0.86" in text(app)
    assert "Of 1 that also carry a label, 1 differs (100 %, 95 % range 20–100 %)." in text(app)
    rows = next(frame for frame in tables(app) if "agree" in frame)
    assert (rows["label"][0], rows["people"][0], rows["who"][0]) == ("real", "not real", "*ana*")
    names = next(frame for frame in tables(app) if "verdict" in frame)
    assert list(names["people"]).count("1 not real") == 1


def test_hostile_signatures_are_shown_as_written(tmp_path, monkeypatch):
    write_hostile(tmp_path, NAMES)
    for name in NAMES:
        app = opened(PAGE, tmp_path, monkeypatch, win="all", signature=f"sig {name}")
        assert not app.exception
        assert "Verdict not real" in text(app) or "The boundary gate stopped the only heal" in said(app)
        assert "http://evil.test" not in " ".join(part.value for part in (*app.main.markdown, *app.main.caption))


def test_merges_are_shown_with_s_merged_and_a_ledger_that_does_not_hold_takes_no_more(desk, monkeypatch):
    ledger = Ledger(ledger_file(desk, ServerSettings()))
    say_same(ledger, [SPLIT, SPLIT.replace("_split", "-split-9")], actor=Local("ana"))
    app = opened(PAGE, desk, monkeypatch, win="28d")
    assert "S with 2 names merged into 1 failure: " in text(app)
    assert "**one failure**, merged" in text(app)
    assert not [button for button in app.main.button if button.label == "Take back"]  # it was ana who said so
    with opened_by_force(ledger.path) as con:
        con.execute("update decisions set body = replace(body, 'same', 'different')")
    app = opened(PAGE, desk, monkeypatch, win="28d")
    assert not app.exception
    assert "What people decided cannot be shown" in said(app)
    assert all(button.disabled for button in app.main.button if button.label in ("One failure", "Several failures"))
    assert "S as logged" not in text(app)


def test_of_a_larger_group_some_names_can_be_left_out(tmp_path, monkeypatch):
    names = ["t:x:feed", "T:x:feed", "t:x:FEED", "t:x:feed *one*"]
    heals = [HEAL | {"heal_id": f"h_{n}", "trigger": {"failure_signature": name}} for n, name in enumerate(names)]
    (tmp_path / "heal_events.jsonl").write_text("".join(json.dumps(heal) + "\n" for heal in heals))
    app = opened(PAGE, tmp_path, monkeypatch, win="all")
    (pills,) = [one for one in app.main.pills if one.label.startswith("Names to decide on")]
    assert len(pills.value) == 3
    pills.set_value(["t:x:FEED", "t:x:feed"]).run()
    next(button for button in app.main.button if button.label == "One failure").click().run()
    assert not app.exception
    (row,) = Ledger(tmp_path / "decisions.sqlite").rows()
    assert sorted(row.decision.signatures) == ["t:x:FEED", "t:x:feed"]
    assert row.decision.why_suggested == "only case or separators differ"
