"""Who is looking, whether what they decide may be written down, and whether they may certify.

Signed in where the server has a provider; on a loopback address without one, the operating system's user. A server that can be reached
from elsewhere and asks nobody who they are shows everything and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitAuthError, StreamlitSecretNotFoundError

from seam_core import escape
from seam_core.authority import Claims, NotAllowedError, Role, check_role, place, read_claims, role_of
from seam_core.errors import SettingsError
from seam_core.ledger import Actor, local_actor
from seam_core.settings import ServerSettings, read_server_settings
from seam_core.sign_in import is_loopback
from seam_core.signed_out import SignedOut

READ_ONLY = "Read only: "
NOT_LOCAL = (
    f"{READ_ONLY}this server can be reached from elsewhere and nobody signs in. To decide on this machine, start it with "
    "--server.address 127.0.0.1; for a team, set up sign-in."
)
NOT_SIGNED_IN = f"{READ_ONLY}sign in to decide."
EXPIRED = f"{READ_ONLY}your sign-in has expired; sign in again to decide."
SIGNED_OUT = f"{READ_ONLY}you signed out, in another tab or on another device; sign in again to decide."
DEFAULT = "default"  # Streamlit's name for a provider without one

# Not st.cache_resource: any browser can ask Streamlit to clear its caches, and that must not undo a sign-out.
_SIGNED_OUT = SignedOut()

NOBODY = Role(may_certify=False, sentence="it is not known who you are")


@dataclass(frozen=True)
class Who:
    """Who decides, and whether they may certify; without an actor, why nobody can decide anything."""

    actor: Actor | None
    why_not: str = ""
    may_sign_in: bool = False
    role: Role = NOBODY
    claims: Claims | None = None  # None in local use

    @property
    def sentence(self) -> str:
        """Who this is and what they may do, for people; names in it are as the provider gave them."""
        if self.actor is None:
            return self.why_not
        told = f"signed in by {self.claims.issuer}, subject {self.claims.subject}" if self.claims else "user of this machine"
        may = "may" if self.role.may_certify else "may not"
        return f"{self.actor.name} ({told}); you may give verdicts on heals and {may} certify a baseline: {self.role.sentence}."


def who() -> Who:
    """Who is looking. Ask again at the moment of writing: a sign-in expires while a page is open, and settings change."""
    try:
        server = read_server_settings()
    except SettingsError as error:
        return Who(None, f"{READ_ONLY}{error}.")
    providers = names_of_providers()
    if providers is not None:
        return _signed_in(server, len(providers))
    if server.sign_in:
        return Who(None, f"{READ_ONLY}{place(server)} asks for sign-in and this server offers none; name a provider there and restart it.")
    if not _is_local():
        return Who(None, NOT_LOCAL)
    actor = local_actor()
    return Who(actor, role=role_of(actor, server))


def may_certify_now() -> None:
    """Raises NotAllowedError unless whoever is here may certify at this very moment; for `Desk` to call just before it writes."""
    found = who()
    if found.actor is None:
        raise NotAllowedError(found.why_not.removeprefix(READ_ONLY).rstrip("."))
    check_role(found.role)


def names_of_providers() -> tuple[str, ...] | None:
    """The providers that people may sign in with; None where nobody signs in."""
    try:
        auth = st.secrets["auth"]
    except (KeyError, StreamlitSecretNotFoundError):
        return None
    if not isinstance(auth, Mapping):
        return (DEFAULT,)
    named = sorted(key for key, value in auth.items() if isinstance(value, Mapping) and key != "client_kwargs")
    return (DEFAULT, *(name for name in named if name != DEFAULT)) if "client_id" in auth or not named else tuple(named)


def _signed_in(server: ServerSettings, n_providers: int) -> Who:
    if not getattr(st.user, "is_logged_in", False):  # not there at all under an empty [auth]
        return Who(None, NOT_SIGNED_IN, may_sign_in=True)
    try:
        claims = read_claims(st.user.to_dict())
    except NotAllowedError as error:
        return Who(None, f"{READ_ONLY}{error}.", may_sign_in=True)
    if claims.expires_at <= datetime.now(UTC).timestamp():
        return Who(None, EXPIRED, may_sign_in=True, claims=claims)
    if _SIGNED_OUT.has_ended(claims):
        return Who(None, SIGNED_OUT, may_sign_in=True, claims=claims)
    role = role_of(claims.actor, server, claims.email, is_verified=claims.email_verified, n_providers=n_providers)
    return Who(claims.actor, role=role, claims=claims)


def offer_sign_in(where: str) -> None:
    """The way in: a button for each provider. `where`: tells these buttons from others on the page."""
    providers = names_of_providers() or ()
    for name in providers:
        label = "Sign in" if len(providers) == 1 else f"Sign in with {escape.plain(name)}"
        if st.button(label, key=f"sign in {where} {name}"):
            try:
                st.login(name)
            except StreamlitAuthError as error:
                st.error(escape.plain(f"Nobody can sign in: {error}"))


def sign_out() -> None:
    """End this person's sign-ins, here and in every other tab, and lead to the provider to end theirs. For a button's `on_click`."""
    found = who()
    if found.claims:
        _SIGNED_OUT.end(found.claims)
    st.logout()


def note_shown(found: Who) -> None:
    """Note whom the page names, so that a part of it that runs alone can tell when that is somebody else by now, or nobody."""
    st.session_state["who shown"] = found.sentence


def is_as_shown() -> bool:
    """Whether who is here, and what they may do, is still as the page says."""
    now = who().sentence
    return bool(st.session_state.get("who shown", now) == now)


def _is_local() -> bool:
    """Whether the server listens on loopback alone and was asked for by a loopback name, not through a proxy."""
    headers = st.context.headers
    if headers.get("X-Forwarded-For") or headers.get("Forwarded"):
        return False
    asked = urlsplit(f"//{headers['Host']}").hostname if headers.get("Host") else None
    return is_loopback(str(st.get_option("server.address") or "")) and (asked is None or is_loopback(asked))
