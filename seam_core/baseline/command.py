"""``python -m seam_core baseline …``: what stands, who certified what, certifying, rolling back, and mending the copy.

Exit codes: 0 done · 1 nothing was written, since what was shown is not so any more (or certified.json holds what nobody certified) ·
3 unusable arguments, or a decision that cannot be taken down · 4 a fault of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec
from uuid import uuid4

import click

from seam_core.authority import check_role, role_of
from seam_core.baseline.bundle import rollback_folder
from seam_core.baseline.desk import Desk
from seam_core.baseline.faults import ConflictError
from seam_core.baseline.printing import as_json, copy_of, decision_of, decision_text, status_of, status_text
from seam_core.baseline.submission import Submission, Written
from seam_core.commandline import PATH, Group, refuse, say
from seam_core.errors import SettingsError
from seam_core.exitcodes import ALERT, OK
from seam_core.ledger import ledger_file, local_actor
from seam_core.ledger.kinds import Certification, Proposal
from seam_core.notify.standing import failures
from seam_core.notify.telling import tell_decision
from seam_core.settings import read_server_settings, resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder

PROGRAM = "python -m seam_core baseline"

P = ParamSpec("P")

FOLDER = click.option("--workspace", type=PATH, required=True, help="the folder of the agent")
FORMAT = click.option("--format", "output", default="text", help="text or json")
RUN = click.option("--run", required=True, help="the full run that was reviewed")
DIGEST = click.option("--digest", required=True, help="its digest, as `status` shows it")
REASON = click.option("--reason", required=True, help="why, in a sentence")
OUT = click.option("--out", type=PATH, help="a new folder for the texts; default: rollbacks/ in the workspace")
PROPOSAL = click.option("--proposal", type=int, required=True, help="the row of the ledger that proposes it, as `status` shows it")
KEY = click.option("--key", help="the same key is the same decision, however often it is sent")


def _conflicts(decide: Callable[P, int]) -> Callable[P, int]:
    """The command, which ends with 1 and a sentence when something contradicts its decision."""

    @wraps(decide)
    def run(*args: P.args, **options: P.kwargs) -> int:
        try:
            return decide(*args, **options)
        except ConflictError as error:
            _complain(str(error), decide.__name__)
            return ALERT

    return run


@click.group(cls=Group)
def command() -> None:
    """The certified baseline: what stands, who certified what, certify a run or roll back."""


@command.command()
@FOLDER
@click.option("--run", help="a full run to look at, instead of the newest")
@FORMAT
def status(*, workspace: Path, run: str | None, output: str) -> int:
    """Say whether a re-certification is due, and what a review of the newest full run, or of another one, is of. Writes nothing."""
    _check_format(output)
    with _desk(workspace) as desk:
        found = desk.status()
        review = desk.review(run) if run else found.review
    untold = failures(workspace, read_server_settings())
    if output == "json":
        say(as_json(status_of(found, review) | {"notifications": untold or None}))
    else:
        say(status_text(found, review) + (f"{untold}\n" if untold else ""))
    return OK


@command.command()
@FOLDER
@FORMAT
def history(*, workspace: Path, output: str) -> int:
    """List every certification, rollback, proposal and veto: who, when, why, on which run. Writes nothing."""
    _check_format(output)
    with _desk(workspace) as desk:
        decided = [decision_of(row) for row in desk.history()]
    if output == "json":
        say(as_json({"decisions": decided, "fault": desk.store.versions.fault or None}))
    else:
        say("".join(decision_text(one) for one in decided) or "nothing was certified yet\n")
    return OK


@command.command()
@FOLDER
@RUN
@DIGEST
@REASON
@click.option("--accept", multiple=True, help="a case whose new outcome is certified; may be repeated")
@click.option("--reject", multiple=True, help="a case whose old outcome stays; may be repeated")
@click.option("--accept-all", is_flag=True, help="accept every case that is not rejected and no safety case")
@click.option("--safety-reason", multiple=True, help="CASE=WHY for each safety case that is accepted")
@KEY
@FORMAT
@_conflicts
def certify(
    *,
    workspace: Path,
    run: str,
    digest: str,
    reason: str,
    accept: Sequence[str],
    reject: Sequence[str],
    accept_all: bool,
    safety_reason: Sequence[str],
    key: str | None,
    output: str,
) -> int:
    """Certify one full run as the next version of the baseline. Cases neither accepted nor rejected are left for later."""
    _check_format(output)
    with _desk(workspace) as desk:
        accepted, rejected = frozenset(accept), frozenset(reject)
        if accept_all:
            accepted |= _all_cases(desk, run, key) - rejected
        reasons = dict(_case_reason(text, accepted) for text in safety_reason)
        sent = _sent(desk, run, digest, reason, key, accepted=accepted, rejected=rejected, safety_reasons=reasons)
        return _say_written(desk.certify(sent, actor=local_actor(), check=_may_certify), workspace, output, "certify")


@command.command()
@FOLDER
@RUN
@DIGEST
@click.option("--to", "heal", required=True, help="the heal to go back to: the state right after it")
@REASON
@OUT
@KEY
@FORMAT
@_conflicts
def rollback(*, workspace: Path, run: str, digest: str, heal: str, reason: str, out: Path | None, key: str | None, output: str) -> int:
    """Decide to go back, and write a folder with each changed target's text at that heal."""
    _check_format(output)
    with _desk(workspace) as desk:
        sent = _sent(desk, run, digest, reason, key)
        place = out or rollback_folder(workspace, sent.key)
        written = desk.roll_back(sent, heal_id=heal, place=place, actor=local_actor(), check=_may_certify)
        return _say_written(written, workspace, output, "rollback")


@command.command()
@FOLDER
@PROPOSAL
@REASON
@OUT
@KEY
@FORMAT
@_conflicts
def approve(*, workspace: Path, proposal: int, reason: str, out: Path | None, key: str | None, output: str) -> int:
    """As the second person, decide what another one proposed."""
    _check_format(output)
    with _desk(workspace) as desk:
        key = _key(key)
        place = out or rollback_folder(workspace, key)
        written = desk.approve(proposal, reason=reason, key=key, actor=local_actor(), check=_may_certify, place=place)
        return _say_written(written, workspace, output, "approve")


@command.command()
@FOLDER
@PROPOSAL
@REASON
@KEY
@FORMAT
@_conflicts
def veto(*, workspace: Path, proposal: int, reason: str, key: str | None, output: str) -> int:
    """Refuse what somebody proposed, or take back what you did."""
    _check_format(output)
    with _desk(workspace) as desk:
        written = desk.veto(proposal, reason=reason, key=_key(key), actor=local_actor(), check=_may_certify)
        return _say_written(written, workspace, output, "veto")


@command.command()
@FOLDER
@click.option("--replace", is_flag=True, help="also when it holds what nobody certified; that is kept beside it")
@FORMAT
def repair(*, workspace: Path, replace: bool, output: str) -> int:
    """Bring certified.json in step with the newest version in the ledger."""
    _check_format(output)
    with _desk(workspace) as desk:
        copy = desk.repair(replace_moved=replace)
    say(as_json(copy_of(copy)) if output == "json" else f"certified.json: {copy.state}\n")
    if copy.is_fine:
        return OK
    _complain(copy.fault or f"{copy.sentence}; `baseline repair --replace` sets it aside", "repair")
    return ALERT


@contextmanager
def _desk(folder: Path) -> Iterator[Desk]:
    place, server = workspace_of_folder(folder), read_server_settings()
    store = Store(place, now=datetime.now(UTC), ledger=ledger_file(place.folder, server))
    try:
        store.refresh()
        yield Desk(store, resolve(place.settings_file, server=server).settings, approvals_required=server.approvals_required)
    finally:
        store.close()


def _may_certify() -> None:
    """Raises NotAllowedError unless the server settings, as they stand at the write, let the system's user decide."""
    check_role(role_of(local_actor(), read_server_settings()))


def _sent(desk: Desk, run: str, digest: str, reason: str, key: str | None, **choices: Any) -> Submission:
    shown = max((one.number for one in desk.store.baselines), default=0)
    return Submission(run, digest.lower(), shown, reason, _key(key), **choices)


def _all_cases(desk: Desk, run: str, key: str | None) -> frozenset[str]:
    """The cases that differ and are no safety cases; those of the first time, when this key was sent before."""
    first = desk.decided(key) if key else None
    if first and isinstance(first.decision, (Certification, Proposal)):
        return frozenset(first.decision.accepted)
    return frozenset(case.case_id for case in desk.review(run).cases if not case.is_safety)


def _key(given: str | None) -> str:
    return uuid4().hex if given is None else given


def _case_reason(text: str, accepted: frozenset[str]) -> tuple[str, str]:
    """A case and the reason for it; ids may hold an equals sign."""
    fitting = [case_id for case_id in accepted if text.startswith(f"{case_id}=")]
    case_id = max(fitting, key=len, default=text.partition("=")[0])
    return case_id, text[len(case_id) + 1 :]


def _check_format(output: str) -> None:
    if output not in ("text", "json"):
        raise SettingsError(f"--format {output}: write text or json")


def _complain(sentence: str, command: str) -> None:
    refuse(sentence, program=f"{PROGRAM} {command}")


def _say_written(written: Written, folder: Path, output: str, command: str) -> int:
    """Print what was decided, and tell the hooks of the server settings; what does not arrive is said and does not change the exit code."""
    found = {**decision_of(written.row), "repeat": written.is_repeat, "copy": copy_of(written.copy)}
    if written.bundle:
        found["folder"] = str(written.bundle)
    say(as_json(found) if output == "json" else decision_text(found))
    if written.is_repeat:
        _complain(f"this was decided before, in row {written.row.seq}; nothing more was written", command)
    if written.is_proposal:
        _complain(f"nothing is decided yet: another person has to `baseline approve --proposal {written.row.seq}`", command)
    if not written.copy.is_fine:
        _complain(f"the decision is written; {written.copy.fault or written.copy.sentence}", command)
    for fault in tell_decision(folder, written.row):
        _complain(f"the decision is written; not everybody was told: {fault}", command)
    return OK
