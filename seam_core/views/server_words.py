"""The server settings in plain words: who may loosen what, where decisions are kept, who may decide. Never a secret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seam_core.authority import certifiers
from seam_core.ledger import ledger_file, noted
from seam_core.settings import SERVER_VARIABLE, ServerSettings
from seam_core.words import capital, count, listed


@dataclass(frozen=True)
class Fact:
    """One thing about this server. `is_warning`: somebody can get round it."""

    name: str
    said: str
    is_warning: bool = False


def facts(server: ServerSettings, folder: Path, *, signs_in: bool = False, n_providers: int = 1) -> tuple[Fact, ...]:
    """What the server settings say for the workspace in a folder. Names of hooks and of people are shown, keys and addresses are not.

    signs_in: whether people sign in, wherever that is set; n_providers: between how many they can choose then.
    """
    who = certifiers(server, signs_in=signs_in, n_providers=n_providers)
    return (_settings(server), _ledger(server, folder), _people(server, who), _hooks(server))


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


def _hooks(server: ServerSettings) -> Fact:
    return Fact("Notifications", f"Hooks: {listed(sorted(server.hooks))}." if server.hooks else "None: nobody is told of an alert.")
