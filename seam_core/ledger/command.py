"""``python -m seam_core ledger …``: take the decisions out, check them, and note what the logs look like now.

Exit codes: 0 everything holds · 2 the chain holds, but a log no longer begins as it did at the newest checkpoint · 3 a row does not hold,
the noted head is not there, or unusable arguments · 4 a fault of the program.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import click

from seam_core.commandline import PATH, Group, refuse, say
from seam_core.exitcodes import OK, STOP
from seam_core.ledger import Ledger, LedgerError, Verified, ledger_file, local_actor
from seam_core.ledger import verify as verify_chain
from seam_core.ledger.checkpoint import CHECKPOINTS, FIXTURES, History, compare_files, digest_files, workspace_for_ledger
from seam_core.settings import read_server_settings
from seam_core.workspace import Workspace, workspace_of_folder

PROGRAM = "python -m seam_core ledger"

FOLDER = click.option("--workspace", type=PATH, required=True, help="the folder of the agent whose decisions they are")


@click.group(cls=Group)
def command() -> None:
    """What people decided about a workspace: take it out, check that nothing was changed, note what the logs look like."""


@command.command()
@FOLDER
def export(*, workspace: Path) -> int:
    """Print every decision as one line of JSON, exactly as it is kept."""
    ledger = Ledger(_file(workspace_for_ledger(workspace)))
    for row in ledger.rows():
        say(json.dumps(asdict(row)) + "\n")
    return OK


@command.command()
@FOLDER
@click.option("--head", help="a sha256 that was noted elsewhere: the ledger must still contain that row")
def verify(*, workspace: Path, head: str | None) -> int:
    """Follow the chain and hold the logs against the newest checkpoint; prints one JSON object."""
    if head is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", head):
        raise LedgerError(f"--head {head[:80]}: a head is 64 hexadecimal digits")
    place = workspace_for_ledger(workspace)
    found = verify_chain(_file(place), head=head and head.lower())
    history = _history(place, found)
    say(json.dumps(_answer(_file(place), found, history), indent=2) + "\n")
    if not found.holds:
        return refuse(_fault(found), program=f"{PROGRAM} verify")
    if history.state == "changed":
        refuse(history.sentence, program=f"{PROGRAM} verify")
        return STOP
    return OK


@command.command()
@FOLDER
def checkpoint(*, workspace: Path) -> int:
    """Note sizes and sha256 of all logs and fixtures as a row, so that later edits of history show."""
    place = workspace_of_folder(workspace)
    row = Ledger(_file(place)).write(digest_files(place), actor=local_actor())
    say(json.dumps({"seq": row.seq, "ts": row.ts, "head": row.sha256, "files": json.loads(row.body)["files"]}, indent=2) + "\n")
    return OK


def _file(place: Workspace) -> Path:
    return ledger_file(place.folder, read_server_settings())


def _history(place: Workspace, found: Verified) -> History:
    """The logs against the newest checkpoint of the rows that hold."""
    rows = [row for row in Ledger(_file(place)).rows(*CHECKPOINTS) if row.seq <= found.chain.rows]
    return compare_files(place, rows[-1] if rows else None)


def _answer(path: Path, found: Verified, history: History) -> dict[str, object]:
    chain = found.chain
    return {
        "ledger": str(path),
        "holds": found.holds,
        "rows": chain.rows,
        "head": chain.head,
        "seq": chain.seq,
        "reason": chain.reason or chain.guard,
        "noted": None if found.head is None else {"head": found.head, "seq": found.head_seq},
        "history": {
            "state": history.state,
            "checkpoint": history.seq,
            "ts": history.ts,
            "logs": {name: what for name, what in history.files.items() if name not in FIXTURES},
            "fixtures": {name: what for name, what in history.files.items() if name in FIXTURES},
        },
    }


def _fault(found: Verified) -> str:
    if not found.chain.holds:
        return found.chain.sentence
    return f"the chain holds, but contains no row with the sha256 {found.head}: rows were made anew, or taken away, after it was noted"
