"""Who is told: the hooks that the server settings name, a URL or a command each. A URL holds secrets, so it is never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from seam_core.errors import SettingsError
from seam_core.words import unknown_key

EVENTS = {
    "recertify": "re-certification has become due",
    "gate": "the boundary gate stopped a heal",
    "withheld": "an axis is withheld",
    "decision": "a baseline was certified, rolled back, proposed or vetoed",
    "ledger": "the ledger of decisions does not hold",
}

# Services for messages to people. Not here, on purpose: what starts programs, writes files or runs on the server's own desktop.
SCHEMES = (
    "discord", "form", "forms", "gchat", "gotifys", "json", "jsons", "mailto", "mailtos", "matrixs", "mmosts", "ntfys", "opsgenie",
    "pagerduty", "pover", "rockets", "signals", "slack", "tgram", "workflow", "workflows", "wxteams", "xml", "xmls", "zulip",
)  # fmt: skip
PLACES = ("title", "text", "link", "workspace")  # what {…} may stand for in an argument of a command

KEYS = ("urls", "commands", "events", "schemes")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,39}")
_SCHEME = re.compile(r"[a-z][a-z0-9]{0,29}")
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Hook:
    """One place to tell. The name is what people see, and what is remembered of a delivery; a new password changes nothing of it."""

    name: str
    url: str = field(default="", repr=False)
    command: tuple[str, ...] = field(default=(), repr=False)

    @property
    def way(self) -> str:
        """How it is told, without any secret: the scheme of the URL, or the program's name."""
        return self.url.partition("://")[0] if self.url else f"command {Path(self.command[0]).name}"

    @property
    def label(self) -> str:
        """Name and way, for people."""
        return f"{self.name} ({self.way})"


@dataclass(frozen=True)
class Hooks:
    """Every hook, and the events that are told."""

    all: tuple[Hook, ...] = ()
    events: tuple[str, ...] = tuple(EVENTS)

    def __bool__(self) -> bool:
        """Whether anybody is told anything."""
        return bool(self.all and self.events)


def read_hooks(table: Mapping[str, Any], *, where: str) -> Hooks:
    """The hooks of the table ``[hooks]``.  Raises SettingsError naming `where` and the key, and no part of a URL but its scheme."""
    for key in table:
        if key not in KEYS:
            raise SettingsError(f"{where}: [hooks]: {unknown_key(key, KEYS)}")
    events = _texts(table.get("events", list(EVENTS)), "events", where)
    for event in events:
        if event not in EVENTS:
            raise SettingsError(f"{where}: [hooks]: events: {unknown_key(event, tuple(EVENTS)).replace('key', 'event', 1)}")
    allowed = {*SCHEMES, *_schemes(table.get("schemes", []), where)}
    hooks = [_by_url(name, url, allowed, where) for name, url in _named(table, "urls", where).items()]
    hooks += [_by_command(name, command, where) for name, command in _named(table, "commands", where).items()]
    names = [hook.name for hook in hooks]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SettingsError(f"{where}: [hooks]: {twice[0]} is the name of a URL and of a command; each hook has a name of its own")
    return Hooks(tuple(hooks), tuple(dict.fromkeys(events)))


def read_public_url(value: Any, *, where: str) -> str:
    """The address at which people reach the dashboard, without a slash at its end; empty when there is none.  Raises SettingsError."""
    if value == "":
        return ""
    found = _split(value) if isinstance(value, str) else None
    if not found or found.scheme not in ("http", "https") or not found.hostname or found.query or found.fragment or "@" in found.netloc:
        raise SettingsError(f"{where}: public_url must be like https://seam.example.org, the address of the dashboard and nothing after it")
    return str(value).rstrip("/")


def _by_url(name: str, url: Any, allowed: set[str], where: str) -> Hook:
    if not isinstance(url, str) or "://" not in url or not url.isprintable():
        raise SettingsError(f"{where}: [hooks.urls]: {name} must be a URL, such as slack://…, of one line")
    scheme = url.partition("://")[0].lower()
    if scheme not in allowed:
        shown = scheme if _SCHEME.fullmatch(scheme) else "this kind of URL"
        raise SettingsError(
            f"{where}: [hooks.urls]: {name}: {shown} is not on the list of schemes"
            f" ({', '.join(sorted(allowed))}); add it to schemes under [hooks] if you mean it"
        )
    return Hook(name, url=scheme + url[len(scheme) :])


def _by_command(name: str, command: Any, where: str) -> Hook:
    parts = _texts(command, f"commands: {name}", where)
    if not parts or not Path(parts[0]).is_absolute():
        raise SettingsError(
            f"{where}: [hooks.commands]: {name} must be a list that begins with the whole path of a program; no shell reads it"
        )
    if any("\0" in part for part in parts):
        raise SettingsError(f"{where}: [hooks.commands]: {name} holds a NUL character, which no argument can")
    for part in parts:
        for place in _PLACE.findall(part):
            if place not in PLACES:
                raise SettingsError(f"{where}: [hooks.commands]: {name}: {unknown_key(place, PLACES).replace('key', 'place', 1)}")
    return Hook(name, command=tuple(parts))


def _named(table: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise SettingsError(f"{where}: [hooks]: {key} must be a table, with a name for each hook")
    for name in found:
        if not _NAME.fullmatch(name):
            raise SettingsError(f"{where}: [hooks.{key}]: {name!r} is no name: up to 40 letters, digits, blanks, - and _")
    return found


def _texts(value: Any, key: str, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SettingsError(f"{where}: [hooks]: {key} must be a list of texts")
    return value


def _schemes(value: Any, where: str) -> list[str]:
    schemes = _texts(value, "schemes", where)
    for scheme in schemes:
        if not _SCHEME.fullmatch(scheme):
            raise SettingsError(f"{where}: [hooks]: schemes: {scheme!r} is none; write it as in a URL, without ://")
    return schemes


def _split(value: str) -> SplitResult | None:
    try:
        found = urlsplit(value)
        _ = found.port
    except ValueError:
        return None
    return found if value.isprintable() and " " not in value else None
