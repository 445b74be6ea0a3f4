"""Who may certify a baseline or roll back: the `reviewers` of the server settings, held against whoever is there.

Verdicts on heals are another matter: everybody who signed in may give theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seam_core.errors import SeamError
from seam_core.files import SERVER_VARIABLE
from seam_core.ledger import Actor, SignedIn
from seam_core.ledger.actors import Local
from seam_core.settings import ServerSettings
from seam_core.words import count, cut, listed

NAME_MAX = 200  # characters of somebody's name that are kept
MOMENT_MAX = 1e12  # seconds; no clock shows more, and NaN is not below it
SUBJECT_MAX = 255  # characters; the standard allows no more
SUBJECT = "sub:"  # begins an entry that names a subject, whatever it looks like


class NotAllowedError(SeamError):
    """Somebody may not do what they asked for, or may not any more."""


@dataclass(frozen=True)
class Claims:
    """What a provider says about somebody who signed in. Times are seconds since 1970 on the provider's clock."""

    issuer: str
    subject: str
    name: str
    issued_at: float
    expires_at: float
    email: str = ""
    email_verified: bool = False

    @property
    def actor(self) -> SignedIn:
        """Who decides, as the ledger keeps it."""
        return SignedIn(issuer=self.issuer, subject=self.subject, name=self.name)


def read_claims(said: Mapping[str, Any]) -> Claims:
    """The claims of an ID token.  Raises NotAllowedError when they do not tell who it is, or since when and until when."""
    issuer, subject = said.get("iss"), said.get("sub")
    if not isinstance(issuer, str) or not isinstance(subject, str) or issuer.split() != [issuer] or not subject.strip():
        raise NotAllowedError("the provider does not say who you are (iss, sub)")
    if len(subject) > SUBJECT_MAX:
        raise NotAllowedError(f"the provider calls you by more than {SUBJECT_MAX} characters (sub), which the standard does not allow")
    issued_at, expires_at = _moment(said.get("iat")), _moment(said.get("exp"))
    if issued_at is None or expires_at is None:
        raise NotAllowedError("the provider does not say since when and until when you are signed in (iat, exp)")
    email, name = (text if isinstance(text := said.get(key), str) else "" for key in ("email", "name"))
    return Claims(
        issuer,
        subject,
        cut(name, NAME_MAX) or cut(email, NAME_MAX) or subject,
        issued_at,
        expires_at,
        email=email.strip(),
        email_verified=said.get("email_verified") is True or said.get("email_verified") == "true",  # some providers write the word
    )


def _moment(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < MOMENT_MAX else None


@dataclass(frozen=True)
class Role:
    """Whether somebody may certify a baseline and roll back, and why, in a sentence without its full stop."""

    may_certify: bool
    sentence: str

    @property
    def in_short(self) -> str:
        """The same in two words or six."""
        return "reviewer" if self.may_certify else "may review heals, may not certify"


def role_of(actor: Actor, server: ServerSettings, email: str | None = None, *, is_verified: bool = True, n_providers: int = 1) -> Role:
    """What somebody may do by these settings.

    email: what the provider says it is; is_verified: whether it also says that it has checked so, without which it counts for nothing.
    n_providers: between how many people can choose when they sign in.
    """
    where = f"reviewers in {place(server)}"
    if isinstance(actor, Local):
        return _local_role(actor, server, where)
    if why_not := _no_issuer(actor, server, n_providers):
        return Role(may_certify=False, sentence=why_not)
    if not server.reviewers:
        return Role(may_certify=False, sentence=f"nobody may certify yet: name {where}")
    checked = email if is_verified else None
    if found := next((entry for entry in server.reviewers if stands_for(entry, actor, checked)), None):
        return Role(may_certify=True, sentence=f"{cut(found)} is among the {where}")
    if email and any(stands_for(entry, actor, email) for entry in server.reviewers):
        return Role(
            may_certify=False,
            sentence=f"your address {cut(email)} is among the {where}, but the provider does not say that it has checked it"
            f" (email_verified); your subject {actor.subject} would do",
        )
    you = f"neither your subject {actor.subject} nor {cut(email)} is" if email else f"your subject {actor.subject} is not"
    return Role(may_certify=False, sentence=f"{you} among the {where}")


def _local_role(actor: Local, server: ServerSettings, where: str) -> Role:
    if server.sign_in:  # one person, here and on the dashboard, would be the two who are wanted for an approval
        return Role(
            may_certify=False,
            sentence=f"people sign in by {place(server)}, so that the system's user decides nothing; decide on the dashboard",
        )
    if not server.reviewers:
        unnamed = f"{server.file} names no reviewers" if server.file else "no server settings name reviewers"
        return Role(may_certify=True, sentence=f"nobody signs in here and {unnamed}, so whoever uses SEAM on this machine may")
    if any(stands_for(entry, actor) for entry in server.reviewers):
        return Role(may_certify=True, sentence=f"{cut(actor.name)} is among the {where}")
    return Role(may_certify=False, sentence=f"{cut(actor.name)} is not among the {where}")


def _no_issuer(actor: SignedIn, server: ServerSettings, n_providers: int) -> str:
    """Why a sign-in of this issuer counts for nothing; "" when it counts."""
    issuer = server.sign_in.issuer if server.sign_in else ""
    if issuer and issuer != actor.issuer:
        return f"only sign-ins by {issuer} may certify here, and yours is by {actor.issuer}"
    if not issuer and n_providers > 1:
        return (
            f"nobody may certify yet: this server has {count(n_providers, 'provider')}, and two may call different people by one name;"
            f" set issuer under [sign_in] in {place(server)}"
        )
    return ""


def stands_for(entry: str, actor: Actor, email: str | None = None) -> bool:
    """Whether an entry of `reviewers` stands for somebody. email: an address that counts as theirs."""
    if isinstance(actor, Local):
        return entry == actor.name
    subject = subject_in(entry)
    return subject == actor.subject if subject is not None else _is_same_address(entry, email or "")


def subject_in(entry: str) -> str | None:
    """The subject that an entry of `reviewers` names; None for one that is an e-mail address.

    An entry with an @ is always an address: with some providers people choose their subject, and could choose somebody's address.
    """
    if entry.startswith(SUBJECT):
        return entry.removeprefix(SUBJECT)
    return None if "@" in entry else entry


def _is_same_address(one: str, other: str) -> bool:
    """Case does not matter, but only where that is beyond doubt: other alphabets have letters whose small form is one of ours."""
    return one == other or (one.isascii() and other.isascii() and one.lower() == other.lower())


def check_role(role: Role) -> None:
    """Raises NotAllowedError with the reason when somebody may not certify."""
    if not role.may_certify:
        raise NotAllowedError(f"you may not certify: {role.sentence}")


def place(server: ServerSettings) -> str:
    """Where the settings stand, or would stand."""
    return str(server.file) if server.file else f"a file that {SERVER_VARIABLE} names"


def certifiers(server: ServerSettings, *, signs_in: bool, n_providers: int = 1) -> str:
    """Who may certify by these settings, as a clause. signs_in: whether people sign in on this server, wherever that is set."""
    issuer = server.sign_in.issuer if server.sign_in else ""
    if signs_in and n_providers > 1 and not issuer:
        return f"nobody: there are {count(n_providers, 'provider')} and no issuer under [sign_in] in {place(server)}"
    if not server.reviewers:
        return (
            f"nobody: no reviewers are named in {place(server)}"
            if signs_in
            else "whoever uses SEAM on this machine: no reviewers are named"
        )
    by = f", signed in by {issuer}" if issuer else ""
    return f"{count(len(server.reviewers), 'reviewer')}{by}: {listed(server.reviewers)}"
