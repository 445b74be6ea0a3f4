"""The Monotonicity page's numbers, worked out by hand: what was lost to what, what judged each loop, the order, the curves."""

from pathlib import Path

import pytest

from seam_core.views import wander
from seam_core.views.filters import Filters
from tests.seam_core.workspaces import audited, concat, heal, loop, words, write

EVERYTHING = Filters()
ROOT = Path(__file__).parents[3]


@pytest.fixture
def ask(tmp_path):
    """What a function says of a small workspace."""

    def answer(function, heals, *args, window="all", as_of=None, **thresholds):
        with audited(write(tmp_path, heal_events=heals), window=window, as_of=as_of, **thresholds) as audit:
            return function(audit, *args)

    return answer


def shares(found):
    return {loss.label: (loss.n, pytest.approx(loss.share)) for loss in found.losses}


CALM = loop("calm", [0.5, 0.6])
DIPS = loop("dips", [0.5, 0.4, 0.5, 0.4])  # two dips, one is free: 0.6
BACK = loop("back", [0.5, 0.6, 0.7], text=[words(0, 30), words(100, 130), words(0, 30)])  # 0.6
IDLE = loop("idle", [0.5, 0.5, 0.5], text="the same text all along")  # the third is two apart from the first: 0.6
CAPPED = loop("capped", [0.1, 0.2, 0.3, 0.4, 0.5])  # 0.8
LOST = loop("lost", [0.9, 0.8, 0.7, 0.6, 0.5])  # four dips, three extra, and the cap: 1.4 to lose, 0 left


def test_each_kind_of_wandering_costs_its_part_and_the_parts_add_up(ask):
    """Five loops: 0.4/5 for the extra dip, the return and the idle cycle each, 0.2/5 for the cap: 1 − 0.28 = 0.72."""
    found = ask(wander.take_apart, concat([CALM, DIPS, BACK, IDLE, CAPPED]))
    assert shares(found) == {"extra dips": (1, 0.08), "returned": (1, 0.08), "idle": (1, 0.08), "at the cap": (1, 0.04)}
    assert found.lines == ("M = 1 − 0.080 − 0.080 − 0.080 − 0.040 = 0.72",)
    assert [loss.working for loss in found.losses] == ["0.4 × 1 ÷ 5", "0.4 × 1 ÷ 5", "0.4 × 1 ÷ 5", "0.2 × 1 ÷ 5"]
    assert found.note == ""


def test_a_loop_that_lost_more_than_everything_shares_what_it_had(ask):
    """1.2 for dips and 0.2 for the cap are 1.4; of the 1 there was they took 6/7 and 1/7, over two loops 3/7 and 1/14."""
    found = ask(wander.take_apart, concat([CALM, LOST]))
    assert shares(found) == {"extra dips": (3, 3 / 7), "returned": (0, 0), "idle": (0, 0), "at the cap": (1, 1 / 14)}
    assert [loss.alone for loss in found.losses] == pytest.approx([0.6, 0, 0, 0.1])
    assert sum(loss.share for loss in found.losses) == pytest.approx(1 - found.score) == 0.5
    assert found.note.startswith("1 of 2 loops lost more than everything and counts as 0")


def test_losing_exactly_everything_is_not_more_than_everything(ask):
    """Three dips (two extra) and the cap: 0.8 + 0.2 = 1."""
    found = ask(wander.take_apart, loop("edge", [0.5, 0.4, 0.5, 0.4, 0.5, 0.4]))
    assert (found.score, found.note) == (pytest.approx(0), "")


def test_nothing_scored_has_no_losses(ask):
    assert ask(wander.take_apart, [heal(1)]).losses == ()
    assert ask(wander.take_apart, CALM, window="24h", as_of="2026-08-01").score is None
    assert ask(wander.draw_curves, CALM, EVERYTHING, "all", 1, window="24h", as_of="2026-08-01").curves == ()


def test_loops_come_by_what_they_lost_and_the_costs_are_the_points_lost(ask):
    rows = ask(wander.list_loops, concat([CALM, DIPS, CAPPED, LOST]), EVERYTHING).rows
    assert [(row["loop"], row["score"], row["cost"], row["why"]) for row in rows] == [
        ("lost", 0, 25, "3 × extra dip, at the cap"),
        ("dips", 0.6, 10, "extra dip"),
        ("capped", 0.8, 5, "at the cap"),
        ("calm", 1, 0, "nothing"),
    ]
    assert sum(row["cost"] for row in rows) == pytest.approx(100 * (1 - ask(wander.take_apart, concat([CALM, DIPS, CAPPED, LOST])).score))


@pytest.mark.parametrize(
    ("shown", "names"),
    [("extra dips", ["lost", "dips"]), ("returned", ["back"]), ("idle", ["idle"]), ("at the cap", ["lost", "capped"])],
)
def test_table_and_curves_can_be_narrowed(ask, shown, names):
    heals = concat([CALM, DIPS, BACK, IDLE, CAPPED, LOST])
    assert [row["loop"] for row in ask(wander.list_loops, heals, EVERYTHING, shown).rows] == names
    assert [one.row["loop"] for one in ask(wander.draw_curves, heals, EVERYTHING, shown, 1).curves] == names


def test_filters_keep_loops_with_such_a_heal_in_the_window(ask):
    heals = [*loop("A", [0.5, 0.6], level=[0, 2]), *loop("B", [0.5, 0.6], level=0)]
    assert [row["loop"] for row in ask(wander.list_loops, heals, Filters(levels=(2,))).rows] == ["A"]
    assert [one.row["loop"] for one in ask(wander.draw_curves, heals, Filters(levels=(2,)), "all", 1).curves] == ["A"]


def test_which_score_judged_a_loop_and_why_no_better_one(ask):
    none = {"score": None}
    held_out = {"holdout_before": [0.1, 0.2], "holdout_after": [0.2, 0.3]}
    heals = [
        *loop("own", [0.5, 0.6], **held_out),
        *loop("held-out", [None, None], **held_out),
        *loop("copied", [None, None], holdout_before=0.1, holdout_after=0.2, visible_after=0.5),
        *loop("said", [None, None], **held_out, holdout_scope="loop", visible_after=0.5),
        *loop("some", [None, None], holdout_after=[None, 0.2], visible_after=0.5),
        *loop("none", [None, None], visible_after=0.5),
        *loop("left out", [0.5, None], visible_after=[None, 0.4], holdout_after=0.5, holdout_before=0.5),
        heal(99, 50, loop_id="empty", **none),
    ]
    assert [(one.words, one.n_loops) for one in ask(wander.list_bases, heals)] == [
        ("the loop's own cycle score", 1),
        ("held-out score, measured cycle by cycle", 1),
        ("visible score: held-out was measured once for the whole loop", 2),
        ("visible score: no held-out score is logged", 1),
        ("visible score: held-out is missing on some cycle", 1),
    ]
    assert {one.interval for one in ask(wander.list_bases, heals)} == {None}  # fewer than three loops each: no range
    left_out = ask(wander.list_left_out, heals, EVERYTHING)
    assert [(row["loop"], row["has"]) for row in left_out.rows] == [
        ("left out", "score on 1, held-out on 2 and visible on 1 of 2 cycles"),
        ("empty", "no score at all"),
    ]


def test_curves_come_a_sheet_at_a_time_on_one_scale(ask, monkeypatch):
    monkeypatch.setattr(wander, "PAGE", 2)
    heals = concat([CALM, DIPS, CAPPED, LOST, loop("single", [0.5])])
    first, second, beyond = (ask(wander.draw_curves, heals, EVERYTHING, "all", sheet) for sheet in (1, 2, 3))
    assert [one.row["loop"] for one in (*first.curves, *second.curves)] == ["lost", "dips", "capped", "calm"]
    assert (first.n_sheets, first.low, first.high) == (2, 0.4, 0.9)
    assert (beyond.curves, beyond.n_sheets) == ((), 2)


def test_marks_of_a_curve(ask):
    heals = loop("A", [0.5, 0.6, 0.7, 0.6], text=[words(0, 30), words(100, 130), words(0, 30), ""], level=[2, 2, 2, 0])
    (curve,) = ask(wander.draw_curves, heals, EVERYTHING, "all", 1).curves
    assert [(one.value, one.is_dip, one.back_to, one.idle, one.level) for one in curve.cycles] == [
        (0.5, False, None, False, 2),
        (0.6, False, None, False, 2),
        (0.7, False, 1, False, 2),
        (0.6, True, None, False, 0),
    ]


def test_cycles_that_changed_nothing_on_a_level_stretch_are_folded(ask):
    heals = loop("A", [0.5, 0.5, 0.5, 0.5, 0.6, 0.6], level=[2, 0, 0, 0, 0, 2])
    (curve,) = ask(wander.draw_curves, heals, EVERYTHING, "all", 1).curves
    assert ([one.position for one in curve.cycles], curve.n_folded) == ([1, 4, 5, 6], 2)
    (curve,) = ask(wander.draw_curves, loop("B", [0.5] * 5, text="the same"), EVERYTHING, "all", 1).curves
    assert ([one.position for one in curve.cycles], curve.n_folded) == ([1, 2, 5], 2)


def test_a_long_loop_is_drawn_by_its_lows_and_highs(ask, monkeypatch):
    monkeypatch.setattr(wander, "CYCLES_MAX", 20)
    scores = [0.5 + (0.3 if place == 50 else -0.3 if place == 77 else place % 3 / 100) for place in range(90)]
    (curve,) = ask(wander.draw_curves, loop("A", scores), EVERYTHING, "all", 1).curves
    drawn = {one.position for one in curve.cycles}
    assert {1, 51, 78, 90} <= drawn
    assert len(drawn) <= 22
    assert curve.n_thinned == 90 - len(drawn)


def test_the_demo_adds_up():
    with audited(ROOT / "fixtures" / "heal_events.jsonl", window="28d") as audit:
        found = wander.take_apart(audit)
        rows = wander.list_loops(audit, EVERYTHING).rows
    assert sum(loss.share for loss in found.losses) == pytest.approx(1 - audit.monotonicity.score)
    assert sum(row["cost"] for row in rows) == pytest.approx(100 * (1 - audit.monotonicity.score), abs=0.005 * len(rows))
