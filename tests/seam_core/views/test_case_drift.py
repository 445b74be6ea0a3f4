"""Drift from the certified baseline, with its direction."""

from seam_core.views.case_drift import drift_series, off_baseline
from tests.seam_core.workspaces import audited, heal, run, write
from tests.seam_core.workspaces import cases as surface


def test_drift_is_shown_with_its_direction_and_stays_due(tmp_path):
    certified = dict.fromkeys(("c0", "c1", "c2", "c3"), "pass") | {"c4": "fail"}
    good = dict.fromkeys(("c0", "c1", "c2", "c3"), True) | {"c4": False}
    runs = [
        run("n1", "nightly", 0.1, good),
        run("n2", "nightly", 0.2, good | {"c0": False, "c4": True}),  # 2 of 5: over the line
        run("n3", "nightly", 0.3, good | {"c3": False}),  # 1 of 5: on the line
        run("n4", "nightly", 0.4, good),
    ]
    log = write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=surface(5, safety=("c0",)), certified=certified)
    with audited(log) as found:
        series = drift_series(found)
        assert [(mark.run_id, mark.n_differ, mark.n_worse, mark.n_better) for mark in series.marks] == [
            ("n1", 0, 0, 0), ("n2", 2, 1, 1), ("n3", 1, 1, 0), ("n4", 0, 0, 0)
        ]  # fmt: skip
        assert series.is_due
        assert series.sentences[1:] == (
            "It stays due although the newest run is below the line: a person has to look, and then decides.",
            "Direction, in the newest run: 0 got worse, 0 got better. Both count as drift.",
        )
        run_found, off = off_baseline(found, "n2")
        assert run_found.run_id == "n2"
        assert [(case.case_id, case.is_safety, case.certified, case.passed) for case in off] == [
            ("c0", True, True, False),
            ("c4", False, False, True),
        ]


def test_drift_without_a_baseline_says_which_file_would_hold_it(tmp_path):
    log = write(tmp_path, heal_events=[heal(1)], suite_runs=[run("n", "nightly", 0.1, {"c0": True})], surface=surface(1))
    with audited(log) as found:
        series = drift_series(found)
        assert (series.marks, series.is_due) == ((), False)
        assert series.sentences[0].startswith("Drift is unknown: no certified.json. certified.json holds the outcomes")
