"""What there is to decide about a run, group by group, and what a draft of choices would write."""

import pytest

from seam_core.baseline.drafts import Draft
from seam_core.views import baseline_agenda, baseline_rows
from seam_core.views.baseline_agenda import Tally, Wanted
from tests.seam_core.baselines import ALL, RUNS, SURFACE, opened_desk, outcomes, sent, world
from tests.seam_core.ledgers import ANA
from tests.seam_core.workspaces import run

# After h3 and h4 the safety case c0 fails, too, and c3 with it.
BROKEN = [*RUNS[:-1], run("n4", "nightly", 4.5, outcomes("c0", "c1", "c2", "c3"))]


@pytest.fixture
def desk(tmp_path):
    surface = [case | {"component": "a" if case["id"] < "c2" else "b", "text": f"Question {case['id']}?"} for case in SURFACE]
    with opened_desk(world(tmp_path / "agent", runs=BROKEN, surface=surface)) as found:
        yield found


@pytest.fixture
def found(desk):
    return baseline_agenda.agenda(desk, None)


def ids(some):
    return [case.case_id for case in some]


def test_cases_stand_under_the_heals_that_changed_them_newest_first(found):
    assert [(group.heals, sorted(group.case_ids), sorted(group.plain)) for group in found.groups] == [
        (("h3", "h4"), ["c0", "c3"], ["c3"]),
        (("h2",), ["c2"], ["c2"]),
        (("h1",), ["c1"], ["c1"]),
    ]
    assert [found.group(group.key) for group in found.groups] == list(found.groups)
    assert found.group("nonsense") is None
    assert [baseline_rows.since(found, found.cases[case]) for case in ("c0", "c1")] == ["one of 2 heals", "h1"]


def test_a_choice_replaces_the_one_before_and_touches_no_other_case():
    draft = baseline_agenda.choose(Draft(accepted=frozenset({"c1"})), ("c2", "c3"), "accepted")
    draft = baseline_agenda.choose(draft, ("c3",), "rejected")
    assert [baseline_agenda.choice_of(draft, case) for case in ("c1", "c2", "c3", "c4")] == ["accepted", "accepted", "rejected", "left"]
    assert baseline_agenda.tally(frozenset({"c1", "c3", "c4"}), draft) == Tally(1, 1, 1)
    assert baseline_agenda.choose(draft, ("c1", "c2", "c3"), "left") == Draft()


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (Wanted(), ["c1", "c2", "c3"]),
        (Wanted(text="QUESTION C2"), ["c2"]),
        (Wanted(component="b"), ["c2", "c3"]),
        (Wanted(is_open=True), ["c2", "c3"]),
        (Wanted(is_worse=True), ["c1", "c2", "c3"]),
        (Wanted(text="nothing"), []),
    ],
)
def test_filters_narrow_what_is_seen(found, wanted, shown):
    draft = Draft(accepted=frozenset({"c1"}))
    assert ids(baseline_agenda.listing(found, draft, wanted)) == shown


def test_safety_cases_are_in_no_list_but_their_own(found):
    group = found.groups[0]
    assert ids(baseline_agenda.listing(found, Draft(), Wanted(), group=group)) == ["c3"]
    assert ids(baseline_agenda.listing(found, Draft(), Wanted(), safety=True)) == ["c0"]


def test_the_next_case_left_is_of_the_same_kind_and_comes_round_again(found):
    draft = Draft(accepted=frozenset({"c2"}))
    following = {case: baseline_agenda.next_open(found, draft, found.cases[case]) for case in ("c0", "c1", "c2", "c3")}
    assert following == {"c0": None, "c1": "c3", "c2": "c3", "c3": "c1"}


def test_what_will_be_written_is_counted_and_says_the_drift_before_and_after(found):
    """Four of ten differ. Two accepted leave two of ten, which is the line of 0.20 itself; a third leaves one."""
    draft = Draft(accepted=frozenset({"c1", "c2"}), rejected=frozenset({"c3"}), reason="looked")
    outlook = baseline_agenda.outlook(found, draft, line=0.2)
    assert (outlook.version, outlook.tally, outlook.faults) == (2, Tally(2, 1, 1), ())
    assert outlook.sentences == (
        "Version 2 of the baseline, on run n4: of 4 cases that differ, 2 accepted, 1 rejected and 1 left for later.",
        "Drift of this run: from 4 of 10 (40 %) to 2 of 10 (20 %); that is at or over the line, so the next full run like it will be due"
        " again.",
    )
    outlook = baseline_agenda.outlook(found, baseline_agenda.choose(draft, ("c3",), "accepted"), line=0.2)
    assert outlook.sentences[1] == "Drift of this run: from 4 of 10 (40 %) to 1 of 10 (10 %)."


def test_a_safety_case_needs_a_reason_of_its_own_and_the_whole_needs_one(found):
    draft = baseline_agenda.choose(Draft(), ("c0",), "accepted")
    assert baseline_agenda.outlook(found, draft, line=0.2).faults == (
        "c0: a safety case is accepted with a reason of its own.",
        "Say why in a sentence.",
    )
    draft = baseline_agenda.accept_safety(Draft(reason="looked"), "c0", "the rule was withdrawn")
    outlook = baseline_agenda.outlook(found, draft, line=0.2)
    assert outlook.faults == ()
    assert [(case.case_id, reason) for case, reason in outlook.safety] == [("c0", "the rule was withdrawn")]


def test_a_draft_becomes_exactly_the_decision_that_the_desk_takes(desk, found):
    """Ids that do not differ any more, and a reason for a safety case that is not accepted, stay behind."""
    draft = Draft(accepted=frozenset({"c1", "c9"}), rejected=frozenset({"c2", "gone"}), safety_reasons={"c0": "not yet"}, reason="looked")
    said = desk.certify(baseline_agenda.submission(found, draft, key="k"), actor=ANA).row.decision
    assert (said.accepted, said.rejected, said.left, said.safety_reasons, said.reason) == (["c1"], ["c2"], ["c0", "c3"], {}, "looked")


def test_choices_go_along_to_a_newer_run_where_the_outcomes_are_the_same_and_no_safety_case_does(tmp_path):
    later = run("n5", "nightly", 5.5, outcomes("c0", "c1", "c3"))
    with opened_desk(world(tmp_path / "agent", runs=[*BROKEN, later])) as desk:
        old, new = baseline_agenda.agenda(desk, "n4"), baseline_agenda.agenda(desk, "n5")
    draft = Draft(accepted=frozenset({"c0", "c1", "c2"}), rejected=frozenset({"c3"}), safety_reasons={"c0": "why"}, reason="looked")
    taken = baseline_agenda.carried(draft, old, new)
    assert taken == Draft(accepted=frozenset({"c1"}), rejected=frozenset({"c3"}), reason="looked")


def test_a_first_baseline_takes_the_whole_run_and_shows_what_fails_first(tmp_path):
    folder = world(tmp_path / "agent", runs=BROKEN)
    (folder / "certified.json").unlink()
    with opened_desk(folder) as desk:
        found = baseline_agenda.agenda(desk, None)
        rows = baseline_rows.first_rows(desk, "n4")
        assert desk.certify(sent(desk), actor=ANA).row.decision.version == 1
    assert baseline_agenda.outlook(found, Draft(), line=0.2).sentences == (
        "Version 1 of the baseline: all 10 cases as run n4 has them (6 pass, 4 fail).",
    )
    assert [(row["case_id"], row["safety"]) for row in rows] == [("c0", "safety"), *((case, "") for case in ALL[1:])]
    assert [row["now"] for row in rows] == ["fail"] * 4 + ["pass"] * 6


def test_a_case_that_the_baseline_does_not_know_counts_as_drift_only_once_it_is_in_it(tmp_path):
    """c9 is not certified: of nine known cases three differ. With c9 accepted there are ten, of which three differ."""
    certified = {case: "pass" for case in ALL if case != "c9"}
    with opened_desk(world(tmp_path / "agent", certified=certified)) as desk:
        found = baseline_agenda.agenda(desk, None)
    outlook = baseline_agenda.outlook(found, Draft(accepted=frozenset({"c9"}), reason="new"), line=0.5)
    assert outlook.sentences[1] == "Drift of this run: from 3 of 9 (33 %) to 3 of 10 (30 %)."
    assert baseline_rows.since(found, found.cases["c9"]) == "new"
