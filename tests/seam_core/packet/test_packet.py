"""A packet gives the report again, to the byte, whatever happened to the workspace since."""

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from seam_core.errors import SeamError, UnreadableLogError
from seam_core.ledger import Ledger, ledger_file, local_actor, noted
from seam_core.ledger.kinds import Assignment
from seam_core.notify.hooks import Hook, Hooks
from seam_core.packet import Asked, PacketError, make_packet, verify_packet
from seam_core.report import audit, to_json, window_of
from seam_core.settings import ServerSettings, resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_log
from tests.seam_core.workspaces import NOW, cases, failure, four, heal, json_lines, run, write

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packet") / "demo"
    shutil.copytree(ROOT / "fixtures", folder)
    return folder


@contextmanager
def scored(heals, *, fixtures=None, now=NOW, span="all", server=None, **flags):
    """An audit, its store still open."""
    store = Store(workspace_of_log(heals, fixtures=fixtures), now=now)
    store.refresh()
    resolved = resolve(store.workspace.settings_file, flags=flags, server=server)
    yield audit(store, window_of(store, span=span), resolved)
    store.close()


def packet_of(heals, to, *, span="all", now=NOW, server=None, logs_max=None, fixtures=None, ledger=None, **flags):
    """Make a packet of a workspace as it is; returns what was said of it and the report it was made of."""
    with scored(heals, fixtures=fixtures, now=now, span=span, server=server, **flags) as found, to.open("w+b") as file:
        asked = Asked(span, now, server or ServerSettings(), flags, ledger=ledger)
        made = make_packet(file, found, asked, logs_max=logs_max)
        return made, to_json(found, ledger=noted(ledger) if ledger else None).encode()


def members(path):
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def rewrite(path, **changed):
    """The packet with some members changed; None leaves one out. Dots and slashes are written as __ and ___."""
    found = members(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in found.items():
            new = changed.get(name.replace("/", "___").replace(".", "__"), data)
            if new is not None:
                packed.writestr(name, new)


def append(path, *rows):
    with path.open("ab") as file:
        file.write(json_lines(rows))


def decide(folder):
    """Add a decision to the ledger of a workspace."""
    ledger = Ledger(ledger_file(folder, ServerSettings()))
    return ledger.write(Assignment(heal_id="h1", to="ana", note="look"), actor=local_actor())


@pytest.fixture
def workspace(tmp_path):
    """Something of everything: labels, gaps, runs, a baseline, a blocked heal, a bad line, settings."""
    logs = {
        "heal_events": [
            heal(1, target="prompt", text="keep this one", was_real_failure=True) | four(0.5, 0.9, 0.5, 0.6),
            heal(2, target="prompt", text="gone", was_real_failure=False) | four(0.5, 0.9, 0.5, 0.9),
            "no json",
            heal(3, tokens_spent=50, task_tokens=10, sig="=1+1") | four(0.5, 0.5, 0.5, 0.5),
        ],
        "failures": [failure("Err:1", 2)],
        "suite_runs": [run("a", "before", 0.5, {"c0": True, "c1": True}, "h1"), run("b", "after", 1, {"c0": True, "c1": False}, "h1")],
        "surface": cases(2),
        "holdout": [{"id": "q", "text": "a question of more than eight words that nobody has copied yet"}],
        "protected": [{"id": "p", "kind": "tool_permission", "target": "prompt", "text": "keep this"}],
    }
    return write(tmp_path / "ws", certified={"c0": "pass", "c1": "pass"}, settings="gap_max = 0.5\n", **logs)


def test_a_packet_recomputes_in_a_fresh_process_after_the_workspace_has_grown(demo, tmp_path):
    """A clean copy of the core alone, another working directory, and the one command of the README."""
    packet = tmp_path / "p.zip"
    _, shown = packet_of(demo / "heal_events.jsonl", packet, span="7d")
    late = heal(900, 20, tokens_spent=1, task_tokens=1)
    append(demo / "heal_events.jsonl", late)
    append(demo / "failures.jsonl", failure("timeout:fetch_tool:checkout_flow", 11))
    (demo / "certified.json").write_text("{}")
    clean = tmp_path / "clean"
    shutil.copytree(ROOT / "seam_core", clean / "seam_core", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "run_seam.py", clean)
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("SEAM_", "PYTHON"))}
    again = tmp_path / "again.json"
    command = [sys.executable, "-B", "-m", "seam_core", "packet", "verify", str(packet), "--report", str(again)]
    done = subprocess.run(command, cwd=clean, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("match: the report came out the same to the byte")
    assert again.read_bytes() == shown == members(packet)["report.json"]
    assert packet_of(demo / "heal_events.jsonl", tmp_path / "q.zip", span="7d")[1] != shown


def test_the_same_by_hand_as_the_readme_says(workspace, tmp_path, monkeypatch):
    packet = tmp_path / "p.zip"
    server = ServerSettings(thresholds={"alert_m": 0.9, "similarity_method": "indel"})
    decide(workspace.parent)
    _, shown = packet_of(workspace, packet, server=server, ledger=workspace.with_name("decisions.sqlite"), recurrence_days=3)
    text = members(packet)["README.md"].decode()
    command = next(line for line in text.splitlines() if "run_seam.py" in line).split(" > ")[0]
    with zipfile.ZipFile(packet) as packed:
        packed.extractall(tmp_path / "packet")
    environ = {key: value for key, value in os.environ.items() if key != "SEAM_SETTINGS"} | {"PYTHONPATH": str(ROOT)}
    command = command.replace("python run_seam.py", f"{sys.executable} {ROOT / 'run_seam.py'}")
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout == shown
    assert json.loads(shown)["ledger"]["rows"] == 1
    assert json.loads(shown)["settings"]["alert_m"] == 0.9


@pytest.mark.parametrize("logs_max", [None, 100], ids=["with logs", "without"])
def test_the_decisions_whose_head_the_report_names_go_with_it(workspace, tmp_path, logs_max):
    path = workspace.with_name("decisions.sqlite")
    decide(workspace.parent)
    packet = tmp_path / "p.zip"
    made, shown = packet_of(workspace, packet, ledger=path, logs_max=logs_max)
    head = noted(path)
    decide(workspace.parent)
    assert made.is_as_shown
    assert json.loads(shown)["ledger"] == head != noted(path)
    assert verify_packet(packet, logs=workspace.parent).report == shown
    (tmp_path / "copy.sqlite").write_bytes(members(packet)["inputs/decisions.sqlite"])
    assert noted(tmp_path / "copy.sqlite") == head


@pytest.mark.parametrize("data", [None, b"no database" * 100], ids=["none", "broken"])
def test_without_decisions_or_with_broken_ones_the_report_comes_out_the_same(workspace, tmp_path, data):
    path = workspace.with_name("decisions.sqlite")
    if data:
        path.write_bytes(data)
    packet = tmp_path / "p.zip"
    made, shown = packet_of(workspace, packet, ledger=path)
    assert made.is_as_shown
    assert ("fault" in json.loads(shown)["ledger"]) == bool(data)
    assert "inputs/decisions.sqlite" not in members(packet)
    assert verify_packet(packet).report == shown


@pytest.mark.parametrize("fixtures", ["beside", "fixtures folder", "elsewhere"])
def test_a_packet_of_everything_matches_and_carries_the_rows(workspace, tmp_path, fixtures):
    folder = workspace.parent
    place = {"beside": folder, "fixtures folder": folder / "fixtures", "elsewhere": tmp_path / "other"}[fixtures]
    if place != folder:
        place.mkdir()
        for name in ("surface.jsonl", "holdout.jsonl", "protected.jsonl", "certified.json"):
            (folder / name).rename(place / name)
    packet = tmp_path / "p.zip"
    made, shown = packet_of(workspace, packet, fixtures=place if fixtures == "elsewhere" else None)
    assert made.is_as_shown
    assert made.has_logs
    found = verify_packet(packet)
    assert found.matches, found.sentences
    assert found.report == shown
    held = members(packet)
    rows = {name: list(csv.DictReader(io.StringIO(data.decode()))) for name, data in held.items() if name.startswith("rows/")}
    assert [row["heal_id"] for row in rows["rows/heals.csv"]] == ["h1", "h3"]
    assert [(row["heal_id"], row["protected_id"]) for row in rows["rows/gate_blocked.csv"]] == [("h2", "p")]
    assert [row["verdict"] for row in rows["rows/budget.csv"]] == ["unknown", "elevated"]
    assert {row["failure_signature"] for row in rows["rows/signal_signatures.csv"]} == {"Err:1", "'=1+1"}
    assert [(row["case_id"], row["passed_before"], row["passed_after"]) for row in rows["rows/aftermath_cases.csv"]] == [
        ("c0", "True", "True"),
        ("c1", "True", "False"),
    ]
    assert [(row["file"], row["line"]) for row in rows["rows/rejected_lines.csv"]] == [("heal_events.jsonl", "3")]
    settings = {one["name"]: one for one in json.loads(held["settings.json"])}
    assert (settings["gap_max"]["value"], settings["gap_max"]["default"], settings["gap_max"]["set_by"]) == (0.5, 0.25, "seam.toml")
    assert settings["r_max"]["set_by"] == "default"
    manifest = json.loads(held["manifest.json"])
    assert {one["member"].rsplit("/")[-1] for one in manifest["inputs"]} == {
        path.name for path in (*folder.glob("*.*"), *place.glob("*.*"))
    }


def test_the_same_input_gives_the_same_bytes_and_another_clock_other_ones(workspace, tmp_path):
    paths = [tmp_path / name for name in ("a.zip", "b.zip", "c.zip")]
    for path in paths[:2]:
        packet_of(workspace, path)
    packet_of(workspace, paths[2], now=datetime(2027, 1, 1, tzinfo=UTC))
    assert paths[0].read_bytes() == paths[1].read_bytes() != paths[2].read_bytes()


def test_only_the_bytes_that_were_read_are_in_it_even_of_a_line_half_written(workspace, tmp_path):
    with workspace.open("ab") as file:
        file.write(b'{"heal_id": "half')
    packet = tmp_path / "p.zip"
    with scored(workspace) as found, packet.open("w+b") as file:
        read = workspace.read_bytes()
        with workspace.open("ab") as log:
            log.write(b' and more"}\n')
        made = make_packet(file, found, Asked("all", NOW))
        shown = to_json(found).encode()
    assert made.is_as_shown
    assert json.loads(shown)["counts"]["pending"] == 1
    assert members(packet)["inputs/heal_events.jsonl"] == read
    assert verify_packet(packet).report == shown


def test_a_log_that_was_replaced_after_it_was_read_is_packed_as_it_was_read(workspace, tmp_path):
    packet = tmp_path / "p.zip"
    with scored(workspace) as found, packet.open("w+b") as file:
        new = workspace.with_name("new")
        new.write_bytes(json_lines([heal(9)]))
        new.replace(workspace)
        make_packet(file, found, Asked("all", NOW))
        shown = to_json(found).encode()
    assert verify_packet(packet).report == shown


def test_a_log_that_was_cut_after_it_was_read_makes_no_packet(workspace, tmp_path):
    with scored(workspace) as found, (tmp_path / "p.zip").open("w+b") as file:
        workspace.write_bytes(b"")
        with pytest.raises(UnreadableLogError, match="was shortened while it was being copied"):
            make_packet(file, found, Asked("all", NOW))


@pytest.mark.parametrize("cut", [0, 20], ids=["whole", "damaged"])
def test_packed_logs_go_in_as_they_are_and_keep_their_notes(workspace, tmp_path, cut):
    data = gzip.compress(workspace.read_bytes(), mtime=0)
    packed = workspace.with_name("heal_events.jsonl.gz")
    packed.write_bytes(data[: len(data) - cut])
    workspace.unlink()
    packet = tmp_path / "p.zip"
    made, shown = packet_of(packed, packet)
    assert made.is_as_shown
    assert members(packet)["inputs/heal_events.jsonl.gz"] == packed.read_bytes()
    assert ("damaged" in shown.decode()) == bool(cut)
    assert verify_packet(packet).report == shown


def test_a_packed_log_that_was_changed_since_makes_no_packet(workspace, tmp_path):
    packed = workspace.with_name("heal_events.jsonl.gz")
    packed.write_bytes(gzip.compress(workspace.read_bytes(), mtime=0))
    workspace.unlink()
    with scored(packed) as found, (tmp_path / "p.zip").open("w+b") as file:
        packed.write_bytes(gzip.compress(b"", mtime=0))
        with pytest.raises(UnreadableLogError, match="was changed"):
            make_packet(file, found, Asked("all", NOW))


def test_a_log_that_could_not_be_read_is_named_and_its_flag_comes_out_again(workspace, tmp_path):
    failures = workspace.with_name("failures.jsonl")
    failures.unlink()
    failures.mkdir()
    packet = tmp_path / "p.zip"
    made, shown = packet_of(workspace, packet)
    assert made.is_as_shown
    assert "is a folder" in shown.decode()
    assert verify_packet(packet).matches
    entry = next(one for one in json.loads(members(packet)["manifest.json"])["inputs"] if one["member"] == "failures.jsonl")
    assert (entry["in_packet"], entry["sha256"]) == (False, None)
    assert "is a folder" in entry["error"]
    assert "run_seam.py" not in members(packet)["README.md"].decode()  # by hand the sentence would name another folder


def test_too_many_logs_are_left_out_and_the_originals_serve(workspace, tmp_path):
    packet = tmp_path / "p.zip"
    made, shown = packet_of(workspace, packet, logs_max=100)
    held = members(packet)
    assert not made.has_logs
    assert "it carries at most 100 bytes" in made.note
    assert made.note in held["README.md"].decode()
    assert made.note == json.loads(held["manifest.json"])["note"]
    assert not [name for name in held if name.startswith("inputs/")]
    with pytest.raises(PacketError, match="--logs"):
        verify_packet(packet)
    append(workspace, heal(9))
    assert verify_packet(packet, logs=workspace.parent).report == shown
    workspace.write_bytes(workspace.read_bytes().replace(b"h1", b"x1"))
    with pytest.raises(PacketError, match="is not what was read"):
        verify_packet(packet, logs=workspace.parent)


def test_a_line_that_time_has_made_believable_is_said(tmp_path):
    """A line ahead of the clock stays refused in a running server; a report computed later takes it."""
    log = write(tmp_path / "ws", heal_events=[heal(1), heal(2, 50)])
    store = Store(workspace_of_log(log), now=datetime(2026, 6, 5, tzinfo=UTC))
    store.refresh()
    found = audit(store, window_of(store, span="all"), resolve(None))
    with (tmp_path / "p.zip").open("w+b") as file:
        made = make_packet(file, found, Asked("all", NOW))
    store.close()
    assert not made.is_as_shown
    assert "differs from the one that was on the screen" in made.note
    assert verify_packet(tmp_path / "p.zip").matches  # its README, too, tells of the report that is in it


def test_nothing_of_the_server_but_its_thresholds_is_in_a_packet(workspace, tmp_path):
    server = ServerSettings(
        file=Path("/etc/secret.toml"), reviewers=("ana",), hooks=Hooks((Hook("chat", url="json://token@x"),)),
        thresholds={"alert_s": 0.9, "gap_max": 0.3},
    )  # fmt: skip
    packet = tmp_path / "p.zip"
    packet_of(workspace, packet, server=server)
    held = members(packet)
    assert not [name for name, data in held.items() if (b"ana" in data and b"secret" in data) or b"token@x" in data]
    assert held["inputs/server.toml"].decode().endswith("[thresholds]\nalert_s = 0.9\ngap_max = 0.3\n")
    assert "the server holds it at 0.3" in held["report.json"].decode()
    assert verify_packet(packet).matches


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"report__json": b"{}\n"}, "no match: line 1 of the report was {}"),
        ({"report__json": None}, "no match: the report had 0 lines"),
        ({"rows___heals__csv": b""}, "rows/heals.csv came out different"),
        ({"digest__md": b"all good"}, "digest.md came out different"),
        ({"README__md": b"all good"}, "README.md came out different"),
        ({"requirements__txt": None}, "requirements.txt came out different"),
        ({"inputs___server__toml": b"[thresholds]\n"}, "inputs/server.toml came out different"),
        ({"manifest__json": lambda found: found | {"note": "All is well."}}, "README.md came out different"),
        ({"manifest__json": lambda found: found | {"made": {}}}, "manifest.json came out different"),
        ({"manifest__json": lambda found: found | {"versions": {}}}, "requirements.txt came out different"),
    ],
)
def test_what_was_changed_in_a_packet_is_found(workspace, tmp_path, change, said):
    packet = tmp_path / "p.zip"
    packet_of(workspace, packet, server=ServerSettings(thresholds={"alert_s": 0.9}))
    tamper(packet, change)
    found = verify_packet(packet)
    assert not found.matches
    assert any(said in sentence for sentence in found.sentences)


@pytest.mark.parametrize("name", ["rows/good_news.csv", "inputs/heals.jsonl", "report.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_was_put_into_a_packet_is_named(workspace, tmp_path, name):
    packet = tmp_path / "p.zip"
    packet_of(workspace, packet)
    held = members(packet)
    with zipfile.ZipFile(packet, "a") as packed:
        packed.writestr(name, held.get(name, b"x"))
    found = verify_packet(packet)
    assert not found.matches
    assert any(f"beside what the manifest names, the zip holds {name}" in sentence for sentence in found.sentences)


def test_other_versions_are_named_when_nothing_matches(workspace, tmp_path):
    packet = tmp_path / "p.zip"
    packet_of(workspace, packet)
    manifest = json.loads(members(packet)["manifest.json"])
    manifest["versions"]["duckdb"] = "1.0"
    rewrite(packet, manifest__json=json.dumps(manifest), report__json=b"{}")
    assert any("duckdb 1.0 then" in sentence for sentence in verify_packet(packet).sentences)


def tamper(packet, change):
    """Change members of a packet; a function is given its manifest, and returns another one."""
    old = json.loads(members(packet)["manifest.json"])
    rewrite(packet, **{name: json.dumps(one(old)) if callable(one) else one for name, one in change.items()})


def with_first_input(**changed):
    return lambda found: found | {"inputs": [found["inputs"][0] | changed, *found["inputs"][1:]]}


def manifest_with(**changed):
    def change(found):
        recipe = found["recipe"] | changed.pop("recipe", {})
        return found | changed | {"recipe": recipe}

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inputs___heal_events__jsonl": b"x"}, "is not what was read"),
        ({"inputs___heal_events__jsonl": None}, "is missing from the packet"),
        ({"manifest__json": None}, "no evidence packet"),
        ({"manifest__json": b"[]"}, "cannot be understood"),
        ({"manifest__json": manifest_with(format="zip/9")}, "is of the format zip/9"),
        ({"manifest__json": manifest_with(recipe={"heals": "../../etc/passwd"})}, "outside of itself"),
        ({"manifest__json": manifest_with(recipe={"unreadable": {"hooks": "x"}})}, "names a log that there is not"),
        ({"manifest__json": manifest_with(recipe={"heals": "other.jsonl"})}, "no such file"),
        ({"manifest__json": manifest_with(recipe={"window": "soon"})}, "--window soon"),
        ({"manifest__json": manifest_with(recipe={"flags": {"gap": 1}})}, "unknown key gap"),
        ({"manifest__json": manifest_with(recipe={"server_thresholds": {"gap": 1}})}, "unknown key gap"),
        ({"manifest__json": manifest_with(recipe={"server_thresholds": {"gap_max": "x"}})}, "gap_max must be a number"),
        ({"manifest__json": manifest_with(recipe={"heals": "a\0b"})}, "outside of itself"),
        ({"manifest__json": with_first_input(bytes_used=1)}, "is longer than the 1 byte that were read"),
        ({"manifest__json": with_first_input(bytes_used=10**15)}, "is not what was read"),
    ],
)
def test_a_packet_that_cannot_be_checked_is_one_sentence(workspace, tmp_path, change, said):
    packet = tmp_path / "p.zip"
    packet_of(workspace, packet)
    tamper(packet, change)
    with pytest.raises(SeamError) as caught:
        verify_packet(packet)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_packet_packed_as_none_is_packed_is_refused_before_it_is_unpacked(workspace, tmp_path):
    packet = tmp_path / "p.zip"
    packet_of(workspace, packet)
    held = members(packet)
    with zipfile.ZipFile(packet, "w", zipfile.ZIP_LZMA) as packed:
        for name, data in held.items():
            packed.writestr(name, data)
    with pytest.raises(PacketError, match="packed in a way that no evidence packet is"):
        verify_packet(packet)


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04 and then nothing"])
def test_what_is_no_zip_is_one_sentence(tmp_path, data):
    (tmp_path / "p.zip").write_bytes(data)
    with pytest.raises(PacketError, match="is no zip file"):
        verify_packet(tmp_path / "p.zip")
    with pytest.raises(PacketError, match="cannot be read"):
        verify_packet(tmp_path / "none.zip")


def test_the_command_line_writes_a_packet_of_what_it_prints(cli, workspace, tmp_path):
    packet = tmp_path / "p.zip"
    ran = cli("--heals", workspace, "--window", "all", "--now", "2026-09-01", "--alert-e", "0.5", "--require", "S,M", "--packet", packet)
    assert ran.err == ""
    assert verify_packet(packet).report.decode() == ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["ws", "p.zip"] or {path.name for path in tmp_path.iterdir()} == {"ws", "p.zip"}


def test_the_command_line_overwrites_no_log_and_names_a_place_it_cannot_write(cli, workspace, tmp_path):
    before = workspace.read_bytes()
    assert cli("--heals", workspace, "--packet", workspace).refused
    assert workspace.read_bytes() == before
    assert cli("--heals", workspace, "--packet", tmp_path / "none" / "p.zip").refused
