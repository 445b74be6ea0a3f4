"""The product against an independent computation in plain loops (tests/reference), on messy random workspaces."""

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from seam_core import gates, scope
from seam_core import report as report_module
from seam_core.report import audit, report, window_of
from seam_core.settings import resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_log
from tests.reference.random_workspace import write_random_workspace
from tests.reference.scorer import score as reference_score

NOW = datetime(2026, 11, 30, tzinfo=UTC)
VIEWS = [("7d", None), ("all", None), ("7d", "2025-01-20"), ("4w", "2025-01-14T12:00:00+02:00"), ("24h", None)]
SEEDS = [*range(15), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(15, 40))]
DEMO = Path(__file__).parents[2] / "fixtures"
REAL = sorted(log.parent for log in Path(os.environ.get("SEAM_REAL_LOGS", os.devnull)).glob("**/workspaces/*/heal_events.jsonl"))


@pytest.fixture
def unrounded(monkeypatch):
    monkeypatch.setattr(report_module, "DECIMALS", 17)


def product_reports(folder, views):
    """(span, as_of, report) of several windows of one load."""
    workspace = workspace_of_log(folder / "heal_events.jsonl")
    store = Store(workspace, now=NOW)
    store.refresh()
    for span, as_of in views:
        yield span, as_of, report(audit(store, window_of(store, span=span, as_of=as_of), resolve(workspace.settings_file)))
    store.close()


def product_report(folder, span):
    ((_, _, found),) = product_reports(folder, [(span, None)])
    return found


def differences(found, expected, path=""):
    """Leaves of `expected` that `found` gives differently: numbers beyond 1e-9, anything else at all."""
    if isinstance(expected, dict):
        shared = [key for key in expected if key in found]
        return [difference for key in shared for difference in differences(found[key], expected[key], f"{path}.{key}")]
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return [] if abs(found - expected) <= 1e-9 else [(path, found, expected)]
    return [] if json.dumps(found) == json.dumps(expected) else [(path, found, expected)]


def compared(expected):
    """What both sides give, without the parts in words."""
    kept = {key: value for key, value in expected.items() if key not in ("rows", "flags", "settings", "withheld")}
    return kept | {"basis": {"cycle_score": expected["basis"]["cycle_score"]}}


@pytest.mark.parametrize("seed", SEEDS)
def test_equals_the_independent_computation_to_1e_9(seed, tmp_path, unrounded):
    write_random_workspace(tmp_path, seed, heals=60)
    for span, as_of, found in product_reports(tmp_path, VIEWS):
        expected = reference_score(tmp_path, window=span, as_of=as_of, now=NOW)
        assert not differences(found, compared(expected)), (span, as_of)
        assert {"S", "E", "A", "M", "signal", "efficacy", "aftermath", "monotonicity", "counts"} <= compared(expected).keys()


@pytest.mark.parametrize("seed", [1, 6, 11])
def test_shuffled_lines_give_the_same_report(seed, tmp_path):
    """All but which of two rewritten lines is the earlier one, so rewrites are taken out first."""
    write_random_workspace(tmp_path, seed, heals=60)
    for log in tmp_path.glob("*.jsonl"):
        lines = {
            json.dumps(record.get("heal_id") or record.get("run_id") or record.get("id") or n): line
            for n, (line, record) in enumerate(records(log))
        }
        log.write_bytes(b"".join(line + b"\n" for line in lines.values()))
    before = product_report(tmp_path, "7d")
    for log in tmp_path.glob("*.jsonl"):
        lines = log.read_bytes().splitlines(keepends=True)
        random.Random(seed).shuffle(lines)
        log.write_bytes(b"".join(lines))
    assert product_report(tmp_path, "7d") == before
    assert before["counts"]["heals"] > 0


@pytest.mark.parametrize("folder", REAL, ids=lambda folder: folder.name)
def test_equals_the_independent_computation_on_real_logs(folder, unrounded):
    """Every workspace below the folder that SEAM_REAL_LOGS names; none is part of the project."""
    for span in ("7d", "all"):
        assert not differences(product_report(folder, span), compared(reference_score(folder, window=span, now=NOW)))


def test_equals_the_independent_computation_on_the_demo(unrounded):
    for span, as_of, found in product_reports(DEMO, [("7d", None), ("all", None), ("28d", "2026-05-20")]):
        assert not differences(found, compared(reference_score(DEMO, window=span, as_of=as_of, now=NOW)))
        assert found["min"] is not None


@pytest.mark.parametrize("seed", [2, 8, 14])
def test_a_whole_history_is_scored_alike_when_it_is_too_large_to_copy(seed, tmp_path, unrounded, monkeypatch):
    """Large windows are views, their texts are streamed, and DuckDB looks for protected blocks."""
    write_random_workspace(tmp_path, seed, heals=60)
    before = product_report(tmp_path, "all")
    monkeypatch.setattr(scope, "COPY_MAX", 0)
    monkeypatch.setattr(gates, "COPY_MAX", 0)
    assert product_report(tmp_path, "all") == before


def records(log):
    for line in log.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield line.rstrip(b"\r"), record


def test_the_same_input_gives_the_same_bytes(tmp_path):
    write_random_workspace(tmp_path, 4, heals=60)
    workspace = workspace_of_log(tmp_path / "heal_events.jsonl")
    texts = set()
    for _ in range(3):
        store = Store(workspace, now=NOW)
        store.refresh()
        texts.add(report_module.to_json(audit(store, window_of(store), resolve(None))))
        store.close()
    assert len(texts) == 1
