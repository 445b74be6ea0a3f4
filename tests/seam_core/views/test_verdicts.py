"""What people decided, laid over the queue."""

from datetime import UTC, datetime

import pytest

from seam_core import reviews
from seam_core.ledger import Ledger, Local
from seam_core.views import verdicts
from seam_core.views.groups import Entry
from seam_core.views.queue import Bulk
from seam_core.views.verdicts import (
    STATES,
    Many,
    TooManyError,
    chosen,
    chosen_entries,
    decided,
    evidence_of,
    evidence_of_many,
    in_short,
    many,
    progress_sentence,
    review_many,
    said_about,
    undo,
)  # fmt: skip
from tests.seam_core.workspaces import audited, heal, json_lines, write

ANA, BEN, EVE = Local("ana"), Local("ben"), Local("eve")
IDS = ("h1", "h2", "h3", "h4", "h5", "h6")
CLOCK = datetime(2026, 6, 12, 14, 2, tzinfo=UTC)


def every(*args, **options):
    return list(review_many(*args, **options))


class Desk:
    """A workspace of six heals, its ledger, and a short way to decide."""

    def __init__(self, folder, audit):
        self.folder, self.audit, self.store = folder, audit, audit.scope.store
        self.ledger = Ledger(folder / "decisions.sqlite", clock=lambda: CLOCK)

    def say(self, heal_id, verdict, actor=ANA, comment=""):
        seen = reviews.evidence(self.store, (heal_id,))[heal_id]
        return reviews.record_review(self.ledger, heal_id, verdict, evidence=seen, actor=actor, comment=comment)

    def rewrite(self, heal_id):
        """The heal's record is another one now."""
        heals = [heal(n) | ({"score": 0.9} if f"h{n}" == heal_id else {}) for n in range(1, 7)]
        (self.folder / "heal_events.jsonl").write_bytes(json_lines(heals))
        self.store.refresh()

    @property
    def found(self):
        return decided(self.ledger, self.store)


@pytest.fixture
def desk(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(n) for n in range(1, 7)])) as audit:
        yield Desk(tmp_path, audit)


@pytest.fixture
def full(desk):
    """h1 real, h2 not real by two people, h3 skipped, h4 disputed, h5 real and then rewritten; h6 untouched and handed over."""
    desk.say("h1", "real")
    desk.say("h2", "not_real")
    desk.say("h2", "not_real", BEN)
    desk.say("h3", "skip")
    desk.say("h4", "real", comment="**looks** fine")
    desk.say("h4", "not_real", BEN)
    desk.say("h5", "real")
    reviews.assign(desk.ledger, "h6", to="payments", actor=ANA, note="yours?")
    desk.rewrite("h5")
    return desk


@pytest.mark.parametrize(
    ("state", "heals"),
    [
        ("all", IDS),
        ("to do", ("h5", "h6")),
        ("reviewed", ("h1", "h2", "h3", "h4", "h5")),
        ("real", ("h1", "h5")),
        ("not real", ("h2",)),
        ("skipped", ("h3",)),
        ("disputed", ("h4",)),
        ("reopened", ("h5",)),
        ("handed over", ("h6",)),
    ],
)
def test_heals_are_chosen_by_what_people_said(full, state, heals):
    assert state in STATES
    assert chosen(IDS, full.found, state) == heals
    assert chosen(IDS[::-1], full.found, state) == heals[::-1]


def test_a_group_keeps_the_heals_that_are_in_the_state_and_goes_when_there_is_none(full):
    groups = (Entry("h1", ("h1", "h2")), Entry("h3", ("h3", "h5")), Entry("h6", ("h6",)))
    assert chosen_entries(groups, full.found, "to do") == (Entry("h5", ("h5",)), Entry("h6", ("h6",)))
    assert chosen_entries(groups, full.found, "all") == groups


def test_progress_in_a_sentence(full, desk):
    assert progress_sentence(full.found, IDS) == "5 of 6 reviewed, 1 not real, 1 skipped, 1 disputed, 1 reopened"
    assert progress_sentence(full.found, ("h1", "h6")) == "1 of 2 reviewed"
    assert progress_sentence(full.found, ()) == "0 of 0 reviewed"


def test_who_said_what_in_a_few_words(full):
    found = full.found
    assert [in_short(found, heal_id) for heal_id in IDS] == [
        "real (ana)", "not real (ana, ben)", "skipped (ana)", "disputed (ana, ben)", "real (ana), reopened", "with payments",
    ]  # fmt: skip
    full.say("h2", "not_real", EVE)
    assert in_short(full.found, "h2") == "not real (3 people)"


def test_everybodys_verdict_newest_first_with_why_it_is_open_again(full):
    newest, oldest = said_about(full.found, "h4")
    assert (newest.name, newest.verdict, newest.reopened) == ("ben", "not real", None)
    assert (oldest.name, oldest.comment, oldest.when) == ("ana", "**looks** fine", "2026-06-12 14:02 UTC")
    assert said_about(full.found, "h5")[0].reopened == "its record was rewritten"
    assert said_about(full.found, "h6") == ()


def test_one_decision_for_many_leaves_out_safety_regressions_and_what_one_decided_already(full):
    found = many(Bulk(("h1", "h2", "h4", "h5", "h6"), 2), full.found, BEN)
    assert found == Many(
        ("h1", "h5", "h6"), "Left out: 2 with a safety regression, to be decided one by one and 2 that you decided already."
    )
    assert many(Bulk(("h5", "h6"), 0), full.found, ANA) == Many(("h5", "h6"), "")  # reopened: to be decided again


def test_one_decision_for_many_is_a_row_each_on_the_evidence_that_was_shown(desk):
    shown = evidence_of_many(desk.audit, ("h1", "h3"))
    seqs = every(desk.ledger, Many(("h1", "h3"), ""), "not_real", evidence=shown, actor=ANA, comment="same cause")
    assert seqs == [1, 2]
    assert {heal_id: one["local:ana"].comment for heal_id, one in desk.found.latest.items()} == {"h1": "same cause", "h3": "same cause"}
    assert desk.found.again == {}
    assert every(desk.ledger, Many(("h1", "h3"), ""), "not_real", evidence=shown, actor=ANA, comment="same cause") == [1, 2]
    assert len(desk.ledger.rows()) == 2


def test_it_can_be_undone_and_doing_that_twice_changes_nothing(desk):
    desk.say("h1", "real")
    shown = evidence_of_many(desk.audit, ("h1", "h2", "h3"))
    seqs = every(desk.ledger, Many(("h1", "h2", "h3"), ""), "not_real", evidence=shown, actor=ANA)
    assert undo(desk.ledger, seqs, actor=ANA) == 3
    assert {heal_id: desk.found.standing(heal_id) for heal_id in IDS[:3]} == {"h1": "real", "h2": None, "h3": None}
    n_rows = len(desk.ledger.rows())
    undo(desk.ledger, seqs, actor=ANA)
    assert len(desk.ledger.rows()) == n_rows


def test_more_heals_than_a_person_can_stand_for_are_refused_with_nothing_written(desk, monkeypatch):
    monkeypatch.setattr(verdicts, "BULK_MAX", 2)
    with pytest.raises(TooManyError, match="at most 2 heals, and these are 3; narrow the list first"):
        every(desk.ledger, Many(("h1", "h2", "h3"), ""), "real", evidence={}, actor=ANA)
    assert desk.ledger.rows() == []


def test_the_evidence_of_a_heal_is_that_of_the_log_and_none_of_one_that_is_not_there(desk):
    assert evidence_of(desk.audit, "h1") == reviews.evidence(desk.store, ("h1",))["h1"]
    assert evidence_of(desk.audit, "nobody") is None


def test_a_later_look_compares_only_what_was_said_since_until_the_log_moves(desk, monkeypatch):
    asked = []
    real = reviews.reopened
    monkeypatch.setattr(reviews, "reopened", lambda store, latest: asked.append(sorted(latest)) or real(store, latest))
    desk.say("h1", "real")
    desk.say("h2", "real")
    first = desk.found
    desk.say("h2", "skip", BEN)
    second = decided(desk.ledger, desk.store, first)
    desk.rewrite("h1")
    third = decided(desk.ledger, desk.store, second)
    desk.say("h1", "not_real", BEN)  # on the new record; Ana's is open again still
    fourth = decided(desk.ledger, desk.store, third)
    assert asked == [["h1", "h2"], ["h2"], ["h1", "h2"], ["h1"]]
    assert third.again == fourth.again == {"h1": {ANA.key: "its record was rewritten"}}
    assert [one == desk.found for one in (second, third, fourth)] == [False, False, True]


def test_reading_writes_nothing(desk):
    assert desk.found == verdicts.Decided()
    assert not desk.ledger.path.exists()
