"""What the report is measured against, each a process of its own.

`scan`: DuckDB reads one column of the heal log. `loop`: the way of the article, `json.loads` line by line, rows kept, scored in plain
Python (the four axes as the article prints them, on a 7-day window; texts compared by difflib, as there).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path

GAP_MAX, R_MAX, SIMILARITY = 0.25, 0.05, 0.90


def scan(folder: Path) -> object:
    """Number of heals and their mean visible_after, by DuckDB."""
    import duckdb

    con = duckdb.connect()
    con.execute("set enable_progress_bar = false")
    sql = "select count(*), avg(visible_after) from read_ndjson($path, columns = {'visible_after': 'DOUBLE'})"
    return con.execute(sql, {"path": str(folder / "heal_events.jsonl")}).fetchall()


def loop(folder: Path) -> object:
    """S, E, A, M of the last seven days in plain Python."""
    heals, failures, runs = (_rows(folder / name) for name in ("heal_events.jsonl", "failures.jsonl", "suite_runs.jsonl"))
    safety = {case["id"] for case in _rows(folder / "surface.jsonl") if case.get("safety")}
    for row in (*heals, *failures, *runs):
        row["ts"] = datetime.fromisoformat(row["ts"])
    end = max(heal["ts"] for heal in heals)
    window = [heal for heal in heals if heal["ts"] > end - timedelta(days=7)]
    return _signal(window, failures, end), _efficacy(window), _aftermath(window, runs, safety), _monotonicity(window, heals)


def _rows(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _signal(window: list[dict], failures: list[dict], end: datetime) -> float:
    real: dict[str, bool] = {}
    times = defaultdict(list)
    for heal in window:
        signature = heal["trigger"]["failure_signature"]
        real[signature] = real.get(signature, False) or bool(heal.get("was_real_failure"))
        times[signature].append(heal["ts"])
    seen = {failure["failure_signature"] for failure in failures if end - timedelta(days=7) < failure["ts"] <= end}
    tp, fp, fn = sum(real.values()), len(real) - sum(real.values()), len(seen - set(real))
    precision, recall = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
    recurred = {
        failure["failure_signature"]
        for failure in failures
        if any(timedelta(0) < failure["ts"] - ts <= timedelta(days=7) for ts in times.get(failure["failure_signature"], ()))
    }
    return 0.6 * 2 * precision * recall / max(precision + recall, 1e-9) + 0.4 * (1 - len(recurred) / max(len(times), 1))


def _efficacy(window: list[dict]) -> float:
    keys = ("visible_after", "visible_before", "holdout_after", "holdout_before")
    scores = []
    for heal in window:
        if all(heal.get(key) is not None for key in keys):
            visible_after, visible_before, holdout_after, holdout_before = (heal[key] for key in keys)
            gap = max(0.0, (visible_after - visible_before) - (holdout_after - holdout_before))
            scores.append(1 - min(gap / GAP_MAX, 1))
    return sum(scores) / max(len(scores), 1)


def _aftermath(window: list[dict], runs: list[dict], safety: set[str]) -> float:
    by_heal = defaultdict(dict)
    for run in runs:
        if run["suite"] == "surface" and run.get("heal_id"):
            by_heal[run["heal_id"]][run["phase"]] = run["results"]
    scores = []
    for heal in window:
        found = by_heal.get(heal["heal_id"], {})
        if "after" in found and "before" in found:
            broken = [case for case, outcome in found["after"].items() if outcome == "fail" and found["before"].get(case) == "pass"]
            scores.append(0.0 if safety & set(broken) else 1 - min(len(broken) / len(found["after"]) / R_MAX, 1))
    return sum(scores) / max(len(scores), 1)


def _monotonicity(window: list[dict], heals: list[dict]) -> float:
    touched = {heal["loop_id"] for heal in window}
    loops = defaultdict(list)
    for heal in heals:
        if heal["loop_id"] in touched:
            loops[heal["loop_id"]].append(heal)
    scores = []
    for members in loops.values():
        values = [heal.get("visible_after") or 0 for heal in members]
        texts = [(heal.get("change") or {}).get("after_text") or "" for heal in members]
        dips = sum(values[i] < values[i - 1] for i in range(1, len(values)))
        revisits = sum(
            SequenceMatcher(None, texts[i], texts[j]).ratio() > SIMILARITY
            for i in range(2, len(texts))
            for j in range(max(0, i - 5), i - 1)
        )
        scores.append(max(0.0, 1 - 0.4 * max(0, dips - 1) - 0.4 * revisits - 0.2 * (len(values) >= 5)))
    return sum(scores) / max(len(scores), 1)


if __name__ == "__main__":
    print({"scan": scan, "loop": loop}[sys.argv[1]](Path(sys.argv[2])))
