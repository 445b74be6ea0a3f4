"""One loop's story: what happened at each cycle, M as a sum to redo, returns as arcs, two texts to compare, the loop in words."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from seam_core.views import loop_texts, loop_words
from seam_core.views.filters import Filters
from seam_core.views.loop import Arc, NoSuchLoopError, Still, arcs_of, story
from seam_core.views.loop_events import Revisit
from seam_core.views.loop_texts import Pair, bases, choices, first_pair, parse_pair, previous, texts
from seam_core.views.loops import worst_loops
from tests.seam_core.workspaces import at, audited, failure, four, heal, loop, write

ROOT = Path(__file__).parents[3]
A = "Always look up the order before you answer, and never guess what a customer meant by a short question."
B = "Use the refund tool only after the ledger agrees; write the reason into the ticket, then close the step."
C = "Prefer one slow call over many fast ones when the limiter is near, and wait for the replica to catch up."
NEAR_A = A.replace("short", "brief")  # 5 of 101 characters replaced: 2 · 96 ÷ 202 = 0.95 alike


def written(tmp_path, *heals, **logs):
    return write(tmp_path / "workspace", heal_events=list(heals), **logs)


@contextmanager
def told_of(tmp_path, loop_id, *heals, window="all", as_of=None, **logs):
    with audited(written(tmp_path, *heals, **logs), window=window, as_of=as_of) as audit:
        yield story(audit, loop_id)


def texts_of(*some):
    return [{"target": "prompt", "after_text": text} for text in some]


def kinds(told):
    return [one.kind for one in told.cycles]


def test_m_is_the_sum_that_the_score_is_made_of(tmp_path):
    # 0.5 0.6 0.5 0.6 0.5 0.6: two dips, one of them free; cycle 3 has the text of cycle 1; six cycles reach the cap of five
    heals = loop("L", [0.5, 0.6, 0.5, 0.6, 0.5, 0.6], change=texts_of(A, B, A, C, C[::-1], B[::-1]))
    with audited(written(tmp_path, *heals)) as audit:
        told = story(audit, "L")
        assert told.sum.value == pytest.approx(audit.monotonicity.score)
        assert (told.sum.dips, told.sum.extra_dips, told.sum.revisits, told.sum.capped) == (2, 1, 1, True)
        assert loop_words.sum_line(told.sum) == "M = 1 − 0.4 · 1 − 0.4 · 1 − 0.2 · 1 = 0.00"
        assert [one.position for one in told.taken if one.is_dip] == [3, 5]
    assert loop_words.sum_sentences(told.sum) == [
        "1 extra dip, 0.4 each: the own score fell twice, and 1 is free.",
        "1 pair of cycles with texts alike (revisits), 0.4 each: 1 with a text that had changed, 0 idle.",
        "Depth cap reached, 0.2 once: 6 cycles, and the cap is 5.",
    ]


def test_a_sum_below_zero_is_shown_with_what_it_is_held_at(tmp_path):
    with told_of(tmp_path, "L", *loop("L", [0.9, 0.8, 0.7, 0.6, 0.5])) as told:
        assert loop_words.sum_line(told.sum) == "M = 1 − 0.4 · 3 − 0.4 · 0 − 0.2 · 1 = −0.40, held at 0.00"


def test_what_happened_at_each_cycle_by_the_worst_about_it(tmp_path):
    heals = [
        *loop("L", [None] * 6, change=texts_of(A, B, A, A, C, C[::-1]), level=[2, 2, 2, 2, 2, 0],
              visible_before=[0.5] * 6, visible_after=[0.6, 0.8, 0.8, 0.8, 0.8, 0.8],
              holdout_before=[0.5] * 6, holdout_after=[0.6, 0.5, 0.8, 0.8, 0.8, 0.8]),
    ]  # fmt: skip
    with told_of(tmp_path, "L", *heals) as told:
        assert told.sum.basis == "holdout"
        assert kinds(told) == ["gain", "dip", "returned", "idle", "gain", "retry"]
        assert told.cycles[0].said == "visible +10, held-out +10"
        assert told.cycles[1].said == "held-out score fell by 10 points: a dip; visible +30 points, held-out 0: 30 points are not real"
        assert told.cycles[2].said.startswith("went back to the text of cycle 1: identical; held-out score rose by 30 points")
        assert told.cycles[3].said.startswith("changed nothing: its text is that of the cycle before")
        assert told.cycles[5].said.startswith("retry only")


def test_a_gain_that_is_not_real_is_a_gap_unless_it_is_a_dip(tmp_path):
    heals = loop("L", [0.1, 0.2], **{name: [value, value + 0.01] for name, value in four(0.5, 0.9, 0.5, 0.6).items()})
    with told_of(tmp_path, "L", *heals) as told:
        assert kinds(told) == ["gap", "gap"]


def test_a_pair_copied_onto_every_heal_says_nothing_about_single_cycles(tmp_path):
    with told_of(tmp_path, "L", *loop("L", [0.5, 0.6, 0.7], **four(0.7, 0.95, 0.7, 0.74))) as told:
        assert (told.measured.visible, told.measured.held_out) == (False, False)
        assert [one.said for one in told.cycles] == [
            "nothing to compare its score with",
            "own score rose by 10 points",
            "own score rose by 10 points",
        ]
        assert "Over the loop: visible +25 points, held-out +4: 21 points are not real." in loop_words.verdict(told)


def test_a_stopped_heal_stands_between_its_neighbours_and_takes_no_position(tmp_path):
    heals = loop("L", [0.5, 0.9, 0.6], change=texts_of(f"keep {A}", B, f"keep {C}"))
    blocks = [{"id": "p1", "kind": "safety_instruction", "target": "prompt", "text": "keep"}]
    with told_of(tmp_path, "L", *heals, protected=blocks) as told:
        assert [(one.position, one.place) for one in told.cycles] == [(1, 1), (None, 1.5), (2, 2)]
        assert told.cycles[1].said == "stopped by the boundary gate (block p1): not scored, and no position of the loop"
        assert told.cycles[2].name == "cycle 2 (logged as 3)"
        assert told.sum.dips == 0
        assert [one.change for one in told.taken] == [None, pytest.approx(0.1)]
        assert loop_words.verdict(told).endswith("The boundary gate stopped 1 more heal, scored nowhere.")


def test_a_loop_of_stopped_heals_says_that_there_is_nothing_to_judge(tmp_path):
    blocks = [{"id": "p1", "kind": "tool_permission", "target": "prompt"}]
    with audited(written(tmp_path, heal(1, text=A), heal(2, target="other"), protected=blocks)) as audit:
        told = story(audit, "L1")
        assert (told.sum, told.taken, kinds(told)) == (None, (), ["blocked"])
        assert loop_words.verdict(told) == "The boundary gate stopped the only heal of this loop: there is nothing to judge."
        assert first_pair(told) is None
        assert [line.loop_id for line in worst_loops(audit, Filters()).lines] == ["L2", "L1"]


def test_one_cycle_and_unscored_loops_say_what_is_so(tmp_path):
    with audited(written(tmp_path, heal(1, score=0.5), *loop("L", [0.5, None]))) as audit:
        assert loop_words.verdict(story(audit, "L1")) == "One cycle: it could neither fall nor go back, so its M of 1.00 says nothing."
        told = story(audit, "L")
        assert told.sum is None
        assert loop_words.verdict(told) == "Not scored: neither the own score nor a held-out or visible score covers each of its 2 cycles."


def test_a_text_that_comes_back_and_stays_is_one_arc_and_standing_still_is_none(tmp_path):
    heals = loop("L", [0.5] * 7, change=texts_of(A, B, A, A, A, C, C))
    with told_of(tmp_path, "L", *heals) as told:
        # revisits: 1-3, 1-4, 1-5 and, of one run, 3-5; nothing had changed at 4 and 5
        assert (told.sum.returned, told.sum.idle) == (1, 3)
        assert told.arcs == (Arc(1, 3, 1.0, 1),)
        assert told.still == (Still(3, 5, is_same=True), Still(6, 7, is_same=True))
        assert told.n_returns == 1
        assert kinds(told) == ["unknown", "flat", "returned", "idle", "idle", "flat", "idle"]


def test_texts_that_hardly_change_count_as_revisits_but_never_left(tmp_path):
    with told_of(tmp_path, "L", *loop("L", [0.5] * 4, change=texts_of(A, *[A[:-n] + "?" * n for n in (1, 2, 3)]))) as told:
        assert told.sum.revisits == 3
        assert told.arcs == ()
        assert told.still == (Still(1, 4, is_same=False),)
        assert loop_words.verdict(told) == "It stood still: its text hardly changed (3 pairs of cycles alike)."
        assert told.cycles[2].said.startswith("hardly changed: 99 % alike to the cycle before, and so to cycle 1")


def test_arcs_join_runs_of_identical_texts_with_the_first_pair_that_shows_the_return():
    pairs = [Revisit(1, 3, idle=False, similarity=1.0, step=0.3), Revisit(1, 4, idle=True, similarity=1.0, step=1.0),
             Revisit(2, 5, idle=False, similarity=0.95, step=0.2), Revisit(1, 5, idle=False, similarity=0.92, step=0.2)]  # fmt: skip
    assert arcs_of(pairs, [1, 1, 2, 2, 3]) == [Arc(1, 3, 1.0, 1), Arc(2, 5, 0.95, 2)]


def test_pairs_in_an_address_name_two_cycles_or_a_cycle_and_a_state(tmp_path):
    with told_of(tmp_path, "L", *loop("L", [0.5] * 4, change=texts_of(A, B, C, A))) as told:
        assert parse_pair("1-4", told) == parse_pair("1 → 4", told) == Pair("cycle", 1, 4)
        assert parse_pair("start-2", told) == Pair("start", None, 2)
        assert parse_pair("certified-2", told) == Pair("certified", None, 2)
        for wrong in (None, "", "4-1", "2-2", "1-5", "0-2", "1-2-3", "x", "1-99999999999", "-1-2"):
            assert parse_pair(wrong, told) is None
        assert first_pair(told) == Pair("cycle", 1, 4)
        assert list(choices(told)) == ["start-1", "1-2", "2-3", "3-4", "1-4"]
        assert list(bases(told, 4)) == ["3-4", "1-4", "start-4", "certified-4"]
        assert choices(told)["1-4"] == "1 → 4: a return, identical"


def test_the_cycle_before_is_the_last_one_on_the_same_target_with_a_text(tmp_path):
    changes = [
        {"target": "prompt", "after_text": A},
        {"target": "memory", "after_text": B},
        {"target": "prompt"},
        {"target": "prompt", "after_text": C},
    ]
    with told_of(tmp_path, "L", *loop("L", [0.5] * 4, change=changes)) as told:
        assert previous(told, told.taken[3]) == Pair("cycle", 1, 4)
        assert previous(told, told.taken[1]) == Pair("start", None, 2)
        assert list(choices(told)) == ["start-1", "start-2", "1-4"]


def test_two_cycles_the_start_and_the_certified_state_are_compared(tmp_path):
    first = heal("old", 0, text=C)
    other = heal("other", 2.5, text=B)
    with audited(written(tmp_path, first, other, *loop("L", [0.5, 0.6], first_day=2, change=texts_of(A, NEAR_A)))) as audit:
        found = texts(audit, "hL.2", "cycle", "hL.1")
        assert (found.old, found.new, found.why) == (A, NEAR_A, None)
        assert found.notes == ("In between, Lother changed prompt 1 time; what came of that is part of this comparison.",)
        start = texts(audit, "hL.2", "start")
        assert (start.old, start.new) == (C, NEAR_A)
        assert start.old_label.startswith("before the loop: hold of Lold, ")
        certified = texts(audit, "hL.2", "certified")
        assert (certified.old, certified.new) == (None, NEAR_A)
        assert certified.why == loop_texts.NOT_CERTIFIED


def test_a_text_that_the_gate_stopped_never_was_the_start_even_outside_the_window(tmp_path):
    blocks = [{"id": "p1", "kind": "safety_instruction", "target": "prompt", "text": "keep"}]
    heals = [heal(1, 0, text=f"keep {C}"), heal(2, 1, text=B), *loop("L", [0.5], first_day=20, change=texts_of(f"keep {A}"))]
    with audited(written(tmp_path, *heals, protected=blocks), window="24h") as audit:
        assert texts(audit, "hL.1", "start").old == f"keep {C}"


def test_what_cannot_be_compared_says_why(tmp_path):
    changes = [{"target": "prompt", "after_text": A}, {"target": "memory", "after_text": B}, {"target": "prompt"}, {"after_text": C}]
    with audited(written(tmp_path, *loop("L", [0.5] * 4, change=changes))) as audit:
        assert "holds no text of prompt from before this loop" in texts(audit, "hL.1", "start").why
        assert "logs no text" in texts(audit, "hL.3", "start").why
        assert "names no target" in texts(audit, "hL.4", "start").why
        assert texts(audit, "hL.2", "cycle", "hL.1").notes == ("Two different targets are compared: prompt and memory.",)
        assert "earlier cycle logs no text" in texts(audit, "hL.4", "cycle", "hL.3").why


def test_a_loop_outside_the_window_is_judged_as_of_its_own_end_and_says_so(tmp_path):
    heals = [*loop("old", [0.5, 0.4, 0.3], change=texts_of(A, B, A)), *loop("new", [0.5, 0.4], first_day=30)]
    with audited(written(tmp_path, *heals), window="7d") as audit:
        told = story(audit, "old")
        assert not told.in_window
        assert (told.sum.dips, told.sum.revisits, told.sum.value) == (2, 1, pytest.approx(0.2))
        assert loop_words.outside_sentence(told).startswith("This loop has no heal in the window shown")
        assert [line.loop_id for line in worst_loops(audit, Filters()).lines] == ["new"]
        assert audit.monotonicity.n == 1


def test_heals_after_the_windows_end_are_counted_and_not_judged(tmp_path):
    with told_of(tmp_path, "L", *loop("L", [0.5, 0.6, 0.4]), window="7d", as_of=at(1)) as told:
        assert len(told.cycles) == 2
        assert loop_words.outside_sentence(told) == "1 heal of this loop lies after the window's end and is not shown."


def test_a_loop_that_is_not_there_is_one_sentence(tmp_path):
    with audited(written(tmp_path, heal(1))) as audit, pytest.raises(NoSuchLoopError, match="There is no loop nope in the log"):
        story(audit, "nope")


def test_other_loops_on_the_same_failure_and_whether_it_came_back(tmp_path):
    heals = [
        *loop("one", [0.5], sig="E"),
        *loop("two", [0.5, 0.4, 0.3], first_day=3, sig="E"),
        *loop("three", [0.5], first_day=9, sig="E"),
        heal(4, 5),
    ]
    for one in heals[:5]:
        one["trigger"] = {"failure_signature": "E"}
    with told_of(tmp_path, "two", *heals, failures=[failure("E", 2), failure("E", 7), failure("E", 8), failure("F", 8)]) as told:
        assert [(one.loop_id, one.is_before) for one in told.neighbours] == [("one", True), ("three", False)]
        assert loop_words.signature_sentences(told)[0] == "1 loop before this one and 1 loop after it."
        assert "seen twice after this loop's last heal, first on 2026-06-08 12:00 UTC" in loop_words.signature_sentences(told)[1]
        assert [row["Loop"] for row in loop_words.neighbour_rows(told)] == ["one", "two", "three"]


def test_what_a_loop_cost_and_a_real_point_of_it(tmp_path):
    heals = loop("L", [0.5, 0.6], tokens_spent=[3000, 7000], task_tokens=[1000, 1000],
                 visible_before=[0.5, 0.6], visible_after=[0.6, 0.7], holdout_before=[0.5, 0.52], holdout_after=[0.52, 0.55])  # fmt: skip
    with told_of(tmp_path, "L", *heals) as told:
        # 10,000 tokens for 5 held-out points; 3 × is still within the budget, 7 × goes to a person
        assert loop_words.cost_sentences(told) == [
            "10,000 tokens.",
            "2,000 tokens for each real point.",
            "1 cycle cost more than the budget allows, 1 of them escalated.",
        ]
    with told_of(tmp_path / "no", "L", *loop("L", [0.5], tokens_spent=[None])) as told:
        assert loop_words.cost_sentences(told) == ["What it cost is not logged (tokens_spent)."]


def test_loops_are_listed_worst_first_and_filters_choose_by_their_heals(tmp_path):
    heals = [
        *loop("fine", [0.5, 0.6], level=1),
        *loop("bad", [0.9, 0.8, 0.7, 0.6, 0.5]),
        *loop("worse", [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]),
        *loop("unscored", [None, 0.5]),
    ]
    with audited(written(tmp_path, *heals)) as audit:
        found = worst_loops(audit, Filters())
        assert [line.loop_id for line in found.lines] == ["worse", "bad", "fine", "unscored"]
        assert [line.score for line in found.lines] == [0.0, 0.0, 1.0, None]
        assert found.lines[0].label == "worse · M 0.00 · 6 cycles · 5 dips · Err:worse.1"
        assert [line.loop_id for line in worst_loops(audit, Filters(levels=(1,))).lines] == ["fine"]
        assert worst_loops(audit, Filters(levels=(3,))).n_all == 0


def test_the_issue_holds_the_story_and_no_live_markup(tmp_path):
    hostile = "![x](http://evil.test/x.png) @team #12"
    heals = loop("L", [0.5, 0.4], change=[{"target": hostile, "after_text": A}, {"target": hostile, "after_text": B}], sig=hostile)
    with audited(written(tmp_path, *heals)) as audit:
        issue = loop_words.loop_issue(audit, "L", link="http://localhost:8501/loop?loop=L")
        assert issue.startswith("### Repair loop `L` needs a look")
        assert "M = 1 − 0.4 · 0 − 0.4 · 0 − 0.2 · 0 = 1.00" in issue
        assert "cycle 2: own score fell by 10 points: a dip" in issue
        assert f"`{hostile}`" in issue
        assert hostile not in issue.replace(f"`{hostile}`", "")


def test_the_demos_story_loop_is_as_the_report_has_it():
    with audited(ROOT / "fixtures" / "heal_events.jsonl", window="7d") as audit:
        told = story(audit, "loop_096")
        judged = {row["loop_id"]: row for row in audit.scope.rows("loop_rows")}["loop_096"]
    counted = (told.sum.dips, told.sum.extra_dips, told.sum.returned, told.sum.idle, told.sum.capped)
    assert counted == tuple(judged[name] for name in ("dips", "extra_dips", "returned", "idle", "capped"))
    assert sum(one.is_dip for one in told.taken) == judged["dips"]
    assert [(arc.earlier, arc.later) for arc in told.arcs] == [(5, 8)]
    assert told.cycles[7].kind == "returned"
    wandered = "It wandered: its own score fell 3 times (1 is free), its text came back once and it ran for 11 cycles (the cap is 5)."
    assert loop_words.verdict(told).startswith(wandered)
