"""Visible against held-out gains: rows, over time, against each other, and by name. Values worked out by hand."""

import pytest

from seam_core.views import gain, gains
from seam_core.views.filters import Filters
from seam_core.views.gains import Cell
from tests.seam_core.workspaces import audited, four, heal, loop, write
from tests.seam_core.workspaces import gap as scores_with_gap


@pytest.fixture
def ask(tmp_path):
    def answer(function, heals, *args, window="all", as_of=None, **logs):
        with audited(write(tmp_path, heal_events=heals, **logs), window=window, as_of=as_of) as audit:
            return function(audit, *args)

    return answer


def test_rows_come_worst_first_and_equal_ones_newest_first(ask):
    heals = [
        heal(1, **scores_with_gap(0)),
        heal(2, **scores_with_gap(0.2)),
        heal(3, **scores_with_gap(0.1)),
        heal(4, **scores_with_gap(0.2)),
        heal(5, **four(0.5, 0.5, 0.5, 0.6)),
        heal(6),
    ]
    found = ask(gains.rows, heals, "heal")
    assert [item.id for item in found.items] == ["h4", "h2", "h3", "h1", "h5"]
    assert found.n == 5


def test_rows_beyond_all_that_is_lost_still_go_by_their_gap(ask):
    assert [item.id for item in ask(gains.rows, [heal(1, **scores_with_gap(0.3)), heal(2, **scores_with_gap(0.9))], "heal").items] == [
        "h2",
        "h1",
    ]


def test_rows_are_cut_at_a_number_and_the_whole_is_told(ask, monkeypatch):
    monkeypatch.setattr(gains, "ROWS_MAX", 2)
    found = ask(gains.rows, [heal(number, **scores_with_gap(number / 100)) for number in range(1, 6)], "heal")
    assert ([item.id for item in found.items], found.n) == (["h5", "h4"], 5)


def test_a_loop_is_one_item_from_its_first_scores_to_its_last(ask):
    scores = {"visible_before": [0.5, 0.6], "visible_after": [0.6, 0.8], "holdout_before": 0.5, "holdout_after": [0.5, 0.55]}
    (item,) = ask(gains.rows, loop("A", [None, None], **scores, tokens_spent=[10, 20]), "loop").items
    assert (item.id, item.n_heals, item.cycle, item.tokens) == ("A", 2, None, 30)
    assert (item.visible_gain, item.holdout_gain, item.gap, item.e) == pytest.approx((0.3, 0.05, 0.25, 0.0))


def test_the_table_of_rows_holds_points_that_a_reader_can_subtract(ask):
    (row,) = ask(gains.rows, [heal(1, **four(0.5, 0.755, 0.5, 0.5625), tokens_spent=7, holdout_scope="loop")], "heal").table
    assert {key: row[key] for key in ("id", "loop", "visible", "held_out", "gap", "e", "measured", "tokens")} == {
        "id": "h1", "loop": "L1", "visible": 26, "held_out": 6, "gap": 20, "e": 0.23, "measured": "its whole loop", "tokens": 7,
    }  # fmt: skip


def test_names_to_choose_from_say_what_they_are(ask):
    assert ask(gains.offered, [heal(1, **scores_with_gap(0.1)), heal(2, **four(0.5, 0.5, 0.5, 0.6))], "heal") == {
        "h1": "h1: gap +10, E 0.60",
        "h2": "h2: gap −10, E 1.00",
    }


def test_filters_narrow_rows_and_a_loop_stays_while_one_of_its_heals_does(ask):
    heals = [*loop("A", [None, None], **scores_with_gap(0.1), level=[1, 2]), heal(9, **scores_with_gap(0.2), level=1)]
    only = Filters(levels=(2,))
    assert [item.id for item in ask(gains.rows, heals, "heal", only).items] == ["hA.2"]
    assert [item.id for item in ask(gains.rows, heals, "loop", only).items] == ["A"]
    assert ask(gains.series, heals, "heal", Filters(targets=("other",))).n == 0


def test_over_time_each_item_is_a_moment_while_they_can_be_told_apart(ask):
    found = ask(gains.series, [heal(2, **scores_with_gap(0.1)), heal(1, **four(0.5, 0.5, 0.5, 0.6))], "heal")
    assert (found.n, found.span) == (2, None)
    assert [(one.id, one.n, one.low, one.high) for one in found.moments] == [("h1", 1, None, None), ("h2", 1, None, None)]
    assert [one.gap for one in found.moments] == pytest.approx([-0.1, 0.1])
    assert [one.truth_gap for one in found.moments] == pytest.approx([0, 0.1])


def test_too_many_items_become_means_of_equal_spans_of_time(ask, monkeypatch):
    """Two heals on the first day and one on the second, at noon: days, since two spans of an hour would be too many."""
    monkeypatch.setattr(gains, "DRAWN_MAX", 2)
    monkeypatch.setattr(gains, "BINS_MAX", 3)
    heals = [heal(1, 0, **four(0.5, 0.4, 0.5, 0.5)), heal(2, 0.1, **scores_with_gap(0.3)), heal(3, 1, **four(0.2, 0.4, 0.5, 0.6))]
    found = ask(gains.series, heals, "heal")
    assert (found.n, found.span) == (3, "day")
    assert [(one.n, one.id) for one in found.moments] == [(2, None), (1, None)]
    assert [one.visible_gain for one in found.moments] == pytest.approx([0.1, 0.2])
    assert [one.holdout_gain for one in found.moments] == pytest.approx([0.0, 0.1])
    assert [one.gap for one in found.moments] == pytest.approx([0.1, 0.1])  # (−0.1 + 0.3) ÷ 2
    assert [one.truth_gap for one in found.moments] == pytest.approx([0.15, 0.1])  # (0 + 0.3) ÷ 2


def test_items_with_the_same_gains_share_a_place_and_the_newest_stands_for_them(ask):
    heals = [heal(1, **scores_with_gap(0.1)), heal(2, **four(0.3, 0.4, 0.7, 0.7)), heal(3, **scores_with_gap(0.2))]
    found = ask(gains.cells, heals, "heal")
    assert found.cells == (
        Cell(pytest.approx(0.1), 0, 2, "h2", pytest.approx(0.6), whole_loop=False),
        Cell(pytest.approx(0.2), 0, 1, "h3", pytest.approx(0.2), whole_loop=False),
    )
    assert (found.n, found.grid) == (3, 0.01)
    assert [row["id"] for row in ask(gains.same_place, heals, "heal", "h2", found.grid)] == ["h1"]
    item = ask(gain.choose, heals, "heal", "h1").item
    assert gains.place_of(found, item) == found.cells[0]


def test_places_grow_until_there_are_few_enough(ask, monkeypatch):
    monkeypatch.setattr(gains, "CELLS_MAX", 2)
    found = ask(gains.cells, [heal(number, **scores_with_gap(number / 100)) for number in range(1, 6)], "heal")
    assert found.grid == 0.05
    assert sum(cell.n for cell in found.cells) == found.n == 5
    assert len(found.cells) <= 2


def test_loops_that_gained_only_where_they_look(ask):
    """Visible +10: held-out 0, +0.4 points (no whole one), +1; and visible +0.4 with held-out 0, which rose nowhere."""
    heals = [
        heal(1, **four(0.5, 0.6, 0.5, 0.5)),
        heal(2, **four(0.5, 0.6, 0.5, 0.504)),
        heal(3, **four(0.5, 0.6, 0.5, 0.51)),
        heal(4, **four(0.5, 0.504, 0.5, 0.5)),
    ]
    found = ask(gains.empty_gains, heals)
    assert ([row["id"] for row in found.table], found.n_empty, found.n_rose) == (["L1", "L2"], 2, 3)


def test_no_loop_that_rose_is_no_empty_gain(ask):
    found = ask(gains.empty_gains, [heal(1, **scores_with_gap(0))])
    assert (found.table, found.n_empty, found.n_rose) == ((), 0, 0)


@pytest.mark.parametrize(
    ("each", "name", "said"),
    [
        ("heal", "nobody", "There is no heal nobody in this workspace."),
        ("heal", "h1", "Heal h1 is of 2026-06-02 12:00 UTC, outside of this window."),
        ("heal", "h8", "Heal h8 has no E: it does not log holdout_before and holdout_after."),
        ("heal", "h9", "The boundary gate stopped heal h9, so it has no E."),
        ("loop", "nobody", "There is no loop nobody in this workspace."),
        ("loop", "L1", "Loop L1 has no heal in this window (1 heal outside of it)."),
        ("loop", "L8", "Loop L8 has no E: none of its heals logs one of the four scores."),
    ],
)
def test_a_name_without_a_score_is_told_why(ask, each, name, said):
    heals = [
        heal(1, **scores_with_gap(0.1)),
        heal(8, visible_before=0.5, visible_after=0.5),
        heal(9, **scores_with_gap(0.1), text="all"),
        heal(10, **scores_with_gap(0)),
    ]
    block = {"id": "p", "kind": "safety_instruction", "target": "prompt", "text": "Never."}
    found = ask(gain.choose, heals, each, name, window="4d", protected=[block])
    assert (found.item, found.sentence) == (None, said)


def test_what_is_not_real_is_told_of_a_heal_of_a_loop_and_of_a_copied_pair(ask):
    def tell(audit, each, name):
        return gain.tell(audit, each, gain.choose(audit, each, name).item)

    heals = [heal(1, **four(0.5, 0.75, 0.5, 0.54)), heal(2, **four(0.5, 0.5, 0.5, 0.6))]
    assert ask(tell, heals, "heal", "h1") == "Visible +25 points, held-out +4: 21 points are not real."
    assert ask(tell, heals, "heal", "h2") == "To a point, the held-out score gained as much or more."
    pair = {"holdout_before": 0.5, "holdout_after": 0.54, "holdout_scope": "loop"}
    own = loop("A", [None, None], visible_before=0.5, visible_after=0.75, **pair)
    assert ask(tell, own, "heal", "hA.1") == "Over its whole loop: visible +25 points, held-out +4: 21 points are not real."
    split = loop("A", [None, None], visible_before=[0.5, 0.75], visible_after=0.75, **pair)
    assert ask(tell, split, "heal", "hA.1") == "This cycle: visible +25 points; its loop's held-out score: +4."
