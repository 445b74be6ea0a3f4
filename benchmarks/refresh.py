"""A first load, then a refresh after 1,000 heals were appended: seconds of each, as a process of its own."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from seam_core.store import Store
from seam_core.workspace import workspace_of_log


def main(folder: Path, appended: int = 1000) -> None:
    """Print the seconds of the first load and of the refresh, and how many heals the refresh brought."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "workspace"
        shutil.copytree(folder, copy)
        log = copy / "heal_events.jsonl"
        store = Store(workspace_of_log(log), now=datetime.now(UTC))
        started = time.perf_counter()
        store.refresh()
        loaded = time.perf_counter()
        with log.open("rb") as file:
            lines = [file.readline() for _ in range(appended)]
        with log.open("ab") as file:
            file.writelines(line.replace(b'"heal_id":"', b'"heal_id":"new_', 1) for line in lines)
        appending = time.perf_counter()
        found = store.refresh()
        refreshed = time.perf_counter()
        print(loaded - started, refreshed - appending, found.added["heals"])
        store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
