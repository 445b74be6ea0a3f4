"""``[sign_in]`` of the server settings: the OpenID Connect provider that people sign in with, and whose word counts.

Reading the table opens no file, so that a command that needs no secret needs no permission to read one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from seam_core.errors import SettingsError
from seam_core.words import count, listed, unknown_key

CALLBACK = "/oauth2callback"  # where Streamlit waits for people who come back from the provider
DISCOVERY = "/.well-known/openid-configuration"
SCOPE = "openid email profile"
COOKIE_SECRET_MIN = 32  # characters; whoever guesses it signs in as anybody
SECRET_MAX = 10_000  # characters


def _key(may_be: str, meaning: str, *, shown: bool = True) -> Any:
    return field(default="", repr=shown, metadata={"may_be": may_be, "meaning": meaning})


@dataclass(frozen=True)
class SignIn:
    """The table as it was written, every value checked; "" where a key is not there. Each key says what it may be and what it means."""

    issuer: str = _key(
        "an https address", "whose sign-ins may certify, exactly as the provider writes it in `iss`; needed with several providers"
    )
    client_id: str = _key("text", "what the provider calls this server")
    client_secret: str = _key("text", "its password there", shown=False)
    client_secret_file: str = _key("a path; a relative one starts at this file", "the same, read from a file when the server starts")
    client_secret_env: str = _key("the name of a variable", "the same, taken from the environment when the server starts")
    server_metadata_url: str = _key(
        "an https address", f"where the provider describes itself; without it the issuer with {DISCOVERY} behind it"
    )
    redirect_uri: str = _key(
        "an https address", f"this server's own address as people type it, with {CALLBACK} behind it; register it with the provider"
    )
    cookie_secret: str = _key(
        f"{COOKIE_SECRET_MIN} characters or more", "signs the cookie that says who somebody is; random, and kept secret", shown=False
    )
    cookie_secret_file: str = _key("a path; a relative one starts at this file", "the same, read from a file when the server starts")
    cookie_secret_env: str = _key("the name of a variable", "the same, taken from the environment when the server starts")
    scope: str = _key("words, `openid` among them", f"what is asked of the provider; without it `{SCOPE}`")
    prompt: str = _key("text", "how the provider asks, such as `login` to want the password each time; without it `select_account`")

    @property
    def names_provider(self) -> bool:
        """Whether a provider is set here. An issuer alone says whose sign-ins count; Streamlit's secrets.toml has the provider then."""
        return any(getattr(self, item.name) for item in fields(self) if item.name != "issuer")


KEYS = tuple(item.name for item in fields(SignIn))
SECRETS = ("client_secret", "cookie_secret")


def read_sign_in(table: Mapping[str, Any], *, where: str) -> SignIn:
    """The table, checked.  Raises SettingsError naming `where`, the key and what it may be."""
    for key, value in table.items():
        if key not in KEYS:
            raise SettingsError(f"{where}: {unknown_key(key, KEYS)}")
        if not isinstance(value, str) or not value.strip():
            raise SettingsError(f"{where}: {key} must be text, and not empty")
    found = SignIn(**table)
    if not table:
        raise SettingsError(f"{where} is empty; name a provider, or remove the heading")
    for key in ("issuer", "server_metadata_url", "redirect_uri"):
        if getattr(found, key):
            _check_address(getattr(found, key), f"{where}: {key}")
    if found.names_provider:
        _check_provider(found, where)
    return found


def streamlit_secrets(found: SignIn | None, *, folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, Any] | None:
    """What Streamlit's own login reads under ``[auth]``; None when no provider is named here. Relative paths start at `folder`.

    Raises SettingsError when a secret is not where the table says.
    """
    if found is None or not found.names_provider:
        return None
    client, cookie = (_secret(found, key, folder, environ) for key in SECRETS)
    if len(cookie) < COOKIE_SECRET_MIN:
        raise SettingsError(
            f"[sign_in] cookie_secret has {count(len(cookie), 'character')}; make it {COOKIE_SECRET_MIN} or more, at random"
        )
    return {
        "client_id": found.client_id,
        "client_secret": client,
        "server_metadata_url": found.server_metadata_url or found.issuer.rstrip("/") + DISCOVERY,
        "redirect_uri": found.redirect_uri,
        "cookie_secret": cookie,
        "client_kwargs": {"scope": found.scope or SCOPE, "prompt": found.prompt or "select_account"},
    }


def _check_provider(found: SignIn, where: str) -> None:
    for key in ("client_id", "redirect_uri"):
        if not getattr(found, key):
            raise SettingsError(f"{where}: {key} is missing")
    if not found.server_metadata_url and not found.issuer:
        raise SettingsError(f"{where}: server_metadata_url is missing, and so is issuer, from which it could be made")
    if not found.redirect_uri.endswith(CALLBACK):
        raise SettingsError(f"{where}: redirect_uri must end with {CALLBACK}")
    if found.scope and "openid" not in found.scope.split():
        raise SettingsError(f"{where}: scope must hold openid, or the provider does not say who signed in")
    for key in SECRETS:
        ways = [name for name in (key, f"{key}_file", f"{key}_env") if getattr(found, name)]
        if not ways:
            raise SettingsError(f"{where}: {key} is missing; write it, or name {key}_file or {key}_env")
        if len(ways) > 1:
            raise SettingsError(f"{where}: {listed(ways)} say the same thing; keep one of them")


def _check_address(address: str, where: str) -> None:
    """Sign-in over a connection that others can read lets them in; only this machine's own is exempt."""
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_safe or not parts.hostname or address.split() != [address]:
        raise SettingsError(f"{where} must be an https address (http on a loopback address only), found {address!r}")


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own, out of reach from elsewhere."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _secret(found: SignIn, key: str, folder: Path, environ: Mapping[str, str]) -> str:
    """A secret, from wherever the table says. No message shows any of it."""
    if file := getattr(found, f"{key}_file"):
        path = folder / file
        try:
            with path.open(encoding="utf-8") as opened:
                text = opened.read(SECRET_MAX + 1).strip()
        except OSError as error:
            raise SettingsError(f"[sign_in] {key}_file: {path} cannot be read ({error.strerror})") from None
        except ValueError:
            raise SettingsError(f"[sign_in] {key}_file: {path} is not text") from None
        source = f"{key}_file: {path}"
    elif variable := getattr(found, f"{key}_env"):
        text, source = environ.get(variable, "").strip(), f"{key}_env: the variable {variable}"
    else:
        text, source = getattr(found, key), key
    if not text or len(text) > SECRET_MAX:
        raise SettingsError(f"[sign_in] {source} holds {'no secret' if not text else 'too long a text for a secret'}")
    return str(text)
