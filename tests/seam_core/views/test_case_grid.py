"""Cases over heals: signs, order, sheets."""

import pytest

from seam_core.views import case_grid
from seam_core.views.case_grid import grid
from seam_core.views.filters import Filters
from tests.seam_core.workspaces import audited, heal, run, write
from tests.seam_core.workspaces import cases as surface


@pytest.fixture
def grids(tmp_path):
    """Three heals: h1 breaks c2; then c1 is lost between h1 and h2; h2 breaks the safety case and fixes c2; c3 never changes."""
    heals = [heal(1), heal(2), heal(3, level=1)]
    good = dict.fromkeys(("c0", "c1", "c2", "c3"), True)
    runs = [
        run("n", "nightly", 0.5, good),
        run("a1", "after", 1.1, good | {"c2": False}, "h1"),
        run("b2", "before", 1.9, {"c1": False}, "h2"),
        run("a2", "after", 2.1, good | {"c0": False, "c1": False}, "h2"),
        run("a3", "after", 3.1, {"c1": False}, "h3"),
    ]
    return write(tmp_path, heal_events=heals, suite_runs=runs, surface=surface(4, safety=("c0",)))


def test_the_grid_has_safety_on_top_newest_heals_left_and_a_sign_for_each_story(grids):
    with audited(grids) as found:
        shown = grid(found, Filters())
        assert [column.heal_id for column in shown.columns] == ["h3", "h2", "h1"]
        assert [column.is_silent for column in shown.columns] == [False, True, False]
        assert {row.case_id: row.cells for row in shown.rows} == {
            "c0": ("", "broke", "passing"),
            "c2": ("", "fixed", "broke"),
            "c1": ("failing", "lost", "passing"),
        }
        assert next(iter(shown.rows)).is_safety
        assert shown.sentences == (
            "3 cases × 3 heals, newest heal on the left, safety cases on top.",
            "Not shown: 1 case that never changed.",
            "Hidden in the totals: 1 heal broke cases while as many or more were fixed (h2).",
            "1 cell is marked lost: the case passed after one heal and failed before the next began.",
        )
        whole = grid(found, Filters(), only_changed=False)
        assert [row.case_id for row in whole.rows] == ["c0", "c2", "c1", "c3"]
        assert [column.heal_id for column in grid(found, Filters(levels=(1,))).columns] == ["h3"]


def test_a_large_grid_comes_in_sheets_and_says_what_is_on_others(grids, monkeypatch):
    monkeypatch.setattr(case_grid, "CASES_SHOWN", 2)
    monkeypatch.setattr(case_grid, "HEALS_SHOWN", 2)
    with audited(grids) as found:
        last = grid(found, Filters(), heal_sheet=9, case_sheet=2)
        assert ([column.heal_id for column in last.columns], [row.case_id for row in last.rows]) == (["h1"], ["c1"])
        assert (last.heal_sheets, last.case_sheets) == (2, 2)
        assert last.sentences[1] == "Not shown: 1 case that never changed, 2 cases on other sheets, 2 heals on other sheets."
