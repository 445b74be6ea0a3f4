"""What the commands print of a baseline: as JSON, and as text for people."""

from __future__ import annotations

import json
from typing import Any

from msgspec import UNSET

from seam_core.baseline.approvals import BaselineRow, Pending
from seam_core.baseline.copies import Copy
from seam_core.baseline.desk import Status
from seam_core.baseline.reviewing import Review, in_short
from seam_core.escape import visible
from seam_core.ledger import Row
from seam_core.ledger.kinds import Certification, Proposal, Rollback, Veto
from seam_core.words import count

DECIMALS = 4


def status_of(found: Status, review: Review | None) -> dict[str, Any]:
    """Where the workspace stands, and the cases of a review."""
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
        "copy": copy_of(found.copy),
        "fault": found.versions.fault or None,
        "pending": pending_of(found.pending) if found.pending else None,
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


def status_text(found: Status, review: Review | None) -> str:
    """The same for people."""
    drift = found.drift
    lines = [f"RECERTIFY is {'due' if drift.due else 'not due'}" + (f": {drift.reason}" if drift.reason else "")]
    if review:
        lines.append(_line(in_short(review)))
        lines.append(f"run {_line(review.run.run_id)} · digest {review.digest} · drift {_rounded(review.drift)} · version {found.version}")
        cases = {case.case_id: case for case in review.cases}
        for group in review.groups:
            lines.append(_line(group.sentence))
            lines += [f"  {_case_text(cases[case_id])}" for case_id in group.case_ids]
    else:
        lines.append(found.why_not)
    if found.pending:
        lapsed = f"; it lapsed: {found.pending.lapsed}" if found.pending.lapsed else "; another person may `approve` or `veto` it"
        lines.append(decision_text(pending_of(found.pending)).rstrip("\n") + lapsed)
    return "\n".join([*lines, *(one for one in (found.copy.sentence, found.versions.fault) if one)]) + "\n"


def _case_text(case: Any) -> str:
    was = "not certified" if case.certified is None else _outcome(case.certified)
    return (
        f"{_line(case.case_id)}: {was} → {_outcome(case.passed)}{', safety' if case.is_safety else ''}, flips by itself {case.noise.words}"
    )


def _line(text: str) -> str:
    """A text that an agent or a person wrote, on one line of a terminal that it can neither clear nor colour, nor add lines to."""
    return visible(" ".join(text.split()), length=len(text) + 1)


def decision_of(row: Row) -> dict[str, Any]:
    """One row of the history: who, when, why, and what."""
    said = row.decision
    assert isinstance(said, BaselineRow)
    found: dict[str, Any] = {
        "seq": row.seq,
        "ts": row.ts,
        "actor": json.loads(row.actor),
        "kind": row.kind,
        "reason": said.reason,
        "sha256": row.sha256,
    }
    if not isinstance(said, Proposal) and said.proposal is not UNSET:
        found["proposal"] = said.proposal
    if isinstance(said, Veto):
        return found
    found |= {"version": said.version, "run": said.run_id, "run_ts": said.run_ts, "drift": _rounded(said.drift)}
    if isinstance(said, Rollback):
        lost = [{"target": one.target, "reason": one.reason} for one in said.not_restored]
        return found | {"heal": said.heal_id, "restored": sorted(said.restored), "not_restored": lost, "bundle": said.bundle}
    found |= {"accepted": said.accepted, "rejected": said.rejected, "left": said.left, "safety_reasons": said.safety_reasons}
    if isinstance(said, Certification):
        return found | {"baseline_sha256": said.baseline_sha256}
    return found | {"asks": said.asks, "heal": said.heal_id}


def decision_text(one: dict[str, Any]) -> str:
    """The same for people, in one line."""
    folder = f"; the texts are in {one['folder']}" if "folder" in one else ""
    second = f", as proposed in row {one['proposal']}" if "proposal" in one and one["kind"] != Veto.kind else ""
    return _line(f"{one['ts']} {one['actor']['name']}: {_what(one)}{second}: {one['reason']}{folder}") + "\n"


def _what(one: dict[str, Any]) -> str:
    if one["kind"] == Veto.kind:
        return f"vetoed the proposal in row {one['proposal']}"
    if one["kind"] == Rollback.kind:
        lost = f", {count(len(one['not_restored']), 'target')} not" if one["not_restored"] else ""
        return f"rolled back to heal {one['heal']} after run {one['run']} ({count(len(one['restored']), 'target')} restored{lost})"
    cases = ", ".join(f"{len(one[what]):,} {what}" for what in ("accepted", "rejected", "left"))
    if one["kind"] == Certification.kind:
        return f"version {one['version']} certified on run {one['run']} ({cases})"
    if one["asks"] == Rollback.kind:
        return f"row {one['seq']} proposes to roll back to heal {one['heal']} after run {one['run']}"
    return f"row {one['seq']} proposes version {one['version']} on run {one['run']} ({cases})"


def pending_of(pending: Pending) -> dict[str, Any]:
    """The proposal that waits for another person."""
    return decision_of(pending.row) | {"lapsed": pending.lapsed or None}


def copy_of(copy: Copy) -> dict[str, Any]:
    """What certified.json is beside the ledger."""
    return {"state": copy.state, "sentence": copy.sentence or None, "fault": copy.fault or None}


def _outcome(passed: bool) -> str:  # noqa: FBT001
    return "pass" if passed else "fail"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def as_json(value: Any) -> str:
    """Indented, ending in a newline."""
    return json.dumps(value, indent=2) + "\n"
