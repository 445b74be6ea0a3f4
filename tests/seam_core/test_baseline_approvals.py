"""The rule of two: one person proposes, another approves or vetoes, and what was shown must still be so."""

import threading

import pytest

from seam_core.baseline.faults import BaselineError, ConflictError
from seam_core.ledger import Local, SignedIn
from seam_core.views.baseline_in_force import waiting
from tests.seam_core.baselines import add_runs, drift_of, opened_desk, outcomes, sent, world
from tests.seam_core.ledgers import ANA
from tests.seam_core.workspaces import run

CAT = Local("cat")


@pytest.fixture
def folder(tmp_path):
    return world(tmp_path / "agent")


@pytest.fixture
def desk(folder):
    with opened_desk(folder, approvals_required=2) as found:
        yield found


def propose(desk, *, key="k1", actor=ANA, accept=("c1", "c2"), reject=("c3",)):
    """A proposal on the newest run; its number."""
    written = desk.certify(sent(desk, accept=accept, reject=reject, reason="a looked", key=key), actor=actor)
    assert written.is_proposal
    return written.row.seq


def kinds(desk):
    return [row.kind for row in desk.ledger.rows()]


def test_what_one_person_proposes_decides_nothing(folder, desk):
    propose(desk)
    assert kinds(desk) == ["proposal"]
    assert drift_of(folder) == (0.3, "n4", True)


def test_another_person_sees_the_reasons_and_approves_the_very_same_choices(folder, desk):
    seq = propose(desk)
    pending = desk.pending()
    assert (pending.seq, pending.row.by, pending.said.reason, pending.lapsed) == (seq, ANA, "a looked", "")
    row = desk.approve(seq, reason="b looked, too", key="k2", actor=CAT).row
    said = row.decision
    assert (row.by, said.reason, said.proposal, said.version) == (CAT, "b looked, too", 1, 2)
    assert (said.accepted, said.rejected, said.left) == (["c1", "c2"], ["c3"], [])
    assert {case: said.baseline[case] for case in ("c1", "c2", "c3")} == {"c1": "fail", "c2": "fail", "c3": "pass"}
    assert desk.pending() is None
    assert drift_of(folder) == (0.1, "n4", False)  # c3 keeps its old outcome: one of ten


def test_what_waits_for_another_person_is_said_until_it_is_decided(desk):
    assert waiting(None) == waiting(desk.ledger) == ""
    seq = propose(desk)
    assert waiting(desk.ledger).startswith("Version 2 proposed by ana")
    assert waiting(desk.ledger).endswith(": it waits for another reviewer.")
    desk.veto(seq, reason="c2 is a real fault", key="k2", actor=CAT)
    assert waiting(desk.ledger) == ""


def test_nobody_approves_what_they_proposed(desk):
    seq = propose(desk)
    with pytest.raises(BaselineError, match="two different people have to agree, and ana proposed this"):
        desk.approve(seq, reason="me again", key="k2", actor=ANA)
    assert kinds(desk) == ["proposal"]


def test_a_person_who_signs_in_is_told_from_others_by_issuer_and_subject_not_by_name(desk):
    first, renamed = SignedIn("https://login.example", "u-17", "Ben"), SignedIn("https://login.example", "u-17", "Benjamin")
    seq = propose(desk, actor=first)
    with pytest.raises(BaselineError, match="two different people"):
        desk.approve(seq, reason="another name", key="k2", actor=renamed)
    with pytest.raises(BaselineError, match="in the same way"):
        desk.approve(seq, reason="from the shell", key="k3", actor=CAT)
    assert desk.approve(seq, reason="yes", key="k4", actor=SignedIn("https://login.example", "u-18", "Ben")).row.kind == "certification"


@pytest.mark.parametrize("actor", [ANA, CAT])
def test_either_may_veto_and_another_proposal_may_follow(desk, actor):
    seq = propose(desk)
    row = desk.veto(seq, reason="c2 is a real fault", key="k2", actor=actor).row
    assert (row.kind, row.by, row.decision.proposal, row.decision.reason) == ("veto", actor, seq, "c2 is a real fault")
    assert desk.pending() is None
    with pytest.raises(ConflictError, match="row 1 is no proposal that waits"):
        desk.approve(seq, reason="too late", key="k3", actor=CAT)
    assert propose(desk, key="k4", accept=("c1",), reject=("c2", "c3")) == 3


def test_one_proposal_at_a_time(desk):
    propose(desk)
    with pytest.raises(ConflictError, match=r"ana proposed a decision already \(row 1, .*\): approve it or veto it first"):
        propose(desk, key="k2", actor=CAT)


def test_a_proposal_lapses_when_the_pinned_run_changes_and_does_not_bar_another(folder, desk):
    seq = propose(desk)
    log = folder / "suite_runs.jsonl"
    log.write_text(log.read_text().replace('"c9": "pass"', '"c9": "fail"'))
    desk.store.refresh()
    assert "is not what was shown any more" in desk.pending().lapsed
    with pytest.raises(ConflictError, match="the proposal lapsed: what there is to see of run n4 is not what was shown"):
        desk.approve(seq, reason="yes", key="k2", actor=CAT)
    assert propose(desk, key="k3", actor=CAT) == 2
    assert desk.pending().row.by == CAT


def test_a_newer_run_blocks_the_approval_only_where_it_contradicts_what_was_accepted(folder, desk):
    seq = propose(desk, reject=())
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1", "c2", "c4")))  # c3, which was left, passes again; c4 is new
    desk.store.refresh()
    assert not desk.pending().lapsed
    add_runs(folder, run("n6", "nightly", 6.5, outcomes("c1", "c4")))  # c2 passes again
    with pytest.raises(ConflictError, match=r"a newer run \(n6\) has another outcome for 1 accepted case, c2"):
        desk.approve(seq, reason="yes", key="k2", actor=CAT)


def test_a_proposal_lapses_when_another_version_is_certified(folder, desk):
    propose(desk)
    with opened_desk(folder) as alone:  # a server that asks for one person only
        alone.certify(sent(alone, accept=("c1",), key="k9"), actor=CAT)
    desk.store.refresh()
    assert desk.pending() is None


def test_the_same_key_gives_the_first_result_at_every_step(desk):
    seq = propose(desk)
    assert propose(desk) == seq
    first = desk.approve(seq, reason="yes", key="k2", actor=CAT)
    again = desk.approve(seq, reason="yes", key="k2", actor=CAT)
    assert (again.row, again.is_repeat, first.is_repeat) == (first.row, True, False)
    with pytest.raises(ConflictError, match="was used for another one"):
        desk.veto(seq, reason="no", key="k2", actor=CAT)
    assert kinds(desk) == ["proposal", "certification"]


def test_whoever_may_not_decide_may_neither_propose_nor_approve_nor_veto(desk):
    def no_reviewer():
        raise BaselineError("you are no reviewer")

    seq = propose(desk)
    for what in (desk.approve, desk.veto):
        with pytest.raises(BaselineError, match="no reviewer"):
            what(seq, reason="yes", key="k2", actor=CAT, check=no_reviewer)
    desk.veto(seq, reason="again", key="k3", actor=ANA)
    with pytest.raises(BaselineError, match="no reviewer"):
        desk.certify(sent(desk, accept=("c1",), key="k4"), actor=CAT, check=no_reviewer)
    assert kinds(desk) == ["proposal", "veto"]


@pytest.mark.parametrize(
    ("reason", "key", "sentence"), [("  ", "k2", "say why"), ("x" * 2001, "k2", "2,001 characters"), ("why", "", "with a key")]
)
def test_an_approval_or_a_veto_needs_a_reason_and_a_key(desk, reason, key, sentence):
    seq = propose(desk)
    for what in (desk.approve, desk.veto):
        with pytest.raises(BaselineError, match=sentence):
            what(seq, reason=reason, key=key, actor=CAT)


def test_going_back_takes_two_people_as_well_and_writes_its_folder_at_the_approval(desk, tmp_path):
    place = tmp_path / "back"
    with pytest.raises(BaselineError, match="there is no heal h9"):
        desk.roll_back(sent(desk), heal_id="h9", place=place, actor=ANA)
    proposed = desk.roll_back(sent(desk, reason="too far"), heal_id="h2", place=place, actor=ANA)
    assert (proposed.is_proposal, proposed.row.decision.asks, proposed.row.decision.heal_id, place.exists()) == (
        True,
        "rollback",
        "h2",
        False,
    )
    done = desk.approve(proposed.row.seq, reason="yes, back", key="k2", actor=CAT, place=place)
    assert (done.row.kind, done.row.decision.heal_id, done.row.decision.proposal, done.bundle) == ("rollback", "h2", 1, place)
    assert sorted(file.name for file in place.iterdir()) == ["001-t0.txt", "002-t1.txt", "manifest.json"]
    assert (place / "001-t0.txt").read_text() == "text 2"


def test_of_many_who_approve_and_veto_at_once_one_wins_and_the_others_hear_why(desk):
    seq = propose(desk)
    desk.review()
    said = []

    def decide(number):
        what = desk.approve if number % 2 else desk.veto
        try:
            said.append(what(seq, reason="at once", key=f"t{number}", actor=Local(f"p{number}")).row.kind)
        except ConflictError:
            said.append("conflict")

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said.count("conflict") == 11
    assert len(kinds(desk)) == 2
