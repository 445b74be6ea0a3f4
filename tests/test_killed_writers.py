"""Many processes write to one log and are killed without a word: what was acknowledged is in the file once, and nothing is joined."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from seam_core.records import HEALS
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder

ROOT = Path(__file__).resolve().parents[1]

# Heals until a number of them is acknowledged; each acknowledgement is one line of a file that only this process appends to.
WRITER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from seam_core.recorder import Change, Recorder
folder, acknowledged, first, stop = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
recorder = Recorder(folder, sync="system", wait_s=300, aside=folder)
acks = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for number in range(first, stop):
    with recorder.heal("kill:writer:test", loop_id=f"shared_{number // 5}", level=2) as heal:
        heal.change = Change("prompt", f"{acknowledged} {number} " * 40)
    if heal.written:
        os.write(acks, f"{heal.heal_id} {heal.loop_id} {heal.cycle}\\n".encode())
"""


def start(folder, writer, *, heals):
    """A writer that goes on where the last one of its name was killed."""
    acks = folder / f"acknowledged_{writer}"
    done = len(acks.read_text().splitlines()) if acks.exists() else 0
    command = [sys.executable, "-I", "-S", "-c", WRITER, ROOT, folder, acks, str(done), str(heals)]
    return subprocess.Popen(command)


@pytest.mark.parametrize(
    ("heals", "kills", "seed"), [(100, 6, 1), pytest.param(2000, 60, 2, marks=pytest.mark.soak)], ids=["8 × 100", "8 × 2,000"]
)
def test_every_acknowledged_heal_is_in_the_file_once_and_whole(tmp_path, heals, kills, seed):
    chance = random.Random(seed)
    writers = {writer: start(tmp_path, writer, heals=heals) for writer in range(8)}
    log = tmp_path / HEALS.file
    n_killed = n_lines = read = 0
    while running := [writer for writer, process in writers.items() if process.poll() is None]:
        if log.exists():
            with log.open("rb") as file:
                file.seek(read)
                news = file.read()
            read, n_lines = read + len(news), n_lines + news.count(b"\n")
        if n_killed < kills and n_lines >= (n_killed + 1) * 8 * heals / (kills + 1):  # spread over the whole run
            writer = chance.choice(running)
            writers[writer].send_signal(signal.SIGKILL)
            writers[writer].wait()
            writers[writer] = start(tmp_path, writer, heals=heals)
            n_killed += 1
        else:
            time.sleep(0.002)
    assert [process.returncode for process in writers.values()] == [0] * 8
    assert n_killed == kills

    acknowledged = [line.split() for file in tmp_path.glob("acknowledged_*") for line in file.read_text().splitlines()]
    lines = log.read_bytes().splitlines()
    records = [json.loads(line) for line in lines if is_json(line)]
    times = Counter((record["heal_id"], record["loop_id"], str(record["cycle"])) for record in records)
    assert len(acknowledged) == 8 * heals
    assert all(times[tuple(heal)] == 1 for heal in acknowledged)
    assert len(lines) - len(records) <= kills, "at most what a killed writer left of a line is none"
    assert len(records) - len(acknowledged) <= kills, "written, and killed before it could say so"
    assert all(len(set(record["change"]["after_text"].split())) == 2 for record in records), "no text has a piece of another"

    numbers = [int(record["heal_id"].removeprefix("h_")) for record in records]
    assert numbers == list(range(1, len(records) + 1))
    for loop_id in {record["loop_id"] for record in records}:
        cycles = [record["cycle"] for record in records if record["loop_id"] == loop_id]
        assert cycles == list(range(1, len(cycles) + 1))
    store = Store(workspace_of_folder(tmp_path), now=datetime.now(UTC))
    store.refresh()
    assert store.states["heals"].n_rows == len(records)
    assert len(store.rejects()) == len(lines) - len(records)
    store.close()


def is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
