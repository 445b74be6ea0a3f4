"""The Efficacy charts: what is drawn from given numbers, the thresholds, and names that are no markup."""

from datetime import UTC, datetime

import pytest

from pages.parts.figures import efficacy as figures
from seam_core.views.gains import Cell, Cells, Moment, Series
from seam_core.views.resolution import Resolution
from seam_core.views.widening import Look, LoopGap

TIME = datetime(2026, 6, 9, 12, tzinfo=UTC)
EXAM = Resolution(0.02, "")


def moment(visible=0.25, held_out=0.04, **changes):
    gap = visible - held_out
    gains = {"ts": TIME, "n": 1, "visible_gain": visible, "holdout_gain": held_out, "gap": gap, "truth_gap": max(0, gap)}
    return Moment(**(gains | {"id": "h1", "whole_loop": False} | changes))


def named(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_each_item_is_two_marks_with_its_gap_between_them_and_the_line_is_drawn():
    series = Series((moment(), moment(0.0, 0.1, id="h2", whole_loop=True)), 2, None)
    figure = figures.gains_over_time(series, EXAM, gap_max=0.25, each="heal", at=TIME)
    traces = named(figure)
    assert list(traces["visible gain"].y) == [25, 0]
    assert list(traces["held-out gain"].y) == [4, 10]
    assert list(traces["held-out gain"].marker.symbol) == ["square", "square-open"]
    assert list(traces["gap"].y) == [25, 4, None]
    assert list(traces["no gap"].y) == [0, 10, None]
    assert traces["visible gain"].text[0] == "h1<br>2026-06-09 12:00 UTC<br>visible +25, held-out +4: gap +21 points"
    assert [shape.y0 for shape in figure.layout.shapes if shape.y0 == shape.y1] == [25]


def test_means_are_two_lines_with_the_gap_shaded_and_the_mean_truth_gap_below():
    series = Series((moment(0.1, 0.1, id=None, n=40, truth_gap=0.06),), 40, "week")
    figure = figures.gains_over_time(series, EXAM, gap_max=0.25, each="heal", at=None)
    assert named(figure)["visible gain"].fill == "tonexty"
    assert list(figure.data[-1].y) == [6]
    assert figure.layout.yaxis2.title.text == "mean truth gap (points)"
    assert "means of 40 heals" in figure.data[0].text[0]


def test_a_range_is_drawn_when_there_is_one_and_never_else():
    bare = figures.gains_over_time(Series((moment(),), 1, None), EXAM, gap_max=0.25, each="heal", at=None)
    assert bare.data[-1].error_y.array is None
    some = figures.gains_over_time(Series((moment(low=0.11, high=0.26),), 1, None), EXAM, gap_max=0.25, each="heal", at=None)
    assert (some.data[-1].error_y.array[0], some.data[-1].error_y.arrayminus[0]) == pytest.approx((5, 10))


def test_an_axis_is_never_finer_than_two_cases():
    series = Series((moment(0.001, 0.0),), 1, None)
    figure = figures.gains_over_time(series, Resolution(1 / 15, ""), gap_max=0.25, each="heal", at=None)
    low, high = figure.layout.yaxis.range
    assert low < -13
    assert high > 13


def test_marks_go_by_their_e_and_one_exactly_on_the_line_does_not_alert():
    marks = ((0.0, 9, "a", 1.0), (0.05, 1, "b", 0.8 - 1e-12), (0.1, 1, "c", 0.6))
    found = Cells(tuple(Cell(visible, 0.0, n, name, e, whole_loop=False) for visible, n, name, e in marks), 11, 0.01)
    figure = figures.one_against_the_other(found, EXAM, gap_max=0.25, alert=0.8, each="heal", chosen=found.cells[2])
    traces = named(figure)
    assert [list(traces[name].customdata) for name in ("no gap", "gap, E 0.80 or more", "E below 0.80")] == [["a"], ["b"], ["c"]]
    assert traces["no gap"].text[0].startswith("9 heals, newest a<br>")
    assert traces["no gap"].marker.size[0] > traces["E below 0.80"].marker.size[0]
    line = traces["E is 0: gap 25 points"]
    assert line.y[0] - line.x[0] == -25
    assert list(traces["chosen"].x) == [10]


def test_the_loops_of_the_widening_test_are_drawn_with_their_slope():
    loops = tuple(LoopGap(f"L{at}", TIME, at / 100) for at in range(8))
    look = Look(TIME, loops, 0.01, 0.07, 0.001, fires=True, why="fires")
    reach = figures.extent([look], gap_max=0.25)
    figure = figures.widening_loops(look, gap_max=0.25, extent=reach)
    assert reach[0] < 0
    assert reach[1] > 0.25
    assert list(named(figure)["mean gap of a loop"].y) == pytest.approx([*range(8)])
    assert list(named(figure)["median slope"].y) == pytest.approx([0, 7])


def test_a_name_in_a_hover_is_text():
    series = Series((moment(id="<b>x</b>&\u202e" + "y" * 100),), 1, None)
    figure = figures.gains_over_time(series, EXAM, gap_max=0.25, each="heal", at=None)
    said = named(figure)["visible gain"].text[0].split("<br>")[0]
    assert said.startswith("&lt;b&gt;x&lt;/b&gt;&amp;\\u202e")
    assert said.endswith("…")
