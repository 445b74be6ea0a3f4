"""What logging one heal costs against a bare write and flush of the same bytes: `python -m benchmarks.logging_heals`."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from seam_core.recorder import Change, Recorder
from seam_core.recorder.appending import Sync

BATCH = 50  # heals in a row; what is compared takes turns
WAITING = ("bare and fsync", "disk")
SIZES = {"1 kB": 600, "8 kB": 7_600}  # characters of text that make a line of that size


def bare(folder: Path, text: str, *, fsync: bool) -> Callable[[int], None]:
    """A plain append of a heal's line to an open file."""
    log = (folder / f"bare_{fsync}.jsonl").open("a", encoding="utf-8")
    heal = {"heal_id": "h_0001", "ts": "2026-06-09T14:22:31Z", "loop_id": "loop_001", "cycle": 1, "level": 2, "tokens_spent": 48200}
    heal |= {
        "trigger": {"failure_signature": "timeout:fetch_tool:checkout_flow"},
        "change": {"target": "planner_prompt", "after_text": text},
    }
    line = json.dumps(heal) + "\n"

    def write(_number: int) -> None:
        log.write(line)
        log.flush()
        if fsync:
            os.fsync(log.fileno())

    return write


def recorded(folder: Path, text: str, *, sync: Sync, numbered: bool) -> Callable[[int], None]:
    """The same heal through the recorder."""
    recorder = Recorder(folder / f"{sync}_{numbered}", sync=sync)

    def write(number: int) -> None:
        own = {} if numbered else {"cycle": number % 5 + 1, "heal_id": f"h_{number}"}
        with recorder.heal("timeout:fetch_tool:checkout_flow", loop_id=f"loop_{number // 5}", level=2, **own) as heal:  # type: ignore[arg-type]
            heal.tokens_spent = 48200
            heal.change = Change("planner_prompt", text)

    return write


def rows(*, rounds: int) -> list[tuple[str, str, str]]:
    """Rows of (measure, ratio, microseconds behind it); medians over rounds in which what is compared takes turns."""
    found = []
    for size, n_characters in SIZES.items():
        with tempfile.TemporaryDirectory() as name:
            text = "Ask the customer. " * (n_characters // 18)
            ways = {
                "bare": bare(Path(name), text, fsync=False),
                "bare and fsync": bare(Path(name), text, fsync=True),
                "system": recorded(Path(name), text, sync="system", numbered=True),
                "own ids": recorded(Path(name), text, sync="system", numbered=False),
                "disk": recorded(Path(name), text, sync="disk", numbered=True),
            }
            taken = {way: statistics.median(times) * 1e6 for way, times in _measured(ways, rounds).items()}
        for way, base, told in (
            ("system", "bare", "a heal of {size} ÷ bare write and flush"),
            ("own ids", "bare", "the same with the caller's own id and cycle"),
            ("disk", "bare and fsync", "a heal of {size}, on the disk ÷ bare write, flush and fsync"),
        ):
            found.append((told.format(size=size), f"{taken[way] / taken[base]:.1f}", f"{taken[way]:.0f} µs ÷ {taken[base]:.0f} µs"))
    return found


def _measured(ways: dict[str, Callable[[int], None]], rounds: int) -> dict[str, list[float]]:
    """Way → seconds a heal, one number a batch; the first batch warms up.

    Processor seconds where nothing waits for a disk, since a busy machine interrupts the longer one of two oftener.
    """
    found: dict[str, list[float]] = {way: [] for way in ways}
    for batch in range(rounds * 4 + 1):
        for way, write in ways.items():
            clock = time.perf_counter if way in WAITING else time.process_time
            started = clock()
            for number in range(batch * BATCH, (batch + 1) * BATCH):
                write(number)
            if batch:
                found[way].append((clock() - started) / BATCH)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.logging_heals", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    for row in rows(rounds=parser.parse_args().rounds):
        print("  ".join(row))
