"""Samples that the tools themselves write, counted as the tools count. Inspect, promptfoo and GEPA are fetched from their registries.

SEAM_IMPORT_TOOLS may name a folder in which they are kept from one time to the next.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.seam_core.importing.conftest import RUN, TS

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.soak

TASK = """
import json, sys
from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def answering():
    async def solve(state, generate):
        if state.sample_id == "errs":
            raise ValueError("boom")
        state.output = ModelOutput.from_content("mock", f"the answer to {state.input_text}")
        return state
    return solve

@task
def asking():
    samples = [Sample(id="right", input="one", target="answer to one"), Sample(id="wrong", input="two", target="three")]
    samples.append(Sample(id="errs", input="x", target="y"))
    return Task(dataset=MemoryDataset(samples), solver=answering(), scorer=match(location="any"))

found = {}
for kind in ("eval", "json"):
    (log,) = eval(asking(), model="mockllm/model", log_format=kind, log_dir=sys.argv[1], epochs=2, fail_on_error=False, display="none")
    passed = sum(1 for one in log.samples if one.scores and one.scores["match"].value == "C")
    found[kind] = {"file": log.location, "total": log.results.total_samples, "completed": log.results.completed_samples, "passed": passed}
print(json.dumps(found))
"""

CONFIG = {
    "prompts": ["Say {{q}}"],
    "providers": ["echo"],
    "tests": [
        {"description": "says it", "vars": {"q": "hello"}, "assert": [{"type": "contains", "value": "hello"}]},
        {"vars": {"q": "bye"}, "assert": [{"type": "contains", "value": "nothing"}]},
        {"vars": {"q": ["a", "b"]}, "description": "two in one", "assert": [{"type": "contains", "value": "Say a"}]},
    ],
}

GEPA = """
import json, sys
from gepa.core.result import GEPAResult
result = GEPAResult(
    candidates=[{"p": "seed"}, {"p": "better"}, {"p": "worse"}],
    parents=[[None], [0], [1]],
    val_aggregate_scores=[0.5, 0.75, 0.25],
    val_subscores=[{0: 1.0, 1: 0.0}, {0: 1.0, 1: 0.5}, {0: 0.5, 1: 0.0}],
    per_val_instance_best_candidates={0: {0, 1}, 1: {1}},
    discovery_eval_counts=[2, 4, 6],
)
json.dump(result.to_dict(), open(sys.argv[1], "w"))
"""


@pytest.fixture(autouse=True)
def today(importer):
    """The tools write the time of day."""
    importer.now = datetime.now(UTC).isoformat(timespec="seconds")


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The folder in which the tools are installed."""
    return Path(os.environ.get("SEAM_IMPORT_TOOLS") or tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module")
def python(tools):
    """A Python that has Inspect and GEPA, and what SEAM needs behind them."""
    path = tools / "py" / "bin" / "python"
    if not path.exists():
        subprocess.run([sys.executable, "-m", "venv", tools / "py"], check=True)
        done = subprocess.run([path, "-m", "pip", "install", "--quiet", "inspect-ai", "gepa"], capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(tools / "py")
            pytest.skip(f"the registry does not give inspect-ai and gepa: {done.stderr[-200:]}")
    (site,) = (tools / "py" / "lib").glob("python*/site-packages")
    (site / "zz_seam.pth").write_text(
        "".join(f"{one}\n" for one in (sysconfig.get_path("purelib"), *sys.path) if one.endswith("site-packages"))
    )
    return path


def test_an_inspect_log_is_counted_as_inspect_counts_it_by_us_and_by_its_library(python, importer, tmp_path):
    (tmp_path / "task.py").write_text(TASK)
    done = subprocess.run([python, tmp_path / "task.py", tmp_path / "logs"], capture_output=True, text=True, check=True, cwd=tmp_path)
    told = json.loads(done.stdout.splitlines()[-1])
    for kind, said in told.items():
        assert importer("inspect", said["file"], *RUN, "--run-id", kind).code == 0
        run = importer.runs[-1]
        outcomes = list(run["results"].values())
        assert (len(outcomes), outcomes.count("pass")) == (said["total"], said["passed"]) == (6, 2)
        assert sum("error" not in run["raw"][case] for case in run["results"]) == said["completed"]
        command = [python, "-m", "seam_core", "import", "inspect", said["file"], *RUN, "--run-id", kind, "--workspace", importer.folder]
        again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (again.stdout, again.stderr) == ("suite_runs.jsonl: 0 new, 1 already there, 0 refused\n", "")


def test_a_result_of_promptfoo_is_counted_as_promptfoo_counts_it(tools, importer, put, tmp_path):
    folder = tools / "pf"
    if not (folder / "node_modules" / ".bin" / "promptfoo").exists():
        npm = shutil.which("npm") or pytest.skip("there is no npm here")
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([npm, "install", "--prefix", folder, "promptfoo"], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the registry does not give promptfoo: {done.stderr[-200:]}")
    environ = os.environ | {
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    command = [folder / "node_modules" / ".bin" / "promptfoo", "eval", "-c", put("promptfooconfig.json", CONFIG), "--no-cache"]
    subprocess.run([*command, "--output", tmp_path / "out.json"], cwd=tmp_path, env=environ, capture_output=True, check=False)
    stats = json.loads((tmp_path / "out.json").read_text())["results"]["stats"]
    assert importer("promptfoo", tmp_path / "out.json", *RUN).code == 0
    outcomes = list(importer.runs[0]["results"].values())
    assert [outcomes.count("pass"), outcomes.count("fail")] == [stats["successes"], stats["failures"] + stats["errors"]] == [2, 2]


def test_a_result_of_gepa_is_read_as_gepa_writes_it(python, importer, tmp_path):
    subprocess.run([python, "-c", GEPA, tmp_path / "g.json"], check=True)
    assert importer("gepa", tmp_path / "g.json", "--visible", "val", "--assume-ts", TS).code == 0
    assert [(heal["visible_before"], heal["visible_after"], heal["change"]["after_text"]) for heal in importer.heals] == [
        (0.5, 0.75, "better"),
        (0.75, 0.25, "worse"),
    ]
