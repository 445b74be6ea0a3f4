"""``python -m seam_core baseline …``: what stands, who certified what, certifying, rolling back, and mending the copy.

Exit codes: 0 done · 1 nothing was written, since what was shown is not so any more (or certified.json holds what nobody certified) ·
3 unusable arguments, or a decision that cannot be taken down · 4 a fault of the program.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer

from seam_core.baseline.copies import Copy
from seam_core.baseline.desk import Desk, Status, Submission, Written
from seam_core.baseline.faults import ConflictError
from seam_core.baseline.reviewing import Review, in_short
from seam_core.baseline.versions import Decided
from seam_core.commandline import refuse, say
from seam_core.errors import SettingsError
from seam_core.ledger import ledger_file, local_actor
from seam_core.ledger.kinds import Certification, Rollback
from seam_core.report import ALERT
from seam_core.settings import read_server_settings, resolve
from seam_core.store import Store
from seam_core.words import count
from seam_core.workspace import workspace_of_folder

HELP = "The certified baseline: what stands, who certified what, certify a run or roll back."
PROGRAM = "python -m seam_core baseline"
DECIMALS = 4

app = typer.Typer(help=HELP, no_args_is_help=True)
Folder = Annotated[Path, typer.Option("--workspace", help="the folder of the agent", readable=False)]
Format = Annotated[str, typer.Option("--format", help="text or json")]
RunId = Annotated[str, typer.Option("--run", help="the full run that was reviewed")]
Digest = Annotated[str, typer.Option(help="its digest, as `status` shows it")]
Reason = Annotated[str, typer.Option(help="why, in a sentence")]
Key = Annotated[str | None, typer.Option(help="the same key is the same decision, however often it is sent")]


@app.callback()
def _baseline() -> None:
    """The certified baseline: what stands, who certified what, certify a run or roll back."""


@app.command()
def status(
    workspace: Folder,
    run: Annotated[str | None, typer.Option("--run", help="a full run to look at, instead of the newest")] = None,
    output: Format = "text",
) -> None:
    """Say whether a re-certification is due, and what a review of the newest full run, or of another one, is of. Writes nothing."""
    _check_format(output)
    with _desk(workspace) as desk:
        found = desk.status()
        review = desk.review(run) if run else found.review
        say(_as_json(_status(found, review)) if output == "json" else _status_text(found, review))


@app.command()
def history(workspace: Folder, output: Format = "text") -> None:
    """List every certification and rollback: who, when, why, on which run. Writes nothing."""
    _check_format(output)
    with _desk(workspace) as desk:
        decided = [_decision(one) for one in desk.store.versions.decisions]
    if output == "json":
        say(_as_json({"decisions": decided, "fault": desk.store.versions.fault or None}))
    else:
        say("".join(_decision_text(one) for one in decided) or "nothing was certified yet\n")


@app.command()
def certify(
    workspace: Folder,
    run: RunId,
    digest: Digest,
    reason: Reason,
    accept: Annotated[list[str] | None, typer.Option(help="a case whose new outcome is certified; may be repeated")] = None,
    reject: Annotated[list[str] | None, typer.Option(help="a case whose old outcome stays; may be repeated")] = None,
    accept_all: Annotated[bool, typer.Option("--accept-all", help="accept every case that is not rejected and no safety case")] = False,  # noqa: FBT002
    safety_reason: Annotated[list[str] | None, typer.Option(help="CASE=WHY for each safety case that is accepted")] = None,
    key: Key = None,
    output: Format = "text",
) -> None:
    """Certify one full run as the next version of the baseline. Cases neither accepted nor rejected are left for later."""
    _check_format(output)
    with _desk(workspace) as desk, _conflicts("certify"):
        accepted, rejected = frozenset(accept or ()), frozenset(reject or ())
        if accept_all:
            review = desk.review(run)
            accepted |= {case.case_id for case in review.cases if not case.is_safety} - rejected
        reasons = dict(_case_reason(text, accepted) for text in safety_reason or ())
        sent = _sent(desk, run, digest, reason, key, accepted=accepted, rejected=rejected, safety_reasons=reasons)
        _say_written(desk.certify(sent, actor=local_actor()), output, "certify")


@app.command()
def rollback(
    workspace: Folder,
    run: RunId,
    digest: Digest,
    heal: Annotated[str, typer.Option("--to", help="the heal to go back to: the state right after it")],
    reason: Reason,
    out: Annotated[
        Path | None, typer.Option(help="a new folder for the texts; default: rollbacks/ in the workspace", readable=False)
    ] = None,
    key: Key = None,
    output: Format = "text",
) -> None:
    """Decide to go back, and write a folder with each changed target's text at that heal."""
    _check_format(output)
    with _desk(workspace) as desk, _conflicts("rollback"):
        sent = _sent(desk, run, digest, reason, key)
        place = out or workspace / "rollbacks" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{sent.key[:8]}"
        _say_written(desk.roll_back(sent, heal_id=heal, place=place, actor=local_actor()), output, "rollback")


@app.command()
def repair(
    workspace: Folder,
    replace: Annotated[bool, typer.Option("--replace", help="also when it holds what nobody certified; that is kept beside it")] = False,  # noqa: FBT002
    output: Format = "text",
) -> None:
    """Bring certified.json in step with the newest version in the ledger."""
    _check_format(output)
    with _desk(workspace) as desk:
        copy = desk.repair(replace_moved=replace)
    say(_as_json(_copy(copy)) if output == "json" else f"certified.json: {copy.state}\n")
    if not copy.is_fine:
        _complain(copy.fault or f"{copy.sentence}; `baseline repair --replace` sets it aside", "repair")
        raise typer.Exit(ALERT)


@contextmanager
def _desk(folder: Path) -> Iterator[Desk]:
    place, server = workspace_of_folder(folder), read_server_settings()
    store = Store(place, now=datetime.now(UTC), ledger=ledger_file(place.folder, server))
    try:
        store.refresh()
        yield Desk(store, resolve(place.settings_file, server=server).settings, approvals_required=server.approvals_required)
    finally:
        store.close()


@contextmanager
def _conflicts(command: str) -> Iterator[None]:
    """A decision that something contradicts ends with 1 and a sentence."""
    try:
        yield
    except ConflictError as error:
        _complain(str(error), command)
        raise typer.Exit(ALERT) from None


def _sent(desk: Desk, run: str, digest: str, reason: str, key: str | None, **choices: Any) -> Submission:
    shown = max((one.number for one in desk.store.baselines), default=0)
    return Submission(run, digest.lower(), shown, reason, key or uuid4().hex, **choices)


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


def _say_written(written: Written, output: str, command: str) -> None:
    said = written.row.decision
    assert isinstance(said, (Certification, Rollback))
    found = {**_decision(Decided(written.row, said)), "repeat": written.is_repeat, "copy": _copy(written.copy)}
    if written.bundle:
        found["folder"] = str(written.bundle)
    say(_as_json(found) if output == "json" else _decision_text(found))
    if not written.copy.is_fine:
        _complain(f"the decision is written; {written.copy.fault or written.copy.sentence}", command)


def _status(found: Status, review: Review | None) -> dict[str, Any]:
    drift = found.drift
    return {
        "run": review.run.run_id if review else None,
        "digest": review.digest if review else None,
        "due": drift.due,
        "drift": _rounded(review.drift if review else drift.anchored),
        "version": found.version,
        "reason": drift.reason or found.why_not or None,
        "first_due_run": drift.first_due_run,
        "newest_run": drift.run,
        "newest_drift": _rounded(drift.anchored),
        "copy": _copy(found.copy),
        "fault": found.versions.fault or None,
        "cases": [_case(case) for case in review.cases] if review else [],
    }


def _case(case: Any) -> dict[str, Any]:
    return {
        "case": case.case_id,
        "safety": case.is_safety,
        "certified": None if case.certified is None else _outcome(case.certified),
        "now": _outcome(case.passed),
        "heal": case.origin.heal_id if case.origin else None,
        "since": case.origin.sentence if case.origin else None,
        "flips_by_itself": case.noise.words,
        "question": case.question,
    }


def _status_text(found: Status, review: Review | None) -> str:
    drift = found.drift
    lines = [f"RECERTIFY is {'due' if drift.due else 'not due'}" + (f": {drift.reason}" if drift.reason else "")]
    if review:
        lines.append(in_short(review))
        lines.append(f"run {review.run.run_id} · digest {review.digest} · drift {_rounded(review.drift)} · version {found.version}")
        cases = {case.case_id: case for case in review.cases}
        for group in review.groups:
            lines.append(group.sentence)
            lines += [f"  {_case_text(cases[case_id])}" for case_id in group.case_ids]
    else:
        lines.append(found.why_not)
    return "\n".join([*lines, *(one for one in (found.copy.sentence, found.versions.fault) if one)]) + "\n"


def _case_text(case: Any) -> str:
    was = "not certified" if case.certified is None else _outcome(case.certified)
    return f"{case.case_id}: {was} → {_outcome(case.passed)}{', safety' if case.is_safety else ''}, flips by itself {case.noise.words}"


def _decision(one: Decided) -> dict[str, Any]:
    said, row = one.said, one.row
    found: dict[str, Any] = {
        "seq": row.seq,
        "ts": row.ts,
        "actor": json.loads(row.actor),
        "kind": row.kind,
        "version": said.version,
        "run": said.run_id,
        "run_ts": said.run_ts,
        "drift": _rounded(said.drift),
        "reason": said.reason,
        "sha256": row.sha256,
    }
    if isinstance(said, Certification):
        return found | {
            "accepted": said.accepted,
            "rejected": said.rejected,
            "left": said.left,
            "safety_reasons": said.safety_reasons,
            "baseline_sha256": said.baseline_sha256,
        }
    lost = [{"target": one.target, "reason": one.reason} for one in said.not_restored]
    return found | {"heal": said.heal_id, "restored": sorted(said.restored), "not_restored": lost, "bundle": said.bundle}


def _decision_text(one: dict[str, Any]) -> str:
    who = one["actor"]["name"]
    if one["kind"] == Certification.kind:
        cases = ", ".join(f"{len(one[what]):,} {what}" for what in ("accepted", "rejected", "left"))
        what = f"version {one['version']} certified on run {one['run']} ({cases})"
    else:
        lost = f", {count(len(one['not_restored']), 'target')} not" if one["not_restored"] else ""
        what = f"rolled back to heal {one['heal']} after run {one['run']} ({count(len(one['restored']), 'target')} restored{lost})"
    folder = f"; the texts are in {one['folder']}" if "folder" in one else ""
    return f"{one['ts']} {who}: {what}: {one['reason']}{folder}\n"


def _copy(copy: Copy) -> dict[str, Any]:
    return {"state": copy.state, "sentence": copy.sentence or None, "fault": copy.fault or None}


def _outcome(passed: bool) -> str:  # noqa: FBT001
    return "pass" if passed else "fail"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"
