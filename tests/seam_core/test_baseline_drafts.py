"""Drafts: what a person chose so far outlives the page, belongs to them alone, and is nobody's decision."""

import os

import pytest

from seam_core.baseline.drafts import Draft, DraftError, Drafts
from tests.seam_core.ledgers import ANA, BEN

CHOSEN = Draft(accepted=frozenset({"c1", "c2"}), rejected=frozenset({"c3"}), safety_reasons={"c0": "half a sen"}, reason="")


@pytest.fixture
def drafts(tmp_path):
    return Drafts(tmp_path / "decisions.sqlite")


def test_a_draft_is_there_again_for_the_same_person_and_run_only(drafts, tmp_path):
    drafts.put(ANA, "n4", CHOSEN)
    again = Drafts(tmp_path / "decisions.sqlite")
    assert again.get(ANA, "n4") == CHOSEN
    assert again.get(ANA, "n5") == again.get(BEN, "n4") == Draft()


def test_the_runs_that_a_person_chose_something_about_are_named_last_one_first(drafts):
    assert drafts.runs(ANA) == ()
    for run_id in ("n4", "n5", "n4"):
        drafts.put(ANA, run_id, CHOSEN)
    drafts.put(BEN, "n6", CHOSEN)
    assert drafts.runs(ANA) == ("n4", "n5")


def test_a_later_draft_takes_the_place_of_the_earlier_and_one_that_was_sent_is_gone(drafts):
    drafts.put(ANA, "n4", CHOSEN)
    drafts.put(ANA, "n4", Draft(reason="changed my mind"))
    assert drafts.get(ANA, "n4") == Draft(reason="changed my mind")
    drafts.forget(ANA, "n4")
    assert drafts.get(ANA, "n4") == Draft()


def test_reading_and_forgetting_make_no_file_and_the_ledger_is_not_touched(drafts, tmp_path):
    assert drafts.get(ANA, "n4") == Draft()
    drafts.forget(ANA, "n4")
    assert list(tmp_path.iterdir()) == []
    drafts.put(ANA, "n4", CHOSEN)
    assert [file.name for file in tmp_path.iterdir()] == ["drafts.sqlite"]


def test_the_oldest_drafts_make_room(drafts, monkeypatch):
    monkeypatch.setattr("seam_core.baseline.drafts.KEPT", 3)
    for number in range(5):
        drafts.put(ANA, f"n{number}", Draft(reason=f"{number}"))
    assert [drafts.get(ANA, f"n{number}").reason for number in range(5)] == ["", "", "2", "3", "4"]


def test_a_file_that_is_no_database_gets_a_sentence(drafts):
    drafts.path.write_text("not a database, but long enough to look at" * 100)
    with pytest.raises(DraftError, match=r"drafts\.sqlite: drafts cannot be kept there \(file is not a database\)"):
        drafts.get(ANA, "n4")
    with pytest.raises(DraftError, match="what you chose lives as long as this page"):
        drafts.put(ANA, "n4", CHOSEN)


@pytest.mark.parametrize("body", [b"{", b'{"accepted": "c1"}', b"\xff"])
def test_a_draft_that_cannot_be_read_gets_a_sentence(drafts, body):
    import sqlite3

    drafts.put(ANA, "n4", CHOSEN)
    with sqlite3.connect(drafts.path) as con:
        con.execute("update drafts set body = ?", (body,))
    con.close()
    with pytest.raises(DraftError, match="your draft on this run cannot be read"):
        drafts.get(ANA, "n4")


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(DraftError, match="unable to open database file"):
        Drafts(tmp_path / os.fsdecode(b"none") / "decisions.sqlite").put(ANA, "n4", CHOSEN)
