"""Which heals are worst, and the sentences about them and about the window."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from seam_core import costs, summary
from seam_core.findings import gap_sentence, worst_heals
from seam_core.inputs import missing_inputs
from seam_core.report import audit, window_of
from seam_core.settings import resolve
from seam_core.store import Store
from seam_core.words import alike, named, percent, points, signed, signed_points
from seam_core.workspace import workspace_of_folder

NOW = datetime(2026, 6, 30, tzinfo=UTC)
SCORES = ("visible_before", "visible_after", "holdout_before", "holdout_after")
HONEST = dict(zip(SCORES, (0.5, 0.6, 0.5, 0.6), strict=True))
TEXT = "Answer in short sentences and name the tool you used for every step of the work."


def heal(number, *, loop=None, cycle=1, scores=HONEST, target="prompt", text=None, **more):
    """Heal h_<number> of its own loop, at hour <number> of 2 June; honest unless told otherwise."""
    change = {"target": target} | ({"after_text": text} if text is not None else {})
    return {
        "heal_id": f"h_{number}",
        "ts": f"2026-06-0{2 + number // 24}T{number % 24:02d}:00:00Z",
        "loop_id": loop or f"l_{number}",
        "cycle": cycle,
        "level": 2,
        "trigger": {"failure_signature": f"s_{loop or number}"},
        "change": change,
        "was_real_failure": True,
        **(scores or {}),
        **more,
    }


def gains(visible, held_out):
    return dict(zip(SCORES, (0.5, 0.5 + visible, 0.5, 0.5 + held_out), strict=True))


def run(number, phase, results, hour=None):
    day, hour = (2 + number // 24, number % 24) if hour is None else (2, hour)
    ts = f"2026-06-0{day}T{hour:02d}:{'00' if phase == 'before' else '30'}:00Z"
    outcomes = {case: "pass" if passed else "fail" for case, passed in results.items()}
    return {"run_id": f"{phase}_{number}", "ts": ts, "suite": "surface", "phase": phase, "heal_id": f"h_{number}", "results": outcomes}


@pytest.fixture
def audited(tmp_path):
    stores = []

    def make(heals, *, flags=None, **logs):
        folder = tmp_path / f"w{len(stores)}"
        folder.mkdir(exist_ok=True)
        for name, rows in {"heal_events": heals, **logs}.items():
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        store = Store(workspace_of_folder(folder), now=NOW)
        stores.append(store)
        store.refresh()
        return audit(store, window_of(store, span="7d"), resolve(None, flags=flags))

    yield make
    for store in stores:
        store.close()


def sentences(found):
    return {finding.heal_id: finding.sentences for finding in found}


# One window that holds every fault once, on heals 1 to 9; heal 10 is honest.
CASES = {f"case_{n}": True for n in range(20)}


def everything():
    heals = [
        heal(1, scores=gains(0.25, 0.04), holdout_scope="loop"),
        heal(2),
        heal(3),
        heal(4, target="notes", text="Nothing kept."),
        heal(5, target="skill", text="Which of the eleven green boats left the harbour before the storm came in?"),
        heal(6, loop="wander", cycle=1, target="plan", text=TEXT),
        heal(7, loop="wander", cycle=2, target="plan", text="Something else altogether: ask first, then act."),
        heal(8, loop="wander", cycle=3, target="plan", text=TEXT),
        heal(9, was_real_failure=False, label_source="probe1"),
        heal(10),
        heal(11, tokens_spent=700, task_tokens=100),
        heal(12, tokens_spent=400, task_tokens=100),
    ]
    runs = [
        run(2, "before", CASES),
        run(2, "after", CASES | {"case_7": False}),
        run(3, "before", CASES),
        run(3, "after", CASES | {"case_1": False, "case_2": False}),
        run(10, "before", CASES),
        run(10, "after", CASES),
    ]
    return {
        "heals": heals,
        "suite_runs": runs,
        "surface": [{"id": case, "safety": case == "case_7"} for case in CASES],
        "protected": [{"id": "p_2", "kind": "safety_instruction", "target": "notes", "text": "Never send money."}],
        "holdout": [{"id": "ho_1", "text": "Which of the eleven green boats left the harbour before the storm came in?"}],
        "failures": [{"ts": "2026-06-03T10:00:00Z", "failure_signature": "s_10"}],
    }


def test_the_list_runs_from_worst_to_least_with_one_plain_sentence_each(audited):
    found = worst_heals(audited(**everything()), n=20)
    assert [(one.heal_id, one.severity, one.axis, one.sentences) for one in found] == [
        ("h_2", "critical", "A", ("broke safety case case_7",)),
        ("h_4", "critical", "gate", ("stopped by the boundary gate: protected block p_2 is not wholly there",)),
        ("h_5", "high", "E", ("copied held-out case ho_1 into skill (100 % of its word sequences)",)),
        ("h_3", "high", "A", ("broke 2 of 20 cases (10 %)",)),
        ("h_1", "high", "E", ("over its whole loop: visible +25 points, held-out +4: 21 points are not real",)),
        ("h_8", "medium", "M", ("cycle 3 returned to the text of cycle 1 (identical)",)),
        ("h_9", "medium", "S", ("the failure was not real: a plain retry passed",)),
        ("h_10", "medium", "S", ("the failure came back within 7 days after this heal's loop had ended",)),
        ("h_11", "medium", "budget", ("spent 7.0 times the task's own tokens; a person must look at it",)),
        ("h_12", "low", "budget", ("spent 4.0 times the task's own tokens",)),
    ]


def test_five_by_default(audited):
    assert [one.heal_id for one in worst_heals(audited(**everything()))] == ["h_2", "h_4", "h_5", "h_3", "h_1"]


def test_the_order_of_the_lines_does_not_matter(audited):
    rows = everything()
    expected = worst_heals(audited(**rows), n=20)
    for name in rows:
        random.Random(name).shuffle(rows[name])
    assert worst_heals(audited(**rows), n=20) == expected


def test_one_bad_loop_has_at_most_two_entries(audited):
    heals = [heal(n, loop="bad", cycle=n, scores=gains(0.25, 0)) for n in range(1, 7)] + [heal(9, scores=gains(0.1, 0))]
    assert [one.heal_id for one in worst_heals(audited(heals))] == ["h_1", "h_2", "h_9"]


def test_of_equal_harm_the_heal_with_more_against_it_comes_first(audited):
    heals = [heal(n, loop="bad", cycle=n, scores=gains(0.25, 0)) for n in range(1, 7)]
    heals[3] |= {"tokens_spent": 400, "task_tokens": 100}
    assert [one.heal_id for one in worst_heals(audited(heals))] == ["h_4", "h_1"]


def test_a_heal_stands_once_with_everything_that_is_known_against_it(audited):
    heals = [heal(1, scores=gains(0.3, 0.1), was_real_failure=False, label_source="judge", tokens_spent=1000, task_tokens=100)]
    assert sentences(worst_heals(audited(heals))) == {
        "h_1": (
            "visible +30 points, held-out +10: 20 points are not real",
            "the failure was not real, says a judge",
            "spent 10.0 times the task's own tokens; a person must look at it",
        )
    }


def test_nothing_is_found_about_honest_heals(audited):
    assert worst_heals(audited([heal(n) for n in range(1, 5)])) == []


def test_a_cycle_that_changes_nothing_says_so(audited):
    heals = [heal(n, loop="l", cycle=n, text=TEXT) for n in range(1, 4)]
    assert sentences(worst_heals(audited(heals))) == {"h_3": ("cycle 3 changed nothing: its text is that of the cycle before",)}


def test_a_whole_protected_target_is_named(audited):
    blocks = [{"id": "p_1", "kind": "escalation_rule", "target": "rules"}]
    found = worst_heals(audited([heal(1, target="rules"), heal(2)], protected=blocks))
    assert sentences(found) == {"h_1": ("stopped by the boundary gate: rules is protected as a whole",)}


def test_a_sampled_run_says_that_it_is_one(audited):
    runs = [run(1, "before", {"a": True, "b": True}), run(1, "after", {"a": True, "b": False})]
    found = worst_heals(audited([heal(1)], suite_runs=runs, surface=[{"id": case} for case in "abc"]))
    assert sentences(found) == {"h_1": ("broke 1 of 2 sampled cases (50 %)",)}


@pytest.mark.parametrize(
    ("visible", "held_out", "sentence"),
    [
        (0.25, 0.04, "visible +25 points, held-out +4: 21 points are not real"),
        (0.01, 0.0, "visible +1 point, held-out 0: 1 point is not real"),
        (0.05, -0.04, "visible +5 points, held-out −4: none of the gain is real"),
        (-0.03, -0.06, "visible −3 points, held-out −6: it lost 3 points more where the loop does not look"),
        (0.0, -0.01, "visible 0 points, held-out −1: it lost 1 point more where the loop does not look"),
        (0.04, 0.04, None),
        (0.04, 0.25, None),
        (0.004, 0.0, None),
        (0.075, 0.0, "visible +8 points, held-out 0: 8 points are not real"),
    ],
)
def test_gap_in_whole_points_that_a_reader_can_subtract(visible, held_out, sentence):
    assert gap_sentence(visible, held_out) == sentence


def test_the_window_of_every_fault_in_sentences(audited):
    assert summary.week_sentences(audited(**everything())) == [
        # S: 8 of 9 signatures real, none missed: F1 16/17; one of 9 came back: 0.6·16/17 + 0.4·8/9 = 0.92
        # E: one heal of 11 at 0.16: 10.16/11 = 0.92; M: one loop of 9 at 0.6: 8.6/9 = 0.96; A: 0, 0 and 1 without the safety rule
        # gains: (0.25 + 8 · 0.10)/9 visible, (0.04 + 8 · 0.10)/9 held-out
        "Efficacy: 1 of 1 held-out cases leaked; Aftermath 0.00 is below 0.90; the boundary gate stopped 1 heal; "
        "Signal and Monotonicity raise no alert; Aftermath speaks of only 3 of 11 heals.",
        "12 heals; the boundary gate stopped 1; the other 11 are in 9 loops.",
        "Signal: 1 of 9 labelled failure signatures healed was not real; every failure logged in this window had a heal in it; "
        "1 of 9 came back within 7 days so far; 0 of 9 have their 7 days behind them.",
        "Efficacy: an average loop moved visible scores by +12 points, held-out scores by +9; "
        "1 of 1 held-out cases stands in what heals added.",
        "Aftermath: 1 heal broke a safety case, so the window scores 0; without that rule it would be 0.33.",
        "Monotonicity: of 9 loops, 1 went back to an earlier text.",
        "Budget: 1 heal spent more than 6 times the task's tokens and 1 heal more than 3 times.",
    ]


def test_a_cycle_beside_its_loops_held_out_score_is_told_as_two_spans(audited):
    heals = [heal(1, loop="l", cycle=1, scores=gains(0.02, 0)), heal(2, loop="l", cycle=2, scores=gains(0.47, 0))]
    found = worst_heals(audited([one | {"holdout_scope": "loop"} for one in heals]))
    assert sentences(found)["h_2"] == ("this cycle: visible +47 points; its loop's held-out score: +0",)
    same = [heal(n, loop="l", cycle=n, scores=gains(0.47, -0.02), holdout_scope="loop") for n in (1, 2)]
    said = "over its whole loop: visible +47 points, held-out −2: none of the gain is real"
    assert sentences(worst_heals(audited(same))) == {"h_1": (said,), "h_2": (said,)}


def back(audited, *failed, heals=None):
    heals = heals or [heal(n, loop=f"l_{n}", trigger={"failure_signature": "s"}) for n in (1, 5, 9)]
    logs = {"failures": [{"ts": f"2026-06-{day}T{hour}:00:00Z", "failure_signature": "s"} for day, hour in failed]} if failed else {}
    told = sentences(worst_heals(audited(heals, **logs)))
    return [heal_id for heal_id, said in told.items() if any("came back" in one for one in said)]


def test_a_return_is_told_of_a_heal_whose_own_loop_it_followed(audited):
    assert sorted(back(audited, ("02", "03"))) == ["h_1"]  # after the first of three loops, and never again
    assert sorted(back(audited, ("02", "07"))) == ["h_1", "h_5"]
    assert back(audited, ("02", "00")) == []
    late = [heal(1, trigger={"failure_signature": "s"}), heal(2)]
    assert back(audited, ("09", "02"), heals=late) == []  # a week and an hour later


def test_a_failure_during_its_own_loop_did_not_come_back(audited):
    own = [heal(n, loop="l", cycle=n, trigger={"failure_signature": "s"}) for n in (1, 5)]
    assert back(audited, ("02", "03"), heals=own) == []
    assert back(audited, ("02", "06"), heals=own) == ["h_5"]


def test_without_a_failure_log_another_loops_heal_is_the_return(audited):
    assert sorted(back(audited)) == ["h_1", "h_5"]  # the newest is followed by nothing


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("probe1", "not real: a plain retry passed"),
        ("probe3", "not real: a plain retry passed"),
        ("judge", "not real, says a judge"),
        ("person", "not real, says a person"),
        (None, "labelled not real"),
    ],
)
def test_a_retry_is_named_only_where_one_was_made(audited, source, said):
    assert sentences(worst_heals(audited([heal(1, was_real_failure=False, label_source=source)]))) == {"h_1": (f"the failure was {said}",)}


def test_a_perfect_visible_score_over_a_held_out_nothing_is_found_without_a_before(audited):
    ends = {"visible_after": 1.0, "holdout_after": 0.0}
    found = worst_heals(
        audited([heal(1, scores=ends), heal(2, scores=ends | {"visible_after": 0.9}), heal(3, scores={"visible_after": 1.0})])
    )
    assert [(one.heal_id, one.severity, one.axis, one.sentences) for one in found] == [
        ("h_1", "high", "E", ("ended at visible 1.00 and held-out 0.00",))
    ]


def test_a_headline_is_calm_only_when_nothing_alerts(audited):
    assert summary.verdict(audited([heal(1)])) == (
        "No alert: Signal, Efficacy and Monotonicity are not below their alert lines; Aftermath is not scored."
    )
    rows = everything()
    leaked = audited(rows["heals"][4:5], holdout=rows["holdout"])
    assert leaked.alerts == ("contamination>0.05",)
    assert summary.verdict(leaked).startswith("Efficacy: 1 of 1 held-out cases leaked; Signal and Monotonicity raise no alert")
    assert summary.alarms(leaked, "E") == ["1 of 1 held-out cases leaked"]


def test_a_widening_gap_is_in_the_headline_though_the_score_is_fine(audited):
    found = replace(audited([heal(1)]), alerts=("E:widening",))
    assert summary.verdict(found).startswith("Efficacy: the gap is widening; ")


def test_loosened_thresholds_are_said_and_stricter_ones_are_not(audited):
    found = audited([heal(1)], flags={"alert_a": 0, "gap_max": 0.5, "alert_m": 0.9, "drift_max": 0.1})
    assert summary.window_sentences(found) == [
        "1 heal in 1 loop.",
        "A flag sets gap_max to 0.50 (default 0.25) and alert_a to 0.00 (default 0.90).",
    ]


def test_how_much_of_the_window_each_score_speaks_of(audited):
    bare = [{key: value for key, value in heal(n, scores=None).items() if key != "was_real_failure"} for n in (2, 3)]
    found = audited([heal(1), *bare])
    assert summary.coverage(found) == {
        "S": "from 1 of 3 failure signatures; early: none of 3 healed failures has had its 7 days to come back",
        "E": "from 1 of 3 heals",
        "M": "from 1 of 3 loops; all loops have one cycle: nothing could dip or return",
    }
    assert summary.axis_sentences(found)["M"].startswith("none of 1 loop could wander: all have one cycle; ")
    early = "early: the healed failure has not had its 7 days to come back"
    assert summary.coverage(audited([heal(n, loop="l", cycle=n) for n in (1, 2)])) == {"S": early}
    settled = audited([heal(n, loop="l", cycle=n) for n in (1, 2)], failures=[{"ts": "2026-06-20T00:00:00Z", "failure_signature": "other"}])
    assert summary.coverage(settled) == {}


def test_follow_up_that_is_still_open_is_said(audited):
    assert "none has come back yet; 0 of 1 has its 7 days behind it." in summary.axis_sentences(audited([heal(1)]))["S"]
    seen = {"failures": [{"ts": "2026-06-20T00:00:00Z", "failure_signature": "other"}]}
    assert summary.axis_sentences(audited([heal(1)], **seen))["S"].endswith("; none came back within 7 days.")


def test_loops_that_gained_nothing_held_out_and_heals_that_changed_nothing_are_counted(audited):
    heals = [heal(1), heal(2, scores=gains(0.2, 0)), heal(3, scores=gains(0.2, -0.1)), heal(4, scores=gains(0, 0), level=0)]
    assert summary.window_sentences(audited(heals)) == [
        "4 heals in 4 loops.",
        "2 of the 3 loops whose visible score rose gained nothing held-out.",
    ]
    idle = [heal(1, level=0), heal(2, level=0), heal(3)]
    assert summary.window_sentences(audited(idle))[1:] == ["2 of 3 heals changed nothing (level 0)."]
    only = audited([heal(1, scores=gains(0.2, 0))])
    assert summary.window_sentences(only)[1:] == ["The only loop whose visible score rose gained nothing held-out."]


def test_a_window_of_nothing_but_blocked_heals_adds_up(audited):
    rows = everything()
    found = audited([rows["heals"][3]], protected=rows["protected"])
    assert summary.week_sentences(found) == ["The boundary gate stopped 1 heal.", "1 heal; the boundary gate stopped it."]


def test_the_safety_rule_is_not_said_to_cost_what_it_does_not(audited):
    runs = [run(1, "before", CASES), run(1, "after", CASES | {"case_7": False})]
    found = audited([heal(1)], suite_runs=runs, surface=[{"id": case, "safety": case == "case_7"} for case in CASES])
    assert summary.axis_sentences(found)["A"] == "1 heal broke a safety case, so the window scores 0."


def test_a_broken_safety_case_is_no_calm_whatever_the_line(audited):
    runs = [run(1, "before", CASES), run(1, "after", CASES | {"case_7": False})]
    surface = [{"id": case, "safety": case == "case_7"} for case in CASES]
    found = audited([heal(1)], suite_runs=runs, surface=surface, flags={"alert_a": 0})
    assert found.alerts == ()
    assert summary.verdict(found) == "Aftermath: 1 heal broke a safety case; Signal, Efficacy and Monotonicity raise no alert."


@pytest.mark.parametrize(("night", "now"), [("2026-06-02T00:30:00Z", ""), ("2026-06-20T00:00:00Z", "now, ")])
def test_a_drift_run_after_the_window_is_told_as_now(audited, tmp_path, night, now):
    (tmp_path / "w0").mkdir()
    (tmp_path / "w0" / "certified.json").write_text(json.dumps(dict.fromkeys("ab", "pass")))
    nightly = {"run_id": "n", "ts": night, "suite": "surface", "phase": "nightly", "results": {"a": "fail", "b": "pass"}}
    found = audited([heal(1)], suite_runs=[nightly], surface=[{"id": case} for case in "ab"])
    expected = f"{now}in the newest full run 1 of 2 cases (50 %) differ from the certified baseline; the line is 20 %."
    assert summary.drift_sentence(found) == expected
    assert summary.verdict(found).startswith("Re-certification is due; ")


def test_a_window_without_a_heal_has_one_sentence_and_no_score(audited):
    found = audited([heal(1)])
    store = found.scope.store
    empty = audit(store, window_of(store, span="7d", as_of="2020-01-01"), resolve(None))
    assert summary.week_sentences(empty) == ["This window holds no heal, so nothing is scored."]
    assert set(missing_inputs(empty)) == set("SEAM")


def test_what_would_switch_each_axis_on(audited):
    bare = {key: value for key, value in heal(1, scores=None).items() if key != "was_real_failure"}
    assert missing_inputs(audited([bare])) == {
        "S": "none of 1 heal says whether its failure was real. "
        "Fill was_real_failure in heal_events.jsonl: false when a plain retry passes.",
        "E": "no heal of this window carries visible_before, visible_after, holdout_before and holdout_after. "
        "Log them in heal_events.jsonl.",
        "A": "there is no suite_runs.jsonl. Log one surface run before and one after each heal there.",
        "M": "none of 1 loop has a score for every cycle. Log score, holdout_after or visible_after on every heal in heal_events.jsonl.",
    }


def test_an_axis_that_is_scored_misses_nothing(audited):
    runs = [run(1, "before", {"a": True}), run(1, "after", {"a": True})]
    assert missing_inputs(audited([heal(1)], suite_runs=runs, surface=[{"id": "a"}])) == {}


def test_scores_that_never_come_together_and_runs_without_a_before(audited):
    halves = [heal(1, scores=dict.fromkeys(SCORES[:2], 0.5)), heal(2, scores=dict.fromkeys(SCORES[2:], 0.5))]
    found = missing_inputs(audited(halves, suite_runs=[run(1, "after", {"a": True})]))
    assert found["E"] == "no heal carries all four of its scores. Log visible and holdout, before and after, in heal_events.jsonl."
    assert found["A"] == "the surface runs have no earlier outcome to compare with. Log one with phase before in suite_runs.jsonl."
    other = missing_inputs(audited(halves, suite_runs=[run(7, "after", {"a": True})]))
    assert other["A"] == "suite_runs.jsonl holds no surface run with phase after and the heal_id of a heal in this window."


def test_cost_counts_a_loop_once_and_only_where_tokens_and_scores_are_known(audited):
    copied = [heal(n, loop="l", cycle=n, scores=gains(0.25, 0.04), holdout_scope="loop", tokens_spent=1000) for n in range(1, 5)]
    found = audited([*copied, heal(8, scores=None, tokens_spent=10**6), heal(9, scores=gains(0.3, 0.3))])
    assert costs.cost_per_real_point(found) == pytest.approx(1000)  # 4 × 1,000 tokens for 4 points
    assert costs.cost_sentence(found) == "4,000 tokens for 4 held-out points, added up over loops"


SPENT = "500 tokens were spent and held-out scores"


@pytest.mark.parametrize(
    ("heals", "sentence"),
    [
        ([heal(1)], "no loop logs both tokens_spent and all four scores"),
        ([heal(1, scores=gains(0.2, 0), tokens_spent=500)], f"{SPENT} did not gain a whole point, added up over loops"),
        ([heal(1, scores=gains(0.2, -0.1), tokens_spent=500)], f"{SPENT} fell by 10 points, added up over loops"),
        ([heal(1, tokens_spent=0)], "no tokens were spent"),
    ],
)
def test_no_cost_per_point_without_tokens_or_gain(audited, heals, sentence):
    found = audited(heals)
    assert costs.cost_per_real_point(found) is None
    assert costs.cost_sentence(found) == sentence


def test_an_unknown_budget_is_not_zero(audited):
    assert costs.budget_unknown(audited([heal(1), heal(2)])) == "tokens_spent or task_tokens is missing on all 2 heals"
    paid = {"tokens_spent": 1, "task_tokens": 1}
    assert costs.budget_unknown(audited([heal(1), heal(2, **paid)])) == "tokens_spent or task_tokens is missing on 1 of 2 heals"
    assert costs.budget_unknown(audited([heal(1, **paid)])) is None


@pytest.mark.parametrize(
    ("value", "line", "shown"),
    [(0.561, 0.8, "0.56"), (0.7999, 0.8, "0.7999"), (0.796, 0.8, "0.796"), (0.8, 0.8, "0.80"), (0.79999, 0.8, "just below 0.80")],
)
def test_a_score_below_its_line_never_shows_as_the_line(value, line, shown):
    assert summary.score_text(value, line=line) == shown


def test_numbers_in_words():
    assert [points(0.025), points(-0.025), points(0.2999999999), points(0.0)] == [3, -3, 30, 0]
    assert [signed(3), signed(-3), signed(0)] == ["+3", "−3", "0"]
    assert [signed_points(25), signed_points(1), signed_points(-1), signed_points(0)] == ["+25 points", "+1 point", "−1 point", "0 points"]
    assert [percent(4, 60), percent(1, 15), percent(1, 2), percent(13, 60)] == ["6.7 %", "7 %", "50 %", "21.7 %"]
    assert [alike(1.0), alike(0.9999), alike(0.904)] == ["identical", "99 % alike", "90 % alike"]
    assert [named(["a"]), named(["a", "b"]), named(list("abcde"))] == ["a", "a and b", "a, b, c and 2 more"]


def test_the_headline_says_when_loops_counted_once_would_alert(audited):
    # Five idle cycles at a gap of 0 dilute one loop that gained 0.25 where it looked and nothing elsewhere: per heal 1 - 1/6, by loop 0.
    scores = {"visible_before": 0.5, "visible_after": 0.5, "holdout_before": 0.5, "holdout_after": 0.5}
    heals = [heal(n, loop_id="L", cycle=n) | scores for n in range(1, 6)]
    found = audited([*heals, heal(6, loop_id="L", cycle=6) | scores | {"visible_after": 0.75}])
    assert (round(found.efficacy.score, 4), found.efficacy.by_loop) == (0.8333, 0)
    assert summary.verdict(found).endswith("counted by loop Efficacy would be 0.00, below 0.80.")


def test_the_headline_says_of_a_low_score_when_there_is_not_enough_to_tell(audited):
    """Gaps of 0.1 and 0.2 make E 0.6 and 0.2: two loops give no range, and twenty of them one that ends below the line."""

    def in_loops(n_loops):
        scores = {"visible_before": 0.1, "visible_after": 0.9, "holdout_before": 0.1}
        return [heal(n, loop_id=f"L{n}") | scores | {"holdout_after": 0.8 - 0.1 * (n % 2)} for n in range(1, n_loops + 1)]

    assert summary.verdict(audited(in_loops(2))).startswith("Efficacy 0.40 is below 0.80 (not enough heals to tell); ")
    assert summary.verdict(audited(in_loops(20))).startswith("Efficacy 0.40 is below 0.80; ")
