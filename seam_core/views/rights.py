"""Who may do what on this server, right by right, and the reviewers one by one."""

from __future__ import annotations

from dataclasses import dataclass

from seam_core.authority import certifiers, stands_for, subject_in
from seam_core.ledger import Actor
from seam_core.settings import ServerSettings
from seam_core.words import capital


@dataclass(frozen=True)
class Right:
    """One thing that can be done here, and by whom."""

    what: str
    who: str


@dataclass(frozen=True)
class Reviewer:
    """One entry of `reviewers`: as what it is read, and whether it names the person who looks."""

    entry: str
    read_as: str
    is_you: bool


def rights(server: ServerSettings, *, signs_in: bool, is_local: bool, n_providers: int = 1) -> tuple[Right, ...]:
    """What can be done here and by whom. is_local: whether the system's user decides, for want of a sign-in."""
    deciding = signs_in or is_local
    nobody = "nobody: the server can be reached from elsewhere, and nobody signs in"
    reviewing = "everybody who signed in, until that expires or they sign out" if signs_in else "the user of this machine"
    found = [
        Right("See everything", "whoever can open this address"),
        Right("Give a verdict on a heal, or hand it over", reviewing if deciding else nobody),
        Right("Certify a baseline, or roll back", certifiers(server, signs_in=signs_in, n_providers=n_providers) if deciding else nobody),
        Right("Approve what was certified", _approving(server)),
        Right("Change this", _changing(server)),
    ]
    return tuple(Right(one.what, capital(one.who)) for one in found)


def _approving(server: ServerSettings) -> str:
    if server.approvals_required == 1:
        return "not needed: one person's decision takes effect"
    return "a second of them, who is not the first; until then nothing takes effect, and any of them may veto"


def _changing(server: ServerSettings) -> str:
    if server.file:
        return f"whoever can write {server.file}; it is read again for each decision (how people sign in: when the server starts)"
    return (
        "whoever starts the server, by naming a file in SEAM_SETTINGS; in this local use whoever can write in the workspace, the agent"
        " included, can replace all of it"
    )


def reviewers(server: ServerSettings, *, signs_in: bool, you: Actor | None, email: str | None = None) -> tuple[Reviewer, ...]:
    """Every entry of `reviewers` in the order of the file. email: the address that the provider says is yours, and has checked."""
    return tuple(
        Reviewer(entry, _read_as(entry, signs_in=signs_in), is_you=you is not None and stands_for(entry, you, email))
        for entry in server.reviewers
    )


def _read_as(entry: str, *, signs_in: bool) -> str:
    if not signs_in:
        return "a user of this machine"
    return "an e-mail address, where the provider says it has checked it" if subject_in(entry) is None else "the provider's subject"
