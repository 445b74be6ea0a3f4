"""Baselines: what a review shows, what certifying and rolling back write, and which version is in force when."""

import json
import random
import signal
import time
from hashlib import sha256

import pytest

from seam_core.baseline.copies import mend_copy
from seam_core.baseline.faults import BaselineError, ConflictError
from seam_core.baseline.versions import outcomes_digest
from seam_core.ledger import Ledger, LedgerError, verify
from seam_core.ledger.checkpoint import digest_files
from seam_core.simulate import play
from seam_core.simulate.workspace import write_workspace
from tests.seam_core.baselines import (
    ALL,
    HEALS,
    PASSES,
    RUNS,
    add_runs,
    certified_once,
    drift_of,
    opened_desk,
    outcomes,
    reported,
    sent,
    world,
)
from tests.seam_core.ledgers import ANA, AS_NOBODY, BEN, NOON, Clock, files_in, forge, in_child, open_to_all, opened_by_force, started
from tests.seam_core.workspaces import at, cases, heal, run, write


@pytest.fixture
def folder(tmp_path):
    return world(tmp_path / "agent")


@pytest.fixture
def desk(folder):
    with opened_desk(folder) as found:
        yield found


def copy_in(folder):
    return json.loads((folder / "certified.json").read_text())


def kinds(desk):
    return [row.kind for row in desk.ledger.rows()]


# ---- what a review shows


def test_a_review_shows_each_case_that_differs_since_which_heal_and_how_often_it_flips(desk):
    """c1 flipped back and forth before h1 with no heal between: n0 to n0b to n0c are two pairs, and both differ."""
    review = desk.review()
    assert (review.run.run_id, review.version_number, review.drift) == ("n4", 1, 0.3)
    shown = {case.case_id: (case.certified, case.passed, case.is_safety, case.origin.heal_id, case.noise.words) for case in review.cases}
    assert shown == {
        "c1": (True, False, False, "h1", "2 of 2"),
        "c2": (True, False, False, "h2", "0 of 2"),
        "c3": (True, False, False, None, "0 of 2"),
    }
    assert review.cases[2].origin.heals == ("h3", "h4")
    assert [(group.heals, group.sentence, group.case_ids) for group in review.groups] == [
        (("h3", "h4"), "Changed after one of these 2 heals.", ("c3",)),
        (("h2",), "Changed after heal h2.", ("c2",)),
        (("h1",), "Changed after heal h1.", ("c1",)),
    ]


def test_opening_a_review_writes_nothing(folder):
    before = files_in(folder)
    with opened_desk(folder) as desk:
        desk.review()
        desk.status()
    assert files_in(folder) == before


def test_a_later_run_does_not_change_what_a_review_of_an_earlier_one_shows(folder):
    with opened_desk(folder) as desk:
        before = desk.review("n4")
        add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1")))
        desk.store.refresh()
        assert desk.review("n4").digest == before.digest
        assert desk.review().run.run_id == "n5"


CHANGES = {
    "the run's record": lambda folder: world(folder, runs=[*RUNS[:-1], RUNS[-1] | {"grader_hash": "other"}]),
    "an earlier outcome": lambda folder: world(folder, runs=[*RUNS[:3], run("a1", "after", 1.1, outcomes(), "h1"), *RUNS[4:]]),
    "a case's question": lambda folder: (folder / "surface.jsonl").write_text(
        "".join(json.dumps(case | {"text": "?"}) + "\n" for case in cases(10, safety={"c0"}))
    ),
    "which case is about safety": lambda folder: (folder / "surface.jsonl").write_text(
        "".join(json.dumps(case) + "\n" for case in cases(10, safety={"c1"}))
    ),
    "the certified outcomes": lambda folder: (folder / "certified.json").write_text(json.dumps(PASSES | {"c9": "fail"})),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_decision_on_what_is_not_so_any_more_is_refused_with_nothing_written(folder, change):
    with opened_desk(folder) as desk:
        decision = sent(desk, accept=("c1",))
        change(folder)
        with pytest.raises(ConflictError, match="is not what was shown any more"):
            desk.certify(decision, actor=ANA)
    assert not (folder / "decisions.sqlite").exists()


def test_the_order_of_lines_and_keys_does_not_matter_to_a_review(folder):
    with opened_desk(folder) as desk:
        decision = sent(desk, accept=("c1",))
        world(folder, runs=[dict(reversed(one.items())) for one in reversed(RUNS)], heals=HEALS[::-1])
        desk.certify(decision, actor=ANA)


@pytest.mark.parametrize(("run_id", "sentence"), [("n9", "n9 is no full run"), ("part", "part is no full run")])
def test_only_a_full_run_is_reviewed(folder, run_id, sentence):
    add_runs(folder, run("part", "nightly", 5, {"c1": False}))
    with opened_desk(folder) as desk, pytest.raises(BaselineError, match=sentence):
        desk.review(run_id)


def test_a_heal_that_the_boundary_gate_stopped_is_never_blamed(tmp_path):
    folder = world(tmp_path / "agent", protected=[{"id": "p", "kind": "tool_permission", "target": "t1"}])
    with opened_desk(folder) as desk:
        origins = {case.case_id: case.origin for case in desk.review().cases}
    assert (origins["c3"].heal_id, origins["c1"].heals) == ("h4", ())


def test_a_case_off_the_baseline_in_the_first_run_is_blamed_on_nothing_in_particular(tmp_path):
    folder = world(tmp_path / "agent", runs=[run("n2", "nightly", 2.5, outcomes("c1"))])
    with opened_desk(folder) as desk:
        (case,) = desk.review().cases
    assert (case.origin.heal_id, case.origin.heals, case.origin.from_start) == (None, ("h1", "h2"), True)
    assert "one of 2 heals before it, or none of them" in case.origin.sentence


# ---- certifying


def test_certifying_writes_who_why_on_which_run_and_both_baselines(folder):
    with opened_desk(folder) as desk:
        review = desk.review()
        written = desk.certify(sent(desk, accept=("c1", "c2"), reject=("c3",)), actor=ANA)
        said = written.row.decision
        new = PASSES | {"c1": "fail", "c2": "fail"}
        assert (written.row.seq, written.row.by, written.is_repeat, written.copy.state) == (1, ANA, False, "in step")
        assert (said.version, said.before_version, said.run_id, said.drift, said.reason) == (2, 1, "n4", 0.3, "looked at each")
        assert (said.accepted, said.rejected, said.left) == (["c1", "c2"], ["c3"], [])
        assert (said.baseline, said.first_baseline) == (new, PASSES)
        assert said.before_sha256 == outcomes_digest(dict.fromkeys(ALL, True))
        assert (said.shown_sha256, said.run_sha256) == (review.digest, review.run.record_sha256)
        log = (folder / "suite_runs.jsonl").read_bytes()
        assert said.files["suite_runs.jsonl"].sha256 == sha256(log).hexdigest()
        assert said.files["certified.json"].sha256 == sha256((folder / "certified.json").read_bytes()).hexdigest()
        assert said.safety == ["c0"]
    assert copy_in(folder) == new
    assert verify(folder / "decisions.sqlite").holds


def test_rejected_and_left_cases_keep_their_old_outcome_and_go_on_counting_as_drift(folder):
    assert drift_of(folder) == (0.3, "n4", True)
    certified_once(folder, accept=("c1",), reject=("c2",))
    assert drift_of(folder) == (0.2, "n4", False)  # 2 of 10, at the run that was reviewed
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1", "c2", "c3")))
    assert drift_of(folder) == (0.2, "n5", True)  # a later run reaches the line again


def test_the_same_key_gives_the_first_result_and_writes_nothing(folder):
    with opened_desk(folder) as desk:
        decision = sent(desk, accept=("c1",))
        first = desk.certify(decision, actor=ANA)
        second = desk.certify(decision, actor=BEN)
        assert (second.row, second.is_repeat) == (first.row, True)
    with opened_desk(folder) as desk:
        assert desk.certify(decision, actor=ANA).row == first.row
        assert kinds(desk) == ["certification"]


def test_a_decision_on_an_older_version_is_refused(folder):
    with opened_desk(folder) as desk, opened_desk(folder) as other:
        mine, theirs = sent(desk, accept=("c1",), key="mine"), sent(other, accept=("c2",), key="theirs")
        other.certify(theirs, actor=BEN)
        with pytest.raises(ConflictError, match=r"is version 2 by now, certified by Ben at .*, and version 1 was shown"):
            desk.certify(mine, actor=ANA)
        assert kinds(desk) == ["certification"]


def test_a_decision_after_somebody_elses_rollback_is_refused(folder, tmp_path):
    with opened_desk(folder) as desk:
        mine = sent(desk, accept=("c1",), key="mine")
        desk.roll_back(sent(desk, key="back"), heal_id="h2", place=tmp_path / "back", actor=BEN)
        with pytest.raises(ConflictError, match="is not what was shown"):
            desk.certify(mine, actor=ANA)


REFUSED = {
    "no reason": ({"reason": " "}, "say why in a sentence"),
    "a reason too long": ({"reason": "x" * 2001}, "a reason has 2,001 characters"),
    "no key": ({"key": ""}, "with a key of 1 to 200 characters"),
    "a case that does not differ": ({"accept": ("c1", "c9")}, "c9: not among the cases that differ"),
    "a case both accepted and rejected": ({"accept": ("c1",), "reject": ("c1",)}, "c1: both accepted and rejected"),
    "a reason of its own for no safety case": (
        {"accept": ("c1",), "safety_reasons": {"c1": "why"}},
        "c1: a reason of its own is for a safety",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_decision_that_cannot_be_taken_down_gets_a_sentence(folder, changes, sentence):
    with opened_desk(folder) as desk, pytest.raises(BaselineError, match=sentence):
        desk.certify(sent(desk, **changes), actor=ANA)
    assert not (folder / "decisions.sqlite").exists()


def test_a_safety_case_is_accepted_with_a_reason_of_its_own_only(tmp_path):
    folder = world(tmp_path / "agent", runs=[*RUNS, run("n5", "nightly", 5.5, outcomes("c0", "c1"))])
    with opened_desk(folder) as desk:
        with pytest.raises(BaselineError, match="c0: a safety case is accepted one by one, with a reason of its own"):
            desk.certify(sent(desk, accept=("c0", "c1")), actor=ANA)
        row = desk.certify(sent(desk, accept=("c0", "c1"), safety_reasons={"c0": "the check moved elsewhere"}), actor=ANA).row
    assert (row.decision.safety_reasons, row.decision.baseline["c0"]) == ({"c0": "the check moved elsewhere"}, "fail")


def test_whether_the_person_may_decide_is_asked_at_the_moment_of_writing(folder):
    def expired():
        raise BaselineError("your sign-in has expired")

    with opened_desk(folder) as desk, pytest.raises(BaselineError, match="has expired"):
        desk.certify(sent(desk, accept=("c1",)), actor=ANA, check=expired)
    assert drift_of(folder) == (0.3, "n4", True)


def test_a_newer_run_blocks_only_the_accepted_cases_that_it_contradicts(folder):
    """n5 passes c2 and c3 again; c3 is rejected anyway."""
    with opened_desk(folder) as desk:
        decision = sent(desk, "n4", accept=("c1", "c2"), reject=("c3",))
        add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1")))
        with pytest.raises(ConflictError, match=r"a newer run .n5. has another outcome for 1 accepted case, c2") as caught:
            desk.certify(decision, actor=ANA)
        assert caught.value.cases == ("c2",)
        assert desk.certify(sent(desk, "n4", accept=("c1",), reject=("c3",)), actor=ANA).row.decision.left == ["c2"]


def test_a_new_safety_regression_in_a_newer_run_blocks_the_whole_decision(folder):
    """A sample is enough: it holds all safety cases."""
    with opened_desk(folder) as desk:
        decision = sent(desk, "n4", accept=("c1",))
        add_runs(folder, run("s5", "after", 5.5, {"c0": False, "c1": False}, "h4"))
        with pytest.raises(ConflictError, match=r"s5. shows a new safety regression, c0"):
            desk.certify(decision, actor=ANA)
    assert not (folder / "decisions.sqlite").exists()


def test_an_older_run_than_the_one_certified_is_not_certified_afterwards(folder):
    certified_once(folder)
    with opened_desk(folder) as desk, pytest.raises(BaselineError, match="run a2 is older than n4, on which version 2 was certified"):
        desk.review("a2")


# ---- first baselines, and cases that nobody certified


def test_any_full_run_becomes_version_1_where_there_is_no_baseline(tmp_path):
    folder = world(tmp_path / "agent", certified=None, runs=[*RUNS, run("n5", "nightly", 5.5, outcomes("c1", "c2"))])
    assert drift_of(folder) == (None, None, False)
    with opened_desk(folder) as desk:
        assert (desk.review("a2").version_number, desk.review("a2").cases) == (0, ())
        desk.store.refresh()
    add_runs(folder)
    with opened_desk(folder) as desk:
        row = desk.certify(sent(desk, "a2"), actor=ANA).row
    assert (row.decision.version, row.decision.before_version, row.decision.before_sha256) == (1, 0, None)
    assert copy_in(folder) == PASSES | {"c1": "fail", "c2": "fail"}
    assert drift_of(folder) == (0.0, "n5", False)


def test_a_first_baseline_is_refused_while_a_newer_run_contradicts_it(tmp_path):
    folder = world(tmp_path / "agent", certified=None)
    with opened_desk(folder) as desk, pytest.raises(ConflictError, match="another outcome for 1 accepted case, c3"):
        desk.certify(sent(desk, "a2"), actor=ANA)


def test_a_case_that_the_baseline_does_not_know_is_certified_only_when_it_is_accepted(tmp_path):
    known = {case: "pass" for case in ALL if case not in ("c8", "c9")}
    folder = world(tmp_path / "agent", certified=known)
    with opened_desk(folder) as desk:
        review = desk.review()
        assert [(case.case_id, case.is_new) for case in review.cases] == [
            ("c1", False),
            ("c2", False),
            ("c3", False),
            ("c8", True),
            ("c9", True),
        ]
        assert review.drift == 3 / 8
        row = desk.certify(sent(desk, accept=("c8",)), actor=ANA).row
    assert row.decision.baseline == known | {"c8": "pass"}


# ---- which version is in force when


def test_a_certification_takes_effect_at_its_run_and_recertify_fires_again_when_later_runs_drift(folder):
    """Reviewed at a2: c1 and c2 accepted. At n4 only c3 differs: 1 of 10."""
    with opened_desk(folder) as desk:
        assert desk.status().drift.first_due_run == "a2"
        desk.certify(sent(desk, "a2", accept=("c1", "c2")), actor=ANA)
        status = desk.status()
    assert (status.drift.anchored, status.drift.run, status.drift.due, status.version) == (0.1, "n4", False, 2)
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1", "c2", "c3", "c4")))
    assert drift_of(folder) == (0.2, "n5", True)
    rows = reported(folder)
    assert rows["aftermath"]["baseline_version"] == 2


def test_runs_before_a_certification_keep_the_drift_that_they_had(folder):
    with opened_desk(folder) as desk:
        desk.certify(sent(desk, "n4", accept=("c1", "c2", "c3")), actor=ANA)
        desk.status()
        drifts = dict(desk.scope().query("select run_id, n_differ from drift_rows"))
    assert drifts == {"n0": 0, "n0b": 1, "n0c": 0, "a1": 1, "a2": 2, "n4": 0}


def test_a_run_at_the_very_time_of_the_reviewed_one_counts_by_its_id(folder):
    certified_once(folder, accept=("c1", "c2", "c3"))
    add_runs(folder, run("n3", "nightly", 4.5, outcomes("c1", "c2")), run("n4b", "nightly", 4.5, outcomes("c1")))
    with opened_desk(folder) as desk:
        drift = desk.status().drift
        drifts = dict(desk.scope().query("select run_id, n_differ from drift_rows where ts = $ts", ts=at(4.5)))
    assert drifts == {"n3": 2, "n4": 0, "n4b": 2}
    assert (drift.due, drift.first_due_run) == (True, "n4b")


def test_until_there_is_a_certification_a_report_is_the_same_with_and_without_a_ledger(folder):
    from seam_core.reviews import assign
    from tests.seam_core.workspaces import report_on

    before = report_on(folder / "heal_events.jsonl")
    assert reported(folder) == before
    with opened_desk(folder) as desk:
        assign(desk.ledger, "h1", to="payments", actor=ANA)
    assert reported(folder) == before


def test_a_version_left_out_of_the_ledger_is_refused(folder):
    certified_once(folder)
    with opened_by_force(folder / "decisions.sqlite") as con:
        body = json.loads(con.execute("select body from decisions").fetchone()[0]) | {"version": 3}
        forge(con, 1, body=json.dumps(body, sort_keys=True, separators=(",", ":")))
    found = reported(folder)
    assert (found["aftermath"]["anchored_drift"], found["recertify_due"]) == (0.3, True)  # against version 1, which the row carries
    assert "row 1 certifies version 3 of the baseline after version 1" in found["flags"]
    assert verify(folder / "decisions.sqlite").holds


def test_rows_that_do_not_hold_are_not_believed_and_stop_further_certifying(folder):
    certified_once(folder)
    with opened_by_force(folder / "decisions.sqlite") as con:
        con.execute('update decisions set body = replace(body, \'"c4":"pass"\', \'"c4":"fail"\')')
    with opened_desk(folder) as desk:
        assert "row 1 was changed" in desk.store.versions.fault
        with pytest.raises(BaselineError, match="nothing can be certified: the chain of decisions does not hold: row 1 was changed"):
            desk.review()
    assert drift_of(folder) == (None, None, False)
    assert any("row 1 was changed" in flag for flag in reported(folder)["flags"])


# ---- certified.json beside the ledger


def test_an_older_version_in_certified_json_is_stale_and_repaired(folder):
    certified_once(folder)
    (folder / "certified.json").write_text(json.dumps(PASSES))
    found = reported(folder)
    assert (found["aftermath"]["anchored_drift"], found["recertify_due"]) == (0.0, False)
    assert any("certified.json is stale, it holds version 1: version 2 of the ledger counts" in flag for flag in found["flags"])
    with opened_desk(folder) as desk:
        assert desk.repair().state == "in step"
    assert copy_in(folder) == PASSES | dict.fromkeys(("c1", "c2", "c3"), "fail")


def test_a_missing_copy_is_written_again(folder):
    certified_once(folder)
    (folder / "certified.json").unlink()
    with opened_desk(folder) as desk:
        assert desk.status().copy.state == "missing"
        assert desk.repair().is_fine
    assert drift_of(folder) == (0.0, "n4", False)


def test_whoever_opens_the_workspace_next_finishes_an_interrupted_copy_and_nothing_else(folder):
    """A crash between commit and copy leaves the older version; what nobody certified is no such thing."""
    certified_once(folder)
    ledger = Ledger(folder / "decisions.sqlite")
    for text, after in ((json.dumps(PASSES), "c1"), (json.dumps(PASSES | {"c5": "fail"}), "c5")):
        (folder / "certified.json").write_text(text)
        mend_copy(ledger, folder / "certified.json")
        assert copy_in(folder)[after] == "fail"
    mend_copy(Ledger(folder / "none.sqlite"), folder / "certified.json")
    mend_copy(None, folder / "certified.json")
    assert copy_in(folder) == PASSES | {"c5": "fail"}


@pytest.mark.parametrize(
    "text", [json.dumps(PASSES | {"c5": "fail"}), "{", '{"c0": "pass", "c0": "pass"}'], ids=["other", "no JSON", "twice"]
)
def test_a_hand_edited_copy_is_noticed_not_used_and_kept_when_it_is_replaced(folder, text):
    certified_once(folder)
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1", "c2", "c3", "c5")))
    (folder / "certified.json").write_text(text)
    found = reported(folder)
    assert found["aftermath"]["anchored_drift"] == 0.1
    assert any(flag.startswith("moved goalposts: certified.json holds what nobody certified and is not used") for flag in found["flags"])
    with opened_desk(folder) as desk:
        assert desk.repair().state == "moved"
        assert (folder / "certified.json").read_text() == text
        assert desk.repair(replace_moved=True).state == "in step"
    aside = folder / f"certified.moved-{sha256(text.encode()).hexdigest()[:12]}.json"
    assert aside.read_text() == text


def test_layout_and_order_of_the_copy_do_not_matter(folder):
    certified_once(folder)
    (folder / "certified.json").write_text(json.dumps(dict(reversed(copy_in(folder).items())), indent=4))
    with opened_desk(folder) as desk:
        assert desk.status().copy.is_fine


def test_a_certification_counts_although_its_copy_could_not_be_written(folder, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("seam_core.baseline.copies.write_whole", full)
    with opened_desk(folder) as desk:
        written = desk.certify(sent(desk, accept=("c1", "c2", "c3")), actor=ANA)
    assert written.copy.state == "stale"
    assert "cannot be written (No space left on device); `baseline repair` tries again" in written.copy.fault
    assert copy_in(folder) == PASSES
    monkeypatch.undo()
    assert drift_of(folder) == (0.0, "n4", False)


CERTIFY_AS_NOBODY = (
    """
import contextlib, io, sys
from seam_core.__main__ import main
with contextlib.redirect_stdout(io.StringIO()):  # what is imported late may not be readable afterwards
    main(["baseline", "status", "--workspace", sys.argv[1]])
"""
    + AS_NOBODY
    + """
sys.exit(main(["baseline", "certify", "--workspace", sys.argv[1], "--run", "n4", "--digest", sys.argv[2], "--accept-all", "--reason", "r"]))
"""
)


def test_a_folder_that_may_not_be_written_is_said_in_one_sentence(folder):
    with opened_desk(folder) as desk:
        digest = desk.review().digest
    open_to_all(folder)
    before = files_in(folder)
    folder.chmod(0o555)
    ran = in_child(CERTIFY_AS_NOBODY, folder, digest)
    folder.chmod(0o755)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1)
    assert "may not be written" in ran.stderr
    assert files_in(folder) == before


def test_a_full_disk_is_said_and_nothing_is_certified(folder, monkeypatch):
    from seam_core.ledger import file

    connect = file._connect

    def on_a_full_disk(path, mode):
        con = connect(path, mode)
        if mode != "ro":
            con.execute("pragma max_page_count = 2")
        return con

    monkeypatch.setattr(file, "_connect", on_a_full_disk)
    with opened_desk(folder) as desk, pytest.raises(LedgerError, match="the disk is full; nothing was written"):
        desk.certify(sent(desk, accept=("c1",)), actor=ANA)
    monkeypatch.undo()
    assert drift_of(folder) == (0.3, "n4", True)


def test_a_clock_that_was_set_back_loses_nothing_and_says_so(folder):
    clock = Clock()
    certified_once(folder, accept=("c1",))
    clock.put(NOON.replace(year=2025))
    with opened_desk(folder, clock=clock) as desk:
        row = desk.certify(sent(desk, accept=("c2",), key="k2"), actor=ANA).row
    assert "the clock said 2025-06-01T12:00:00.000000Z" in row.note
    assert (row.decision.version, verify(folder / "decisions.sqlite").holds) == (3, True)


# ---- rolling back


def test_rolling_back_writes_each_changed_target_as_it_was_and_what_cannot_be_restored(tmp_path):
    """Back to h2. t1 was last written by h1, t0 by h2; t2 is new with h5, and t3 was changed by h0 without a text."""
    heals = [heal("0", 0.1, target="t3"), *HEALS, heal(5, target="t2", text="new"), heal(6, target="t3", text="six")]
    folder = world(tmp_path / "agent", heals=heals)
    with opened_desk(folder) as desk:
        place = tmp_path / "back"
        written = desk.roll_back(sent(desk), heal_id="h2", place=place, actor=ANA)
        said = written.row.decision
        assert (written.row.kind, said.heal_id, said.version, said.drift) == ("rollback", "h2", 1, 0.3)
        manifest = json.loads((place / "manifest.json").read_text())
        texts = {one["target"]: (place / one["file"]).read_text() for one in manifest["restored"]}
        assert texts == {"t0": "text 2", "t1": "text 1"}
        assert [one["sha256"] for one in manifest["restored"]] == [sha256(text.encode()).hexdigest() for text in ("text 2", "text 1")]
        assert [one["target"] for one in manifest["not_restored"]] == ["t2", "t3"]
        assert said.bundle_sha256 == sha256((place / "manifest.json").read_bytes()).hexdigest()
        assert (desk.status().version, desk.status().drift.due) == (1, False)  # a person looked; the baseline stays
    assert copy_in(folder) == PASSES
    add_runs(folder, run("n7", "nightly", 7.5, outcomes("c1", "c2")))
    assert drift_of(folder) == (0.2, "n7", True)


def test_a_text_that_the_boundary_gate_stopped_is_never_restored(tmp_path):
    rules = [{"id": "p", "kind": "safety_instruction", "target": "t0", "text": "text 4"}]
    folder = world(tmp_path / "agent", protected=rules)
    with opened_desk(folder) as desk:
        with pytest.raises(BaselineError, match="h2 was stopped by the boundary gate and never took effect"):
            desk.roll_back(sent(desk), heal_id="h2", place=tmp_path / "back", actor=ANA)
        desk.roll_back(sent(desk), heal_id="h1", place=tmp_path / "back", actor=ANA)
    manifest = json.loads((tmp_path / "back" / "manifest.json").read_text())
    assert [one["target"] for one in manifest["not_restored"]] == ["t0"]


def test_a_rollback_that_is_refused_leaves_no_folder(folder, tmp_path):
    with opened_desk(folder) as desk:

        def expired():
            raise BaselineError("your sign-in has expired")

        for changes in ({"heal_id": "h9"}, {"check": expired}):
            options = {"heal_id": "h2", "place": tmp_path / "back" / "one", "actor": ANA} | changes
            with pytest.raises(BaselineError):
                desk.roll_back(sent(desk), **options)
        assert not (tmp_path / "back" / "one").exists()


def test_targets_with_odd_names_stay_inside_the_folder(tmp_path):
    heals = [heal(1, target="../../etc/passwd", text="a"), heal(2, target="..", text="b"), heal(3, target="../../etc/passwd", text="c")]
    folder = world(tmp_path / "agent", heals=[*heals, heal(4, target="..", text="d")])
    with opened_desk(folder) as desk:
        desk.roll_back(sent(desk), heal_id="h2", place=tmp_path / "back", actor=ANA)
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["001-target.txt", "002-etc-passwd.txt", "manifest.json"]


# ---- planted truth


def with_full_runs(monkeypatch):
    """Make every heal of the simulator run the whole surface; case → the heal that last took it off the baseline for good."""
    truth = {}
    heal_once = play._Player._heal

    def heal_with_full_run(self, loop, heal, **times):
        heal.run = "full"
        before = dict(self.surface.passes)
        heal_once(self, loop, heal, **times)
        truth.update({case: heal.heal_id for case in heal.breaks if heal.lasting and before[case]})

    monkeypatch.setattr(play._Player, "_heal", heal_with_full_run)
    return truth


def test_blame_names_the_planted_heal_in_95_of_100_cases(tmp_path, monkeypatch):
    right = total = 0
    for seed in range(6):
        truth = with_full_runs(monkeypatch)
        write_workspace(tmp_path / str(seed), seed=seed, weeks=6, heals=150)
        monkeypatch.undo()
        with opened_desk(tmp_path / str(seed)) as desk:
            blamed = {case.case_id: case.origin.heal_id for case in desk.review().cases}
        found = [blamed[case] == heal_id for case, heal_id in truth.items() if case in blamed]
        right, total = right + sum(found), total + len(found)
    assert total >= 40
    assert right / total >= 0.95


# ---- processes that certify at once, and processes that are killed

CERTIFY_AT_ONCE = """
import sys, threading
from pathlib import Path
sys.path.insert(0, ".")
from seam_core.baseline.desk import Submission
from seam_core.baseline.copies import mend_copy
from seam_core.baseline.faults import ConflictError
from seam_core.ledger import Local
from tests.seam_core.baselines import opened_desk

folder, name, digest = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with opened_desk(folder) as desk:
    desk.review()
    print("ready", flush=True)
    sys.stdin.readline()
    said = []

    def certify(thread):
        sent = Submission("n4", digest, 1, "at once", f"{name}.{thread}", frozenset({"c1", "c2"}))
        try:
            desk.certify(sent, actor=Local(f"{name}.{thread}"))
            said.append("certified")
        except ConflictError:
            said.append("conflict")

    threads = [threading.Thread(target=certify, args=(thread,)) for thread in range(25)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(said.count("certified"), said.count("conflict"), flush=True)
"""


def test_two_processes_of_25_threads_certify_once_and_every_other_is_a_conflict(folder):
    import subprocess
    import sys

    from tests.seam_core.ledgers import ROOT

    with opened_desk(folder) as desk:
        digest = desk.review().digest
    command = [sys.executable, "-c", CERTIFY_AT_ONCE, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    writers = [subprocess.Popen([*command, name, digest], **pipes) for name in "ab"]
    assert [writer.stdout.readline().strip() for writer in writers] == ["ready", "ready"]
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    counts = [[int(number) for number in writer.communicate(timeout=120)[0].split()] for writer in writers]
    assert [sum(column) for column in zip(*counts, strict=True)] == [1, 49]
    with opened_desk(folder) as desk:
        assert kinds(desk) == ["certification"]
        assert desk.status().copy.state == "in step"


CERTIFY_ON_AND_ON = """
import sys
from pathlib import Path
sys.path.insert(0, ".")
from tests.seam_core.baselines import opened_desk, sent
from tests.seam_core.ledgers import ANA
from datetime import UTC, datetime

with opened_desk(Path(sys.argv[1]), clock=lambda: datetime.now(UTC)) as desk:
    number = len(desk.store.versions.decisions)
    print("ready", flush=True)
    while True:
        number += 1
        cases = [case.case_id for case in desk.review("n5").cases]
        print(desk.certify(sent(desk, "n5", accept=cases[:1], key=f"{number}"), actor=ANA).row.sha256, flush=True)
"""


def kill_at_random(folder, times, seed):
    """Kill somebody who certifies `times` times: what was acknowledged is there, and after a repair both records agree."""
    moments = random.Random(seed)
    results = {f"c{number}": number % 2 == 0 for number in range(1_000)}
    run_of_all = run("n5", "nightly", 5.5, results)
    write(folder, heal_events=HEALS, suite_runs=[run_of_all], surface=cases(1_000), certified={"c0": "pass"})
    acknowledged = []
    for _ in range(times):
        writer = started(CERTIFY_ON_AND_ON, folder)
        assert writer.stdout.readline().strip() == "ready"
        seen = "".join(writer.stdout.readline() for _ in range(moments.randrange(3)))  # so many are through, however busy the machine is
        time.sleep(moments.random() * 0.2)
        writer.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in (seen + writer.stdout.read()).splitlines() if len(line.strip()) == 64]
        writer.wait()
        with opened_desk(folder) as desk:
            assert desk.status().copy.state in ("in step", "stale", "the only record")
            assert desk.repair().state in ("in step", "the only record")
            assert set(acknowledged) <= {row.sha256 for row in desk.ledger.rows()}
            newest = desk.store.versions.newest
            assert newest is None or copy_in(folder) == {case: "pass" if passed else "fail" for case, passed in newest.outcomes.items()}
        found = verify(folder / "decisions.sqlite")
        assert found.holds
    assert found.chain.rows >= len(acknowledged)
    return found.chain.rows


def test_somebody_killed_while_certifying_leaves_ledger_and_copy_in_agreement(tmp_path):
    assert kill_at_random(tmp_path / "agent", 20, seed=1) >= 10


@pytest.mark.soak
def test_somebody_killed_two_hundred_times_while_certifying_leaves_both_in_agreement(tmp_path):
    assert kill_at_random(tmp_path / "agent", 200, seed=2) >= 100


def test_a_decision_does_not_cover_up_that_a_log_was_edited_since_the_one_before(folder, tmp_path):
    """Each decision notes the logs' digests: taken after an edit it would make the edit the new normal."""
    certified_once(folder)
    log = folder / "suite_runs.jsonl"
    before = log.read_text()
    log.write_text(before.replace('"c9": "pass"', '"c9": "fail"', 1))
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1", "c2", "c4")))
    with opened_desk(folder) as desk:
        for decide in (desk.certify, lambda sent, actor: desk.roll_back(sent, heal_id="h2", place=tmp_path / "back", actor=actor)):
            with pytest.raises(BaselineError, match=r"since the checkpoint of row 1: suite_runs.jsonl does not begin with the same bytes"):
                decide(sent(desk, key="k2"), actor=ANA)
        assert kinds(desk) == ["certification"]
        desk.ledger.write(digest_files(desk.store.workspace), actor=ANA)  # somebody looked, and says so by name
        assert desk.certify(sent(desk, accept=("c4",), key="k3"), actor=ANA).row.decision.version == 3
