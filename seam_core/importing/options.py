"""The options of importing: how each is named and explained on the command line, and the check of what the caller declared."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

from seam_core.columns import columns_of
from seam_core.errors import SeamError, SettingsError
from seam_core.importing.format import RUN_LOG, Asked, Format
from seam_core.importing.reading import LINE_MAX, open_source
from seam_core.window import parse_end
from seam_core.words import cut, is_text

_COLUMNS = {column.name: column for column in columns_of(RUN_LOG)}
CHOICES = {"suite": _COLUMNS["suite"].choices, "phase": _COLUMNS["phase"].choices, "errors": ("fail", "leave-out")}
OF_HEALS = ("before", "after")

HELP = {
    "suite": f"which suite was run: {', '.join(CHOICES['suite'])}",
    "phase": f"why it was run: {', '.join(CHOICES['phase'])}",
    "heal_id": "the heal it belongs to; needed with --phase before and after",
    "night": "the night it belongs to, as a date",
    "run_id": "what identifies the run (default: made from the source)",
    "errors": "what an errored case is: fail, or leave-out (then it is listed)",
    "with_cases": "also add the cases to the suite's own file, with text and safety mark where the source has them",
    "merge": "the files are parts of one run",
    "instances": "file with the instances that were run, one a line, for a report that names only those it solved",
    "score": "the name of the score that judges a case, where there are several",
    "case_key": "the key that names the case; inner ones with a dot",
    "pass_at": "a case passes from this score on",
    "pass_label": "a case passes when the score says this",
    "visible": "the score that the loop itself saw",
    "holdout": "the score that the loop never saw (default: none, held-out scores stay empty)",
    "loop_id": "what identifies the loop (default: the file's name)",
    "max_reflections": "the loop's own limit (default: the most that one task of the file has)",
    "assume_ts": "a time for what has none; heals count on a minute each; every such record is marked ts_assumed",
}


def option_of(name: str) -> click.Option:
    """An option for the command line, with what it is when it is not given."""
    if name in ("with_cases", "merge"):
        return click.Option([_flag(name)], is_flag=True, help=HELP[name])
    kind = {"pass_at": float, "max_reflections": int}.get(name, str)
    return click.Option([_flag(name)], type=kind, default="fail" if name == "errors" else None, help=HELP[name])


def asked_of(form: Format, name: str, values: Mapping[str, Any]) -> Asked:
    """What the caller declared, checked.  Raises SettingsError with one sentence."""
    assert set(HELP) == {item.name for item in fields(Asked)}
    _check_declared(form, name, values)
    _check_choices(form, values)
    checked = dict(values)
    if values.get("night") is not None:
        checked["night"] = _night(values["night"])
    if values.get("assume_ts") is not None:
        checked["assume_ts"] = _time(values["assume_ts"])
    if values.get("instances") is not None:
        checked["instances"] = _instances(Path(values["instances"]))
    if values.get("max_reflections") is not None and values["max_reflections"] < 1:
        raise SettingsError("--max-reflections: must be 1 or more")
    return Asked(**checked)


def _check_declared(form: Format, name: str, values: Mapping[str, Any]) -> None:
    for key in form.needs:
        if values.get(key) is None:
            may_be = f" ({', '.join(CHOICES[key])})" if key in CHOICES else ""
            raise SettingsError(f"{name} does not say it, so you have to: {_flag(key)}, {HELP[key].split(':')[0]}{may_be}")


def _check_choices(form: Format, values: Mapping[str, Any]) -> None:
    for key, choices in CHOICES.items():
        if values.get(key) is not None and values[key] not in choices:
            raise SettingsError(f"{_flag(key)} {cut(values[key])}: write {', '.join(choices[:-1])} or {choices[-1]}")
    for key, value in values.items():
        if isinstance(value, str) and (not value.strip() or not is_text(value)):
            raise SettingsError(f"{_flag(key)}: is empty or no Unicode text")
    if values.get("phase") in OF_HEALS and not values.get("heal_id") and "heal_id" in form.options:
        raise SettingsError(
            f"--phase {values['phase']}: say of which heal with --heal-id; a run without one has --phase nightly or control"
        )
    if values.get("pass_at") is not None and not math.isfinite(values["pass_at"]):
        raise SettingsError(f"--pass-at {values['pass_at']}: must be a number from which on a case passes, such as 0.5")
    if values.get("pass_at") is not None and values.get("pass_label") is not None:
        raise SettingsError("--pass-at and --pass-label: one of them decides what passes, not both")


def _flag(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _night(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise SettingsError(f"--night {cut(text)}: is no date such as 2026-06-09") from None


def _time(text: str) -> datetime:
    if "T" not in text.upper() and " " not in text.strip():
        raise SettingsError(f"--assume-ts {cut(text)}: needs a time of day, such as 2026-06-09T14:22:31Z")
    try:
        return parse_end(text)
    except SeamError:
        raise SettingsError(f"--assume-ts {cut(text)}: is no time such as 2026-06-09T14:22:31Z") from None


def _instances(path: Path) -> frozenset[str]:
    """The ids of a file: one a line, or one JSON list."""
    try:
        with open_source(path) as file:
            text = file.read(LINE_MAX).decode("utf-8-sig")
        ids = json.loads(text) if text.lstrip().startswith("[") else text.split()
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise SettingsError(f"--instances {path}: holds neither one id a line nor a JSON list of ids") from None
    except SeamError as error:
        raise SettingsError(f"--instances {path}: {error}") from None
    if not ids or not all(isinstance(one, str) and one for one in ids):
        raise SettingsError(f"--instances {path}: holds no ids, or something that is none")
    return frozenset(ids)
