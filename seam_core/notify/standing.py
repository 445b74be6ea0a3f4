"""How each hook stands, in words: for the Settings page, for `notify --list` and for the line under `baseline status`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seam_core.errors import SeamError
from seam_core.notify.hooks import Hooks
from seam_core.notify.outbox import Outbox, Standing
from seam_core.notify.telling import outbox_of
from seam_core.settings import ServerSettings
from seam_core.words import count


@dataclass(frozen=True)
class HookState:
    """One hook, and how it stands: whether something is tried again, and whether something did not arrive."""

    name: str
    label: str
    sentence: str
    is_waiting: bool
    has_failed: bool


def states(outbox: Outbox, hooks: Hooks) -> list[HookState]:
    """How every hook of the server settings stands.  Raises OutboxError when the file of what was sent cannot be read."""
    found = outbox.standings()
    return [HookState(hook.name, hook.label, *_said(found.get(hook.name, Standing()))) for hook in hooks.all]


def failures(folder: Path, server: ServerSettings) -> str:
    """What did not arrive, in one sentence; empty when everything did, or nobody is to be told."""
    if not server.hooks:
        return ""
    try:
        failed = [one for one in states(outbox_of(folder, server), server.hooks) if one.has_failed]
    except SeamError as error:
        return f"Notifications: {error}"
    return "; ".join(f"Notifications to {one.label}: {one.sentence}" for one in failed)


def _said(one: Standing) -> tuple[str, bool, bool]:
    parts = [f"{count(one.n_sent, 'event')} sent, the last at {moment(one.last_sent)}" if one.last_sent else "nothing sent yet"]
    if one.n_failed:
        parts.append(f"{count(one.n_failed, 'event')} not delivered ({one.reason}), next try from {moment(one.next_try)} on")
    if one.n_waiting - one.n_failed:
        parts.append(f"{count(one.n_waiting - one.n_failed, 'event')} about to be sent")
    if one.n_given_up:
        parts.append(f"{count(one.n_given_up, 'event')} given up ({one.reason})")
    return "; ".join(parts), bool(one.n_failed), bool(one.n_failed or one.n_given_up)


def moment(stamp: str | None) -> str:
    """A time as the ledger keeps it, to the second."""
    return f"{stamp[:19].replace('T', ' ')} UTC" if stamp else "an unknown time"
