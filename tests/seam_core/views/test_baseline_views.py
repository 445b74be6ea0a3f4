"""Around a review: which runs there are, what newer ones say, why this baseline, what was decided, both sides of a case, going back."""

import json
from datetime import date

import pytest

from seam_core.baseline.faults import BaselineError
from seam_core.views import baseline_history, baseline_in_force, baseline_rollback, baseline_runs, case_sides
from seam_core.views.baseline_history import NoSuchVersionError
from seam_core.views.case_drift import drift_series
from tests.seam_core.baselines import HEALS, RUNS, add_runs, certified_once, opened_desk, outcomes, sent, world
from tests.seam_core.ledgers import ANA, BEN
from tests.seam_core.workspaces import audited as audited_log
from tests.seam_core.workspaces import heal, run


@pytest.fixture
def folder(tmp_path):
    return world(tmp_path / "agent")


def asked(folder, function, *args, **options):
    """What a view says of all of history, with the ledger's baselines."""
    from seam_core.report import audit, window_of
    from seam_core.settings import resolve

    with opened_desk(folder) as desk:
        found = audit(desk.store, window_of(desk.store, span="all"), resolve(None))
        return function(found, *args, **options)


def test_full_runs_are_offered_newest_first_with_their_drift_and_none_from_before_the_baseline(folder):
    offered = asked(folder, baseline_runs.full_runs)
    assert [(one.run_id, one.drift) for one in offered] == [
        ("n4", 0.3), ("a2", 0.2), ("a1", 0.1), ("n0c", 0.0), ("n0b", 0.1), ("n0", 0.0)
    ]  # fmt: skip
    certified_once(folder)
    assert [one.run_id for one in asked(folder, baseline_runs.full_runs)] == ["n4"]


MISSING = {
    "surface.jsonl": "there is no surface.jsonl",
    "suite_runs.jsonl": "suite_runs.jsonl holds no run of the surface",
    None: "no run of phase after or nightly in suite_runs.jsonl holds all 10 cases of surface.jsonl",
}


@pytest.mark.parametrize(("gone", "sentence"), MISSING.items())
def test_what_is_missing_is_named_by_its_file(folder, gone, sentence):
    assert asked(folder, baseline_runs.missing) is None
    if gone:
        (folder / gone).unlink()
    else:
        world(folder, runs=[run("s", "nightly", 1, {"c1": True})])
    assert sentence in asked(folder, baseline_runs.missing)


def test_a_newer_run_is_announced_with_the_accepted_cases_that_it_contradicts(folder):
    """n5 has c1 passing again and c0, a safety case, failing."""
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c0", "c2", "c3")))
    with opened_desk(folder) as desk:
        found = baseline_runs.against(desk, "n4")
        assert baseline_runs.against(desk, "n5").n_runs == 0
    assert (found.moved, found.regressed, found.n_runs, found.n_full) == ({"c0": "n5", "c1": "n5"}, {"c0": "n5"}, 1, 1)
    said = baseline_runs.newer_sentences(found, frozenset({"c1", "c2"}), is_first=False)
    assert said[0] == "1 newer run arrived, 1 of the whole surface; the newest is n5."
    assert said[1].startswith("New safety regression in n5: c0.")
    assert said[2] == "Another outcome there for 1 of the cases that you accepted: c1."


def test_a_newer_run_that_contradicts_nothing_says_so_once_something_is_accepted(folder):
    add_runs(folder, run("s5", "after", 5.5, {"c2": False}, "h4"))
    with opened_desk(folder) as desk:
        found = baseline_runs.against(desk, "n4")
    assert baseline_runs.newer_sentences(found, frozenset(), is_first=False) == [
        "1 newer run arrived, none of the whole surface; the newest is s5."
    ]
    assert baseline_runs.newer_sentences(found, frozenset({"c2"}), is_first=False)[1:] == [
        "Nothing that you accepted has another outcome there."
    ]


def test_a_baseline_that_nobody_certified_says_so_and_one_that_somebody_did_says_all_of_it(folder):
    found = asked(folder, baseline_in_force.in_force, date(2026, 6, 10))
    assert found.sentences[0].startswith("Version 1 is certified.json as it was found: 10 cases (10 pass, 100 %). Nobody certified it here")
    assert found.sentences[1] == "In the log: 4 heals that took effect, and 6 full runs of the surface."
    certified_once(folder, reason="we meant it")
    add_runs(folder, run("n5", "nightly", 5.5, outcomes("c1")))
    found = asked(folder, baseline_in_force.in_force, date(2026, 6, 10))
    assert found.reason == "we meant it"
    assert found.sentences == (
        "Version 2: 10 cases (7 pass, 70 %), certified by ana (user of this machine) at 2026-06-01 12:00 UTC (9 days ago) on run n4 of"
        " 2026-06-06 00:00 UTC, when the drift was 30.0 %.",
        "3 accepted, 0 rejected, 0 left for later.",
        "Since that run: 0 heals that took effect, and 1 full run of the surface.",
    )
    assert asked(folder, baseline_in_force.decided_on, "n4").said.version == 2
    assert asked(folder, baseline_in_force.decided_on, "n5") is None


def test_a_certification_is_a_flag_in_the_drift_at_the_run_that_it_reviewed(folder):
    assert asked(folder, drift_series).certifications == ()
    certified_once(folder)
    (flag,) = asked(folder, drift_series).certifications
    assert (flag.label, flag.ts.isoformat()) == ("version 2", "2026-06-06T00:00:00+00:00")


def test_two_versions_differ_in_the_cases_that_were_accepted(folder):
    certified_once(folder, accept=("c1", "c3"))
    with opened_desk(folder) as desk:
        assert baseline_history.numbers(desk) == (1, 2)
        found = baseline_history.between(desk, 1, 2)
        assert [(case.case_id, case.before, case.after) for case in found] == [("c1", True, False), ("c3", True, False)]
        assert [(case.case_id, case.before) for case in baseline_history.between(desk, 2, 1)] == [("c1", False), ("c3", False)]
        assert baseline_history.between(desk, 2, 2) == ()
        with pytest.raises(NoSuchVersionError, match="There is no version 7 of the baseline"):
            baseline_history.between(desk, 2, 7)


def test_the_history_lists_decisions_proposals_and_vetoes_newest_first(folder, tmp_path):
    with opened_desk(folder, approvals_required=2) as desk:
        desk.certify(sent(desk, accept=("c1",), reject=("c2",), key="k1"), actor=ANA)
        desk.veto(1, reason="no", key="k2", actor=BEN)
        desk.roll_back(sent(desk, key="k3", reason="back"), heal_id="h2", place=tmp_path / "b", actor=ANA)
        found = baseline_history.lines(desk)
    assert [(line.seq, line.what, line.why, line.run_id, line.n_accepted, line.n_left) for line in found] == [
        (3, "proposed to roll back to h2", "back", "n4", None, None),
        (2, "proposal in row 1 vetoed", "no", None, None, None),
        (1, "version 2 proposed", "looked at each", "n4", 1, 1),
    ]
    assert found[1].who == "Ben (u-17 at https://login.example)"


def test_going_back_names_what_it_restores_and_what_the_log_does_not_hold(tmp_path):
    """h3 wrote t1 last after h1; t0 was first written by h2, after the heal to go back to."""
    with opened_desk(world(tmp_path / "agent")) as desk:
        assert [one.heal_id for one in baseline_rollback.stops(desk)] == ["h4", "h3", "h2", "h1"]
        plan = baseline_rollback.plan(desk, "h1", "n4")
        assert ([one.target for one in plan.restored], [one.target for one in plan.lost]) == (["t1"], ["t0"])
        assert plan.sentence == "1 target would go back to the text after h1; 1 target cannot, since the log does not hold the text."
        assert baseline_rollback.plan(desk, "h4", "n4").sentence == "No heal after h4 changed a target: there is nothing to restore."
        with pytest.raises(BaselineError, match="there is no heal nope"):
            baseline_rollback.plan(desk, "nope", "n4")


def test_a_case_is_shown_as_it_last_was_when_it_was_as_certified_and_as_the_run_has_it(tmp_path):
    """c2 failed from a2 on: before that, a1 is the last that passes. Certified as failing on n4, it is n4 that shows it."""
    with_output = [one | {"evidence": {"c2": f"said in {one['run_id']}"}} for one in RUNS]
    log = world(tmp_path / "agent", runs=with_output, heals=[*HEALS, heal(5)]) / "heal_events.jsonl"
    with audited_log(log) as found:
        both = case_sides.sides(found, "c2", run_id="n4", certified=True, certified_on=None, origin="a2")
        assert (both.then.seen.run_id, both.then.output.text) == ("a1", "said in a1")
        assert (both.now.seen.run_id, both.now.output.text) == ("n4", "said in n4")
        certified = case_sides.sides(found, "c2", run_id="n4", certified=False, certified_on="a2", origin=None)
        assert certified.then.seen.run_id == "a2"
        none = case_sides.sides(found, "c2", run_id="n4", certified=None, certified_on=None, origin=None)
        assert none.then is None
    assert json.loads((tmp_path / "agent" / "certified.json").read_text())["c2"] == "pass"


@pytest.mark.parametrize(("also", "shown"), [(("c2",), "n3"), ((), "a2")])
def test_a_run_without_an_output_shows_the_newest_one_since_the_change_that_has_the_same_outcome(tmp_path, also, shown):
    """c2 fails from a2 on. n4 logs no output; n3 does, and counts only where c2 fails in it as well."""
    said = {"a1": "before", "a2": "changed", "n3": "later"}
    runs = [*RUNS[:-1], run("n3", "nightly", 3.5, outcomes("c1", *also)), RUNS[-1]]
    runs = [one | ({"evidence": {"c2": said[one["run_id"]]}} if one["run_id"] in said else {}) for one in runs]
    log = world(tmp_path / "agent", runs=runs) / "heal_events.jsonl"
    with audited_log(log) as found:
        both = case_sides.sides(found, "c2", run_id="n4", certified=True, certified_on=None, origin="a2")
    assert both.now.output.kind == "none"
    assert (both.again.seen.run_id, both.again.output.text) == (shown, said[shown])
