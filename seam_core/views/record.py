"""What only the record itself says, read from its line: evidence, actor, trace, who lifted a limit, and keys of other formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from seam_core.lines import BOM
from seam_core.records import BreakGlass, Change, Heal, Trigger

URL_LENGTH = 2_000  # characters of a link; longer ones are shown as text


def trace(value: object) -> tuple[str | None, str | None, str]:
    """(address, host, sentence) of a link to a trace: only http and https, only plain characters, and always the host that it leads to."""
    if value is None:
        return None, None, "no trace is logged (trace_url)"
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        parts = urlsplit(text)
        host = parts.hostname
        is_web = parts.scheme in ("http", "https") and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        host, is_web = None, False
    is_plain = text.isascii() and text.isprintable() and " " not in text and "\\" not in text and len(text) <= URL_LENGTH
    if isinstance(value, str) and host and is_web and is_plain:
        return text, parts.netloc, f"trace on {parts.netloc}"
    return None, None, f"no link, for it is no plain http or https address: {text}"


def decode(line: bytes) -> dict[str, Any]:
    """The record as logged; empty for the few lines that only DuckDB reads."""
    try:
        found = msgspec.json.decode(line.removeprefix(BOM))
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def inner(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object inside the record; empty when there is none."""
    found = record.get(key)
    return found if isinstance(found, dict) else {}


def unknown_keys(record: Mapping[str, Any]) -> dict[str, str]:
    """Path → value of every key that this format does not know."""
    found: dict[str, str] = {}
    for prefix, values, known in (
        ("", record, Heal),
        ("trigger.", inner(record, "trigger"), Trigger),
        ("change.", inner(record, "change"), Change),
        ("break_glass.", inner(record, "break_glass"), BreakGlass),
    ):
        names = {field.encode_name for field in msgspec.structs.fields(known)}
        found |= {f"{prefix}{key}": shown(value) or "null" for key, value in values.items() if key not in names}
    return found


def shown(value: object) -> str | None:
    """A value of any type as a reader sees it; None for nothing."""
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def lifted(glass: object) -> str | None:
    """Who lifted the budget limit and why, in a sentence; None when nobody did."""
    if not isinstance(glass, dict):
        return None
    by, reason = (shown(glass.get(key)) or "not logged" for key in ("by", "reason"))
    return f"a person had lifted the limit: {by}; reason: {reason}"
