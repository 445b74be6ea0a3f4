"""``python -m seam_core notify``: tell the hooks of the server settings what is due. A job for a scheduler.

Exit codes: 0 everything was sent, or there was nothing to send · 1 something was not sent and is tried again, or was given up now ·
3 unusable arguments, settings or logs · 4 a fault of the program.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from seam_core.commandline import PATH, refuse, say
from seam_core.errors import SeamError, SettingsError
from seam_core.exitcodes import ALERT, OK
from seam_core.files import SERVER_VARIABLE
from seam_core.ledger import Ledger, ledger_file
from seam_core.notify.hooks import Hook, Hooks
from seam_core.notify.notices import Notice, Place, of_audit, of_ledger
from seam_core.notify.outbox import Outbox, OutboxError
from seam_core.notify.standing import states
from seam_core.notify.telling import outbox_of, place_of, tell
from seam_core.report import audit, window_of
from seam_core.settings import ServerSettings, read_server_settings, resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder

PROGRAM = "python -m seam_core notify"


@click.command()
@click.option("--workspace", type=PATH, required=True, help="the folder of the agent")
@click.option("--window", default="7d", help="how far back stopped heals are looked for")
@click.option("--dry-run", is_flag=True, help="show what there is to tell; send and note nothing")
@click.option("--list", "show_list", is_flag=True, help="show what was sent and what failed; send nothing")
@click.option("--again", is_flag=True, help="try at once what failed or was given up")
@click.option("--format", "output", default="text", help="text or json")
def command(*, workspace: Path, window: str, dry_run: bool, show_list: bool, again: bool, output: str) -> int:
    """Tell people what needs them: RECERTIFY, stopped heals, withheld axes, decisions."""
    if output not in ("text", "json"):
        raise SettingsError(f"--format {output}: write text or json")
    server = read_server_settings()
    outbox = outbox_of(workspace, server)
    if show_list:
        say(_listing(outbox, server.hooks, output))
        return OK
    if not server.hooks and not dry_run:
        what = "names no hook under [hooks]" if server.file else "is not set"
        raise SettingsError(f"there is nobody to tell: {SERVER_VARIABLE} {what}")
    notices, faults = _look(workspace, server, window)
    if dry_run:
        say(_dry(outbox, server.hooks, notices, output))
        code = OK
    else:
        code = _send(outbox, server.hooks, place_of(workspace, server), notices, output, again=again)
    for fault in faults:
        code = refuse(fault, program=PROGRAM)
    return code


def _look(folder: Path, server: ServerSettings, window: str) -> tuple[list[Notice], list[str]]:
    """What there is to tell, and what cannot be read: that must not keep the rest from being sent."""
    place = place_of(folder, server)
    found: list[Notice] = []
    faults: list[str] = []
    looks: tuple[Callable[[], list[Notice]], ...] = (
        lambda: of_ledger(Ledger(ledger_file(folder, server)), place, now=_clock()),
        lambda: _of_logs(folder, server, place, window),
    )
    for look in looks:
        try:
            found += look()
        except SeamError as error:
            faults.append(str(error))
    return found, faults


def _of_logs(folder: Path, server: ServerSettings, place: Place, window: str) -> list[Notice]:
    logs = workspace_of_folder(folder)
    store = Store(logs, now=_clock(), ledger=ledger_file(logs.folder, server))
    try:
        store.refresh()
        found = audit(store, window_of(store, span=window), resolve(logs.settings_file, server=server))
        return of_audit(found, place, span=window)
    finally:
        store.close()


def _send(outbox: Outbox, hooks: Hooks, place: Place, notices: list[Notice], output: str, *, again: bool) -> int:
    """Send what is due and print how it went; returns the exit code."""
    try:
        if again:
            outbox.again(now=_clock())
        told = tell(outbox, hooks, place, notices, clock=_clock)
        waiting = [one for one in states(outbox, hooks) if one.is_waiting]
    except OutboxError as error:
        refuse(str(error), program=PROGRAM)
        return ALERT
    if output == "json":
        sent = [{"hook": one.hook.name, "events": one.n_events, "fault": one.fault or None, "given_up": one.is_last} for one in told]
        say(_as_json({"told": sent, "waiting": {one.name: one.sentence for one in waiting}}))
    else:
        still = [f"{one.label}: {one.sentence}" for one in waiting if one.name not in {each.hook.name for each in told}]
        say("".join(f"{line}\n" for line in [*(one.sentence for one in told), *still]) or "nothing to send\n")
    return ALERT if waiting or any(one.fault for one in told) else OK


def _dry(outbox: Outbox, hooks: Hooks, notices: list[Notice], output: str) -> str:
    """What there is to tell, and who would be told now."""
    events = []
    for one in notices:
        known = {hook.name for hook in hooks.all if outbox.is_known(hook, one.id)}
        events.append((one, [hook for hook in hooks.all if one.kind in hooks.events and hook.name not in known]))
    if output == "json":
        return _as_json({"events": [asdict(one) | {"to": [hook.name for hook in new]} for one, new in events]})
    return "".join(_dry_text(one, new) for one, new in events) or "nothing to tell\n"


def _dry_text(one: Notice, new: list[Hook]) -> str:
    to = f"to: {', '.join(hook.label for hook in new) or 'nobody'}"
    return "\n  ".join(line for line in (one.title, one.text, one.link, to) if line) + "\n"


def _listing(outbox: Outbox, hooks: Hooks, output: str) -> str:
    """How every hook stands, and the newest deliveries."""
    deliveries, found = outbox.listing(), states(outbox, hooks)
    if output == "json":
        return _as_json({"hooks": [asdict(one) for one in found], "deliveries": [asdict(one) for one in deliveries]})
    lines = [f"{one.label}: {one.sentence}" for one in found] or ["no hooks are named"]
    lines += [f"{one.noted} {one.hook}: {one.title}: {one.state}{f' ({one.reason})' if one.reason else ''}" for one in deliveries]
    return "".join(f"{line}\n" for line in lines)


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _clock() -> datetime:
    return datetime.now(UTC)
