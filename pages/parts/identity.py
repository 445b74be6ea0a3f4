"""Who is looking, and whether what they decide may be written down.

Signed in where the server has a provider; on a loopback address without one, the operating system's user. A server that can be reached
from elsewhere and asks nobody who they are shows everything and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from seam_core.ledger import Actor, SignedIn, local_actor

NOT_LOCAL = (
    "Read only: this server can be reached from elsewhere and nobody signs in. To decide on this machine, start it with "
    "--server.address 127.0.0.1; for a team, set up sign-in."
)
NOT_SIGNED_IN = "Read only: sign in to decide."
EXPIRED = "Read only: your sign-in has expired; sign in again to decide."


@dataclass(frozen=True)
class Who:
    """Who decides; without an actor, why nobody can."""

    actor: Actor | None
    why_not: str = ""
    may_sign_in: bool = False


def who() -> Who:
    """Who is looking. Ask again at the moment of writing: a sign-in expires while a page is open."""
    if _has_provider():
        return _signed_in()
    return Who(local_actor()) if _is_local() else Who(None, NOT_LOCAL)


def _has_provider() -> bool:
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def _signed_in() -> Who:
    if not st.user.is_logged_in:
        return Who(None, NOT_SIGNED_IN, may_sign_in=True)
    claims = st.user.to_dict()
    expiry, issuer, subject = claims.get("exp"), claims.get("iss"), claims.get("sub")
    if not isinstance(expiry, (int, float)) or expiry <= datetime.now(UTC).timestamp():
        return Who(None, EXPIRED, may_sign_in=True)
    if not issuer or not subject:
        return Who(None, "Read only: the provider does not say who you are (iss, sub).")
    return Who(SignedIn(issuer=str(issuer), subject=str(subject), name=str(claims.get("name") or claims.get("email") or subject)))


def _is_local() -> bool:
    """Whether the server listens on loopback alone and was asked for by a loopback name, not through a proxy."""
    headers = st.context.headers
    if headers.get("X-Forwarded-For") or headers.get("Forwarded"):
        return False
    asked = urlsplit(f"//{headers['Host']}").hostname if headers.get("Host") else None
    return _is_loopback(str(st.get_option("server.address") or "")) and (asked is None or _is_loopback(asked))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
