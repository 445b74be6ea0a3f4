"""Telling: note what is new, send what is due, and say how it went. A fault of a hook is an answer here, never an exception."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from seam_core.errors import SeamError
from seam_core.ledger import Row, ledger_file
from seam_core.notify.hooks import Hook, Hooks
from seam_core.notify.notices import Message, Notice, Place, of_decision, together
from seam_core.notify.outbox import TRIES, Outbox, outbox_file
from seam_core.notify.sending import send
from seam_core.settings import ServerSettings, read_server_settings
from seam_core.words import count

Send = Callable[[Hook, Message], str]


@dataclass(frozen=True)
class Told:
    """How one message to one hook went; `fault` is empty when it was taken."""

    hook: Hook
    n_events: int
    fault: str = ""
    is_last: bool = False  # it is not tried again

    @property
    def sentence(self) -> str:
        """The same in words."""
        what = f"{count(self.n_events, 'event')} to {self.hook.label}"
        if not self.fault:
            return f"{what}: sent"
        return f"{what}: {self.fault}; {f'given up after {TRIES} tries' if self.is_last else 'it is tried again'}"


def place_of(folder: Path, server: ServerSettings) -> Place:
    """The workspace in a folder, as messages name it."""
    return Place(folder.resolve().name, server.public_url)


def outbox_of(folder: Path, server: ServerSettings) -> Outbox:
    """What was sent for the workspace in a folder.  Raises LedgerError when the place of its ledger cannot be told."""
    return Outbox(outbox_file(ledger_file(folder, server)))


def tell(
    outbox: Outbox, hooks: Hooks, place: Place, notices: list[Notice], *, clock: Callable[[], datetime], sender: Send = send
) -> list[Told]:
    """Note the events that are new and send everything that is due, one message a hook.  Raises OutboxError when nothing can be noted:
    then nothing is sent.
    """
    outbox.add(notices, hooks, now=clock())
    told = []
    for hook in hooks.all:
        claimed = outbox.claim(hook, now=clock())
        if claimed:
            fault = sender(hook, together([one.notice for one in claimed], place))
            outbox.settle(hook, claimed, fault, now=clock())
            told.append(Told(hook, len(claimed), fault, is_last=bool(fault) and any(one.n_tries >= TRIES for one in claimed)))
    return told


def tell_decision(folder: Path, row: Row) -> list[str]:
    """What went wrong in telling of a decision, in sentences. The decision stands whatever they say."""
    try:
        server = read_server_settings()
        if not server.hooks:
            return []
        place = place_of(folder, server)
        told = tell(outbox_of(folder, server), server.hooks, place, [of_decision(row, place)], clock=_clock)
    except SeamError as error:
        return [str(error)]
    return [one.sentence for one in told if one.fault]


def after_decision(folder: Path, row: Row) -> threading.Thread:
    """Tell of a decision without waiting for it. What fails is tried again by ``python -m seam_core notify``, which also finds decisions
    in the ledger that nobody was told of, and is shown on the Settings page.
    """
    thread = threading.Thread(target=tell_decision, args=(folder, row), name="seam-notify", daemon=True)
    thread.start()
    return thread


def _clock() -> datetime:
    return datetime.now(UTC)
