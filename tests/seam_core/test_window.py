"""The stretch of time a report speaks of: start < ts ≤ end, ends as asked, and nothing made up when it is empty."""

from datetime import UTC, datetime, timedelta

import pytest

from seam_core.errors import WindowError
from seam_core.report import report, window_of
from seam_core.window import Window, make_window, parse_end, parse_span
from tests.seam_core.workspaces import at, audited, cases, gap, heal, opened, report_on, run, write

END = datetime(2026, 6, 9, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("7d", timedelta(days=7)),
        ("24h", timedelta(hours=24)),
        ("4w", timedelta(weeks=4)),
        ("1h", timedelta(hours=1)),
        ("99999d", timedelta(days=99999)),
        ("all", None),
    ],
)
def test_a_span_is_hours_days_weeks_or_all(text, length):
    assert parse_span(text) == length


@pytest.mark.parametrize(
    "text", ["", "7", "d", "0d", "07d", "-7d", "7 d", " 7d", "7d ", "7D", "7m", "1.5d", "all ", "ALL", "٧d", "999999d", "7d\n"]
)
def test_anything_else_is_no_span(text):
    with pytest.raises(WindowError, match="write it as 7d, 24h, 4w or all"):
        parse_span(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-06-09", "2026-06-09T23:59:59.999999+00:00"),
        ("2024-02-29", "2024-02-29T23:59:59.999999+00:00"),
        ("2026-06-09T14:22:31Z", "2026-06-09T14:22:31+00:00"),
        ("2026-06-09T14:22:31", "2026-06-09T14:22:31+00:00"),
        ("2026-06-09T00:30:00+02:00", "2026-06-08T22:30:00+00:00"),
        ("2026-06-09t14:22:31z", "2026-06-09T14:22:31+00:00"),
        ("2026-06-09 14:22", "2026-06-09T14:22:00+00:00"),
        ("2026-06-09T14:22:31.123456789Z", "2026-06-09T14:22:31.123456+00:00"),
    ],
)
def test_an_end_is_the_last_moment_of_a_date_or_a_time(text, moment):
    assert parse_end(text).isoformat() == moment


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-06-31", "20260609", "2026-W23", "2026-160", "2026-06-09T14", "2026-06-09T24:00:00Z", "2026-06-09T14:22:60Z",
     "2026-06-09T14:22:31 +0200", "09.06.2026", "1780000000", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "２０２６-06-09"],
)  # fmt: skip
def test_anything_else_is_no_end(text):
    with pytest.raises(WindowError, match="write it as 2026-06-09 or 2026-06-09T14:22:31Z"):
        parse_end(text)


def test_a_window_says_its_dates_and_moves_as_one():
    window = make_window("7d", end=END)
    assert (window.start, window.label) == (datetime(2026, 6, 2, 12, tzinfo=UTC), "2026-06-02 .. 2026-06-09")
    assert window.previous == Window(datetime(2026, 5, 26, 12, tzinfo=UTC), datetime(2026, 6, 2, 12, tzinfo=UTC))
    assert make_window("all", end=END, first=datetime(2026, 1, 5, tzinfo=UTC)).label == "2026-01-05 .. 2026-06-09"
    assert make_window("all", end=END).previous is None


def test_no_window_leaves_the_calendar():
    """99,999 weeks are 1,916 years: they fit before 2026, twice over they do not."""
    assert make_window("99999w", end=END).start.year == 109
    assert make_window("99999w", end=END).previous is None
    with pytest.raises(WindowError, match="before the year 2000"):
        make_window("7d", end=datetime(1999, 12, 31, tzinfo=UTC))


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """Heals exactly on the edges of the week that ends on day 7, and a microsecond beside them."""
    days = {
        "on the start": (0, 0),
        "just after the start": (0, 0.000001),
        "inside": (3, 0),
        "on the end": (7, 0),
        "just after": (7, 0.000001),
    }
    heals = [heal(name, 1, ts=at(*moment), **gap(0)) for name, moment in days.items()]
    with opened(write(tmp_path_factory.mktemp("weeks"), heal_events=heals)) as store:
        yield store


@pytest.mark.parametrize(
    ("span", "as_of", "n_heals"),
    [
        ("7d", "2026-06-08T12:00:00Z", 3),
        ("7d", None, 3),  # ends with the newest heal, a microsecond later: the start moves with it
        ("7d", "2026-06-08T12:00:00.000001Z", 3),
        ("7d", "2026-06-08", 3),
        ("1h", "2026-06-01T12:00:00Z", 1),
        ("all", "2026-06-08T12:00:00Z", 4),
        ("all", None, 5),
        ("7d", "2026-06-08T14:00:00+02:00", 3),
        ("7d", "2026-06-11", 2),
    ],
)
def test_the_start_is_left_out_and_the_end_is_in(weeks, span, as_of, n_heals):
    window = window_of(weeks, span=span, as_of=as_of)
    count = "select count(*) from heals where ts > coalesce($start, '-infinity'::timestamptz) and ts <= $stop"
    assert weeks.cursor().execute(count, {"start": window.start, "stop": window.end}).fetchall() == [(n_heals,)]


def test_the_report_counts_what_the_window_holds(tmp_path):
    heals = [heal(1, 0, **gap(0)), heal(2, 3, **gap(0.25)), heal(3, 7, **gap(0.25))]
    found = report_on(write(tmp_path, heal_events=heals), window="7d")
    assert (found["window"], found["counts"]["heals"], found["E"]) == ("2026-06-01 .. 2026-06-08", 2, 0.0)


def test_an_empty_window_is_null_with_reasons_and_alerts_nothing(tmp_path):
    runs = [run("r", "nightly", 1, {"c0": True, "c1": True})]
    heals = write(tmp_path, heal_events=[heal(1, **gap(0.25))], suite_runs=runs, surface=cases(2), certified={"c0": "pass", "c1": "pass"})
    with audited(heals, window="7d", as_of="2026-01-01") as found:
        made = report(found)
        assert found.exit_code == 0
    assert [made[axis] for axis in ("S", "E", "A", "M", "min")] == [None] * 5
    assert {made[axis]["reason"] for axis in ("signal", "efficacy", "aftermath", "monotonicity")} == {"no heal in the window"}
    assert (made["alerts"], made["gate_blocks"], made["budget_elevated"], made["contamination"]) == ([], 0, 0, None)
    assert (made["recertify_due"], made["aftermath"]["anchored_drift"]) == (False, 0.0)  # drift is not windowed
    assert {key: made["counts"][key] for key in ("heals", "scored", "blocked", "loops", "signatures")} == dict.fromkeys(
        ("heals", "scored", "blocked", "loops", "signatures"), 0
    )
    assert "the window holds no heal: nothing is scored" in made["flags"]


def test_recertification_stays_due_in_an_empty_window(tmp_path):
    runs = [run("r", "nightly", 1, {"c0": True, "c1": False})]
    heals = write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=cases(2), certified={"c0": "pass", "c1": "pass"})
    with audited(heals, window="7d", as_of="2026-01-01") as found:
        assert (report(found)["recertify_due"], found.exit_code) == (True, 2)


def test_a_window_of_blocked_heals_is_empty_too_but_says_what_was_blocked(tmp_path):
    protected = [{"id": "p", "kind": "tool_permission", "target": "*"}]
    with audited(write(tmp_path, heal_events=[heal(1, text="x", **gap(0))], protected=protected)) as found:
        assert set(found.scores.values()) == {None}
        assert (found.counts["heals"], found.counts["scored"], found.counts["blocked"], found.exit_code) == (1, 0, 1, 2)
