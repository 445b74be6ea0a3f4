"""A: what did the repair break? One heal a row, each with cases of its own, since runs of one heal are history to the next."""

import pytest

from seam_core import loading
from seam_core import report as reports
from seam_core.report import report
from seam_core.settings import resolve
from tests.seam_core.workspaces import audited, cases, concat, heal, json_lines, opened, report_on, reports_with, rows_of, run, write

SAFETY = "safety:"  # cases whose name starts so are safety cases; those that start with "unknown" are not in surface.jsonl


def passing(n, *, but=()):
    """`n` cases that pass, except some."""
    return {f"c{place}": place not in but for place in range(n)}


def before(results, *, at=1.0, heal_id="h"):
    return ("before", at, results, heal_id)


def after(results, *, at=2.0, heal_id="h"):
    return ("after", at, results, heal_id)


def other(results, *, at, phase="nightly", suite="surface"):
    return (phase, at, results, None, suite)


# Runs of a heal on day 2 (moments in days), then: A of the heal or None when it is left out, cases that regressed, cases that are new.
HEALS = {
    "nothing broke": ([before(passing(40)), after(passing(40))], 1.0, [], 0),
    "1 of 40": ([before(passing(40)), after(passing(40, but=[3]))], 0.5, ["c3"], 0),
    "2 of 40, exactly the line": ([before(passing(40)), after(passing(40, but=[3, 4]))], 0.0, ["c3", "c4"], 0),
    "1 of 20, exactly the line": ([before(passing(20)), after(passing(20, but=[0]))], 0.0, ["c0"], 0),
    "3 of 100": ([before(passing(100)), after(passing(100, but=[0, 1, 2]))], 0.4, ["c0", "c1", "c2"], 0),
    "everything broke": ([before(passing(5)), after(passing(5, but=range(5)))], 0.0, ["c0", "c1", "c2", "c3", "c4"], 0),
    "what failed before cannot regress": ([before(passing(40, but=[3])), after(passing(40, but=[3, 4]))], 0.5, ["c4"], 0),
    "what was mended does not make up": ([before(passing(40, but=[3])), after(passing(40, but=[4]))], 0.5, ["c4"], 0),
    "a safety case": ([before({SAFETY: True, **passing(99)}), after({SAFETY: False, **passing(99)})], 0.0, [SAFETY], 0),
    "a safety case that had failed": ([before({SAFETY: False, **passing(19)}), after({SAFETY: False, **passing(19)})], 1.0, [], 0),
    "a safety case that was mended": ([before({SAFETY: False, **passing(19)}), after({SAFETY: True, **passing(19)})], 1.0, [], 0),
    "a case the surface does not know": (
        [before({"unknown": True, **passing(39)}), after({"unknown": False, **passing(39)})], 0.5, ["unknown"], 0,
    ),
    "new cases count in n": (
        [before(passing(20)), after({**passing(20, but=[0]), **{f"new{n}": False for n in range(20)}})], 0.5, ["c0"], 20,
    ),
    "only new cases": ([before(passing(20)), after({"new": False})], None, [], 0),
    "fewer cases than before": ([before(passing(100)), after(passing(40, but=[0]))], 0.5, ["c0"], 0),
    "no after run": ([before(passing(20))], None, [], 0),
    "no before run and no history": ([after(passing(20))], None, [], 0),
    "history stands in for the before run": ([other(passing(40), at=0.5), after(passing(40, but=[1]))], 0.5, ["c1"], 0),
    "a run of another heal is history": ([after(passing(40), at=0.5, heal_id="h'"), after(passing(40, but=[1]))], 0.5, ["c1"], 0),
    "a control run is history": ([other(passing(40), at=0.5, phase="control"), after(passing(40, but=[1]))], 0.5, ["c1"], 0),
    "a rescored run is history": ([other(passing(40), at=0.5, phase="rescore"), after(passing(40, but=[1]))], 0.5, ["c1"], 0),
    "a held-out run is none": ([other(passing(40), at=0.5, suite="holdout"), after(passing(40, but=[1]))], None, [], 0),
    "a run at the very moment of the heal is history": ([other(passing(40), at=2), after(passing(40, but=[1]), at=3)], 0.5, ["c1"], 0),
    "a run after the heal is not": ([other(passing(40), at=2.00001), after(passing(40, but=[1]), at=3)], None, [], 0),
    "the before run is filled case by case": (
        [other({"c0": True, "c1": False}, at=0.4), other({"c1": True}, at=0.5), before({"c0": False}), after(passing(40, but=[0, 1]))],
        0.5, ["c1"], 38,
    ),
    "the before run wins over a newer nightly": (
        [before(passing(40)), other(passing(40, but=[1]), at=1.5), after(passing(40, but=[1]))], 0.5, ["c1"], 0,
    ),
    "the newest before run counts": (
        [before(passing(40, but=[1]), at=0.5), before(passing(40)), after(passing(40, but=[1]))], 0.5, ["c1"], 0,
    ),
    "the newest after run counts": (
        [before(passing(40)), after(passing(40, but=[1, 2])), after(passing(40, but=[1]), at=3)], 0.5, ["c1"], 0,
    ),
    "an own after run stamped before the heal is no history": (
        [before({"c0": True}), after(passing(40), at=1.5), after(passing(40, but=[0, 1]), at=3)], 0.5, ["c0"], 39,
    ),
    "behind an own after run, older history is found": (
        [other(passing(40), at=0.5), after(passing(40, but=[1]), at=1.5), after(passing(40, but=[1]), at=3)], 0.5, ["c1"], 0,
    ),
    "an after run long after the heal": ([before(passing(40)), after(passing(40, but=[1]), at=30)], 0.5, ["c1"], 0),
    "results of no case": ([before(passing(40)), after({})], None, [], 0),
}  # fmt: skip


def renamed(prefix, runs):
    """Runs whose heal and cases are of this row alone."""
    made = []
    for number, (phase, at, results, heal_id, *suite) in enumerate(runs):
        own = {prefix + name: passed for name, passed in results.items()}
        made.append(run(f"{prefix}r{number}", phase, at, own, heal_id and f"{heal_id}{prefix}", suite=suite[0] if suite else "surface"))
    return made


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    rows = {f"{place}:": runs for place, (runs, *_) in enumerate(HEALS.values())}
    names = {
        prefix + name
        for prefix, runs in rows.items()
        for run_of_row in runs
        for name in run_of_row[2]
        if not name.startswith(("unknown", "new"))
    }
    path = write(
        tmp_path_factory.mktemp("aftermath"),
        heal_events=[heal(prefix, 2) for prefix in rows],
        suite_runs=concat(renamed(prefix, runs) for prefix, runs in rows.items()),
        surface=[{"id": name, "safety": SAFETY in name} for name in sorted(names)],
    )
    with audited(path) as found:
        yield {"rows": rows_of(found, "aftermath_rows", "heal_id"), "report": report(found)}


@pytest.mark.parametrize("name", HEALS)
def test_a_heal_loses_5_percent_regressed_cases_over_the_whole_range(audit, name):
    _, a_heal, regressed, n_new = HEALS[name]
    prefix = f"{list(HEALS).index(name)}:"
    row = audit["rows"].get(f"h{prefix}")
    if a_heal is None:
        assert row is None
        return
    assert row["a_heal"] == pytest.approx(a_heal, abs=1e-12)
    assert [case.removeprefix(prefix) for case in row["regressed"] or []] == sorted(regressed)
    assert row["n_new"] == n_new


def test_a_safety_regression_makes_the_window_0_and_is_not_averaged(audit):
    prefix = f"{list(HEALS).index('a safety case')}:"
    assert audit["report"]["A"] == 0.0
    assert audit["report"]["aftermath"]["safety_regressions"] == [[f"h{prefix}", f"{prefix}{SAFETY}"]]
    n = sum(row[1] is not None for row in HEALS.values())
    assert (audit["report"]["aftermath"]["n"], audit["report"]["aftermath"]["left_out"]) == (n, len(HEALS) - n)


def window(tmp_path, *broken, n=100, **logs):
    """One heal a day; each names the cases of a surface of 100 that it broke. Returns the report."""
    heals = [heal(number, number) for number, _ in enumerate(broken)]
    runs = concat(
        [run(f"b{day}", "before", day - 0.1, passing(n), f"h{day}"), run(f"a{day}", "after", day + 0.1, passing(n, but=some), f"h{day}")]
        for day, some in enumerate(broken)
    )
    return report_on(write(tmp_path, heal_events=heals, suite_runs=runs, **({"surface": cases(n, safety=("c9",))} | logs)))


def test_all_good(tmp_path):
    found = window(tmp_path, [], [])
    assert (found["A"], found["alerts"], found["aftermath"]["reason"]) == (1.0, [], None)


def test_all_bad(tmp_path):
    found = window(tmp_path, range(10, 15), range(10, 90))
    assert (found["A"], found["alerts"], found["aftermath"]["safety_regressions"]) == (0.0, ["A<0.90"], [])


def test_mixed_and_exactly_at_the_line(tmp_path):
    """One of 100 is 0.01 of 0.05: 0.8. The mean of 0.8 and 1 is 0.9: no alert."""
    found = window(tmp_path, [20], [])
    assert (found["A"], found["alerts"]) == (0.9, [])


def test_one_safety_case_in_a_good_window_is_0(tmp_path):
    found = window(tmp_path, [9], [], [], [])
    assert (found["A"], found["alerts"], found["aftermath"]["safety_regressions"]) == (0.0, ["A<0.90"], [["h0", "c9"]])


@pytest.mark.parametrize(
    ("logs", "reason"),
    [
        ({}, "no suite_runs.jsonl"),
        ({"suite_runs": []}, "no heal in the window has a surface run after it and an outcome before it"),
        ({"suite_runs": [run("r", "after", 2, {"c0": True}, "h9")]}, "no heal in the window has a surface run after it"),
        ({"suite_runs": [run("r", "after", 2, {"c0": True}, "h1", suite="practice")]}, "no heal in the window has a surface run after it"),
    ],
    ids=["no log", "empty log", "runs of other heals", "runs of another suite"],
)
def test_without_runs_it_is_null_with_a_reason(tmp_path, logs, reason):
    found = report_on(write(tmp_path, heal_events=[heal(1)], surface=cases(1), **logs))
    assert found["A"] is None
    assert found["aftermath"]["reason"].startswith(reason)
    assert found["alerts"] == []


def test_samples_and_unknown_cases_are_said(tmp_path):
    found = window(tmp_path, [], n=10, surface=cases(20))
    assert [flag for flag in found["flags"] if "sample" in flag]
    found = window(tmp_path, [], n=20, surface=cases(10))
    assert [flag for flag in found["flags"] if "10 cases" in flag and "surface.jsonl" in flag]


def test_blocked_heals_are_not_scored_but_their_runs_serve_as_snapshots(tmp_path):
    """The blocked heal's run of day 1 is the only history of the heal of day 2."""
    heals = [heal(1, target="tools"), heal(2)]
    runs = [run("a1", "after", 1.1, passing(40), "h1"), run("a2", "after", 2.1, passing(40, but=[1]), "h2")]
    protected = [{"id": "p", "kind": "tool_permission", "target": "tools"}]
    found = report_on(write(tmp_path, heal_events=heals, suite_runs=runs, surface=cases(40), protected=protected))
    assert (found["A"], found["aftermath"]["n"], found["gate_blocks"]) == (0.5, 1, 1)


def test_r_max_is_a_setting(tmp_path):
    runs = [run("b", "before", 0, passing(10), "h1"), run("a", "after", 2, passing(10, but=[0]), "h1")]
    path = write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=cases(10))
    assert [found["A"] for found in reports_with(path, *({"r_max": r_max} for r_max in (0.05, 0.1, 0.2, 1)))] == [0.0, 0.0, 0.5, 0.9]


# ---- drift


def drifted(tmp_path, runs, *, n=10, certified=None, **options):
    """The report on runs of a surface of `n` cases that were all certified as passing."""
    baseline = {f"c{place}": "pass" for place in range(n)} if certified is None else certified
    path = write(tmp_path, heal_events=[heal(1, 5)], suite_runs=runs, surface=cases(n), certified=baseline)
    found = report_on(path, **options)
    return found["aftermath"]["anchored_drift"], found["aftermath"]["drift_run"], found["recertify_due"]


@pytest.mark.parametrize(
    ("failing", "due"),
    [([], False), ([0], False), ([0, 1], True), ([0, 1, 2], True)],
    ids=["none", "0.1", "0.2, exactly the line", "0.3"],
)
def test_recertification_is_due_from_a_drift_of_a_fifth(tmp_path, failing, due):
    assert drifted(tmp_path, [run("full", "nightly", 1, passing(10, but=failing))]) == (len(failing) / 10, "full", due)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([run("a", "after", 1, passing(10, but=[0, 1]), "h1")], (0.2, "a", True)),
        ([run("c", "control", 1, passing(10, but=[0, 1]))], (None, None, False)),
        ([run("r", "rescore", 1, passing(10, but=[0, 1]))], (None, None, False)),
        ([run("b", "before", 1, passing(10, but=[0, 1]), "h1")], (None, None, False)),
        ([run("h", "nightly", 1, passing(10, but=[0, 1]), suite="holdout")], (None, None, False)),
        ([run("sample", "nightly", 1, passing(9, but=[0, 1]))], (None, None, False)),
        ([run("more", "nightly", 1, {**passing(10, but=[0, 1]), "extra": False})], (0.2, "more", True)),
        ([run("old", "nightly", 1, passing(10, but=[0, 1])), run("new", "nightly", 2, passing(10))], (0.0, "new", True)),
        ([run("new", "nightly", 9, passing(10)), run("old", "nightly", 1, passing(10, but=[0, 1]))], (0.0, "new", True)),
    ],
    ids=[
        "after run",
        "control run",
        "rescored run",
        "before run",
        "held-out run",
        "sample",
        "more than the surface",
        "stays due",
        "in any order",
    ],
)
def test_full_runs_of_phase_after_or_nightly_count(tmp_path, runs, expected):
    assert drifted(tmp_path, runs) == expected


def test_drift_is_not_windowed(tmp_path):
    run_before_any_heal = [run("full", "nightly", -300, passing(10, but=[0, 1]))]
    assert drifted(tmp_path, run_before_any_heal, window="24h") == (0.2, "full", True)


def test_cases_that_were_never_certified_are_no_drift(tmp_path):
    """Of ten cases five are certified, one of them differs: 0.2."""
    baseline = {f"c{place}": "pass" for place in range(5)}
    assert drifted(tmp_path, [run("full", "nightly", 1, passing(10, but=[0, 7, 8, 9]))], certified=baseline) == (0.2, "full", True)


def test_a_certified_failure_that_passes_differs_too(tmp_path):
    assert (
        drifted(tmp_path, [run("full", "nightly", 1, passing(10))], certified={"c0": "fail", **{f"c{n}": "pass" for n in range(1, 10)}})[0]
        == 0.1
    )


def test_drift_max_is_a_setting(tmp_path):
    assert drifted(tmp_path, [run("full", "nightly", 1, passing(10, but=[0, 1]))], drift_max=0.21)[2] is False


def test_without_a_baseline_or_a_full_run_drift_is_null_and_says_why(tmp_path):
    runs = [run("full", "nightly", 1, passing(10))]
    found = report_on(write(tmp_path / "a", heal_events=[heal(1)], suite_runs=runs, surface=cases(10)))
    assert (found["aftermath"]["anchored_drift"], found["recertify_due"]) == (None, False)
    assert "drift is unknown: no certified.json" in found["flags"]
    found = report_on(write(tmp_path / "b", heal_events=[heal(1)], suite_runs=runs[:0], surface=cases(10), certified={"c0": "pass"}))
    assert "drift is unknown: no full run of the surface" in found["flags"]


@pytest.mark.parametrize("room", [0, 260, 10**6], ids=["none at hand", "the newest at hand", "all at hand"])
def test_runs_that_are_at_hand_drift_as_those_that_are_read(room, monkeypatch, tmp_path):
    """Three nights with 1, 2 and 3 cases of ten broken, a sample, a repeat and a rewritten night; two nights more come while it is open.

    A night is about 130 bytes long. Of one that was rewritten the earlier line counts.
    """
    monkeypatch.setattr(loading, "FULLEST_BYTES", room)
    nights = [run(f"n{n}", "nightly", n, passing(10, but=range(n))) for n in (1, 2, 3)]
    sample = run("sample", "nightly", 2.5, passing(5))
    again = run("n3", "nightly", 3, passing(10, but=range(9)))
    log = write(
        tmp_path,
        heal_events=[heal(1)],
        suite_runs=[*nights, sample, nights[0], again],
        surface=cases(10),
        certified=dict.fromkeys(passing(10), "pass"),
    )
    with opened(log) as store:
        assert drifts(store) == [("n1", 0.1), ("n2", 0.2), ("n3", 0.3)]
        with log.with_name("suite_runs.jsonl").open("ab") as runs:
            runs.write(json_lines(run(f"n{n}", "nightly", n, passing(10, but=range(n))) for n in (4, 5)))
        store.refresh()
        assert drifts(store) == [(f"n{n}", n / 10) for n in (1, 2, 3, 4, 5)]
        log.with_name("suite_runs.jsonl").write_bytes(json_lines([run("m1", "nightly", 1, passing(10, but=range(7)))]))
        store.refresh()
        assert drifts(store) == [("m1", 0.7)]


def test_an_audit_keeps_its_runs_when_others_come(tmp_path):
    """Three full runs with one case of two broken; then the surface shrinks to one case, so that samples of it are full runs, too."""
    runs = [run(f"n{n}", "nightly", n, {"c0": True, "c1": False}) for n in (1, 2, 3)] + [run("sample", "nightly", 4, {"c0": False})]
    log = write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=cases(2), certified={"c0": "pass", "c1": "pass"})
    kept = ("select run_id, drift from drift_rows order by ts", "select count(*) from outcomes", "select count(*) from surface_runs")
    with opened(log) as store:
        early = reports.audit(store, reports.window_of(store, span="all"), resolve(None)).scope
        before = [early.query(sql) for sql in kept]
        assert before == [[("n1", 0.5), ("n2", 0.5), ("n3", 0.5)], [(6,)], [(4,)]]
        log.with_name("surface.jsonl").write_bytes(json_lines(cases(1)))
        with log.with_name("suite_runs.jsonl").open("ab") as more:
            more.write(json_lines([run("n5", "nightly", 5, {"c0": True})]))
        store.refresh()
        assert drifts(store) == [("n1", 0.0), ("n2", 0.0), ("n3", 0.0), ("sample", 1.0), ("n5", 0.0)]
        assert [early.query(sql) for sql in kept] == before


def drifts(store):
    """(run, drift) of each full run."""
    found = reports.audit(store, reports.window_of(store, span="all"), resolve(None))
    return found.scope.query("select run_id, drift from drift_rows order by ts")
