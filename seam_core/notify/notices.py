"""What is told: events of an audit and of the ledger, each with an id that stays, as plain text for chat and e-mail.

What an agent or a provider named is data. Some services read Markdown, make links of whatever looks like one, or call people at an @, so
a name keeps its letters, digits and dashes, and everything else in it becomes a dot; the link leads to the thing under its own name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import urlencode

from seam_core.ledger import Ledger, Row
from seam_core.ledger.book import timestamp
from seam_core.ledger.kinds import Certification, Proposal, Rollback, Veto
from seam_core.report import Audit
from seam_core.words import AXIS_NAMES, count, cut, listed, percent

NEWS = timedelta(days=7)  # a decision that is older is not told any more, to a hook that was named since for example
LISTED = 10  # events that one message lists; the rest are counted
NAME_LENGTH = 40  # characters of a name that a message shows
LINK_LENGTH = 500  # characters of an id that a link carries; ids have no limit, links in a chat do
PAGES = {
    "recertify": "recertify",
    "gate": "gates",
    "withheld": "integrity",
    "decision": "recertify",
    "ledger": "settings",
}  # a kind → its page
TOLD = (Certification.kind, Rollback.kind, Proposal.kind, Veto.kind)  # rows of the ledger that are told

STOPPED = "select heal_id, loop_id, target, protected_id, kind from blocked_rows order by ts, heal_id, protected_id"
DIFFERING = "select n_differ, n_cases from drift_rows where run_id = $run_id"

# Dots and underlines inside a word are letters; before a letter a dot makes an address of it, and at an edge an underline marks it up.
_RISKY = re.compile(r"[^\w.\- ]|(?<![^\W_])_|_(?![^\W_])|\.(?!\d)")


@dataclass(frozen=True)
class Place:
    """Which workspace is spoken of, and where its pages are."""

    workspace: str
    public_url: str = ""

    def link(self, kind: str, **params: str) -> str:
        """The whole address of the page for one kind of event; empty when nobody said where the dashboard is."""
        short = {name: value for name, value in params.items() if len(value) <= LINK_LENGTH}
        query = urlencode({"workspace": self.workspace, **short}, errors="surrogateescape")
        return f"{self.public_url}/{PAGES[kind]}?{query}" if self.public_url else ""


@dataclass(frozen=True)
class Notice:
    """One event. The same event has the same id whenever it is looked for; title and text are one line each."""

    id: str
    kind: str
    title: str
    text: str
    link: str = ""


@dataclass(frozen=True)
class Message:
    """What one hook is sent at once."""

    workspace: str
    title: str
    text: str
    notices: tuple[Notice, ...]

    @property
    def link(self) -> str:
        """Where the first event leads."""
        return self.notices[0].link


def plain(name: str) -> str:
    """A name that an agent or a provider gave, as text in which nothing is a link, a mark or a call."""
    return _RISKY.sub("·", cut(name, NAME_LENGTH).replace("…", "···")).strip() or "·"


def of_audit(audit: Audit, place: Place, *, span: str = "7d") -> list[Notice]:
    """What an audit has to tell: RECERTIFY, heals that were stopped in its window, axes that are withheld."""
    with audit.scope.store.lock:
        return [*_recertify(audit, place), *_stopped(audit, place, span), *_withheld(audit, place)]


def of_ledger(ledger: Ledger, place: Place, *, now: datetime) -> list[Notice]:
    """What the ledger has to tell: that it does not hold, or else the decisions of the last days.  Raises LedgerError."""
    chain = ledger.chain()
    if not chain.holds:
        where = f" from row {chain.seq} on" if chain.seq else ""
        text = f"The ledger of decisions does not hold{where}. Nothing is decided until a person has looked; ledger verify says more."
        title = f"The ledger does not hold: {plain(place.workspace)}"
        return [Notice(f"ledger {chain.seq} {chain.reason or chain.guard}", "ledger", title, text, place.link("ledger"))]
    since = timestamp(now - NEWS)
    return [of_decision(row, place) for row in ledger.rows(*TOLD) if row.ts >= since]


def of_decision(row: Row, place: Place) -> Notice:
    """What one decision about the baseline is, who made it, and on which run.

    It ends with the row's sha256: kept in a chat or a mailbox, out of reach of whoever can write the ledger, it proves that the ledger
    still contains the row (``ledger verify --head``).
    """
    title, what = _decided(row)
    text = f"{plain(row.by.name)} {what}. Row {row.seq} of the ledger, sha256 {row.sha256}."
    return Notice(f"decision {row.sha256}", "decision", f"{title}: {plain(place.workspace)}", text, place.link("decision"))


def together(notices: Sequence[Notice], place: Place) -> Message:
    """One message for all that a hook is to be told now, so that a thousand events are not a thousand messages."""
    if len(notices) == 1:
        title, lines = notices[0].title, [notices[0].text, notices[0].link]
    else:
        title = f"{listed(_counted(notices))}: {plain(place.workspace)}"
        lines = [line for one in notices[:LISTED] for line in (f"- {one.text}", one.link)]
        lines += [f"- and {len(notices) - LISTED:,} more"] if len(notices) > LISTED else []
    return Message(place.workspace, title, "\n".join(line for line in lines if line), tuple(notices))


def _counted(notices: Iterable[Notice]) -> list[str]:
    """RECERTIFY due, 2 heals stopped: what there is of each kind."""
    n_of: dict[str, int] = {}
    for one in notices:
        n_of[one.kind] = n_of.get(one.kind, 0) + 1
    return [_COUNTED[kind] if kind in ("recertify", "ledger") else count(n, *_NOUNS[kind]) for kind, n in n_of.items()]


_COUNTED: Mapping[str, str] = {"recertify": "RECERTIFY is due", "ledger": "the ledger does not hold"}
_NOUNS: Mapping[str, tuple[str, str]] = {
    "gate": ("heal stopped", "heals stopped"),
    "withheld": ("axis withheld", "axes withheld"),
    "decision": ("decision", "decisions"),
}


def _recertify(audit: Audit, place: Place) -> list[Notice]:
    """One event for as long as it stays due: until a person decides, whatever the next runs show."""
    drift = audit.aftermath.drift
    if not drift.due or drift.run is None:
        return []
    decision = audit.scope.store.versions.newest_decision
    n_differ, n_cases = audit.scope.query(DIFFERING, run_id=drift.run)[0]
    crossed = f", first reached in run {plain(drift.first_due_run)}" if drift.first_due_run and drift.first_due_run != drift.run else ""
    text = (
        f"In the newest full run, {plain(drift.run)}, {n_differ:,} of {count(n_cases, 'case')} ({percent(n_differ, n_cases)}) differ from"
        f" version {drift.version} of the certified baseline; the line is {audit.settings.drift_max * 100:g} %{crossed}."
        " A person has to review it."
    )
    link = place.link("recertify", run=drift.run)
    since = decision.row.sha256 if decision else "start"
    return [Notice(f"recertify since {since}", "recertify", f"RECERTIFY is due: {plain(place.workspace)}", text, link)]


def _stopped(audit: Audit, place: Place, span: str) -> list[Notice]:
    end = audit.window.end.isoformat().replace("+00:00", "Z")
    blocks: dict[str, list[tuple[str, str, str, str]]] = {}
    for heal_id, *found in audit.scope.query(STOPPED):
        blocks.setdefault(heal_id, []).append((found[0], found[1], found[2], found[3]))
    notices = []
    for heal_id, found in blocks.items():
        loop_id, target, *_ = found[0]
        protected = listed([f"{plain(block)} ({kind.replace('_', ' ')})" for _, _, block, kind in found[:3]])
        text = (
            f"The boundary gate stopped heal {plain(heal_id)} of loop {plain(loop_id)}: its change of {plain(target)} breaks {protected}."
            " It is not scored; a person has to look."
        )
        link = place.link("gate", win=span, end=end, heal=heal_id)
        notices.append(Notice(f"gate {_short(heal_id)}", "gate", f"A heal was stopped: {plain(place.workspace)}", text, link))
    return notices


def _short(heal_id: str) -> str:
    """The id, or a digest of a long one."""
    return heal_id if len(heal_id) <= LINK_LENGTH else sha256(heal_id.encode("utf-8", "surrogatepass")).hexdigest()


def _withheld(audit: Audit, place: Place) -> list[Notice]:
    return [
        Notice(
            f"withheld {axis} {' '.join(sorted(rules))}",
            "withheld",
            f"{AXIS_NAMES[axis]} is withheld: {plain(place.workspace)}",
            f"{AXIS_NAMES[axis]} is not to be believed: the checks {listed([plain(rule) for rule in sorted(rules)])} found something.",
            place.link("withheld"),
        )
        for axis, rules in audit.withheld.items()
    ]


def _decided(row: Row) -> tuple[str, str]:
    """A title, and what the person did."""
    said = row.decision
    if isinstance(said, Veto):
        return f"The proposal of row {said.proposal} is closed", f"vetoed what row {said.proposal} proposes"
    assert isinstance(said, (Certification, Proposal, Rollback))
    run = f"run {plain(said.run_id)}" + ("" if said.drift is None else f" (drift {said.drift * 100:.0f} %)")
    if isinstance(said, Certification):
        return f"Version {said.version} certified", f"certified version {said.version} on {run}: {_cases(said)}"
    if isinstance(said, Rollback):
        return "Rolled back", f"decided after {run} to go back to what heal {plain(said.heal_id)} left"
    what = f"to certify version {said.version} on {run}: {_cases(said)}"
    if said.heal_id is not None:
        what = f"after {run} to go back to what heal {plain(said.heal_id)} left"
    return "A second person is asked", f"proposes in row {row.seq} {what}. Another reviewer has to approve or veto it"


def _cases(said: Certification | Proposal) -> str:
    return listed([f"{len(ids):,} {word}" for ids, word in ((said.accepted, "accepted"), (said.rejected, "rejected"), (said.left, "left"))])
