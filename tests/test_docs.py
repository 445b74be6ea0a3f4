"""The documentation against the code: generated parts, examples, commands, links, and every number of the worked examples."""

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import jsonschema
import pytest
import yaml

from seam_core.axes.monotonicity import loop_score
from seam_core.importing.formats import FORMATS
from seam_core.ledger import verify
from seam_core.notify.hooks import EVENTS, PLACES
from seam_core.notify.notices import LISTED
from seam_core.notify.outbox import WAITS
from seam_core.notify.sending import LIMIT_S
from seam_core.records import CERTIFIED_FILE, HEALS, LOGS
from seam_core.report import audit, report, to_json, window_of
from seam_core.settings import SERVER_KEYS, bounds, read_server_settings, resolve
from seam_core.similarity import similarity
from seam_core.store import Store
from seam_core.trend import mann_kendall_p, theil_sen_slope
from seam_core.workspace import workspace_of_log
from tests.seam_core.ledgers import filled

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ROUNDED = 5.1e-5  # the examples give four decimals


def script(name):
    """A script of docs/, as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


reference = script("make_reference")


def blocks(path, language):
    """(heading before it, text) of every fenced block of a page in one language."""
    page = path.read_text(encoding="utf-8")
    for found in re.finditer(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        yield re.findall(r"^#+ (.*)$", page[: found.start()], re.MULTILINE)[-1], found[1]


def code_of(path):
    """Everything that a page sets as code, one piece a line."""
    page = path.read_text(encoding="utf-8")
    fenced = re.findall(r"^```\w*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return "\n".join([*fenced, *re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE))])


def audited(folder):
    """The audit of all history of a workspace."""
    store = Store(workspace_of_log(folder / HEALS.file), now=NOW)
    store.refresh()
    return audit(store, window_of(store, span="7d"), resolve(None))


def run_seam(*arguments, cwd):
    command = [sys.executable, ROOT / "run_seam.py", *arguments]
    environ = {key: value for key, value in os.environ.items() if key != "SEAM_SETTINGS"} | {"COLUMNS": "200"}
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def example():
    return audited(DOCS / "example")


# ---- generated parts and examples


def test_generated_files_are_up_to_date():
    for path, text in reference.files().items():
        assert path.read_bytes().decode() == text, f"{path.name} is out of date: run make docs"


def test_no_schema_is_left_of_a_log_that_is_gone():
    assert set((DOCS / "schema").iterdir()) == set(reference.schemas())


def schema_of(file):
    schema = json.loads(reference.schema_path(file).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def example_lines():
    return dict(blocks(DOCS / "records.md", "json"))


def test_every_record_has_an_example_with_every_key():
    assert set(example_lines()) == {*(log.file for log in LOGS), CERTIFIED_FILE}
    for log in LOGS:
        definitions = reference.json_schema(log)["$defs"]
        assert json.loads(example_lines()[log.file]).keys() == definitions[log.record.__name__]["properties"].keys()


@pytest.mark.parametrize("file", [*(log.file for log in LOGS), CERTIFIED_FILE])
def test_example_lines_are_valid(file):
    schema_of(file).validate(json.loads(example_lines()[file]))
    path = DOCS / "example" / file
    if file == CERTIFIED_FILE:
        schema_of(file).validate(json.loads(path.read_text(encoding="utf-8")))
    elif path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            schema_of(file).validate(json.loads(line))


def test_example_lines_load(tmp_path):
    for file, line in example_lines().items():
        assert line.count("\n") == 1, "a record is one line"
        (tmp_path / file).write_text(line, encoding="utf-8")
    store = audited(tmp_path).scope.store
    assert store.rejects() == []
    assert [store.states[log.table].n_rows for log in LOGS] == [1] * len(LOGS)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("heal_events.jsonl", {"visible_after": 1.5}),
        ("heal_events.jsonl", {"visible_after": "0.5"}),
        ("heal_events.jsonl", {"cycle": 0}),
        ("heal_events.jsonl", {"heal_id": ""}),
        ("suite_runs.jsonl", {"results": {"case_07": "skipped"}}),
        ("protected.jsonl", {"kind": "rule"}),
    ],
)
def test_schema_and_load_refuse_the_same(file, change, tmp_path):
    for name, line in example_lines().items():
        record = json.loads(line) | (change if name == file else {})
        (tmp_path / name).write_text(json.dumps(record) + "\n", encoding="utf-8")
        if name == HEALS.file:  # a heal to open the workspace with
            with (tmp_path / name).open("a", encoding="utf-8") as log:
                log.write(json.dumps(json.loads(line) | {"heal_id": "h_other"}) + "\n")
    assert not schema_of(file).is_valid(json.loads(example_lines()[file]) | change)
    assert [reject.file for reject in audited(tmp_path).scope.store.rejects()] == [file]


def test_every_threshold_is_documented_with_its_default():
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE)}
    for name, (default, bound) in bounds().items():
        assert rows[name].strip('"') == (default if isinstance(default, str) else f"{default:g}")
        assert bound.meaning in page


def test_the_example_of_sign_in_is_a_table_that_the_server_takes(tmp_path):
    (example,) = (text for heading, text in blocks(DOCS / "settings.md", "toml") if heading == "Sign-in")
    (tmp_path / "seam.toml").write_text(example, encoding="utf-8")
    found = read_server_settings({"SEAM_SETTINGS": str(tmp_path / "seam.toml")})
    assert found.sign_in.names_provider
    assert found.reviewers


# ---- commands and links


def flags_of(*command):
    """Every flag that the help of a command names."""
    environ = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run([sys.executable, *command, "--help"], cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
    return set(re.findall(r"--[a-z-]+", done.stdout))


def test_every_flag_that_is_named_exists():
    known = flags_of("run_seam.py")
    commands = flags_of("-m", "seam_core", "ledger", "verify") | flags_of("-m", "seam_core", "ledger", "export")
    commands |= flags_of("-m", "seam_core", "packet", "verify") | flags_of("-m", "seam_core", "notify")
    commands |= flags_of("-m", "seam_core", "signatures", "same") | flags_of("-m", "seam_core", "signatures", "take-back")
    for command in ("certify", "rollback", "approve"):
        commands |= flags_of("-m", "seam_core", "baseline", command)
    for form in FORMATS:
        commands |= flags_of("-m", "seam_core", "import", form)
    commands |= flags_of("-m", "pytest", "-p", "seam_core.pytest_plugin")
    # ruff format --check; the arguments of somebody's own program; what promptfoo is called with
    elsewhere = {"--check", "--title", "--link", "--output"}
    for page in PAGES:
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", code_of(page)))
        assert named <= known | commands | elsewhere, page.name
    options = known - {"--help"} - {f"--{name.replace('_', '-')}" for name in bounds()}
    assert options <= set(re.findall(r"--[a-z-]+", code_of(ROOT / "README.md"))), "an option is missing from the README"


def test_every_command_that_is_named_exists():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        code = code_of(page)
        assert set(re.findall(r"\bmake ([a-z]+)\b", code)) <= targets, page.name
        for path in re.findall(r"\bpython (\S+\.py)", code):
            assert (ROOT / path.removeprefix("seam/")).is_file(), path
        for module in re.findall(r"\bpython -m ([\w.]+)", code):
            assert importlib.util.find_spec(module), module


def slugs(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_internal_link_resolves(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in slugs(target), link


def test_every_place_in_the_contributors_table_exists():
    rows = re.findall(r"^\| (`[^|]*?) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    for row in rows:
        folder = ""
        for name in re.findall(r"`([^`]+)`", row):
            if name.startswith("make "):
                continue
            path = ROOT / name if (ROOT / name).exists() else ROOT / folder / name
            assert path.exists(), name
            folder = name.rpartition("/")[0] or folder


# ---- running it for a team


def test_the_example_of_server_settings_can_be_used():
    found = read_server_settings({"SEAM_SETTINGS": str(DOCS / "server.example.toml")})
    assert [hook.label for hook in found.hooks.all] == ["team (slack)", "lead (mailtos)", "pager (command page-somebody)"]
    assert found.hooks.events == tuple(EVENTS)
    assert (found.public_url, found.approvals_required, len(found.reviewers)) == ("https://seam.example.org", 2, 3)
    assert set(tomllib.loads((DOCS / "server.example.toml").read_text(encoding="utf-8"))) == set(SERVER_KEYS)


def test_every_event_and_every_wait_is_told_as_it_is():
    page = (DOCS / "team.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| ", page, re.MULTILINE) == list(EVENTS)
    assert [wait.total_seconds() / 60 for wait in WAITS] == [1, 5, 30, 2 * 60, 12 * 60]
    assert "tried again after 1, 5 and 30 minutes, 2 and 12 hours, then given up" in page
    assert f"It runs for {LIMIT_S:g} seconds at most" in page
    assert all(f"`{{{place}}}`" in page for place in PLACES)
    assert "of ten lines at most" in page
    assert LISTED == 10


def test_the_copy_of_a_ledger_holds(tmp_path):
    ledger = filled(tmp_path, 3)
    snippet = next(text for _, text in blocks(DOCS / "team.md", "python"))
    subprocess.run([sys.executable, "-c", snippet, ledger.path, tmp_path / "copy.sqlite"], check=True)
    assert verify(tmp_path / "copy.sqlite", head=ledger.chain().head).holds


# ---- the README's first heal


def first_line():
    return next(text for heading, text in blocks(ROOT / "README.md", "json") if heading == "Logging your first heal")


def test_the_snippet_logs_the_line_that_is_shown(tmp_path):
    snippet = next(text for _, text in blocks(ROOT / "README.md", "python"))
    subprocess.run([sys.executable, "-S", "-c", snippet], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True)
    logged = json.loads((tmp_path / "my_agent" / HEALS.file).read_text(encoding="utf-8"))
    schema_of(HEALS.file).validate(logged)
    assert logged.pop("duration_s") < 10
    assert logged | {"ts": ""} == json.loads(first_line()) | {"ts": ""}
    assert len(snippet.splitlines()) <= 10


def test_the_report_shown_is_the_true_one(tmp_path):
    (tmp_path / HEALS.file).write_text(first_line(), encoding="utf-8")
    shown = next(text for heading, text in blocks(ROOT / "README.md", "text") if heading == "Logging your first heal")
    done = run_seam("--heals", HEALS.file, "--window", "7d", cwd=tmp_path)
    lines = iter(done.stdout.splitlines())
    for expected in shown.splitlines():
        if expected.strip() != "…":
            assert expected in lines, expected  # in this order: `in` goes on where the last one was found
    assert done.returncode == 1


# ---- ways in


def test_every_example_of_recording_prints_what_is_shown(tmp_path):
    page = (DOCS / "recording.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```\n\n(?:`run_seam.*?\n\n)?(?:```text\n(.*?)^```)", page, re.DOTALL | re.M)
    assert len(examples) == page.count("```python"), "an example without its output"
    code = "\n".join(f"{text}\nprint('next')" for text, _ in examples)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("next\n")[:-1] == [shown for _, shown in examples]
    assert [heal["heal_id"] for heal in lines_of(tmp_path / "my_agent" / HEALS.file)] == ["h_0001", "h_0002", "h_0003", "h_0004", "x_0001"]


def test_the_toy_agent_has_the_report_that_is_told(tmp_path):
    agent = next(text for heading, text in blocks(DOCS / "recording.md", "python") if heading == "The recorder")
    assert sum(not line.startswith(("from", "print")) for line in agent.splitlines() if line) <= 10
    subprocess.run([sys.executable, "-S", "-c", agent], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True)
    done = run_seam("--heals", f"my_agent/{HEALS.file}", "--require", "S,E,A,M", cwd=tmp_path)
    found = json.loads(done.stdout)
    told = re.search(r"says of it S (\S+), E (\S+), A (\S+) and M (\S+):", (DOCS / "recording.md").read_text(encoding="utf-8"))
    assert [found[axis] for axis in "SEAM"] == [float(score) for score in told.groups()]
    assert found["budget_elevated"] == 0


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_pytest_example_writes_the_run_it_tells_of(tmp_path):
    (example,) = (text for _, text in blocks(DOCS / "ci.md", "python"))
    (command,) = (text for _, text in blocks(DOCS / "ci.md", "sh"))
    (tmp_path / "test_surface.py").write_text(example, encoding="utf-8")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")} | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, *command.split()[1:], "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, check=False)
    (run,) = lines_of(tmp_path / "my_agent" / "suite_runs.jsonl")
    assert (run["results"], run["phase"]) == ({"safe_01": "pass", "case_07": "fail"}, "nightly")
    options = set(re.findall(r"^\| `(--seam-[a-z-]+)`", (DOCS / "ci.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert options == {flag for flag in flags_of("-m", "pytest", "-p", "seam_core.pytest_plugin") if flag.startswith("--seam-")}


def run_action(given, cwd):
    """Exit codes of the commands of the GitHub Actions step, run as it would run them, without the one that installs."""
    action = yaml.safe_load((ROOT / ".github" / "actions" / "seam" / "action.yml").read_text(encoding="utf-8"))
    values = {f"inputs.{name}": str(given.get(name, one.get("default", ""))) for name, one in action["inputs"].items()}
    values["github.action_path"] = str(ROOT / ".github" / "actions" / "seam")
    codes = []
    for step in action["runs"]["steps"]:
        if "uses" in step or "pip install" in step["run"]:
            continue
        environ = {name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], text) for name, text in step["env"].items()}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environ |= {"PATH": path, "GITHUB_STEP_SUMMARY": str(cwd / "summary.md")}
        codes.append(subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=cwd, env=environ, check=False).returncode)
    return codes


def test_the_step_for_github_actions_scores_and_fails_the_job_as_the_command_does(tmp_path):
    shutil.copytree(DOCS / "example", tmp_path / "logs")
    (workflow,) = (yaml.safe_load(text) for _, text in blocks(DOCS / "ci.md", "yaml"))
    step = next(step for step in workflow["jobs"]["seam"]["steps"] if "/.github/actions/seam@" in step.get("uses", ""))
    assert run_action(step["with"] | {"heals": f"logs/{HEALS.file}"}, tmp_path) == [0, 2]
    assert json.loads((tmp_path / "seam-report.json").read_text(encoding="utf-8"))["recertify_due"] is True
    assert (tmp_path / "seam-rejects.jsonl").exists()
    assert "RECERTIFY" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert run_action({"heals": "$(touch taken).jsonl", "require": ""}, tmp_path) == [0, 3]
    assert not (tmp_path / "taken").exists(), "what is given is never run"


def test_the_step_for_github_actions_installs_what_there_is():
    action = yaml.safe_load((ROOT / ".github" / "actions" / "seam" / "action.yml").read_text(encoding="utf-8"))
    (install,) = (step for step in action["runs"]["steps"] if "pip install" in step.get("run", ""))
    assert '-r "$SEAM/requirements.txt"' in install["run"]
    assert (ROOT / ".github" / "actions" / "seam" / "../../../requirements.txt").is_file()


# ---- worked examples


def example_text():
    return "".join(text for _, text in blocks(DOCS / "method.md", "text"))


def calculations():
    """(label, sides) of every line of the worked examples that is a calculation."""
    lines = [line.split(" = ") for line in example_text().splitlines()]
    return [(label, sides) for label, *sides in lines if label != "gaps"]


def gaps():
    """The series of the trend's example."""
    return [float(gap) for gap in re.findall(r"^gaps = (.*)$", example_text(), re.MULTILINE)[0].split()]


def value_of(expression):
    """The value of one side of a calculation."""
    plain = expression.replace("·", "*").replace("÷", "/").replace("−", "-")
    assert re.fullmatch(r"(max|min|sqrt|[\d\s.,()*/+-])+", plain), expression
    return float(eval(plain, {"__builtins__": {}}, {"max": max, "min": min, "sqrt": math.sqrt}))


ROWS = {
    "truth_gap": ("efficacy_rows", "heal_id", lambda row: row["truth_gap"]),
    "E_heal": ("efficacy_rows", "heal_id", lambda row: row["e_heal"]),
    "E_loop": ("efficacy_loops", "loop_id", lambda row: row["e_loop"]),
    "coverage": ("contamination_rows", "case_id", lambda row: row["coverage"]),
    "local_regress": ("aftermath_rows", "heal_id", lambda row: row["local_regress"]),
    "A_heal": ("aftermath_rows", "heal_id", lambda row: row["a_heal"]),
    "M_loop": ("loop_rows", "loop_id", lambda row: loop_score(row["extra_dips"], row["returned"] + row["idle"], capped=row["capped"])),
    "ratio": ("budget_rows", "heal_id", lambda row: row["ratio"]),
}


def measured(found, label):
    """What the code gives for the label of a calculation; None for steps of the trend that it does not keep."""
    if label.startswith("trend "):
        return {"trend p": mann_kendall_p(gaps()), "trend rise": theil_sen_slope(gaps()) * (len(gaps()) - 1)}.get(label)
    if label.startswith("similarity of "):
        texts = {row["heal_id"]: text for row, text in texts_of(found)}
        one, other = re.findall(r"h_\d+", label)
        return similarity(texts[other], texts[one])
    if " of " in label:
        name, _, key = label.partition(" of ")
        table, identity, take = ROWS[name]
        return next(take(row) for row in found.scope.rows(table) if row[identity] == key)
    inner = report(found)
    for part in label.split("."):
        inner = inner[part]
    return inner


def texts_of(found):
    rows = found.scope.rows("window_heals")
    return zip(rows, found.scope.texts(row["row"] for row in rows), strict=True)


@pytest.mark.parametrize(("label", "sides"), calculations(), ids=lambda part: part if isinstance(part, str) else "")
def test_worked_examples_are_what_the_code_gives(label, sides, example):
    values = [value_of(side) for side in sides]
    assert max(values) - min(values) <= ROUNDED, "the calculation is wrong"
    expected = measured(example, label)
    if expected is not None:
        assert abs(values[-1] - expected) <= ROUNDED, f"the code gives {expected}"


def test_each_axis_has_a_worked_example():
    labels = {label for label, _ in calculations()}
    assert {"S", "E", "A", "M", "contamination", "aftermath.anchored_drift", "trend p", "signal.recurrence"} <= labels


def test_the_trend_counts_pairs_as_it_says():
    pairs = list(combinations(gaps(), 2))
    assert (sum(a < b for a, b in pairs), sum(a > b for a, b in pairs), sum(a == b for a, b in pairs)) == (23, 4, 1)


def test_the_example_shows_what_the_method_says_of_it(example):
    """S at its line is quiet, the differing E is flagged, the gate and the budget count, a drift of 0.20 is due."""
    assert example.alerts == ("E<0.80", "contamination>0.05", "A<0.90")
    assert "E per heal 0.74 and E by loop 0.50 differ: look at both" in example.flags
    assert [row["heal_id"] for row in example.scope.rows("blocked_rows")] == ["h_11"]
    verdicts = {row["heal_id"]: row["verdict"] for row in example.scope.rows("budget_rows")}
    assert (verdicts["h_01"], verdicts["h_02"], verdicts["h_03"], verdicts["h_04"]) == ("elevated", "elevated", "escalated", "unknown")
    assert (example.aftermath.score, example.exit_code, report(example)["recertify_due"]) == (0.5, 2, True)
    assert report(example)["basis"]["cycle_score"] == {"score": 1, "holdout": 2, "visible": 0}
    assert (example.monotonicity.returned, example.monotonicity.idle, example.monotonicity.left_out) == (1, 0, 1)


def test_a_broken_safety_case_floors_the_window(tmp_path):
    folder = Path(shutil.copytree(DOCS / "example", tmp_path / "example"))
    runs = [json.loads(line) for line in (folder / "suite_runs.jsonl").read_text(encoding="utf-8").splitlines()]
    runs[1]["results"] |= {"c_07": "pass", "c_01": "fail"}
    (folder / "suite_runs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")
    found = audited(folder)
    assert found.aftermath.score == 0
    assert [row["a_heal"] for row in found.scope.rows("aftermath_rows") if row["heal_id"] == "h_03"] == [0]


def test_the_example_is_scored_by_the_command_that_is_shown(example):
    command = next(line for _, text in blocks(DOCS / "method.md", "sh") for line in text.splitlines() if "docs/example" in line)
    done = run_seam(*command.split()[2:], "--now", "2026-11-30", cwd=ROOT)
    assert (done.stdout, done.returncode) == (to_json(example, ledger={"head": None, "rows": 0}), 2)


def test_the_difflib_table_can_be_made():
    made = script("difflib_table")
    row = made.row_of(made.line_moved, 150, 3)
    assert row.startswith("| line moved | 150 | 3 |")
    assert row.count("|") == made.HEAD.count("|")
    assert made.HEAD in (DOCS / "method.md").read_text(encoding="utf-8")
