"""S: was the failure real? Per signature over the heals of the window; expected values worked out in each row."""

import pytest

from seam_core.report import report
from tests.seam_core.workspaces import audited, failure, heal, report_on, rows_of, write


def real(number, days=None, *, label=True, **changes):
    return heal(number, days, **({"was_real_failure": label} | changes))


@pytest.mark.parametrize(
    ("heals", "failures", "expected"),
    [
        pytest.param(
            [real(1), real(2)], [],
            {"score": 1.0, "precision": 1.0, "recall": 1.0, "f1": 1.0, "recurrence": 0.0, "tp": 2, "fp": 0, "fn": 0, "n": 2, "left_out": 0},
            id="all good: real failures, none missed, none came back",
        ),
        pytest.param(
            [real(1, 0, label=False), real(2, 20)], [failure("Err:1", 1), failure("Err:2", 21), failure("Err:other", 10)],
            {"score": 0.3, "precision": 0.5, "recall": 0.5, "f1": 0.5, "recurrence": 1.0, "tp": 1, "fp": 1, "fn": 1},
            id="half real, half found, all came back: 0.6·0.5 + 0.4·0",
        ),
        pytest.param(
            [real(1, 0, label=False), real(2, 20, label=False)], [failure("Err:1", 1), failure("Err:2", 21), failure("Err:other", 10)],
            {"score": 0.0, "precision": 0.0, "recall": 0.0, "f1": 0.0, "recurrence": 1.0, "tp": 0, "fp": 2, "fn": 1},
            id="all bad",
        ),
        pytest.param(
            [real(1, label=False), real(2, label=False)], [],
            {"score": 0.4, "precision": 0.0, "recall": 0.0, "f1": 0.0, "recurrence": 0.0, "fn": 0},
            id="nothing real and nothing missed: recall is 0 of max(0, 1)",
        ),
        pytest.param(
            [real(1), heal(2), heal(3)], [],
            {"score": 1.0, "precision": 1.0, "n": 1, "left_out": 2, "tp": 1, "fp": 0},
            id="signatures without a label are left out of precision",
        ),
        pytest.param(
            [real(1, 0, sig="E", label=False), real(2, 1, sig="E"), heal(3, 2, sig="E"), real(4, 3, sig="E", label=False)], [],
            {"score": 1.0, "tp": 1, "fp": 0, "n": 1},
            id="one real label makes the signature real",
        ),
        pytest.param(
            [real(1, 0), real(2, 1)], None,
            {"score": 1.0, "precision": 1.0, "recall": None, "f1": None, "recurrence": 0.0, "fn": None},
            id="no failure log: recall is null, precision stands in",
        ),
        pytest.param(
            [real(1, 0, sig="E"), real(2, 3, sig="E", loop_id="L1"), real(3, 0, label=False)], None,
            {"score": 0.7, "precision": 0.5, "recurrence": 0.0, "recall": None},
            id="no failure log: the same loop again is no recurrence: 0.6·0.5 + 0.4",
        ),
        pytest.param(
            [real(1, 0, sig="E"), real(2, 3, sig="E")], None,
            {"score": 0.6, "recurrence": 1.0, "recurrence_after_loop": 1.0},
            id="no failure log: another loop within seven days is",
        ),
        pytest.param(
            [heal(1, 0), heal(2, 1)], [failure("Err:1", 2)],
            {"score": None, "reason": "no heal in the window says whether its failure was real", "precision": None, "recall": None,
             "recurrence": 0.5, "left_out": 2},
            id="no label at all: null, and recurrence is still known",
        ),
    ],
)  # fmt: skip
def test_signal(tmp_path, heals, failures, expected):
    logs = {} if failures is None else {"failures": failures}
    signal = report_on(write(tmp_path, heal_events=heals, **logs))["signal"]
    assert {key: signal[key] for key in expected} == expected


def test_flags_say_what_is_not_known(tmp_path):
    found = report_on(write(tmp_path, heal_events=[real(1), heal(2)]))
    assert "no failure log: recall is unknown" in found["flags"]
    assert [flag for flag in found["flags"] if "1 of 2" in flag and "label" in flag]
    assert found["basis"]["recurrence"] == "heals"


# One signature a row: heals on these days, failures on these; did it come back, and after the loop had ended?
RECURRENCE = {
    "never": ([0], [], False, False),
    "at the very moment of the heal": ([0], [0], False, False),
    "before the heal": ([5], [4.9], False, False),
    "a moment after": ([0], [0.0000001], True, True),
    "seven days after, to the microsecond": ([0], [7], True, True),
    "a second more than seven days after": ([0], [(7, 1)], False, False),
    "within seven days of the first of two heals": ([0, 0.5], [7.2], True, True),
    "within seven days of the last heal only": ([0, 5], [12], True, True),
    "more than seven days after any heal": ([0, 5], [(12, 1)], False, False),
    "between two heals of the loop": ([0, 5], [3], True, False),
    "between heals far apart, within seven days of the first": ([0, 20], [6], True, False),
    "between heals far apart, too late for the first": ([0, 20], [10], False, False),
    "twice": ([0], [1, 2], True, True),
}


@pytest.fixture(scope="module")
def recurrence(tmp_path_factory):
    heals, failures = [], []
    for place, (name, (healed, failed, _, _)) in enumerate(RECURRENCE.items()):
        heals += [real(f"{place}.{day}", day, sig=name, loop_id=name) for day in healed]
        failures += [failure(name, *(moment if isinstance(moment, tuple) else (moment,))) for moment in failed]
    with audited(write(tmp_path_factory.mktemp("recurrence"), heal_events=heals, failures=failures)) as found:
        yield rows_of(found, "signal_rows", "failure_signature"), report(found)["signal"]


@pytest.mark.parametrize("name", RECURRENCE)
def test_a_signature_recurs_within_seven_days_of_any_heal_on_it(recurrence, name):
    row = recurrence[0][name]
    assert (row["recurred"], row["recurred_after_loop"]) == RECURRENCE[name][2:]


def test_recurrence_is_the_share_of_healed_signatures(recurrence):
    n = len(RECURRENCE)
    assert recurrence[1]["recurrence"] == round(sum(row[2] for row in RECURRENCE.values()) / n, 4)
    assert recurrence[1]["recurrence_after_loop"] == round(sum(row[3] for row in RECURRENCE.values()) / n, 4)


# Without a failure log: (loop, day) of each heal on the signature. The window is the first ten days.
HEALED_AGAIN = {
    "by nobody": ([("a", 0)], False, False),
    "by the same loop": ([("a", 0), ("a", 3)], False, False),
    "by another loop, seven days later": ([("a", 0), ("b", 7)], True, True),
    "by another loop, eight days later": ([("a", 0), ("b", 8)], False, False),
    "by another loop at the same moment": ([("a", 0), ("b", 0)], False, False),
    "by another loop between two heals of the first": ([("a", 0), ("b", 1), ("a", 2)], True, True),
    "by another loop after the window": ([("a", 9), ("b", 15)], True, True),
    "by the same loop after the window": ([("a", 9), ("a", 15)], False, False),
    "by another loop that was stopped by the gate": ([("a", 0), ("guarded", 3)], False, False),
    "by another loop that was stopped after the window": ([("a", 9), ("guarded", 12)], False, False),
    "twice in the same loop, then by another": ([("a", 0), ("a", 2), ("b", 8)], True, True),
    "by another loop too late for the first heal": ([("a", 0), ("b", 9)], False, False),
}


@pytest.fixture(scope="module")
def healed_again(tmp_path_factory):
    heals = []
    for place, (name, (moments, _, _)) in enumerate(HEALED_AGAIN.items()):
        for number, (loop, day) in enumerate(moments):
            target = {"target": "tools"} if loop == "guarded" else {}
            heals.append(real(f"{place}.{number}", day, sig=name, loop_id=f"{place}{loop}", **target))
    protected = [{"id": "p", "kind": "tool_permission", "target": "tools"}]
    path = write(tmp_path_factory.mktemp("again"), heal_events=heals, protected=protected)
    with audited(path, window="4w", as_of="2026-06-11T12:00:00Z") as found:
        yield rows_of(found, "signal_rows", "failure_signature")


@pytest.mark.parametrize("name", HEALED_AGAIN)
def test_without_a_failure_log_a_signature_recurs_when_another_loop_heals_it(healed_again, name):
    row = healed_again[name]
    assert (row["recurred"], row["recurred_after_loop"]) == HEALED_AGAIN[name][1:]


def test_missed_signatures_are_those_that_failed_inside_the_window_and_were_not_healed_in_it(tmp_path):
    """The window is days 1 to 8; x failed inside, y on its start, z after its end, Err:1 was healed, Err:0 only before it."""
    heals = [real(0, 0), real(1, 8)]
    failures = [failure("x", 1, 1), failure("x", 2), failure("y", 1), failure("z", 8, 1), failure("Err:1", 3), failure("Err:0", 2)]
    with audited(write(tmp_path, heal_events=heals, failures=failures), window="7d") as found:
        assert [row["failure_signature"] for row in found.scope.rows("missed_rows")] == ["Err:0", "x"]
        assert found.signal.recall == 1 / 3


def test_the_follow_up_may_lie_behind_the_window_and_its_share_is_said(tmp_path):
    """Healed on days 1 and 8. Known up to day 15: both have their seven days; the failure of day 15 counts though it is later."""
    heals = [real(1, 1), real(2, 8)]
    path = write(tmp_path, heal_events=heals, failures=[failure("Err:2", 15)])
    signal = report_on(path, as_of="2026-06-09T12:00:00Z")["signal"]
    assert (signal["recurrence"], signal["follow_up"]) == (0.5, 1.0)
    path = write(tmp_path, heal_events=heals, failures=[failure("Err:2", 14, 86_399)])
    assert report_on(path)["signal"]["follow_up"] == 0.5


def test_a_score_at_its_line_does_not_alert(tmp_path):
    """Of four signatures one recurs: 0.4·0.75 = 0.3. One is real, one not, none missed: F1 = 2/3, 0.6·2/3 = 0.4. S = 0.7."""
    heals = [real(1, 0), real(2, 0, label=False), heal(3, 0), heal(4, 0)]
    path = write(tmp_path, heal_events=heals, failures=[failure("Err:4", 1)])
    found = report_on(path)
    assert (found["S"], found["alerts"]) == (0.7, [])
    assert report_on(path, alert_s=0.701)["alerts"] == ["S<0.70"]


def test_the_recurrence_span_is_a_setting_and_may_be_broken(tmp_path):
    path = write(tmp_path, heal_events=[real(1, 0)], failures=[failure("Err:1", 1.5)])
    assert report_on(path, recurrence_days=1.5)["signal"]["recurrence"] == 1.0
    assert report_on(path, recurrence_days=1.49)["signal"]["recurrence"] == 0.0
