"""The Signal page's numbers, worked out by hand: the sum, what each signature costs, what came back, labels, timeline, duplicates."""

from datetime import timedelta
from pathlib import Path

import pytest

from seam_core import reviews
from seam_core.ledger import Ledger, Local
from seam_core.views import signal, signal_duplicates, signal_reviews, signal_timeline
from seam_core.views.filters import Filters
from seam_core.views.signal import time_in_words
from tests.seam_core.workspaces import START, audited, failure, heal, write

EVERYTHING = Filters()
ROOT = Path(__file__).parents[3]


@pytest.fixture
def ask(tmp_path):
    """What a function says of a small workspace."""

    def answer(function, heals, *args, window="all", as_of=None, thresholds=None, **logs):
        with audited(write(tmp_path, heal_events=heals, **logs), window=window, as_of=as_of, **(thresholds or {})) as audit:
            return function(audit, *args)

    return answer


@pytest.fixture(scope="module")
def demo_audit():
    with audited(ROOT / "fixtures" / "heal_events.jsonl", window="28d") as audit:
        yield audit


def real(number, days=None, *, label=True, **changes):
    return heal(number, days, **({"was_real_failure": label} | changes))


# Three real, one not, two missed, one of four back: precision 3/4, recall 3/5, F1 2/3, recurrence 1/4, S = 0.4 + 0.3 = 0.70.
EXAMPLE = [real(1), real(2), real(3), real(4, label=False)]
FAILED = [failure("Err:1", 2), failure("m1", 1.5), failure("m2", 3), failure("m2", 3.5)]


def by_signature(rows, key):
    return {row["signature"]: row[key] for row in rows}


def test_the_sum_can_be_redone_from_its_lines(ask):
    found = ask(signal.take_apart, EXAMPLE, failures=FAILED)
    assert found.lines == (
        "precision = 3 real ÷ (3 + 1 not real) = 0.75",
        "recall = 3 real ÷ (3 + 2 missed) = 0.6",
        "F1 = 2 · 0.75 · 0.6 ÷ (0.75 + 0.6) = 0.667",
        "recurrence = 1 came back ÷ 4 healed = 0.25",
        "S = 0.6 · 0.667 + 0.4 · (1 − 0.25) = 0.70",
    )


def test_the_shares_behind_the_score_have_their_ranges(ask):
    """Wilson, by hand: 3 of 4 is 30–95 %, 3 of 5 is 23–88 %, 1 of 4 is 4–70 %, all rounded outwards."""
    said = ask(signal.rates_sentence, EXAMPLE, failures=FAILED)
    assert said == "95 % ranges of these shares: precision 30–96 %, recall 23–89 % and recurrence 4–70 %."
    assert not ask(signal.rates_sentence, [real(1)], window="24h", as_of="2026-08-01")


def test_what_was_lost_adds_up_to_one_less_the_score(ask):
    """F1 = 2·3 ÷ (2·3 + 1 + 2) = 6/9: the false alarm costs 0.6/9, the two missed 1.2/9, the one that came back 0.4/4."""
    found = ask(signal.take_apart, EXAMPLE, failures=FAILED)
    assert [(loss.n, loss.share) for loss in found.losses] == [
        (1, pytest.approx(0.6 / 9)),
        (2, pytest.approx(1.2 / 9)),
        (1, pytest.approx(0.1)),
    ]
    assert sum(loss.share for loss in found.losses) == pytest.approx(1 - 0.7)
    assert [loss.working for loss in found.losses] == ["0.6 × 1 ÷ (2 × 3 + 1 + 2)", "0.6 × 2 ÷ (2 × 3 + 1 + 2)", "0.4 × 1 ÷ 4"]


def test_without_a_failure_log_precision_stands_in_and_nothing_is_called_missed(ask):
    found = ask(signal.take_apart, [real(1, 0), real(2, 1, label=False)])
    assert found.lines == (
        "precision = 1 real ÷ (1 + 1 not real) = 0.5",
        "recurrence = 0 came back ÷ 2 healed = 0",
        "S = 0.6 · 0.5 + 0.4 · (1 − 0) = 0.70",
    )
    assert [(loss.label, loss.share) for loss in found.losses] == [("healed, not real", pytest.approx(0.3)), ("healed, came back", 0)]


def test_nothing_real_makes_f1_zero_and_the_losses_still_add_up(ask):
    found = ask(signal.take_apart, [real(1, label=False)], failures=[failure("m", 1)])
    assert "F1 = 0, as both are 0" in found.lines
    assert found.score == pytest.approx(0.4)
    assert sum(loss.share for loss in found.losses) == pytest.approx(0.6)


def test_without_a_label_there_are_lines_but_no_score_and_no_losses(ask):
    found = ask(signal.take_apart, [heal(1)], failures=[])
    assert (found.score, found.lines, found.losses) == (None, ("recurrence = 0 came back ÷ 1 healed = 0",), ())


def test_without_a_heal_there_is_nothing(ask):
    found = ask(signal.take_apart, [real(1)], window="24h", as_of="2026-08-01")
    assert (found.score, found.lines, found.losses) == (None, (), ())
    assert ask(signal.list_signatures, [real(1)], EVERYTHING, window="24h", as_of="2026-08-01").rows == ()
    assert ask(signal.list_returns, [real(1)], window="24h", as_of="2026-08-01") == ()


def test_signatures_come_by_what_they_cost_and_the_costs_are_the_points_lost(ask):
    """One that came back costs 40/4 = 10; false alarms and missed ones 60/9 = 6.67 each: 10 + 3 × 6.67 = 30."""
    rows = ask(signal.list_signatures, EXAMPLE, EVERYTHING, failures=FAILED).rows
    assert [row["signature"] for row in rows] == ["Err:1", "m2", "Err:4", "m1", "Err:2", "Err:3"]
    assert [row["cost"] for row in rows] == [10, 6.67, 6.67, 6.67, 0, 0]
    assert by_signature(rows, "verdict") == {
        "Err:1": "real", "Err:2": "real", "Err:3": "real", "Err:4": "not real", "m1": "missed", "m2": "missed",
    }  # fmt: skip
    assert by_signature(rows, "failures") == {"Err:1": 1, "Err:2": 0, "Err:3": 0, "Err:4": 0, "m1": 1, "m2": 2}


@pytest.mark.parametrize(
    ("shown", "names"),
    [("not real", ["Err:4"]), ("missed", ["m2", "m1"]), ("came back", ["Err:1"]), ("no label", ["Err:5"])],
)
def test_the_list_can_be_narrowed(ask, shown, names):
    rows = ask(signal.list_signatures, [*EXAMPLE, heal(5)], EVERYTHING, shown, failures=FAILED).rows
    assert [row["signature"] for row in rows] == names


def test_a_filter_keeps_signatures_with_such_a_heal_and_leaves_their_numbers_alone(ask):
    heals = [real(1, sig="E", level=0), real(2, sig="E", level=2), real(3, sig="F", level=0)]
    (row,) = ask(signal.list_signatures, heals, Filters(levels=(2,)), failures=[failure("m", 1)]).rows
    assert (row["signature"], row["heals"]) == ("E", 2)


def test_one_signature_is_found_whatever_the_list_is_narrowed_to(ask, monkeypatch):
    monkeypatch.setattr(signal, "ROWS_MAX", 1)
    assert ask(signal.find_signature, EXAMPLE, "Err:3", failures=FAILED)["verdict"] == "real"
    assert ask(signal.find_signature, EXAMPLE, "m1", failures=FAILED)["back"] == "never healed"
    assert ask(signal.find_signature, EXAMPLE, "nothing", failures=FAILED) is None


def test_labels_of_one_signature_are_counted_apart(ask):
    heals = [real(1, sig="E"), real(2, sig="E", label=False), heal(3, sig="E", loop_id="L1")]
    (row,) = ask(signal.list_signatures, heals, EVERYTHING).rows
    assert (row["real"], row["not_real"], row["unlabelled"], row["heals"], row["loops"]) == (1, 1, 1, 3, 2)
    assert row["failures"] is None  # no failure log: not known, not 0
    assert signal.describe(row) == "Verdict real. 3 heals in 2 loops: 1 real, 1 not real, 1 without a label. Came back: after 24 hours."


def test_when_a_failure_came_back_is_said_in_words(ask):
    heals = [real(1, 0), real(2, 0), real(3, 0), real(4, 0), real(5, 0, loop_id="L5"), real(6, 2, loop_id="L5"), real(7, 20)]
    failures = [failure("Err:1", 3), failure("Err:2", 9), failure("Err:5", 1), failure("m", 1)]
    back = by_signature(ask(signal.list_signatures, heals, EVERYTHING, failures=failures).rows, "back")
    assert back == {
        "Err:1": "after 3 days", "Err:2": "only after 9 days", "Err:3": "no", "Err:4": "no",
        "Err:5": "after 24 hours, its loop still at work", "Err:6": "no", "Err:7": "not yet", "m": "never healed",
    }  # fmt: skip


def test_a_missed_signature_says_whether_it_was_healed_before_after_or_stopped(ask):
    heals = [real(1, 0, sig="before"), real(2, 5, sig="x"), real(3, 9, sig="after"), real(4, 5, sig="stopped", target="safe", text="x")]
    failures = [failure(name, 5) for name in ("before", "after", "stopped", "never")]
    blocks = [{"id": "b", "kind": "tool_permission", "target": "safe"}]
    found = ask(signal.list_signatures, heals, EVERYTHING, "missed", window="2d", as_of="2026-06-07", failures=failures, protected=blocks)
    assert by_signature(found.rows, "back") == {
        "before": "healed before the window", "after": "healed after the window",
        "stopped": "its heal was blocked", "never": "never healed",
    }  # fmt: skip


def test_the_list_is_cut_and_the_whole_is_told(ask, monkeypatch):
    monkeypatch.setattr(signal, "ROWS_MAX", 2)
    found = ask(signal.list_signatures, EXAMPLE, EVERYTHING, failures=FAILED)
    assert (len(found.rows), found.n_found) == (2, 6)


def test_shares_of_those_that_came_back_count_only_those_with_the_time_behind_them(ask):
    """The newest record is day 40. E1 (day 0) came back after 3 days, E2 (day 0) after 10, E3 (day 0) never, E4 (day 35) after 1 day, E5
    (day 36) not yet: 4 days behind.
    """
    heals = [real(1, 0), real(2, 0), real(3, 0), real(4, 35), real(5, 36)]
    failures = [failure("Err:1", 3), failure("Err:2", 10), failure("Err:4", 36), failure("m", 40)]
    found = {one.days: one for one in ask(signal.list_returns, heals, failures=failures)}
    assert [(days, one.n_followed, one.n_followed_back, one.n_back, one.n_open) for days, one in found.items()] == [
        (7, 3, 1, 2, 1),
        (14, 3, 2, 3, 1),
        (30, 3, 2, 3, 1),
    ]
    assert [one.is_scored for one in found.values()] == [True, False, False]
    assert found[14].sentence == (
        "Of 3 signatures with 14 days behind the last heal, 2 came back (67 %, 95 % range 20–94 %). "
        "For the other 2 that time is not over; 1 of them came back already."
    )


def test_the_days_in_force_are_among_the_horizons(ask):
    found = ask(signal.list_returns, [real(1, 0)], failures=[failure("Err:1", 2)], thresholds={"recurrence_days": 1})
    assert [(one.days, one.is_scored, one.n_back) for one in found] == [(1, True, 0), (7, False, 1), (14, False, 1), (30, False, 1)]
    assert found[0].sentence == "Of 1 signature with 1 day behind the last heal, 0 came back (0 %, 95 % range 0–80 %)."
    assert found[1].sentence == "No signature has 7 days behind its last heal yet; 1 of 1 came back so far."


def test_without_a_failure_log_another_loop_says_that_it_came_back_and_blocked_heals_do_not(ask):
    heals = [real(1, 0, sig="E"), real(2, 10, sig="E"), real(3, 0, sig="F"), real(4, 10, sig="F", target="safe", text="x"), real(5, 60)]
    blocks = [{"id": "b", "kind": "tool_permission", "target": "safe"}]
    options = {"window": "1d", "as_of": "2026-06-02T12:00:00Z", "protected": blocks}
    found = {one.days: one for one in ask(signal.list_returns, [real(9, 0.5), *heals], **options)}
    assert [(one.n, one.n_back) for one in found.values()] == [(1, 0), (1, 0), (1, 0)]
    found = {one.days: one for one in ask(signal.list_returns, heals, window="2d", as_of="2026-06-02T12:00:00Z", protected=blocks)}
    assert [(days, one.n, one.n_back, one.n_followed) for days, one in found.items()] == [(7, 2, 0, 2), (14, 2, 1, 2), (30, 2, 1, 2)]


def test_the_scored_horizon_agrees_with_the_score(ask):
    heals = [real(number, number % 5, sig=f"E{number % 7}", loop_id=f"L{number % 3}") for number in range(40)]
    failures = [failure(f"E{number % 9}", number / 3) for number in range(60)]
    for logs in ({}, {"failures": failures}):
        (scored,) = [one for one in ask(signal.list_returns, heals, **logs) if one.is_scored]
        assert scored.n_back / scored.n == ask(lambda audit: audit.signal.recurrence, heals, **logs)


def test_labels_are_counted_by_their_source(ask):
    heals = [real(1, label_source="probe1"), real(2, label=False, label_source="probe1"), real(3), heal(4), heal(5)]
    rows, n_unlabelled = ask(signal.list_labels, heals)
    assert rows == (
        {"source": "one plain retry (probe1)", "real": 1, "not_real": 1, "heals": 2},
        {"source": "label without a source", "real": 1, "not_real": 0, "heals": 1},
    )
    assert n_unlabelled == 2


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (3, "3 days"),
        (2.26, "2.3 days"),
        (12.4, "12 days"),
        (1.5, "36 hours"),
        (0.5, "12 hours"),
        (0.05, "72 minutes"),
        (1 / 1440, "1 minute"),
    ],
)
def test_lengths_of_time(days, words):
    assert time_in_words(days) == words


def test_the_timeline_joins_a_failure_to_the_heal_it_came_back_after(ask):
    heals = [real(1, 0, sig="E"), real(2, 1, sig="E", label=False), heal(3, 20, sig="E"), real(4, 0, sig="F")]
    failures = [failure("E", 0), failure("E", 3), failure("E", 15)]
    found = ask(signal_timeline.draw_timeline, heals, EVERYTHING, ("E", "F", "none"), failures=failures)
    first, second = found.lanes
    assert [one.label for one in first.heals] == [True, False, None]
    assert [one.healed_ts and (one.healed_ts - START).days for one in first.failures] == [None, 1, None]
    assert first.again == ((START + timedelta(days=1), START + timedelta(days=3)),)
    assert (second.signature, second.again, second.n_heals) == ("F", (), 1)


def test_the_timeline_goes_on_for_the_days_in_which_a_failure_may_come_back(ask):
    heals = [real(1, 0, sig="E"), real(2, 3, sig="E"), real(3, 30, sig="E")]
    found = ask(
        signal_timeline.draw_timeline, heals, EVERYTHING, ("E",), window="1d", as_of="2026-06-02T00:00:00Z", failures=[failure("E", 5)]
    )
    (lane,) = found.lanes
    assert [one.inside for one in lane.heals] == [True, False]
    assert len(lane.again) == 1
    assert found.until == START + timedelta(days=5)


def test_without_a_failure_log_the_timeline_joins_heals_of_other_loops(ask):
    heals = [real(1, 0, sig="E"), real(2, 1, sig="E", loop_id="L1"), real(3, 3, sig="E"), real(4, 20, sig="E")]
    (lane,) = ask(signal_timeline.draw_timeline, heals, EVERYTHING, ("E",)).lanes
    assert [((a - START).days, (b - START).days) for a, b in lane.again] == [(1, 3)]


def test_a_crowded_lane_is_thinned_out_and_keeps_its_ends_and_its_totals(ask, monkeypatch):
    monkeypatch.setattr(signal_timeline, "MARKS_MAX", 20)
    heals = [real(number, number / 100, sig="E") for number in range(101)]
    (lane,) = ask(signal_timeline.draw_timeline, heals, EVERYTHING, ("E",), failures=[failure("E", day) for day in (0, 1, 2)]).lanes
    assert (lane.n_heals, lane.n_failures, lane.is_thinned) == (101, 3, True)
    assert len(lane.heals) <= 21
    assert (lane.heals[0].heal_id, lane.heals[-1].heal_id) == ("h0", "h100")


def test_events_of_a_signature_are_heals_and_failures_newest_first(ask):
    heals = [real(1, 0, sig="E", label_source="judge"), real(2, 0, sig="F")]
    events = ask(signal_timeline.list_events, heals, EVERYTHING, "E", failures=[failure("E", 2), failure("E", -1)])
    assert [(event["what"], event["heal"], event["source"]) for event in events] == [
        ("failure came back 2 days after a heal", "", ""),
        ("heal: labelled real", "h1", "judge"),
        ("failure logged", "", ""),
    ]


def test_filters_narrow_the_heals_of_the_timeline_and_not_the_failures(ask):
    heals = [real(1, 0, sig="E", level=0), real(2, 1, sig="E", level=2)]
    (lane,) = ask(signal_timeline.draw_timeline, heals, Filters(levels=(2,)), ("E",), failures=[failure("E", 0)]).lanes
    assert ([one.heal_id for one in lane.heals], lane.n_failures) == (["h2"], 1)


def test_a_signature_that_is_not_there_is_told_from_one_outside_the_window(ask):
    assert ask(signal_timeline.absent, [real(1, 0, sig="E")], "X") == "No heal and no logged failure of this workspace has this signature."
    told = ask(signal_timeline.absent, [real(1, 0, sig="E"), real(2, 30)], "E", window="1d", failures=[failure("E", 1)])
    assert told == "No heal and no failure of this window has this signature; the logs hold 1 heal and 1 failure of it outside."


def test_a_signature_of_blocked_heals_alone_says_so(ask):
    blocks = [{"id": "b", "kind": "tool_permission", "target": "safe"}]
    told = ask(signal_timeline.absent, [real(1, 0, sig="E", target="safe", text="x"), real(2, 1)], "E", protected=blocks)
    assert told == "The boundary gate stopped the only heal on this signature, so no heal of it counts."


def test_duplicates_count_what_came_back_under_another_name(ask):
    heals = [real(1, 0, sig="t:x:feed"), real(2, 0, sig="t:x:other")]
    failures = [failure("t:x:feed-2", 3), failure("t:x:feed-2", 9), failure("t:x:feed", 4)]
    found = ask(signal_duplicates.find_duplicates, heals, failures=failures)
    (row,) = found.rows
    assert (row["signature"], row["others"]) == ("t:x:feed", ("t:x:feed-2",))
    assert (row["heals"], row["failures"], row["crossed"]) == (1, 2, 1)  # the one on day 9 is beyond the seven days


def test_without_a_failure_log_nobody_knows_what_came_back_under_another_name(ask):
    (row,) = ask(signal_duplicates.find_duplicates, [real(1, sig="t:x:feed"), real(2, sig="T:x:feed")]).rows
    assert (row["failures"], row["crossed"]) == (None, None)


def test_the_demo_finds_the_split_signatures_that_were_planted(demo_audit):
    rows = signal_duplicates.find_duplicates(demo_audit).rows
    assert ("parse_error:queue_peek:onboarding_split", ("parse_error:queue_peek:onboarding-split-9",)) in [
        (row["signature"], row["others"]) for row in rows
    ]


def test_the_demo_adds_up(demo_audit):
    found = signal.take_apart(demo_audit)
    assert sum(loss.share for loss in found.losses) == pytest.approx(1 - demo_audit.signal.score)
    rows = signal.list_signatures(demo_audit, EVERYTHING).rows
    assert sum(row["cost"] for row in rows) == pytest.approx(100 * (1 - demo_audit.signal.score), abs=0.005 * len(rows))


@pytest.fixture
def compare(tmp_path):
    """Labels beside the verdicts given: heal → who says what."""

    def answer(heals, verdicts, again=()):
        with audited(write(tmp_path / "log", heal_events=heals)) as audit:
            ledger = Ledger(tmp_path / "decisions.sqlite")
            shown = reviews.evidence(audit.scope.store, list(verdicts))
            for heal_id, said in verdicts.items():
                for name, verdict in said.items():
                    reviews.record_review(ledger, heal_id, verdict, evidence=shown[heal_id], actor=Local(name))
            latest = reviews.latest_reviews(ledger)
            return signal_reviews.compare(audit, latest, {heal_id: {"local:ana": "rewritten"} for heal_id in again})

    return answer


def test_labels_stand_beside_verdicts_and_those_that_differ_come_first(compare):
    heals = [real(1, 0), real(2, 0), heal(3, 0), real(4, 0), real(5, 0), real(6, 0, sig="Err:1")]
    verdicts = {
        "h1": {"ana": "real"}, "h2": {"ana": "not_real", "ben": "not_real"}, "h3": {"ana": "real"},
        "h4": {"ana": "real", "ben": "not_real"}, "h5": {"ana": "skip"}, "h6": {"cem": "not_real"},
    }  # fmt: skip
    found = compare(heals, verdicts, again=("h3",))
    assert [(row["heal"], row["agree"], row["people"]) for row in found.rows] == [
        ("h2", "they differ", "not real"),
        ("h6", "they differ", "not real"),
        ("h4", "people differ", "people differ"),
        ("h3", "no label to compare", "real"),
        ("h1", "they agree", "real"),
        ("h5", "skipped", "skipped"),
    ]
    assert found.by_signature["Err:1"] == "1 not real, 1 real"
    assert found.sentences == (
        "S by the labels: 1.00. S with people's verdicts on 4 heals: 0.85; it stands beside S and never replaces it.",
        "People spoke about 6 heals of this window.",
        "Of 3 that also carry a label, 2 differ (67 %, 95 % range 20–94 %).",
        "On 1 heal people differ among themselves; it counts as unlabelled.",
        "1 heal has a verdict that is open again, as its evidence changed; it counts until its author speaks again.",
    )


def test_nobody_said_anything(compare):
    assert compare([real(1)], {}).sentences == ()
