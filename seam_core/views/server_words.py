"""The server settings in plain words: who may loosen what, where decisions are kept, who may decide. Never a secret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seam_core.authority import certifiers
from seam_core.files import SERVER_VARIABLE
from seam_core.ledger import ledger_file, noted
from seam_core.notify.hooks import EVENTS
from seam_core.notify.outbox import OutboxError
from seam_core.notify.standing import states
from seam_core.notify.telling import outbox_of
from seam_core.settings import ServerSettings
from seam_core.words import capital, count, listed


@dataclass(frozen=True)
class Fact:
    """One thing about this server. `is_warning`: somebody can get round it."""

    name: str
    said: str
    is_warning: bool = False


def facts(server: ServerSettings, folder: Path, *, signs_in: bool = False, n_providers: int = 1) -> tuple[Fact, ...]:
    """What the server settings say for the workspace in a folder. Names of hooks and of people are shown, keys and URLs are not.

    signs_in: whether people sign in, wherever that is set; n_providers: between how many they can choose then.
    """
    who = certifiers(server, signs_in=signs_in, n_providers=n_providers)
    return (_settings(server), _ledger(server, folder), _people(server, who), *_notifications(server, folder))


def _settings(server: ServerSettings) -> Fact:
    if server.file is None:
        return Fact(
            "Server settings",
            f"None: {SERVER_VARIABLE} is not set, so this is local use. Whoever can write in the workspace, the audited agent included, can"
            " loosen every threshold in seam.toml and replace everything shown here.",
            is_warning=True,
        )
    held = (
        f"it holds {count(len(server.thresholds), 'threshold')} that no workspace may loosen"
        if server.thresholds
        else "it holds no threshold"
    )
    return Fact("Server settings", f"{server.file}; {held}.")


def _ledger(server: ServerSettings, folder: Path) -> Fact:
    path = ledger_file(folder, server)
    found = noted(path)
    rows = found["rows"]
    kept = f"cannot be read: {found['fault']}" if "fault" in found else "nothing was decided yet" if not rows else f"{count(rows, 'row')}"
    inside = path.resolve().is_relative_to(folder.resolve())
    where = (
        "It lies inside the workspace: whoever can write there can replace all of it." if inside else "It lies outside of the workspace."
    )
    return Fact("Decisions", f"{path} ({kept}). {where}", is_warning=inside or "fault" in found)


def _people(server: ServerSettings, who: str) -> Fact:
    approvals = "one approval certifies a baseline" if server.approvals_required == 1 else "a baseline needs the approval of two people"
    return Fact("Who may certify", f"{capital(who)}; {approvals}.", is_warning=server.file is not None and not server.reviewers)


def _notifications(server: ServerSettings, folder: Path) -> tuple[Fact, ...]:
    """Who is told of what, and whether it arrives."""
    if not server.hooks:
        return (Fact("Notifications", "None: nobody is told of anything."),)
    outbox = outbox_of(folder, server)
    inside = outbox.path.resolve().is_relative_to(folder.resolve())
    where = " What was sent is noted inside the workspace: whoever can write there can keep a message from being sent." if inside else ""
    links = "" if server.public_url else " Messages carry no link: no public_url is named."
    told = Fact("Notifications", f"Told: {listed([EVENTS[event] for event in server.hooks.events])}.{links}{where}", is_warning=inside)
    try:
        found = states(outbox, server.hooks)
    except OutboxError as error:
        return told, Fact("Not sent", f"{error}.", is_warning=True)
    return told, *(Fact(f"Hook {one.label}", f"{one.sentence}.", is_warning=one.has_failed) for one in found)
