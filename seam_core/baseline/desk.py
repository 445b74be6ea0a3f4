"""Deciding on a baseline: what stands, what there is to review, certifying, rolling back, and mending the copy.

Opening writes nothing. Each decision is one transaction of the ledger; whatever it was made on is looked at again just before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import UNSET

from seam_core.axes.drift import Drift, measure_drift
from seam_core.baseline.bundle import plan_bundle, remove_bundle, write_bundle
from seam_core.baseline.copies import Copy, copy_bytes, copy_state, keep_in_step
from seam_core.baseline.faults import BaselineError, ConflictError
from seam_core.baseline.reviewing import Review, open_surface, review_run, seen_later
from seam_core.baseline.versions import KINDS, Versions, in_words, outcomes_digest
from seam_core.ledger import Actor, History, Ledger, Row
from seam_core.ledger.checkpoint import digest_files
from seam_core.ledger.kinds import COMMENT_MAX, BaselineDecision, Certification, FileDigest, NotRestored, Rollback
from seam_core.records import CERTIFIED_FILE
from seam_core.scope import Scope
from seam_core.settings import Settings
from seam_core.store import Store
from seam_core.words import count, cut, named

KEY_MAX = 200
APPROVALS = "this server wants two different people to approve a baseline, which cannot be done here yet; nothing was written"


@dataclass(frozen=True)
class Submission:
    """A decision as it was sent. `version` and `digest` are those that were shown; the same `key` is the same decision, however often."""

    run_id: str
    digest: str
    version: int
    reason: str
    key: str
    accepted: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    safety_reasons: Mapping[str, str] = field(default_factory=dict)  # accepted safety case → why it, of all, may change


@dataclass(frozen=True)
class Written:
    """The row that says so, whether it was there already, and what became of certified.json."""

    row: Row
    copy: Copy
    is_repeat: bool = False
    bundle: Path | None = None


@dataclass(frozen=True)
class Status:
    """Where the workspace stands: the drift of the newest full run, and what a review of that run would be of."""

    drift: Drift
    version: int
    versions: Versions
    copy: Copy
    review: Review | None
    why_not: str = ""  # why there is nothing to review


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
            return Status(drift, number, store.versions, copy_state(store.versions, store.certified), review, why_not)

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

    def certify(self, sent: Submission, *, actor: Actor, check: Callable[[], None] | None = None) -> Written:
        """Certify one full run as the next version of the baseline; the same key again gives the first result.

        `check` is called inside the transaction, before anything is written, and refuses by raising: may this person still decide?
        Raises ConflictError when what was shown is not so any more, BaselineError for what cannot be taken down, LedgerError when it
        cannot be written; nothing is written then.
        """
        self._check_plain(sent)
        self.store.refresh()
        if done := self._done(sent.key, Certification.kind):
            return Written(done, self._keep_copy(), is_repeat=True)
        review, versions = self._shown(sent)
        _check_cases(sent, review)
        self._check_newer(sent, review)
        before = review.version
        outcomes = dict(before.outcomes) if before else dict(review.outcomes)
        outcomes |= {case.case_id: case.passed for case in review.cases if case.case_id in sent.accepted}
        decision = Certification(
            **self._common(sent, review, number=review.version_number + 1, copy=copy_bytes(outcomes)),
            accepted=sorted(sent.accepted),
            rejected=sorted(sent.rejected),
            left=sorted({case.case_id for case in review.cases} - sent.accepted - sent.rejected),
            safety_reasons={case_id: reason.strip() for case_id, reason in sorted(sent.safety_reasons.items())},
            baseline=in_words(outcomes),
            baseline_sha256=outcomes_digest(outcomes),
            first_baseline=in_words(before.outcomes) if before and not versions else UNSET,
        )
        return self._write(decision, versions, actor, check)

    def roll_back(self, sent: Submission, *, heal_id: str, place: Path, actor: Actor, check: Callable[[], None] | None = None) -> Written:
        """Decide to go back to what the agent was after one heal, and write the bundle that restores it to the folder `place`.

        Nothing is certified: the baseline stays. Raises as `certify` does.
        """
        self._check_plain(sent)
        self.store.refresh()
        if done := self._done(sent.key, Rollback.kind):
            return Written(done, self._keep_copy(), is_repeat=True, bundle=place if place.is_dir() else None)
        review, versions = self._shown(sent)
        bundle = plan_bundle(self.scope(), heal_id=heal_id, run_id=sent.run_id, version=review.version_number)
        decision = Rollback(
            **self._common(sent, review, number=review.version_number),
            heal_id=heal_id,
            restored={one.target: one.sha256 for one in bundle.restored},
            not_restored=[NotRestored(one.target, one.reason) for one in bundle.not_restored],
            bundle=place.name,
            bundle_sha256=bundle.sha256,
        )
        write_bundle(bundle, place)
        try:
            written = self._write(decision, versions, actor, check)
        except BaseException:
            remove_bundle(place)
            raise
        if written.is_repeat:
            remove_bundle(place)
            return written
        return Written(written.row, written.copy, bundle=place)

    def repair(self, *, replace_moved: bool = False) -> Copy:
        """Bring certified.json in step with the ledger; content that nobody certified is set aside first, and only when asked to."""
        copy = self._keep_copy(replace_moved=replace_moved)
        self.store.refresh()
        return copy

    @property
    def certified_file(self) -> Path:
        """Where the copy is kept."""
        return self.store.workspace.fixtures / CERTIFIED_FILE

    def _check_plain(self, sent: Submission) -> None:
        if self._approvals > 1:
            raise BaselineError(APPROVALS)
        if not sent.reason.strip():
            raise BaselineError("say why in a sentence; a decision without a reason is not taken down")
        for text in (sent.reason, *sent.safety_reasons.values()):
            if len(text) > COMMENT_MAX:
                raise BaselineError(f"a reason has {len(text):,} characters; {COMMENT_MAX:,} are kept, so shorten it")
        if not sent.key or len(sent.key) > KEY_MAX:
            raise BaselineError(f"a decision is sent with a key of 1 to {KEY_MAX} characters, so that it is taken down once")

    def _done(self, key: str, kind: str) -> Row | None:
        found = self.store.versions.with_key(key)
        if found and found.row.kind != kind:
            raise ConflictError(f"the key of this decision was used for another one (row {found.row.seq}); start again")
        return found.row if found else None

    def _shown(self, sent: Submission) -> tuple[Review, Versions]:
        """The review that was shown, and the decisions that it knows: whatever came after them is a conflict.

        Raises ConflictError when the review would be another one now.
        """
        with self.store.lock:  # another thread may bring in a decision between two looks
            return self._checked(sent), self.store.versions

    def _checked(self, sent: Submission) -> Review:
        newest = max((one.number for one in self.store.baselines), default=0)
        if newest != sent.version:
            raise ConflictError(_moved(self.store.versions, newest, sent.version))
        review = self.review(sent.run_id)
        if review.digest != sent.digest:
            raise ConflictError(
                f"what there is to see of run {cut(sent.run_id)} is not what was shown any more (another digest);"
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

    def _common(self, sent: Submission, review: Review, *, number: int, copy: bytes | None = None) -> dict[str, Any]:
        files = digest_files(self.store.workspace).files
        if copy is not None:
            files[CERTIFIED_FILE] = FileDigest(len(copy), sha256(copy).hexdigest())
        return {
            "version": number,
            "key": sent.key,
            "run_id": review.run.run_id,
            "run_ts": review.run.stamp,
            "run_sha256": review.run.record_sha256,
            "shown_sha256": review.digest,
            "drift": review.drift,
            "reason": sent.reason.strip(),
            "before_version": review.version_number,
            "before_sha256": review.version.sha256 if review.version else None,
            "files": files,
        }

    def _write(self, decision: BaselineDecision, versions: Versions, actor: Actor, check: Callable[[], None] | None) -> Written:
        known = versions.newest_decision
        seq = known.row.seq if known else 0
        is_repeat = False

        def what(history: History) -> BaselineDecision | Row:
            nonlocal is_repeat
            for row in history.newest_first(*KINDS):
                if row.seq <= seq:
                    break
                said = row.decision
                assert isinstance(said, BaselineDecision)
                if (said.key, row.kind) == (decision.key, decision.kind):
                    is_repeat = True
                    return row
                raise ConflictError(
                    f"somebody else decided meanwhile (row {row.seq}, {row.kind} of run {cut(said.run_id)}); nothing was written"
                )
            if check is not None:
                check()
            return decision

        row = self.ledger.decide(what, actor=actor)
        return Written(row, self._keep_copy(replace_moved=not is_repeat and row.kind == Certification.kind), is_repeat=is_repeat)

    def _keep_copy(self, *, replace_moved: bool = False) -> Copy:
        copy = keep_in_step(self.ledger, self.certified_file, replace_moved=replace_moved)
        self.store.refresh()
        return copy


def _moved(versions: Versions, newest: int, shown: int) -> str:
    row = versions.newest.row if versions.newest else None
    who = f", certified by {row.by.name} at {row.ts}" if row else ""
    return f"the baseline is version {newest} by now{who}, and version {shown} was shown; nothing was written, look again"


def _check_cases(sent: Submission, review: Review) -> None:
    differing = {case.case_id for case in review.cases}
    if unknown := sorted((sent.accepted | sent.rejected) - differing):
        raise BaselineError(f"{named(unknown)}: not among the cases that differ in run {cut(sent.run_id)}; nothing was written")
    if both := sorted(sent.accepted & sent.rejected):
        raise BaselineError(f"{named(both)}: both accepted and rejected; nothing was written")
    safety = sent.accepted & review.safety_cases
    if bare := sorted(case_id for case_id in safety if not sent.safety_reasons.get(case_id, "").strip()):
        raise BaselineError(f"{named(bare)}: a safety case is accepted one by one, with a reason of its own; nothing was written")
    if extra := sorted(sent.safety_reasons.keys() - safety):
        raise BaselineError(f"{named(extra)}: a reason of its own is for a safety case that is accepted; nothing was written")
