"""The house rules that a linter cannot see: what may import what, and what the command line must not drag in."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from seam_core import VERSION

ROOT = Path(__file__).resolve().parents[1]
HEAVY = (
    "streamlit",
    "plotly",
    "pandas",
    "numpy",
    "scipy",
    "pyarrow",
    "polars",
    "matplotlib",
    "sklearn",
    "torch",
    "starlette",
    "requests",
    "apprise",
    "wordllama",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "inspect_ai",
    "pydantic",
    "typer",
)


def modules_after(statement):
    """Names of every module loaded by a fresh interpreter after one statement."""
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def core_modules():
    return modules_after("import seam_core.cli, seam_core.findings, seam_core.simulate, seam_core.doctor, seam_core.importing.command")


@pytest.mark.parametrize("name", HEAVY)
def test_the_core_imports_nothing_heavy(core_modules, name):
    assert not [module for module in core_modules if module == name or module.startswith(f"{name}.")]


def test_a_report_loads_nothing_heavy_either(tmp_path):
    """Some libraries are imported when first used: DuckDB would take pandas along. Ranges take numpy."""
    run = f"""
import io, sys, contextlib
from seam_core.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["--heals", "fixtures/heal_events.jsonl", "--rejects", {str(tmp_path / "rejects")!r}])
"""
    loaded = modules_after(run)
    assert "duckdb" in loaded
    assert not [name for name in HEAVY if name in loaded and name != "numpy"]
    assert "seam_core.markdown" not in loaded, "the digest was not asked for"


def test_importing_the_core_starts_nothing_and_writes_nothing(tmp_path):
    """No thread, no file, no network: a test or a page may import it at any time."""
    code = f"""
import sys, threading, os
sys.path.insert(0, {str(ROOT)!r})
opened = []
watched = ("socket.connect", "os.mkdir", "subprocess.Popen")
sys.addaudithook(lambda event, found: opened.append((event, found)) if event in watched else None)
import seam_core.cli, seam_core.findings
print(threading.active_count(), opened, os.listdir())
"""
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "1 [] []\n"


FIRST_OF_ALL = """
import ast, importlib, os, sys, traceback
from pathlib import Path
import plotly.graph_objects, streamlit, seam_core.packet
for module in Path("seam_core/views").glob("[!_]*.py"):  # what knows nothing of pages is imported once
    importlib.import_module(f"seam_core.views.{module.stem}")
for page in sorted(Path("pages").glob("[!p]*/[!_]*.py")):
    child = os.fork()
    if not child:
        found = [node for node in ast.parse(page.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        try:
            exec(compile(ast.Module(found, []), str(page), "exec"), {})
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_any_page_may_be_the_first_that_a_server_imports():
    """A ring of imports would show only on the server whose first reader follows a link to just that page."""
    done = subprocess.run([sys.executable, "-c", FIRST_OF_ALL], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ""


def imported(path):
    """Modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


CORE = sorted((ROOT / "seam_core").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_knows_nothing_of_pages_or_tests(path):
    assert not [
        name for name in imported(path) if name.split(".")[0] in ("pages", "app", "tests", "benchmarks", "streamlit", "plotly", "pandas")
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_import_the_core_and_their_parts_and_parts_import_no_page(path):
    ours = [name for name in imported(path) if name.split(".")[0] in ("pages", "app", "tests", "benchmarks")]
    assert not [name for name in ours if not (name == "pages" or name.startswith("pages.parts"))]


def test_the_core_has_no_module_named_after_nothing():
    assert not {path.stem for path in CORE + PAGES} & {"utils", "helpers", "common", "misc"}


def test_the_version_that_packets_name_is_that_of_the_project():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"] == VERSION
