"""Every threshold and server setting: name, unit, default, bounds, source, and which direction is stricter.

A workspace's ``seam.toml`` may set thresholds; a command-line flag wins over it. What limits or commands people is read from
the server settings alone (``SEAM_SETTINGS`` names the file), because the audited agent may be able to write in its workspace.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from seam_core.errors import SettingsError, UnreadableLogError
from seam_core.files import SERVER_VARIABLE, is_there, stat_log
from seam_core.meaning import check_installed
from seam_core.notify.hooks import Hooks, read_hooks, read_public_url
from seam_core.sign_in import SignIn, read_sign_in
from seam_core.words import unknown_key

SIMILARITY_METHODS = ("indel", "difflib", "embedding")
Stricter = Literal["lower", "higher", "same"]


@dataclass(frozen=True)
class Bound:
    """What a threshold may be, and what it means."""

    unit: str
    low: float
    high: float
    meaning: str
    stricter: Stricter
    above_low: bool = False  # low itself is not allowed


def _setting(default: Any, bound: Bound) -> Any:
    return field(default=default, metadata={"bound": bound})


@dataclass(frozen=True)
class Settings:
    """The thresholds in force. Defaults are those of the article, or ours where it has none (docs/method.md)."""

    gap_max: float = _setting(0.25, Bound("score", 0, 1, "truth gap at which a heal's efficacy is 0", "lower", above_low=True))
    r_max: float = _setting(
        0.05, Bound("share", 0, 1, "share of regressed cases at which a heal's aftermath is 0", "lower", above_low=True)
    )
    drift_max: float = _setting(0.20, Bound("share", 0, 1, "anchored drift at which re-certification is due", "lower", above_low=True))
    recurrence_days: float = _setting(7, Bound("days", 0, 366, "how long a healed signature must stay away", "higher", above_low=True))
    similarity_min: float = _setting(0.90, Bound("similarity", 0, 1, "texts more similar than this are a revisit", "lower"))
    similarity_method: str = _setting("indel", Bound("", 0, 0, "how two texts are compared: indel, difflib or embedding", "same"))
    paraphrase_min: float = _setting(
        0.70, Bound("cosine", 0, 1, "embedding: sentences of two texts that are as near as this say the same", "lower", above_low=True)
    )
    suspect_min: float = _setting(
        0.60, Bound("cosine", 0, 1, "embedding: an added sentence as near as this may be a held-out case's", "lower", above_low=True)
    )
    revisit_window: int = _setting(5, Bound("cycles", 2, 1000, "how far back a revisit is looked for", "higher"))
    free_dips: int = _setting(1, Bound("dips", 0, 1000, "steps down that cost nothing", "lower"))
    depth_cap: int = _setting(5, Bound("cycles", 1, 100_000, "cycles from which a loop counts as capped", "lower"))
    alert_s: float = _setting(0.70, Bound("score", 0, 1, "Signal below this alerts", "higher"))
    alert_e: float = _setting(0.80, Bound("score", 0, 1, "Efficacy below this alerts", "higher"))
    alert_a: float = _setting(0.90, Bound("score", 0, 1, "Aftermath below this alerts", "higher"))
    alert_m: float = _setting(0.60, Bound("score", 0, 1, "Monotonicity below this alerts", "higher"))
    contamination_max: float = _setting(
        0.05, Bound("share", 0, 1, "share of held-out cases found in changes above which Efficacy alerts", "lower")
    )
    ngram: int = _setting(8, Bound("words", 2, 50, "length of the word sequences looked for in changes", "lower"))
    ngram_coverage: float = _setting(
        0.5, Bound("share", 0, 1, "share of a case's sequences that makes it contaminated", "lower", above_low=True)
    )
    budget_elevated: float = _setting(3, Bound("× task tokens", 0, 1e6, "budget ratio above this is elevated", "lower", above_low=True))
    budget_escalated: float = _setting(
        6, Bound("× task tokens", 0, 1e6, "budget ratio above this goes to a person", "lower", above_low=True)
    )
    surface_sample: int = _setting(20, Bound("cases", 0, 10**6, "cases a sampled surface run holds besides the safety cases", "higher"))
    trend_loops: int = _setting(16, Bound("loops", 8, 1000, "loops the widening test looks at", "same"))
    trend_p: float = _setting(0.02, Bound("p", 0, 1, "one-sided p below which a trend counts", "higher", above_low=True))
    trend_rise: float = _setting(0.05, Bound("score", 0, 1, "rise of the gap over those loops from which a trend counts", "lower"))

    def changed(self) -> dict[str, Any]:
        """The settings that differ from their default."""
        return {item.name: value for item in fields(self) if (value := getattr(self, item.name)) != item.default}


@dataclass(frozen=True)
class ServerSettings:
    """What limits or commands people. Read from outside every workspace; without a file, local use."""

    file: Path | None = None
    ledger: Path | None = None
    reviewers: tuple[str, ...] = ()
    approvals_required: int = 1
    sign_in: SignIn | None = None
    hooks: Hooks = field(default_factory=Hooks)
    public_url: str = ""  # where people reach the dashboard, for links in messages
    thresholds: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Resolved:
    """Settings in force, where each changed one was set, and what was asked for but not allowed."""

    settings: Settings
    origin: dict[str, str]
    notes: tuple[str, ...] = ()


SERVER_KEYS = tuple(item.name for item in fields(ServerSettings) if item.name != "file")


def bounds() -> dict[str, tuple[Any, Bound]]:
    """Name → (default, bound) of every threshold, in order."""
    return {item.name: (item.default, item.metadata["bound"]) for item in fields(Settings)}


def resolve(workspace_file: Path | None, *, flags: Mapping[str, Any] | None = None, server: ServerSettings | None = None) -> Resolved:
    """The settings in force: defaults, then the server's, then ``seam.toml``, then flags; none may loosen the server's.

    Raises SettingsError naming the file, the key and its nearest neighbour.
    """
    server = server or ServerSettings()
    chosen: dict[str, Any] = dict(server.thresholds)
    origin = dict.fromkeys(server.thresholds, str(server.file))
    notes: list[str] = []
    for values, source in ((_workspace_values(workspace_file), SETTINGS_LABEL), (dict(flags or {}), "flag")):
        for key, value in values.items():
            checked = check_threshold(key, value, where=source)
            if key in server.thresholds and _loosens(key, checked, server.thresholds[key]):
                notes.append(f"{source} sets {key} = {value}; the server holds it at {server.thresholds[key]}")
                continue
            chosen[key], origin[key] = checked, source
    settings = replace(Settings(), **chosen)
    if settings.budget_escalated < settings.budget_elevated:
        raise SettingsError(
            f"budget_escalated ({settings.budget_escalated}) must not be below budget_elevated ({settings.budget_elevated})"
        )
    if settings.similarity_method == "embedding":
        check_installed(origin["similarity_method"])
    return Resolved(settings, origin, tuple(notes))


SETTINGS_LABEL = "seam.toml"


def read_server_settings(environ: Mapping[str, str] = os.environ) -> ServerSettings:
    """The server settings that ``SEAM_SETTINGS`` names; the defaults when it names none.  Raises SettingsError."""
    name = environ.get(SERVER_VARIABLE)
    if not name:
        return ServerSettings()
    path = Path(name)
    try:
        stat_log(path, may_leave=True)
    except UnreadableLogError as error:
        raise SettingsError(f"{SERVER_VARIABLE} names a file that is none: {error}") from None
    values = _read_toml(path)
    for key in values:
        if key in bounds():
            raise SettingsError(f"{path}: {key} is a threshold; put it under [thresholds]")
        if key not in SERVER_KEYS:
            raise SettingsError(f"{path}: {unknown_key(key, SERVER_KEYS)}")
    thresholds = _table(values, "thresholds", path)
    checked = {key: check_threshold(key, value, where=str(path)) for key, value in thresholds.items()}
    approvals = values.get("approvals_required", 1)
    if not isinstance(approvals, int) or isinstance(approvals, bool) or approvals not in (1, 2):
        raise SettingsError(f"{path}: approvals_required must be 1 or 2, found {approvals!r}")
    reviewers = values.get("reviewers", [])
    if not isinstance(reviewers, list) or not all(isinstance(one, str) and one.strip() for one in reviewers):
        raise SettingsError(f"{path}: reviewers must be a list of names, none of them empty")
    ledger = values.get("ledger")
    if ledger is not None and not isinstance(ledger, str):
        raise SettingsError(f"{path}: ledger must be a path")
    return ServerSettings(
        path,
        Path(ledger) if ledger else None,
        tuple(reviewers),
        approvals,
        read_sign_in(_table(values, "sign_in", path), where=f"{path}: [sign_in]") if "sign_in" in values else None,
        read_hooks(_table(values, "hooks", path), where=str(path)),
        read_public_url(values.get("public_url", ""), where=str(path)),
        checked,
    )


def check_threshold(key: str, value: Any, *, where: str) -> Any:
    """The value of one threshold, as its own type.  Raises SettingsError naming `where`, the key and what it may be."""
    known = bounds()
    if key == "thresholds":
        raise SettingsError(f"{where}: write thresholds as plain keys, without the heading [thresholds], which is for the server settings")
    if key in SERVER_KEYS:
        raise SettingsError(
            f"{where}: {key} limits or commands people and belongs to the server settings ({SERVER_VARIABLE}), not to a workspace"
        )
    if key not in known:
        raise SettingsError(f"{where}: {unknown_key(key, tuple(known))}")
    default, bound = known[key]
    if isinstance(default, str):
        if value not in SIMILARITY_METHODS:
            raise SettingsError(f"{where}: {key} must be one of {', '.join(SIMILARITY_METHODS)}, found {value!r}")
        return value
    whole = not isinstance(default, float) and bound.unit not in ("days", "× task tokens")
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise SettingsError(f"{where}: {key} must be a {'whole number' if whole else 'number'}, found {value!r}")
    if not bound.low <= value <= bound.high or (bound.above_low and value == bound.low):
        span = f"{'above' if bound.above_low else 'from'} {bound.low:g} {'and at most' if bound.above_low else 'to'} {bound.high:g}"
        raise SettingsError(f"{where}: {key} must be {span}, found {value!r}")
    return value


def _loosens(key: str, value: Any, fixed: Any) -> bool:
    stricter = bounds()[key][1].stricter
    if stricter == "same":
        return bool(value != fixed)
    return bool(value > fixed if stricter == "lower" else value < fixed)


def _workspace_values(path: Path | None) -> dict[str, Any]:
    if path is None or not is_there(path):
        return {}
    stat_log(path)
    return _read_toml(path)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib  # most workspaces have no settings

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from None


def _table(values: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = values.get(key, {})
    if not isinstance(found, dict):
        raise SettingsError(f"{path}: {key} must be a table, found {found!r}")
    return found
