"""Why this baseline: which version is in force, who certified it, when, why and on what, and what happened since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from seam_core.baseline.approvals import KINDS, open_proposal
from seam_core.baseline.copies import Copy, copy_state
from seam_core.baseline.versions import Decided, Version
from seam_core.ledger import Ledger, LedgerError
from seam_core.ledger.actors import SignedIn
from seam_core.ledger.kinds import Certification, Proposal, Rollback, Veto
from seam_core.ledger.rows import Row
from seam_core.report import Audit
from seam_core.words import capital, count, cut, percent

SINCE = """
select (select count(*) from heals
        where row not in (select row from blocked) and ($run_ts::timestamptz is null or ts > $run_ts::timestamptz)),
       (select count(*) from surface_runs semi join full_runs using (run)
        where phase in ('after', 'nightly') and ($run_ts::timestamptz is null or (ts, run_id) > ($run_ts::timestamptz, $run_id)))
"""


@dataclass(frozen=True)
class InForce:
    """The newest version and what is said of it; texts name ids as they were logged. `reason` is as it was typed."""

    version: Version | None
    sentences: tuple[str, ...]
    reason: str
    copy: Copy


def in_force(audit: Audit, today: date) -> InForce:
    """The newest version of the baseline."""
    store = audit.scope.store
    version = max(store.baselines, key=lambda one: one.number, default=None)
    copy = copy_state(store.versions, store.certified)
    if version is None:
        return InForce(None, ("There is no baseline yet: no certified.json, and nothing was certified here.",), "", copy)
    row = version.row
    said = row.decision if row else None
    cases = f"{count(len(version.outcomes), 'case')} ({_passing(version)})"
    if row is None or not isinstance(said, Certification):
        sentences = [
            f"Version 1 is certified.json as it was found: {cases}. Nobody certified it here, so who, when and why are not on record."
            " It counts from the first run on."
        ]
    else:
        drift = "" if said.drift is None else f", when the drift was {100 * said.drift:.1f} %"
        sentences = [
            f"Version {version.number}: {cases}, certified by {who(row)} at {when(row.ts)} ({_ago(row.ts, today)})"
            f" on run {cut(said.run_id)} of {when(said.run_ts)}{drift}.",
            f"{len(said.accepted):,} accepted, {len(said.rejected):,} rejected, {len(said.left):,} left for later.",
        ]
    n_heals, n_runs = audit.scope.one(SINCE, run_ts=version.run_ts, run_id=version.run_id)
    since = "Since that run" if version.run_id else "In the log"
    sentences.append(f"{since}: {count(n_heals, 'heal')} that took effect, and {count(n_runs, 'full run')} of the surface.")
    return InForce(version, tuple(sentences), said.reason if isinstance(said, Certification) else "", copy)


def decided_on(audit: Audit, run_id: str) -> Decided | None:
    """The newest decision that was made on one run."""
    return next((one for one in reversed(audit.scope.store.versions.decisions) if one.run_id == run_id), None)


def waiting(ledger: Ledger | None) -> str:
    """What waits for another person's approval, as a sentence; empty where nothing does, or where the ledger cannot be read."""
    try:
        row = ledger.ask(lambda history: open_proposal(history.newest_first(*KINDS))) if ledger else None
        return f"{capital(what(row))} by {who(row)} at {when(row.ts)}: it waits for another reviewer." if row else ""
    except LedgerError:
        return ""  # the page that decides says what is wrong with it


def what(row: Row) -> str:
    """What was decided or proposed, in a few words; ids as logged."""
    said = row.decision
    if isinstance(said, Certification):
        return f"version {said.version} certified"
    if isinstance(said, Rollback):
        return f"rolled back to {cut(said.heal_id)}"
    if isinstance(said, Proposal):
        return f"proposed to roll back to {cut(said.heal_id or '')}" if said.heal_id is not None else f"version {said.version} proposed"
    return f"proposal in row {said.proposal:,} vetoed" if isinstance(said, Veto) else row.kind


def who(row: Row) -> str:
    """Who decided, in words: the name, and where it comes from."""
    by = row.by
    return (
        f"{cut(by.name)} ({cut(by.subject)} at {cut(by.issuer)})" if isinstance(by, SignedIn) else f"{cut(by.name)} (user of this machine)"
    )


def when(stamp: str) -> str:
    """A moment of the ledger in words."""
    return f"{datetime.fromisoformat(stamp).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _ago(stamp: str, today: date) -> str:
    days = (today - datetime.fromisoformat(stamp).astimezone(UTC).date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else f"{days:,} days ago"


def _passing(version: Version) -> str:
    n = sum(version.outcomes.values())
    return f"{n:,} pass, {percent(n, len(version.outcomes))}" if version.outcomes else "none"
