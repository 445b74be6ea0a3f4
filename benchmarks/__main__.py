"""`python -m benchmarks`: makes the logs once, then measures everything in turn, several times, and prints ratios of medians."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import logging_heals, pages
from benchmarks.pages import FILES
from seam_core.simulate import write_bulk

ROOT = Path(__file__).resolve().parent.parent
LOGS = {"1,000,000 × 1 kB": (1_000_000, 1000), "100,000 × 1 kB": (100_000, 1000), "100,000 × 8 kB": (100_000, 8000)}


@dataclass(frozen=True)
class Run:
    """One finished process: wall seconds, peak memory of the process in MB, what it printed."""

    seconds: float
    peak_mb: float
    out: str


def run(*command: str) -> Run:
    """Run a command to its end, with what the operating system says of it.  Raises on a fault of the command (not on exit code 1 or 2)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 2):
        raise RuntimeError(f"{' '.join(command)} ended with {code}")
    return Run(time.perf_counter() - started, usage.ru_maxrss / 1024, out)


def report(folder: Path, window: str, *, program: Sequence[str] = ("run_seam.py",)) -> Run:
    """The whole command line on one workspace."""
    return run(sys.executable, *program, "--heals", str(folder / "heal_events.jsonl"), "--window", window)


def scores(folder: Path, window: str) -> Run:
    """The same without ranges and integrity."""
    return report(folder, window, program=("-m", "benchmarks.scores_only"))


def plain(what: str, folder: Path) -> Run:
    """A plain scan, or the plain-Python way."""
    return run(sys.executable, "-m", "benchmarks.plain", what, str(folder))


def measure(name: str, folder: Path, *, rounds: int) -> tuple[list[tuple[str, str, str]], float]:
    """Rows of (measure, ratio or figure, seconds behind it), and the median seconds of the 7-day report."""
    scans, weeks, plain_weeks, alls, plain_alls = [], [], [], [], []
    for _ in range(rounds):  # in turn, so that a machine that slows down slows all of them
        scans.append(plain("scan", folder))
        weeks.append(report(folder, "7d"))
        plain_weeks.append(scores(folder, "7d"))
    for _ in range((rounds + 1) // 2):
        scans.append(plain("scan", folder))
        alls.append(report(folder, "all"))
        plain_alls.append(scores(folder, "all"))
    loop = plain("loop", folder)
    refreshes = [float(part) for part in run(sys.executable, "-m", "benchmarks.refresh", str(folder)).out.split()[:2]]
    scan, week, whole, plain_week, plain_whole = (
        statistics.median(one.seconds for one in some) for some in (scans, weeks, alls, plain_weeks, plain_alls)
    )
    rows = [
        (f"{name}: 7-day report ÷ plain scan", f"{week / scan:.2f}", f"{week:.2f} s ÷ {scan:.2f} s"),
        (f"{name}: the same without ranges and integrity", f"{plain_week / scan:.2f}", f"{plain_week:.2f} s ÷ {scan:.2f} s"),
        (f"{name}: 7-day report ÷ plain-Python way", f"1/{loop.seconds / week:.1f}", f"{week:.2f} s ÷ {loop.seconds:.2f} s"),
        (f"{name}: report of all history ÷ plain scan", f"{whole / scan:.1f}", f"{whole:.2f} s ÷ {scan:.2f} s"),
        (f"{name}: the same without ranges and integrity", f"{plain_whole / scan:.1f}", f"{plain_whole:.2f} s ÷ {scan:.2f} s"),
        (
            f"{name}: refresh after 1,000 heals ÷ first load",
            f"{refreshes[1] / refreshes[0]:.1%}",
            f"{refreshes[1]:.3f} s ÷ {refreshes[0]:.2f} s",
        ),
        (f"{name}: peak memory, 7 days / all", f"{max(one.peak_mb for one in weeks):.0f} / {max(one.peak_mb for one in alls):.0f} MB", ""),
    ]
    return rows, week


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often what is compared is run in turn")
    parser.add_argument("--small", action="store_true", help="of the reports only those on the 100,000 × 1 kB log")
    chosen = parser.parse_args()
    rows = reports(rounds=chosen.rounds, small=chosen.small)
    pages.show([*rows, *logging_heals.rows(rounds=chosen.rounds), *pages.rows(rounds=chosen.rounds)])


def reports(*, rounds: int, small: bool) -> list[tuple[str, str, str]]:
    """Rows of (measure, figure, what is behind it) for the command line's report."""
    rows: list[tuple[str, str, str]] = []
    weeks: dict[str, float] = {}
    for name, (heals, record_bytes) in LOGS.items():
        if small and name != "100,000 × 1 kB":
            continue
        folder = FILES / f"{heals}x{record_bytes}"
        if not (folder / "surface.jsonl").exists():
            print(f"making {name} …", file=sys.stderr)
            write_bulk(folder, heals=heals, record_bytes=record_bytes)
        found, weeks[name] = measure(name, folder, rounds=rounds)
        rows += found
    if not small:
        growth = weeks["1,000,000 × 1 kB"] / weeks["100,000 × 1 kB"]
        rows.append(("ten times the heals: 7-day report", f"{growth:.1f} × the time", ""))
    demo = statistics.median(report(ROOT / "fixtures", "7d").seconds for _ in range(rounds))
    rows.append(("demo report, whole process", f"{demo:.2f} s", ""))
    return rows


if __name__ == "__main__":
    main()
