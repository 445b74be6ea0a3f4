"""What the recorder reads in a workspace: the protected blocks and the budget's thresholds, found as the report finds them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from .checking import record_in
from .schema import PROTECTED, THRESHOLDS

HEALS_FILE, FAILURES_FILE, RUNS_FILE, PROTECTED_FILE = "heal_events.jsonl", "failures.jsonl", "suite_runs.jsonl", "protected.jsonl"
SETTINGS_FILE = "seam.toml"
SERVER_VARIABLE = "SEAM_SETTINGS"
PACKED = (".gz", ".zst")

Block = tuple[str, str, str | None]  # id, target, text


class UnreadableError(Exception):
    """Why something in the workspace cannot be read, in one sentence."""


def packed_form(path: Path) -> Path | None:
    """The packed file beside a log's plain name, if there is one."""
    return next((other for suffix in PACKED if os.path.lexists(other := path.with_name(path.name + suffix))), None)


def protected_blocks(folder: Path, fixtures: Path | None, *, latest: datetime) -> list[Block]:
    """The protected blocks in force; lines that the reader rejects are none.  Raises UnreadableError."""
    beside = folder / "fixtures"
    own = any(os.path.lexists(beside / (HEALS_FILE + suffix)) for suffix in ("", *PACKED))
    path = (fixtures or (beside if beside.is_dir() and not own else folder)) / PROTECTED_FILE
    packed = packed_form(path)
    if packed and os.path.lexists(path):
        raise UnreadableError(f"{path.name} and {packed.name} are both there; keep one of them")
    try:
        data = _unpacked(packed) if packed else path.read_bytes()
    except FileNotFoundError:
        return []
    except (OSError, EOFError) as error:
        raise UnreadableError(f"{(packed or path).name} cannot be read ({getattr(error, 'strerror', None) or error})") from None
    found: dict[str, Block] = {}
    for line in data.split(b"\n"):
        if line.strip() and (block := record_in(line, PROTECTED, latest=latest)) is not None:
            found.setdefault(block["id"], (block["id"], block["target"], block.get("text")))
    return list(found.values())


def _unpacked(path: Path) -> bytes:
    if path.suffix != ".gz":
        raise UnreadableError(f"{path.name} is packed as {path.suffix}; unpack it for the recorder")
    return gzip.decompress(path.read_bytes())


def budget_thresholds(folder: Path, environ: Mapping[str, str]) -> dict[str, float]:
    """The budget's thresholds in force: defaults, the server's, then the workspace's where they are no looser.  Raises UnreadableError."""
    found = {key: default for key, (default, _, _) in THRESHOLDS.items()}
    server: dict[str, float] = {}
    if environ.get(SERVER_VARIABLE):
        path = Path(environ[SERVER_VARIABLE])
        server = _thresholds(_toml(path).get("thresholds", {}), path.name)
    workspace = _thresholds(_toml(folder / SETTINGS_FILE, may_lack=True), SETTINGS_FILE)
    found |= server | {key: value for key, value in workspace.items() if value <= server.get(key, value)}
    if found["budget_escalated"] < found["budget_elevated"]:
        raise UnreadableError("budget_escalated must not be below budget_elevated")
    return found


def _toml(path: Path, *, may_lack: bool = False) -> dict[str, Any]:
    import tomllib  # most workspaces have no settings

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if may_lack:
            return {}
        raise UnreadableError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path.name} is not TOML: {error}") from None
    except OSError as error:
        raise UnreadableError(f"{path.name} cannot be read ({error.strerror})") from None


def _thresholds(values: Any, where: str) -> dict[str, float]:
    found = {key: values[key] for key in THRESHOLDS if isinstance(values, dict) and key in values}
    for key, value in found.items():
        _, low, high = THRESHOLDS[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value <= high:
            raise UnreadableError(f"{where}: {key} must be a number above {low:g} and at most {high:g}, found {value!r}")
    return found
