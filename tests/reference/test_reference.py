"""Hand-worked checks of the reference itself: every expected number is worked out in the test's own text."""

from __future__ import annotations

import json
import math
import random
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from . import scorer
from .random_workspace import write_random_workspace

START = datetime(2025, 3, 1, 12, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def at(days: float, seconds: float = 0) -> str:
    return (START + days * DAY + timedelta(seconds=seconds)).isoformat()


def heal(number: int, days: float, **changes: object) -> dict:
    """One valid heal of loop `L`; `sig`, `target` and `text` are short for the nested keys."""
    record: dict = {
        "heal_id": f"h{number:02d}",
        "ts": at(days),
        "loop_id": "L",
        "cycle": number,
        "level": 2,
    }
    record["trigger"] = {"failure_signature": changes.pop("sig", "Err:A")}
    record["change"] = {
        "target": changes.pop("target", "prompt"),
        "after_text": changes.pop("text", None),
    }
    return record | changes


def write(folder: Path, **logs: list[dict] | dict) -> Path:
    for name, lines in logs.items():
        if name == "certified":
            (folder / "certified.json").write_text(json.dumps(lines))
            continue
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def report(folder: Path, **options: object) -> dict:
    return scorer.score(folder, now=NOW, **{"window": "all", **options})


def four(visible: tuple[float, float], holdout: tuple[float, float]) -> dict:
    return dict(zip(scorer.FOUR_SCORES, (*visible, *holdout), strict=True))


def surface_run(run_id: str, phase: str, days: float, results: dict, heal_id: str | None = None) -> dict:
    return {
        "run_id": run_id,
        "ts": at(days),
        "suite": "surface",
        "phase": phase,
        "results": results,
    } | ({"heal_id": heal_id} if heal_id else {})


def test_the_window_leaves_its_start_out_and_takes_its_end_in(tmp_path):
    write(tmp_path, heal_events=[heal(1, 0), heal(2, 0, ts=at(0, 0.000001)), heal(3, 7)])
    found = report(tmp_path, window="7d")
    assert found["counts"]["heals"] == 2  # h02 and h03; h01 stands exactly on the start
    assert found["window"] == "2025-03-01 .. 2025-03-08"
    assert report(tmp_path, as_of="2025-03-01")["counts"]["heals"] == 2  # the bare date ends with its last moment
    assert report(tmp_path, window="24h", as_of="2025-03-05")["S"] is None  # empty: null, not 0


def test_signal_with_a_failure_log_counts_missed_signatures_and_seven_days(tmp_path):
    """A real, B a false alarm, C never healed: P = R = F1 = 1/2; A is back after exactly 7 days, B one second later.

    S = 0.6 * 0.5 + 0.4 * (1 - 0.5) = 0.5.
    """
    heals = [heal(1, 0, was_real_failure=True), heal(2, 1, sig="Err:B", was_real_failure=False)]
    failures = [("Err:A", at(7)), ("Err:B", at(8, 1)), ("Err:C", at(0.5)), ("Err:D", at(20))]
    write(
        tmp_path,
        heal_events=heals,
        failures=[{"ts": ts, "failure_signature": s} for s, ts in failures],
    )
    signal = report(tmp_path)["signal"]
    assert (signal["tp"], signal["fp"], signal["fn"]) == (1, 1, 1)  # D lies after the window's end
    assert signal["recall"] == signal["precision"] == signal["f1"] == signal["recurrence"] == 0.5
    assert signal["score"] == pytest.approx(0.5)
    assert signal["recurrence_after_loop"] == 0.5  # the loop's last heal is h02 of day 1; A is back 6 days later
    assert signal["follow_up"] == 1.0  # the newest line is of day 20


def test_signal_without_a_failure_log_asks_whether_another_loop_healed_it_again(tmp_path):
    """A healed by L on day 0 and by K on day 7: recurred. B twice by L: not. S = 0.6 * 1 + 0.4 * (1 - 1/2) = 0.8."""
    heals = [heal(1, 0, was_real_failure=True), heal(2, 7, loop_id="K")]
    heals += [heal(3, 1, sig="Err:B"), heal(4, 2, sig="Err:B")]
    found = report(write(tmp_path, heal_events=heals))
    assert (found["recall"], found["signal"]["fn"]) == (None, None)
    assert found["signal"]["recurrence"] == 0.5
    assert found["S"] == pytest.approx(0.8)
    assert found["signal"]["left_out"] == 1  # B has no label
    assert found["signal"]["follow_up"] == 0.0  # B + 7 days = day 9 > day 7, A + 7 days = day 14 > day 7
    (tmp_path / "failures.jsonl").write_bytes(b"\n \n")
    assert report(tmp_path)["S"] == pytest.approx(1.0)  # an empty log is a log: recall 1, nothing recurred


def test_efficacy_is_the_mean_over_heals_and_the_loop_ends_stand_beside_it(tmp_path):
    """Gaps 0.10 and 0.35: E = (0.6 + 0) / 2. Loop: visible 0.2 to 0.8, held out 0.2 to 0.25: gap 0.55, so 0."""
    heals = [
        heal(1, 0, **four((0.2, 0.5), (0.2, 0.4))),
        heal(2, 1, **four((0.5, 0.8), (0.3, 0.25))),
        heal(3, 2, visible_after=None),
    ]
    efficacy = report(write(tmp_path, heal_events=heals))["efficacy"]
    assert efficacy["score"] == pytest.approx(0.3)
    assert (efficacy["n"], efficacy["left_out"]) == (2, 1)
    assert efficacy["mean_truth_gap"] == pytest.approx(0.225)
    assert efficacy["by_loop"] == 0.0


def rising_loops(n: int) -> list[dict]:
    """One loop a day, the signed gap 0.02 wider each time."""
    return [heal(i, i, loop_id=f"L{i:02d}", **four((0, 0.02 * i), (0.5, 0.5))) for i in range(1, n + 1)]


@pytest.mark.parametrize(
    ("n", "state"),
    [(7, "too few loops"), (15, "slope only"), (16, "watch"), (22, "watch"), (23, "widening")],
)
def test_a_widening_trend_must_hold_seven_days_earlier_too(tmp_path, n, state):
    """With one loop a day, 16 loops stand seven days before the end when there are 23 in all."""
    found = report(write(tmp_path, heal_events=rising_loops(n)))
    assert found["efficacy"]["trend"]["state"] == state
    assert ("E:widening" in found["alerts"]) == (state == "widening")


def test_mann_kendall_and_theil_sen_by_hand(tmp_path):
    """16 rising values: S = 120, Var = 16*15*37/18 = 493.33, z = 119/22.2111 = 5.35768; rise = 0.02 * 15 = 0.30.

    1, 1, 2, 2 in pairs of ties: S = 4, Var = (4*3*13 - 2 * 2*1*9)/18 = 120/18, z = 3/2.58199 = 1.161895, p = 0.12264.
    """
    trend = report(write(tmp_path, heal_events=rising_loops(16)))["efficacy"]["trend"]
    assert trend["p"] == pytest.approx(0.5 * math.erfc(5.35768 / math.sqrt(2)), rel=1e-4)
    assert trend["rise"] == pytest.approx(0.30)
    assert scorer.mann_kendall_p([1, 1, 2, 2]) == pytest.approx(0.12264, abs=1e-5)
    assert scorer.mann_kendall_p([0.1, 0.3 - 0.2, 0.1]) == 1.0  # the same gap in other binary digits is a tie
    assert scorer.theil_sen_slope([0, 1, 5]) == 2.5  # slopes 1, 4, 2.5


def test_aftermath_counts_regressions_over_the_after_run(tmp_path):
    """40 cases, one pass to fail: 0.025, A_heal = 1 - 0.025/0.05 = 0.5. A clean heal: 1. Mean 0.75."""
    clean = {f"c{i}": "pass" for i in range(40)}
    runs = [
        surface_run("r1", "before", 0, clean, "h01"),
        surface_run("r2", "after", 0, clean | {"c1": "fail"}, "h01"),
        surface_run("r3", "after", 1, clean | {"c1": "fail", "c2": "fail"}, "h02"),
        surface_run("r4", "after", 1.1, clean | {"c1": "fail"}, "h02"),  # the newest after run counts
        surface_run("r5", "after", 2, {"new": "fail"}, "h03"),  # never seen before: nothing to compare
    ]
    heals = [heal(1, 0), heal(2, 1), heal(3, 2), heal(4, 3)]
    write(tmp_path, heal_events=heals, suite_runs=runs, surface=[{"id": "c0", "safety": True}])
    aftermath = report(tmp_path)["aftermath"]
    assert aftermath["score"] == pytest.approx(0.75)
    assert (aftermath["n"], aftermath["left_out"]) == (2, 2)
    write(tmp_path, surface=[{"id": "c1", "safety": True}])  # now the regressed case is a safety case: not averaged
    assert report(tmp_path)["A"] == 0.0
    assert report(tmp_path)["aftermath"]["safety_regressions"] == [["h01", "c1"]]


def test_the_snapshot_before_a_heal_is_its_own_run_filled_from_earlier_ones(tmp_path):
    """a: own before run says pass. b: the newest earlier run says pass. c: a control run of the surface knew it.

    d: known only from the heal's own earlier after run, so it is new. Regressed a and b of 4 cases: A = 0.
    """
    runs = [
        surface_run("r1", "nightly", 0, {"a": "fail", "b": "fail"}),
        surface_run("r2", "nightly", 1, {"a": "fail", "b": "pass"}),
        surface_run("r3", "control", 1.5, {"b": "fail", "c": "pass"}),
        surface_run("r4", "before", 2, {"a": "fail"}, "h01"),
        surface_run("r5", "before", 2.5, {"a": "pass"}, "h01"),
        surface_run("r6", "after", 2.9, {"d": "pass"}, "h01"),
        surface_run("r7", "nightly", 3.1, {"a": "pass", "b": "fail", "c": "pass", "d": "pass"}),  # after the heal
        surface_run("r8", "after", 4, dict.fromkeys("abcd", "fail"), "h01"),
    ]
    row = report(write(tmp_path, heal_events=[heal(1, 3)], suite_runs=runs))["rows"]["heals"][0]
    assert row["regressed"] == ["a", "c"]
    assert row["new"] == ["d"]
    assert row["a"] == 0.0


def test_drift_of_exactly_a_fifth_is_due_and_cases_without_a_certified_outcome_do_not_count(
    tmp_path,
):
    """c5 is not certified: n = 5, one differs: 0.2, due. The sample of day 2 is not full."""
    outcomes = {f"c{i}": "pass" for i in range(6)}
    runs = [
        surface_run("full", "nightly", 1, outcomes | {"c0": "fail", "c5": "fail", "extra": "fail"}),
        surface_run("sample", "nightly", 2, {"c0": "fail", "c1": "fail"}),
        surface_run("later", "rescore", 30, dict.fromkeys(outcomes, "fail")),  # neither after nor nightly
    ]
    certified = {f"c{i}": "pass" for i in range(5)} | {"elsewhere": "pass"}
    write(tmp_path, heal_events=[heal(1, 3)], suite_runs=runs, certified=certified)
    assert report(tmp_path)["recertify_due"] is False  # without surface.jsonl no run is full
    write(tmp_path, surface=[{"id": case} for case in outcomes])
    found = report(tmp_path)
    assert found["aftermath"]["anchored_drift"] == pytest.approx(0.2)
    assert (found["aftermath"]["drift_run"], found["recertify_due"]) == ("full", True)
    assert report(tmp_path, settings={"drift_max": 0.21})["recertify_due"] is False


def test_monotonicity_takes_off_for_dips_revisits_and_depth(tmp_path):
    """0.5 0.4 0.6 0.3 0.7 has two dips, one of them free, and five cycles: 1 - 0.4 - 0.2 = 0.4. Loop K: 1. Mean 0.7."""
    heals = [heal(i, i, score=value) for i, value in enumerate([0.5, 0.4, 0.6, 0.3, 0.7], start=1)]
    heals += [heal(9, 2, loop_id="K", score=0.1), heal(10, 2, loop_id="no scores")]
    found = report(write(tmp_path, heal_events=heals))
    assert found["M"] == pytest.approx(0.7)
    parts = found["monotonicity"]
    assert (parts["extra_dips"], parts["capped"], parts["left_out"]) == (1, 1, 1)
    assert found["basis"]["cycle_score"] == {"score": 2, "holdout": 0, "visible": 0}


@pytest.mark.parametrize(
    ("texts", "levels", "returned", "idle"),
    [
        (
            ["abcdefghijklmnopqrst", "x", "##cdefghijklmnopqrst"],
            [1, 1, 1],
            0,
            0,
        ),  # 2*18/40 = 0.9, not more
        (["abcdefghijklmnopqrst", "x", "#bcdefghijklmnopqrst"], [1, 1, 1], 1, 0),  # 2*19/40 = 0.95
        (["same", "x", "same"], [1, 0, 2], 1, 0),
        (["same", "x", "same"], [0, 1, 1], 0, 0),  # a retry mutates nothing
        (
            ["same", "same", "same"],
            [1, 1, 1],
            0,
            1,
        ),  # pair (2, 0), unchanged since the cycle before
        (["same", "same"], [1, 1], 0, 0),  # neighbours are no pair
        (["", "x", ""], [1, 1, 1], 1, 0),
        (["same", "x", None], [1, 1, 1], 0, 0),
        (["same", "1", "2", "3", "4", "5", "same"], [1] * 7, 0, 0),  # six apart
        (["same", "1", "2", "3", "4", "same"], [1] * 6, 1, 0),  # five apart
    ],
)
def test_revisits_are_near_copies_two_to_five_positions_apart(tmp_path, texts, levels, returned, idle):
    pairs = enumerate(zip(texts, levels, strict=True), start=1)
    heals = [heal(i, i, text=text, level=level, score=0.5) for i, (text, level) in pairs]
    parts = report(write(tmp_path, heal_events=heals))["monotonicity"]
    assert (parts["returned"], parts["idle"]) == (returned, idle)


def test_the_cycle_score_is_score_then_own_held_out_then_visible(tmp_path):
    def basis_of(*heals: dict) -> str:
        counts = report(write(tmp_path, heal_events=list(heals)))["basis"]["cycle_score"]
        return " ".join(name for name, n in counts.items() if n)

    own = [four((0, 0.5), (0.1, 0.2)), four((0, 0.5), (0.2, 0.3))]
    assert basis_of(heal(1, 1, score=0.5, **own[0]), heal(2, 2, score=0, **own[1])) == "score"
    assert basis_of(heal(1, 1, score=0.5, **own[0]), heal(2, 2, **own[1])) == "holdout"
    assert basis_of(heal(1, 1, **own[0]), heal(2, 2, **own[0])) == "visible"  # one pair copied onto both
    assert basis_of(heal(1, 1, **own[0])) == "holdout"  # a single cycle cannot be a copy
    assert basis_of(heal(1, 1, **own[0]), heal(2, 2, holdout_scope="loop", **own[1])) == "visible"
    assert basis_of(heal(1, 1, holdout_after=0.2), heal(2, 2, holdout_after=0.2)) == "holdout"  # no pair at all


def words(first: int, last: int) -> str:
    return " ".join(f"w{i}" for i in range(first, last))


@pytest.mark.parametrize(
    ("after_text", "coverage"),
    [
        (words(0, 17), 0.5),  # 17 words hold 10 of the case's 20 grams
        (words(0, 16), 0.45),
        (
            words(0, 9) + "\n" + words(9, 17).upper(),
            0.5,
        ),  # grams cross the break between two added lines
        (
            words(0, 9) + "\nold line\n" + words(9, 17),
            0.15,
        ),  # a line that was there before breaks them: 2 + 1 grams
    ],
)
def test_contamination_counts_copied_grams_of_added_lines(tmp_path, after_text, coverage):
    """A case of 27 words has 20 grams of 8 words; the short one is a gram of its own; the last is too short."""
    holdout = [
        {"id": "long", "text": words(0, 27)},
        {"id": "short", "text": "five quite different words here"},
    ]
    holdout += [{"id": "too short", "text": "a b c d"}, {"id": "no text"}]
    heals = [heal(1, 0, text="old line\nsecret"), heal(2, 10, text=after_text)]
    found = report(write(tmp_path, heal_events=heals, holdout=holdout), window="7d")
    assert [row["coverage"] for row in found["rows"]["cases"]] == [coverage, 0]
    assert found["contamination"] == (0.5 if coverage == 0.5 else 0.0)
    assert ("contamination>0.05" in found["alerts"]) == (coverage == 0.5)


def test_text_that_was_there_before_is_not_added_and_frequent_grams_are_dropped(tmp_path):
    """Of 11 testable cases two hold the same 8 words (18 %): that gram is dropped, and the case made of it alone is out.

    Of the 10 left one (c1) is copied: 0.1.
    """
    stock = words(100, 108)
    holdout = [{"id": f"c{i}", "text": words(10 * i + 200, 10 * i + 210)} for i in range(9)]
    holdout += [
        {"id": "opens", "text": f"{stock} {words(300, 320)}"},
        {"id": "only", "text": stock},
    ]
    heals = [
        heal(1, 0, text=words(200, 210)),
        heal(2, 10, text=f"{words(200, 210)}\n{stock}\n{words(210, 220)}"),
    ]
    found = report(write(tmp_path, heal_events=heals, holdout=holdout), window="7d")
    assert found["contamination"] == pytest.approx(0.1)  # c0 was there before
    assert report(tmp_path)["contamination"] == pytest.approx(0.2)  # over all history its first text was added too


def test_the_boundary_gate_folds_spaces_and_takes_blocked_heals_out(tmp_path):
    protected = [
        {"id": "p1", "kind": "safety_instruction", "target": "prompt", "text": "ask  first"},
        {"id": "p2", "kind": "tool_permission", "target": "tools"},
        {"id": "p3", "kind": "escalation_rule", "target": "*", "text": "stop"},
    ]
    heals = [
        heal(1, 1, text="please ask\n\tfirst, then stop"),
        heal(2, 2, text="ask first"),  # lost "stop", protected in every target
        heal(3, 3, target="memory", text="stop"),  # "ask first" is protected elsewhere only
        heal(4, 4, target="tools"),  # the whole target is protected, text or not
        heal(5, 5, target="memory"),  # no text: nothing was taken out
    ]
    found = report(write(tmp_path, heal_events=heals, protected=protected))
    assert [row["heal_id"] for row in found["rows"]["heals"] if row["blocked"]] == ["h02", "h04"]
    assert found["gate_blocks"] == 2
    assert (found["counts"]["heals"], found["counts"]["scored"]) == (5, 3)


def test_budget_ratios_of_exactly_three_and_six_are_still_below(tmp_path):
    ratios = [(300, 100), (301, 100), (600, 100), (601, 100), (5, 0), (5, None), (0, 7)]
    heals = [heal(i, 1, tokens_spent=a, task_tokens=b) for i, (a, b) in enumerate(ratios, start=1)]
    found = report(write(tmp_path, heal_events=heals))
    assert (found["budget_elevated"], found["budget_escalated"], found["budget_unknown"]) == (
        2,
        1,
        2,
    )


GOOD = json.dumps(heal(1, 1))[:-1]  # without its closing brace


@pytest.mark.parametrize(
    "line",
    [
        b'{"heal_id": "x"}',
        b"[1]",
        *[f'{GOOD}, "{key}": {value}}}'.encode() for key, value in [("cycle", 1), ("x", "NaN"), ("x", "1e400")]],
        *[f'{GOOD}, "score": {value}}}'.encode() for value in ("true", '"0.5"', "1.5", "-0.1", "[]")],
        *[f'{GOOD}, "tokens_spent": {value}}}'.encode() for value in ("1.0", "1e2", "-1", "false")],
        *[f'{GOOD}, "x": {value}}}'.encode() for value in ('"\\ud800"', '{"a": 1, "a": 1}', "1,", "'a'")],
        GOOD.encode() + b', "x": "\xff"}',
        *[
            json.dumps(heal(1, 1, **wrong)).encode()
            for wrong in [
                *[
                    {"ts": ts}
                    for ts in (
                        "2025-03-01",
                        "2025-03-01T10:00Z",
                        "2025-03-01T10:00:00+0200",
                        None,
                        5,
                    )
                ],
                *[
                    {"ts": ts}
                    for ts in (
                        "1999-12-31T23:59:59Z",
                        "2026-01-02T00:00:01Z",
                        "2025-03-01T10:00:60Z",
                    )
                ],
                *[{"cycle": cycle} for cycle in (0, 1.0, True, "1", None)],
                *[{"level": level} for level in (4, -1, 1.0, None)],
                *[{"trigger": trigger} for trigger in (None, {}, "Err", {"failure_signature": ""})],
                *[{"change": change} for change in ("text", {"target": 1}, {"after_text": 1})],
                *[
                    {"heal_id": ""},
                    {"loop_id": None},
                    {"was_real_failure": 0},
                    {"holdout_scope": "all"},
                ],
            ]
        ],
    ],
)
def test_a_line_that_breaks_a_rule_is_rejected_and_the_rest_loads(tmp_path, line):
    good = json.dumps(heal(7, 2)).encode()
    (tmp_path / "heal_events.jsonl").write_bytes(b"\xef\xbb\xbf\r\n" + line + b"\r\n" + good)
    found = report(tmp_path)
    assert found["counts"]["heals"] == 1
    assert [(reject["file"], reject["line"]) for reject in found["rows"]["rejected"]] == [("heal_events.jsonl", 2)]


def test_copies_rewrites_cut_ends_and_missing_zones_are_counted(tmp_path):
    first, second = heal(1, 1), heal(2, 2, ts="2025-03-04T10:00:00.1234569")
    lines = [first, second, dict(reversed(first.items())), first | {"cycle": 2}, first]
    text = "\n".join(json.dumps(line) for line in lines) + "\n" + json.dumps(heal(3, 3))[:-2]
    (tmp_path / "heal_events.jsonl").write_text(text)
    line = {"ts": "2025-03-04 10:00:00", "failure_signature": "Err:A"}
    write(tmp_path, failures=[line, line])
    found = report(tmp_path)
    expected = {"rejected": 0, "rewritten": 1, "repeated": 3, "pending": 1, "assumed_utc": 2}
    assert {key: found["counts"][key] for key in expected} == expected
    assert found["rows"]["heals"][0]["ts"] == "2025-03-02T12:00:00+00:00"  # the earlier content of h01 is kept
    assert found["rows"]["heals"][1]["ts"] == "2025-03-04T10:00:00.123456+00:00"  # cut, not rounded


def test_alerts_come_in_their_order_and_none_fires_at_its_threshold(tmp_path):
    """One heal with truth gap 0.05: E = 0.8 exactly, no alert; with alert_e 0.81 it is one."""
    write(tmp_path, heal_events=[heal(1, 1, score=0.5, **four((0.1, 0.2), (0.1, 0.15)))])
    found = report(tmp_path, require=("M", "A", "S"))
    assert found["E"] == pytest.approx(0.8)
    assert found["alerts"] == ["S:unscored", "A:unscored"]
    assert found["min"] == found["E"]
    assert report(tmp_path, settings={"alert_e": 0.81})["alerts"] == ["E<0.81"]


def test_the_common_subsequence_agrees_with_the_textbook_table():
    def by_table(one: str, other: str) -> int:
        row = [0] * (len(other) + 1)
        for a in one:
            above, row = row, [0]
            for j, b in enumerate(other):
                row.append(above[j] + 1 if a == b else max(above[j + 1], row[j]))
        return row[-1]

    short = ["".join(letters) for n in range(5) for letters in product("ab", repeat=n)]
    rng = random.Random(1)
    long = ["".join(rng.choice("abcdé東") for _ in range(rng.randint(50, 150))) for _ in range(12)]
    for one, other in [*product(short, short), *product(long, long)]:
        assert scorer.common_subsequence(one, other) == by_table(one, other)
    assert scorer.similarity("", "") == 1.0


def test_long_texts_are_compared_by_lines():
    """One line of four differs: 2*3/8 = 0.75 by lines, though nearly every character is the same."""
    filler = ["x" * 40_000 + "\n"] * 3
    one, other = "".join(["a\n", *filler]), "".join(["b\n", *filler])
    assert not scorer.more_similar(one, other, 0.9)
    assert scorer.more_similar(one, other, 0.7)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_workspace_is_the_same_for_the_same_seed_and_can_be_scored(tmp_path, seed):
    for name in ("one", "two"):
        write_random_workspace(tmp_path / name, seed)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)
    for window in ("7d", "all"):
        found = scorer.score(tmp_path / "one", window=window)
        assert found["counts"]["heals"] == found["counts"]["scored"] + found["counts"]["blocked"]
        assert all(found[axis] is None or 0 <= found[axis] <= 1 for axis in "SEAM")
