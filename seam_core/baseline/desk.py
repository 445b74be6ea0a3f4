"""Deciding on a baseline: what stands, what there is to review, certifying, rolling back, and mending the copy.

Opening writes nothing. Each decision is one transaction of the ledger; whatever it was made on is looked at again just before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from seam_core.axes.drift import Drift, measure_drift
from seam_core.baseline.approvals import KINDS, BaselineRow, Pending, check_open, check_second, in_the_way, key_of, open_proposal
from seam_core.baseline.bodies import certification_of, proposal_of, rollback_of, same_choices, same_decision
from seam_core.baseline.bundle import Bundle, plan_bundle, remove_bundle, write_bundle
from seam_core.baseline.copies import Copy, copy_state, keep_in_step
from seam_core.baseline.faults import BaselineError, ConflictError
from seam_core.baseline.reviewing import Review, open_surface, review_run, seen_later
from seam_core.baseline.submission import Submission, Written, check_cases, check_plain
from seam_core.baseline.versions import KINDS as DECIDED
from seam_core.baseline.versions import Versions
from seam_core.errors import SeamError
from seam_core.ledger import Actor, History, Ledger, Row
from seam_core.ledger.checkpoint import CHECKPOINTS, compare_files
from seam_core.ledger.kinds import BaselineDecision, Certification, Decision, Proposal, Rollback, Veto
from seam_core.records import CERTIFIED_FILE
from seam_core.scope import Scope
from seam_core.settings import Settings
from seam_core.store import Store
from seam_core.words import count, cut, named

Check = Callable[[], None]


@dataclass(frozen=True)
class Status:
    """Where the workspace stands: the drift of the newest full run, and what a review of that run would be of."""

    drift: Drift
    version: int
    versions: Versions
    copy: Copy
    review: Review | None
    why_not: str = ""  # why there is nothing to review
    pending: Pending | None = None


class Desk:
    """One store, read with its ledger, and the reviews that were made of it; they are made anew when a line or a decision came."""

    def __init__(self, store: Store, settings: Settings, *, approvals_required: int = 1) -> None:
        if store.ledger is None:
            raise BaselineError("no ledger was named to keep decisions in")
        self.store = store
        self.ledger: Ledger = store.ledger
        self._settings = settings
        self._approvals = approvals_required
        self._version = -1
        self._scope: Scope | None = None
        self._reviews: dict[str | None, Review] = {}

    def scope(self) -> Scope:
        """All of history, with the surface's runs prepared, as far as the store has read."""
        with self.store.lock:
            if self._scope is None or self._version != self.store.version:
                self.close()
                self._scope, self._version = open_surface(self.store, self._settings), self.store.version
            return self._scope

    def close(self) -> None:
        """Give the tables back."""
        with self.store.lock:
            if self._scope is not None:
                self._scope.close()
            self._scope, self._reviews = None, {}

    def review(self, run_id: str | None = None) -> Review:
        """What there is to decide about one full run, or the newest.  Raises BaselineError when there is none of that name."""
        with self.store.lock:
            scope = self.scope()
            if run_id not in self._reviews:
                found = review_run(scope, run_id)
                self._reviews[run_id] = self._reviews[found.run.run_id] = found
            return self._reviews[run_id]

    def status(self) -> Status:
        """Where the workspace stands now, as far as the store has read."""
        with self.store.lock:
            drift = measure_drift(self.scope())
            review, why_not = None, ""
            try:
                review = self.review()
            except BaselineError as error:
                why_not = str(error)
            store = self.store
            number = max((one.number for one in store.baselines), default=0)
            copy = copy_state(store.versions, store.certified)
            return Status(drift, number, store.versions, copy, review, why_not, self.pending())

    def history(self) -> list[Row]:
        """Every certification, rollback, proposal and veto that can be believed, in order."""
        chain = self.ledger.chain()
        return [row for row in self.ledger.rows(*KINDS) if row.seq <= chain.rows]

    def decided(self, key: str) -> Row | None:
        """The decision, proposal or veto that was sent with a key."""
        return self.ledger.ask(lambda history: next((row for row in history.newest_first(*KINDS) if key_of(row) == key), None))

    def contradicted(self, review: Review) -> tuple[dict[str, str], dict[str, str]]:
        """What newer runs say against a review: case → run, for those whose outcome is another one there, and for safety cases that fail
        there and neither did in the reviewed run nor when they were certified.
        """
        with self.store.lock:
            later = seen_later(self.scope(), review.run)
            safety = {case_id for (case_id,) in self.scope().query("select id from surface where safety")}
        certified = review.version.outcomes if review.version else {}
        moved = {case_id: run for case_id, (passed, run) in later.items() if review.outcomes.get(case_id, passed) != passed}
        regressed = {
            case_id: run
            for case_id, (passed, run) in later.items()
            if case_id in safety and not passed and certified.get(case_id, True) and review.outcomes.get(case_id, True)
        }
        return moved, regressed

    def pending(self) -> Pending | None:
        """The proposal that another person has to approve, if there is one."""
        row = self.ledger.ask(lambda history: open_proposal(history.newest_first(*KINDS)))
        if row is None:
            return None
        said = row.decision
        assert isinstance(said, Proposal)
        try:
            with self.store.lock:
                self._checked(said.run_id, said.shown_sha256, said.before_version)
        except BaselineError as error:
            return Pending(row, said, str(error))
        return Pending(row, said)

    def certify(self, sent: Submission, *, actor: Actor, check: Check | None = None) -> Written:
        """Certify one full run as the next version of the baseline; the same key again gives the first result. Where two people have to
        agree, it is proposed only.

        `check` is called inside the transaction, before anything is written, and refuses by raising: may this person still decide?
        Raises ConflictError when what was shown is not so any more, BaselineError for what cannot be taken down, LedgerError when it
        cannot be written; nothing is written then.
        """
        check_plain(sent.reason, sent.key, *sent.safety_reasons.values())
        self.store.refresh()
        if done := self._done(sent.key, (Certification.kind, Proposal.kind), {**same_decision(sent), **same_choices(sent)}):
            return done
        review, versions = self._shown(sent)
        check_cases(sent, review)
        self._check_newer(sent, review)
        if self._approvals > 1:
            return self._propose(proposal_of(sent, review, asks="certification"), versions, actor, check)
        return self._write(certification_of(sent, review, versions, self.store.workspace), versions, actor, check)

    def roll_back(self, sent: Submission, *, heal_id: str, place: Path, actor: Actor, check: Check | None = None) -> Written:
        """Decide to go back to what the agent was after one heal, and write the bundle that restores it to the folder `place`. Where two
        people have to agree, it is proposed only, and no folder is written yet.

        Nothing is certified: the baseline stays. Raises as `certify` does.
        """
        check_plain(sent.reason, sent.key)
        self.store.refresh()
        if done := self._done(sent.key, (Rollback.kind, Proposal.kind), {**same_decision(sent), "heal_id": heal_id}, bundle=place):
            return done
        review, versions = self._shown(sent)
        bundle = plan_bundle(self.scope(), heal_id=heal_id, run_id=sent.run_id, version=review.version_number)
        if self._approvals > 1:
            return self._propose(proposal_of(sent, review, asks="rollback", heal_id=heal_id), versions, actor, check)
        decision = rollback_of(sent, review, bundle, self.store.workspace, heal_id=heal_id, folder=place.name)
        return self._write_with(bundle, place, decision, versions, actor, check)

    def approve(self, seq: int, *, reason: str, key: str, actor: Actor, check: Check | None = None, place: Path | None = None) -> Written:
        """As the second person, decide what another one proposed in a row of the ledger. A rollback needs the `place` of its folder.

        Raises as `certify` does, and BaselineError when both are the same person.
        """
        check_plain(reason, key)
        self.store.refresh()
        if done := self._done(key, (Certification.kind, Rollback.kind), {"proposal": seq, "reason": reason.strip()}, bundle=place):
            return done
        pending = self._pending(seq)
        if pending.lapsed:
            raise ConflictError(f"the proposal lapsed: {pending.lapsed}")
        check_second(pending.row.by, actor)
        said = pending.said
        chosen = frozenset(said.accepted), frozenset(said.rejected), said.safety_reasons
        sent = Submission(said.run_id, said.shown_sha256, said.before_version, reason, key, *chosen)
        review, versions = self._shown(sent)
        if said.asks == "certification":
            self._check_newer(sent, review)
            return self._write(certification_of(sent, review, versions, self.store.workspace, proposal=seq), versions, actor, check)
        if place is None or said.heal_id is None:
            raise BaselineError("name the folder that the texts go to")
        bundle = plan_bundle(self.scope(), heal_id=said.heal_id, run_id=sent.run_id, version=review.version_number)
        decision = rollback_of(sent, review, bundle, self.store.workspace, heal_id=said.heal_id, folder=place.name, proposal=seq)
        return self._write_with(bundle, place, decision, versions, actor, check)

    def veto(self, seq: int, *, reason: str, key: str, actor: Actor, check: Check | None = None) -> Written:
        """Refuse what was proposed in a row of the ledger, or take the own proposal back.  Raises as `certify` does."""
        check_plain(reason, key)
        self.store.refresh()
        if done := self._done(key, (Veto.kind,), {"proposal": seq, "reason": reason.strip()}):
            return done
        self._pending(seq)
        return self._write(Veto(proposal=seq, key=key, reason=reason.strip()), self.store.versions, actor, check)

    def repair(self, *, replace_moved: bool = False) -> Copy:
        """Bring certified.json in step with the ledger; content that nobody certified is set aside first, and only when asked to."""
        copy = self._keep_copy(replace_moved=replace_moved)
        self.store.refresh()
        return copy

    @property
    def certified_file(self) -> Path:
        """Where the copy is kept."""
        return self.store.workspace.fixtures / CERTIFIED_FILE

    def _done(self, key: str, kinds: tuple[str, ...], says: Mapping[str, object], *, bundle: Path | None = None) -> Written | None:
        """The first result, when a decision was sent before.  Raises ConflictError when the one of this key `says` something else."""
        row = self.decided(key)
        if row is None:
            return None
        if row.kind not in kinds or any(getattr(row.decision, name) != value for name, value in says.items()):
            raise ConflictError(f"the key of this decision was used for another one (row {row.seq}); start again")
        is_there = bundle is not None and row.kind == Rollback.kind and bundle.is_dir()
        return Written(row, self._keep_copy(), is_repeat=True, bundle=bundle if is_there else None)

    def _pending(self, seq: int) -> Pending:
        pending = self.pending()
        if pending is None or pending.seq != seq:
            raise ConflictError(f"row {seq} is no proposal that waits for an approval; nothing was written, look again")
        return pending

    def _shown(self, sent: Submission) -> tuple[Review, Versions]:
        """The review that was shown, and the decisions that it knows: whatever came after them is a conflict.

        Raises ConflictError when the review would be another one now.
        """
        self._check_history()
        with self.store.lock:  # another thread may bring in a decision between two looks
            return self._checked(sent.run_id, sent.digest, sent.version), self.store.versions

    def _check_history(self) -> None:
        """A decision notes what the logs look like. It must not hide that what was noted before does not hold any more."""
        history = compare_files(self.store.workspace, self.ledger.ask(lambda rows: next(rows.newest_first(*CHECKPOINTS), None)))
        if history.state == "changed":
            raise BaselineError(
                f"{history.sentence}; look at it first, then note what the logs look like now with `ledger checkpoint`; nothing was written"
            )

    def _checked(self, run_id: str, digest: str, version: int) -> Review:
        newest = max((one.number for one in self.store.baselines), default=0)
        if newest != version:
            raise ConflictError(_moved(self.store.versions, newest, version))
        review = self.review(run_id)
        if review.digest != digest:
            raise ConflictError(
                f"what there is to see of run {cut(run_id)} is not what was shown any more (another digest);"
                " nothing was written, look again"
            )
        return review

    def _check_newer(self, sent: Submission, review: Review) -> None:
        moved, regressed = self.contradicted(review)
        if regressed:
            cases, run = sorted(regressed), next(iter(sorted(regressed.values())))
            raise ConflictError(
                f"a newer run ({cut(run)}) shows a new safety regression, {named(cases)}; nothing was written", tuple(cases)
            )
        accepted = sent.accepted if review.version else frozenset(review.outcomes)
        if against := sorted(accepted & moved.keys()):
            run = moved[against[0]]
            raise ConflictError(
                f"a newer run ({cut(run)}) has another outcome for {count(len(against), 'accepted case')}, {named(against)}:"
                " leave or reject what it contradicts, or review that run; nothing was written",
                tuple(against),
            )

    def _propose(self, proposal: Proposal, versions: Versions, actor: Actor, check: Check | None) -> Written:
        pending = self.pending()
        if pending and not pending.lapsed:
            raise ConflictError(in_the_way(pending.row))
        return self._write(proposal, versions, actor, check, lapsed=pending.seq if pending else None)

    def _write_with(
        self, bundle: Bundle, place: Path, decision: Rollback, versions: Versions, actor: Actor, check: Check | None
    ) -> Written:
        """The folder first, so that no decision names one that is not there; it is taken away when the decision is refused."""
        write_bundle(bundle, place)
        try:
            row, is_repeat = self._decide(decision, versions, actor, check)
        except BaseException:
            remove_bundle(place)
            raise
        if is_repeat:
            remove_bundle(place)
        return Written(row, self._keep_copy(), is_repeat=is_repeat, bundle=None if is_repeat else place)

    def _write(self, decision: BaselineRow, versions: Versions, actor: Actor, check: Check | None, *, lapsed: int | None = None) -> Written:
        row, is_repeat = self._decide(decision, versions, actor, check, lapsed=lapsed)
        return Written(row, self._keep_copy(replace_moved=not is_repeat and row.kind == Certification.kind), is_repeat=is_repeat)

    def _decide(
        self, decision: BaselineRow, versions: Versions, actor: Actor, check: Check | None, *, lapsed: int | None = None
    ) -> tuple[Row, bool]:
        """One transaction, unless somebody decided since `versions`, or opened or closed a proposal: the row, and whether it was there
        already. `lapsed`: a proposal that does not count.
        """
        known = versions.newest_decision
        seq = known.row.seq if known else 0
        is_repeat = False

        def what(history: History) -> Decision | Row:
            nonlocal is_repeat
            since = list(takewhile(lambda row: row.seq > seq, history.newest_first(*KINDS)))
            for row in since:
                if (key_of(row), row.kind) == (decision.key, decision.kind):
                    is_repeat = True
                    return row
            if decided := next((row for row in since if row.kind in DECIDED), None):
                said = decided.decision
                assert isinstance(said, BaselineDecision)
                what = f"row {decided.seq}, {decided.kind} of run {cut(said.run_id)} by {cut(decided.by.name)}"
                raise ConflictError(f"somebody else decided meanwhile ({what}); nothing was written")
            check_open(decision, since, lapsed=lapsed)
            if check is not None:
                check()
            return decision

        return self.ledger.decide(what, actor=actor), is_repeat

    def _keep_copy(self, *, replace_moved: bool = False) -> Copy:
        """The copy after a decision, which stands whatever becomes of the copy: what cannot be read now is a fault of it, not raised."""
        try:
            copy = keep_in_step(self.ledger, self.certified_file, replace_moved=replace_moved, known=self.store.certified)
            self.store.refresh()
        except SeamError as error:
            return Copy("not checkable", fault=str(error))
        return copy


def _moved(versions: Versions, newest: int, shown: int) -> str:
    row = versions.newest.row if versions.newest else None
    who = f", certified by {row.by.name} at {row.ts}" if row else ""
    return f"the baseline is version {newest} by now{who}, and version {shown} was shown; nothing was written, look again"
