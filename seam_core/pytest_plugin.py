"""A pytest run as one line of ``suite_runs.jsonl``: ``pytest -p seam_core.pytest_plugin --seam-workspace DIR --seam-suite surface``.

A test is a case, by its node id or by ``@pytest.mark.seam_case("case_07")``. Only what ran and held is a pass: a failure in set-up, test or
tear-down, an error and an expected failure are a fail. A case of several tests, or of one that is listed twice, fails if one of them did;
if one was skipped and none failed it has no outcome and is left out. Under xdist the one process that gathers the outcomes writes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from seam_core.recorder import Recorder

SUITES = ("surface", "holdout", "practice")
PHASES = ("before", "after", "nightly", "control", "rescore")
WHOLE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
CASE = "seam_case"
OUTPUT_MAX = 4_000
OF_HEALS = ("before", "after")
UNFINISHED: dict[int, str] = {
    pytest.ExitCode.INTERRUPTED: "the run was interrupted, or tests could not be collected",
    pytest.ExitCode.INTERNAL_ERROR: "pytest itself failed",
    pytest.ExitCode.USAGE_ERROR: "pytest was called wrongly",
    pytest.ExitCode.NO_TESTS_COLLECTED: "no test was collected",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of ``pytest --help``."""
    group = parser.getgroup("seam", "suite runs for SEAM")
    group.addoption("--seam-workspace", metavar="DIR", help="append the run to suite_runs.jsonl in this folder")
    group.addoption("--seam-suite", choices=SUITES, default="surface", help="which suite this is (default: surface)")
    group.addoption("--seam-phase", choices=PHASES, default="nightly", help="why it is run (default: nightly)")
    group.addoption("--seam-heal", metavar="HEAL_ID", help="the heal that a before or after run belongs to")
    group.addoption("--seam-run-id", metavar="ID", help="the run's id (default: the next number)")
    group.addoption("--seam-night", metavar="DATE", help="the night it belongs to, as 2026-06-09")


def pytest_configure(config: pytest.Config) -> None:
    """Listen, where runs are to be written and in the process that gathers the outcomes."""
    config.addinivalue_line("markers", f"{CASE}(id): the case that a test stands for in SEAM")
    if config.getoption("--seam-workspace"):
        phase = config.getoption("--seam-phase")
        if phase in OF_HEALS and not config.getoption("--seam-heal"):
            raise pytest.UsageError(f"--seam-phase {phase}: say of which heal with --seam-heal")
        config.pluginmanager.register(_CaseNames())
        if not hasattr(config, "workerinput"):  # a worker of xdist only runs tests
            config.pluginmanager.register(_Writer(config))


class _CaseNames:
    """Has each test's case travel with its reports, also from a worker."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if case := _case_of(item):
            item.user_properties.append((CASE, case))


def _case_of(item: pytest.Item) -> str | None:
    """The case that a test is marked with, as ``seam_case("case_07")`` or ``seam_case(id="case_07")``."""
    marker = item.get_closest_marker(CASE)
    named = [*marker.args, *marker.kwargs.values()] if marker else []
    return str(named[0]) if named else None


class _Writer:
    """Gathers outcomes and writes them as one run when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self._option = config.getoption
        self._outcomes: dict[str, dict[str, bool]] = {}  # case → test → whether all of it held so far
        self._seen: set[str] = set()  # tests that said anything
        self._skipped: set[str] = set()  # cases of which a test was skipped, or did not run
        self._evidence: dict[str, str] = {}
        self._reruns: Counter[str] = Counter()
        self._told = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        case = next((str(value) for name, value in reversed(report.user_properties) if name == CASE), report.nodeid)
        self._seen.add(report.nodeid)
        if str(report.outcome) == "rerun":  # of pytest-rerunfailures: the last try counts, and that there were others is kept
            self._reruns[case] += 1
            self._outcomes.get(case, {}).pop(report.nodeid, None)
            return
        is_expected = hasattr(report, "wasxfail")
        if report.skipped and not is_expected:
            self._skipped.add(case)
            return
        tests = self._outcomes.setdefault(case, {})
        tests[report.nodeid] = tests.get(report.nodeid, True) and report.passed
        if not report.passed:
            self._evidence[case] = (self._evidence.get(case, "") + str(report.longrepr))[-OUTPUT_MAX:]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:  # with --continue-on-collection-errors: its tests are not known, so its file stands for them
            self._outcomes.setdefault(report.nodeid, {})[report.nodeid] = False
            self._evidence[report.nodeid] = str(report.longrepr)[-OUTPUT_MAX:]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus not in WHOLE:
            self._told = f"no run was written: {UNFINISHED.get(exitstatus, 'the run did not end as it should')}"
            return
        not_run = [item for item in getattr(session, "items", ()) if item.nodeid not in self._seen]  # stopped early: -x, --maxfail
        self._skipped.update(_case_of(item) or item.nodeid for item in not_run)
        results = {case: held for case, tests in self._outcomes.items() if not (held := all(tests.values())) or case not in self._skipped}
        skipped = sorted(self._skipped - set(results))
        if not results:
            self._told = "no run was written: every test was skipped"
            return
        names = ("heal", "run_id", "night")
        keys: dict[str, Any] = {name: value for name in names if (value := self._option(f"--seam-{name.replace('_', '-')}"))}
        keys |= {"skipped": skipped} if skipped else {}
        keys |= {"reruns": dict(self._reruns)} if self._reruns else {}
        if "heal" in keys:
            keys["heal_id"] = keys.pop("heal")
        recorder = Recorder(self._option("--seam-workspace"))
        receipt = recorder.suite_run(
            self._option("--seam-suite"), self._option("--seam-phase"), results, evidence=self._evidence or None, **keys
        )
        n_passed = sum(results.values())
        told = f"{receipt.id}: {n_passed} of {len(results)} cases passed" + (f", {len(skipped)} skipped and left out" if skipped else "")
        self._told = told if receipt.written else "; ".join(problem.sentence for problem in recorder.problems)
        if not receipt.written:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"SEAM: {self._told}")
