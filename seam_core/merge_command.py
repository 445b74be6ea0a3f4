"""``python -m seam_core signatures …``: which failure signatures may be one failure, and what people say about that.

Exit codes: 0 done · 3 unusable arguments, or a decision that cannot be taken down · 4 a fault of the program.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from seam_core.authority import NotAllowedError, role_of
from seam_core.commandline import PATH, Group, say
from seam_core.exitcodes import OK
from seam_core.ledger import Actor, Ledger, Row, ledger_file, local_actor
from seam_core.ledger.kinds import Likeness
from seam_core.merges import MergeError, merges_of, say_same, score_merged, take_back
from seam_core.report import DECIMALS, audit, window_of
from seam_core.settings import read_server_settings, resolve
from seam_core.store import Store
from seam_core.views.signal_duplicates import find_duplicates, open_suggestions
from seam_core.views.signal_merges import list_said
from seam_core.words import listed
from seam_core.workspace import workspace_of_folder

SIGNATURES = "select failure_signature from heals union select failure_signature from failures"

FOLDER = click.option("--workspace", type=PATH, required=True, help="the folder of the agent")
NAMES = click.option(
    "--signature", "names", multiple=True, required=True, help="as the log has it; two at least, and the first stands for all"
)
COMMENT = click.option("--comment", default="", show_default=False, help="why, in a sentence")


@click.group(cls=Group)
def command() -> None:
    """Failure signatures that may be one failure: what is suggested, what people say, and S with the merges."""


@command.command("list")
@FOLDER
@click.option("--window", default="all", help="7d, 24h, 4w or all: what is looked at for suggestions")
def list_all(*, workspace: Path, window: str) -> int:
    """Print what is suggested and not decided yet, what people said, and S without and with the merges. Writes nothing."""
    place, server = workspace_of_folder(workspace), read_server_settings()
    path = ledger_file(place.folder, server)
    store = Store(place, now=datetime.now(UTC), ledger=path)
    try:
        store.refresh()
        found = audit(store, window_of(store, span=window), resolve(place.settings_file, server=server))
        said = merges_of(Ledger(path))
        suggested = open_suggestions(find_duplicates(found), said)
        answer: dict[str, Any] = {"window": found.window.label, "S": _rounded(found.signal.score)}
        if said.groups:
            answer["S_merged"] = _rounded(score_merged(found.scope, said).signal.score)
    finally:
        store.close()
    answer["suggested"] = [
        {
            "signature": row["signature"], "others": row["others"], "why": row["reason"], "heals": row["heals"],
            "failures": row["failures"], "came_back_under_another_name": row["crossed"],
        }
        for row in suggested
    ]  # fmt: skip
    answer["said"] = [{key: value for key, value in row.items() if key != "key"} for row in list_said(said)]
    return _print(answer)


@command.command()
@FOLDER
@NAMES
@COMMENT
def same(*, workspace: Path, names: Sequence[str], comment: str) -> int:
    """Say that signatures are one failure under several names. S stays; `S_merged` counts them as one."""
    return _say(workspace, names, comment, "same")


@command.command()
@FOLDER
@NAMES
@COMMENT
def different(*, workspace: Path, names: Sequence[str], comment: str) -> int:
    """Say that each of these signatures is another failure, so that they are not suggested again."""
    return _say(workspace, names, comment, "different")


@command.command("take-back")
@FOLDER
@click.option("--row", type=int, required=True, help="the row of the ledger, as `list` shows it")
def take_back_row(*, workspace: Path, row: int) -> int:
    """Take back what you said about signatures."""
    return _print(_written(take_back(_ledger(workspace), row, actor=_actor())))


def _say(workspace: Path, names: Sequence[str], comment: str, verdict: Likeness) -> int:
    actor = _actor()
    _check_known(workspace, names)
    return _print(_written(say_same(_ledger(workspace), names, actor=actor, verdict=verdict, comment=comment)))


def _check_known(workspace: Path, names: Sequence[str]) -> None:
    """Raises MergeError for a name that no heal and no failure carries: mistyped, it would merge nothing and say nothing."""
    store = Store(workspace_of_folder(workspace), now=datetime.now(UTC))
    try:
        store.refresh()
        known = {name for (name,) in store.cursor().execute(SIGNATURES).fetchall()}
    finally:
        store.close()
    if unknown := [name for name in names if name not in known]:
        raise MergeError(f"no heal and no failure carries {listed([repr(name) for name in unknown])}; `list` shows what is suggested")


def _ledger(workspace: Path) -> Ledger:
    return Ledger(ledger_file(workspace_of_folder(workspace).folder, read_server_settings()))


def _actor() -> Actor:
    """The system's user.  Raises NotAllowedError where people sign in: one person, here and on the dashboard, would be two."""
    server, actor = read_server_settings(), local_actor()
    if server.sign_in:
        raise NotAllowedError(role_of(actor, server).sentence)
    return actor


def _written(row: Row) -> dict[str, Any]:
    return {"seq": row.seq, "ts": row.ts, "kind": row.kind, "head": row.sha256, "decision": json.loads(row.body)}


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, DECIMALS)


def _print(answer: dict[str, Any]) -> int:
    say(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")
    return OK
