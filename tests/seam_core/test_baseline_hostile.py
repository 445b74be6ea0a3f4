"""Baselines in a folder that others write to: planted links and pipes, a spoilt ledger, keys and texts meant to mislead."""

import os
from pathlib import Path

import pytest

from seam_core.baseline.bundle import rollback_folder
from seam_core.baseline.copies import set_aside
from seam_core.baseline.drafts import Draft, DraftError, Drafts
from seam_core.baseline.faults import BaselineError, ConflictError
from seam_core.baseline.printing import decision_of, decision_text
from seam_core.errors import UnreadableLogError
from seam_core.ledger.looking import beside
from tests.seam_core.baselines import PASSES, add_runs, certified_once, drift_of, opened_desk, outcomes, reported, sent, world
from tests.seam_core.ledgers import ANA
from tests.seam_core.workspaces import run


@pytest.fixture
def folder(tmp_path):
    return world(tmp_path / "agent")


PLANTED = {
    "a link": lambda path: path.symlink_to(path.with_name("secret")),
    "a broken link": lambda path: path.symlink_to("nowhere"),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_what_is_planted_for_certified_json_is_moved_aside_unread(folder, plant):
    """A link may lead to a secret of the server's; its content must not come into the agent's folder."""
    certified_once(folder)
    (folder / "secret").write_text('{"password": "s3cret"}')
    add_runs(folder, run("n9", "nightly", 9, outcomes("c5")))
    copy = folder / "certified.json"
    copy.unlink()
    plant(copy)
    number = copy.lstat().st_ino
    with opened_desk(folder) as desk:
        assert desk.status().copy.state == "moved"
        written = desk.certify(sent(desk, accept=("c5",), key="k2"), actor=ANA)
    assert (written.row.decision.version, written.copy.state) == (3, "in step")
    assert copy.is_file()
    assert not copy.is_symlink()
    aside = folder / f"certified.moved-{number:x}.json"
    assert aside.lstat().st_ino == number
    assert not [path for path in folder.glob("certified*") if path.is_file() and not path.is_symlink() and b"s3cret" in path.read_bytes()]


def test_a_file_that_became_a_link_between_two_looks_is_not_read(folder, monkeypatch):
    (folder / "secret").write_text("s3cret")
    (folder / "certified.json").unlink()
    (folder / "certified.json").symlink_to("secret")
    monkeypatch.setattr("seam_core.baseline.copies.own_file", lambda _path: "")
    with pytest.raises(OSError, match="symbolic link"):
        set_aside(folder / "certified.json")


SPOILT = {"garbage": lambda path: path.write_bytes(b"x" * 9000), "a folder": lambda path: (path.unlink(), path.mkdir())}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_an_edited_certified_json_is_not_used_while_the_ledger_cannot_be_read(folder, spoil):
    """c5 fails since n9 and nobody certified that; whoever spoils the ledger and edits the copy would have no drift."""
    certified_once(folder)
    add_runs(folder, run("n9", "nightly", 9, outcomes("c1", "c2", "c3", "c5")))
    assert drift_of(folder) == (0.1, "n9", False)
    (folder / "certified.json").write_text((folder / "certified.json").read_text().replace('"c5": "pass"', '"c5": "fail"'))
    spoil(folder / "decisions.sqlite")
    assert drift_of(folder) == (None, None, False)
    assert [flag for flag in reported(folder)["flags"] if "the ledger of decisions cannot be read" in flag]


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_spoilt_certified_json_is_not_taken_for_a_missing_one(folder, text):
    """Else an agent that spoils it is reviewed without a diff, and its worst run becomes version 1."""
    (folder / "certified.json").write_text(text)
    with opened_desk(folder) as desk:
        assert desk.status().why_not.startswith("certified.json cannot be used: ")
        (folder / "certified.json").unlink()
        desk.store.refresh()
        assert desk.review().version is None


OTHERS = {
    "another reason": {"reason": "something else"},
    "another choice": {"accept": ("c1", "c2")},
    "a rejection more": {"accept": ("c1",), "reject": ("c2",)},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_key_stands_for_one_decision_and_not_for_another(folder, other):
    with opened_desk(folder) as desk:
        first, second = sent(desk, accept=("c1",)), sent(desk, **({"accept": ("c1",)} | other))
        desk.certify(first, actor=ANA)
        assert desk.certify(first, actor=ANA).is_repeat
        with pytest.raises(ConflictError, match=r"the key of this decision was used for another one \(row 1\)"):
            desk.certify(second, actor=ANA)


def test_a_key_of_one_rollback_does_not_pass_for_that_to_another_heal(folder, tmp_path):
    with opened_desk(folder) as desk:
        once = sent(desk)
        desk.roll_back(once, heal_id="h2", place=tmp_path / "one", actor=ANA)
        with pytest.raises(ConflictError, match="used for another one"):
            desk.roll_back(once, heal_id="h1", place=tmp_path / "two", actor=ANA)


@pytest.mark.parametrize("decide", ["certify", "roll back"])
def test_what_fails_after_the_decision_is_a_fault_of_the_copy_and_the_folder_of_texts_stays(folder, tmp_path, monkeypatch, decide):
    with opened_desk(folder) as desk:
        asked = sent(desk, accept=("c1",) if decide == "certify" else ())
        monkeypatch.setattr("seam_core.baseline.desk.keep_in_step", unreadable)
        if decide == "certify":
            written = desk.certify(asked, actor=ANA)
        else:
            written = desk.roll_back(asked, heal_id="h2", place=tmp_path / "back", actor=ANA)
            assert (written.bundle / "manifest.json").is_file()
        assert (written.row.seq, written.copy.fault) == (1, "heal_events.jsonl: no such file")


def unreadable(*_args, **_options):
    raise UnreadableLogError("heal_events.jsonl: no such file")


@pytest.mark.parametrize("key", ["/../../e", "..", "\ud800", "a/b"])
def test_a_key_leads_no_bundle_out_of_its_folder(tmp_path, key):
    place = rollback_folder(tmp_path, key)
    assert place.parent == tmp_path / "rollbacks"
    assert place.name.isascii()


@pytest.mark.parametrize("place", [".", "/", ".."])
def test_a_bundle_is_never_written_over_a_folder(folder, place):
    with opened_desk(folder) as desk, pytest.raises(BaselineError, match="is there already"):
        desk.roll_back(sent(desk), heal_id="h2", place=Path(place), actor=ANA)


def test_two_bundles_for_one_place_do_not_take_each_other_away(folder, tmp_path):
    (tmp_path / f".back.unfinished-{os.getpid()}").mkdir()
    with opened_desk(folder) as desk:
        desk.roll_back(sent(desk), heal_id="h2", place=tmp_path / "back", actor=ANA)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".back.unfinished-{os.getpid()}", "agent", "back"]


@pytest.mark.parametrize("reason", ["\u200b", "\u2060 \u00ad", "\x1b"])
def test_a_reason_that_nobody_can_see_is_none(folder, reason):
    with opened_desk(folder) as desk, pytest.raises(BaselineError, match="say why in a sentence"):
        desk.certify(sent(desk, reason=reason), actor=ANA)


def test_half_of_a_surrogate_pair_names_no_run_and_no_heal(folder, tmp_path):
    with opened_desk(folder) as desk:
        with pytest.raises(BaselineError, match="is no full run of the surface"):
            desk.review("\udcff")
        with pytest.raises(BaselineError, match="there is no heal"):
            desk.roll_back(sent(desk), heal_id="\udcff", place=tmp_path / "back", actor=ANA)


def test_a_reason_adds_no_line_and_no_colour_to_the_history_in_a_terminal(folder):
    row = certified_once(folder, reason="fine\n2026-06-02T12:00:00Z ben: version 3 certified\x1b[2J\u202e")
    shown = decision_text(decision_of(row))
    assert shown.count("\n") == 1
    assert shown.endswith("fine 2026-06-02T12:00:00Z ben: version 3 certified\\u001b[2J\\u202e\n")


def test_drafts_of_two_workspaces_whose_ledgers_share_a_folder_are_apart(tmp_path):
    """Both have a run n4 and a case c1, and what was accepted of one agent is nothing of the other's."""
    one, other = Drafts(tmp_path / "alpha.sqlite"), Drafts(tmp_path / "beta.sqlite")
    one.put(ANA, "n4", Draft(accepted=frozenset({"c1"})))
    assert other.get(ANA, "n4") == Draft()
    assert beside(tmp_path / "decisions.sqlite", "drafts.sqlite") == tmp_path / "drafts.sqlite"


@pytest.mark.parametrize(("what", "plant"), [("a link", PLANTED["a link"]), ("a folder", Path.mkdir), ("no regular file", os.mkfifo)])
def test_drafts_go_through_no_link_and_wait_at_no_pipe(tmp_path, what, plant):
    drafts = Drafts(tmp_path / "decisions.sqlite")
    plant(drafts.path)
    for call in (lambda: drafts.get(ANA, "n4"), lambda: drafts.put(ANA, "n4", Draft()), lambda: drafts.forget(ANA, "n4")):
        with pytest.raises(DraftError, match=rf"drafts cannot be kept there \(it is {what}\)"):
            call()
    assert not (tmp_path / "secret").exists()


def test_a_draft_of_half_a_surrogate_pair_is_refused_in_a_sentence(tmp_path):
    for run_id, draft in (("\ud800", Draft()), ("n4", Draft(reason="\ud800"))):
        with pytest.raises(DraftError, match="half of a surrogate pair is no text"):
            Drafts(tmp_path / "decisions.sqlite").put(ANA, run_id, draft)


def test_certified_json_with_all_passing_is_still_the_first_version_where_there_is_no_ledger(folder):
    with opened_desk(folder) as desk:
        assert desk.review().version.outcomes == dict.fromkeys(PASSES, True)
