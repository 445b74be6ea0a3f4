"""What there is to decide about one full run, heal by heal, and what a person chose of it so far.

A choice is kept by the ids of cases, never by places in a list: filters, orders and sheets change what is seen and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from msgspec.structs import replace

from seam_core.baseline.desk import Desk
from seam_core.baseline.drafts import Draft
from seam_core.baseline.reviewing import DifferingCase, Review
from seam_core.baseline.submission import Submission
from seam_core.ledger.canonical import canonical
from seam_core.words import TOLERANCE, count, cut, listed, named, percent

Choice = Literal["accepted", "rejected", "left"]
KEY_LENGTH = 12  # hexadecimal digits of a group's name in the address


@dataclass(frozen=True)
class Group:
    """Cases that changed after the same heal, or the same few. `plain` are those that may be decided together."""

    key: str
    heals: tuple[str, ...]
    sentence: str
    case_ids: frozenset[str]
    plain: frozenset[str]


@dataclass(frozen=True)
class Agenda:
    """One review, laid out."""

    review: Review
    groups: tuple[Group, ...]
    cases: Mapping[str, DifferingCase]
    group_of: Mapping[str, Group]
    components: tuple[str, ...]
    n_known: int  # cases of the run that the baseline knows: what drift is a share of

    def group(self, key: str | None) -> Group | None:
        """A group by its name in the address."""
        return next((group for group in self.groups if group.key == key), None)


@dataclass(frozen=True)
class Tally:
    """How many of some cases are accepted, rejected, and left for later."""

    n_accepted: int
    n_rejected: int
    n_left: int


@dataclass(frozen=True)
class Wanted:
    """Which cases a list shows."""

    text: str = ""
    component: str | None = None
    is_open: bool = False  # only those about which nothing was chosen yet
    is_worse: bool = False  # only those that passed when they were certified


@dataclass(frozen=True)
class Outlook:
    """What a certification would write, and why it cannot be written yet. Texts name ids as they were logged."""

    version: int
    tally: Tally
    safety: tuple[tuple[DifferingCase, str], ...]  # accepted safety cases, each with its reason
    sentences: tuple[str, ...]
    faults: tuple[str, ...]


def agenda(desk: Desk, run_id: str | None) -> Agenda:
    """The review of one full run, or of the newest, laid out.  Raises BaselineError when there is none."""
    review = desk.review(run_id)
    cases = {case.case_id: case for case in review.cases}
    groups = tuple(
        Group(_key(found.heals, found.sentence), found.heals, found.sentence, frozenset(found.case_ids), _plain(found.case_ids, cases))
        for found in review.groups
    )
    known = review.version.outcomes if review.version else {}
    return Agenda(
        review,
        groups,
        cases,
        {case_id: group for group in groups for case_id in group.case_ids},
        tuple(sorted({case.component for case in review.cases if case.component})),
        sum(case_id in known for case_id in review.outcomes),
    )


def fitting(found: Agenda, draft: Draft) -> Draft:
    """The draft without what it says of cases that do not differ any more, or not yet."""
    return replace(draft, accepted=draft.accepted & found.cases.keys(), rejected=draft.rejected & found.cases.keys())


def choose(draft: Draft, case_ids: Collection[str], choice: Choice) -> Draft:
    """The draft with one choice for some cases."""
    some = frozenset(case_ids)
    accepted = draft.accepted | some if choice == "accepted" else draft.accepted - some
    rejected = draft.rejected | some if choice == "rejected" else draft.rejected - some
    return replace(draft, accepted=accepted, rejected=rejected)


def accept_safety(draft: Draft, case_id: str, reason: str) -> Draft:
    """The draft with one safety case accepted for a reason of its own."""
    return replace(choose(draft, (case_id,), "accepted"), safety_reasons={**draft.safety_reasons, case_id: reason})


def explain(draft: Draft, case_id: str, reason: str) -> Draft:
    """The draft with a reason for one safety case, which is not accepted by that."""
    return replace(draft, safety_reasons={**draft.safety_reasons, case_id: reason})


def choice_of(draft: Draft, case_id: str) -> Choice:
    """What was chosen of one case."""
    return "accepted" if case_id in draft.accepted else "rejected" if case_id in draft.rejected else "left"


def tally(case_ids: frozenset[str], draft: Draft) -> Tally:
    """How many of some cases are accepted, rejected and left."""
    n_accepted, n_rejected = len(case_ids & draft.accepted), len(case_ids & draft.rejected)
    return Tally(n_accepted, n_rejected, len(case_ids) - n_accepted - n_rejected)


def listing(found: Agenda, draft: Draft, wanted: Wanted, *, group: Group | None = None, safety: bool = False) -> tuple[DifferingCase, ...]:
    """The safety cases, or the other cases of one group or of all, that a list shows; as the review has them."""
    words = wanted.text.casefold().split()
    return tuple(
        case
        for case in found.review.cases
        if case.is_safety == safety
        and (group is None or case.case_id in group.case_ids)
        and not (wanted.component is not None and case.component != wanted.component)
        and not (wanted.is_open and choice_of(draft, case.case_id) != "left")
        and not (wanted.is_worse and not case.is_regression)
        and not (words and not _has(case, words))
    )


def next_open(found: Agenda, draft: Draft, after: DifferingCase) -> str | None:
    """The next case of its kind, safety or not, about which nothing was chosen; from the first again after the last."""
    kind = [case.case_id for case in found.review.cases if case.is_safety == after.is_safety]
    at = kind.index(after.case_id) + 1
    return next((case_id for case_id in kind[at:] + kind[: at - 1] if choice_of(draft, case_id) == "left"), None)


def carried(draft: Draft, old: Agenda, new: Agenda) -> Draft:
    """What was chosen of one run, taken along to another: for cases with the same two outcomes there. Safety cases are looked at anew."""
    same = {
        case_id
        for case_id, case in new.cases.items()
        if not case.is_safety and case_id in old.cases and _outcomes(old.cases[case_id]) == _outcomes(case)
    }
    return Draft(accepted=draft.accepted & same, rejected=draft.rejected & same, reason=draft.reason)


def submission(found: Agenda, draft: Draft, *, key: str) -> Submission:
    """The decision that a draft stands for."""
    review, fits = found.review, fitting(found, draft)
    reasons = {case_id: fits.safety_reasons.get(case_id, "") for case_id in fits.accepted & review.safety_cases}
    return Submission(review.run.run_id, review.digest, review.version_number, draft.reason, key, fits.accepted, fits.rejected, reasons)


def outlook(found: Agenda, draft: Draft, *, line: float) -> Outlook:
    """What the draft would write. `line`: the share of cases off the baseline from which RECERTIFY is due."""
    review = found.review
    fits = fitting(found, draft)
    counts = tally(frozenset(found.cases), fits)
    safety = tuple(
        (case, fits.safety_reasons.get(case.case_id, "")) for case in review.cases if case.is_safety and case.case_id in fits.accepted
    )
    n_before = sum(not case.is_new for case in review.cases)
    n_after = n_before - sum(not found.cases[case_id].is_new for case_id in fits.accepted)
    n_known = found.n_known + len(fits.accepted) - (n_before - n_after)
    bare = [case.case_id for case, reason in safety if not reason.strip()]
    faults = [f"{named(bare)}: a safety case is accepted with a reason of its own."] if bare else []
    faults += [] if draft.reason.strip() else ["Say why in a sentence."]
    said = _said(found, counts, (n_before, n_after, n_known), line=line)
    return Outlook(review.version_number + 1, counts, safety, tuple(said), tuple(faults))


def _said(found: Agenda, counts: Tally, drift: tuple[int, int, int], *, line: float) -> list[str]:
    review = found.review
    name, run = f"Version {review.version_number + 1}", cut(review.run.run_id)
    if review.version is None:
        n_failed = sum(not passed for passed in review.outcomes.values())
        return [
            f"{name} of the baseline: all {count(len(review.outcomes), 'case')} as run {run} has them"
            f" ({len(review.outcomes) - n_failed:,} pass, {n_failed:,} fail)."
        ]
    parts = [f"{counts.n_accepted:,} accepted", f"{counts.n_rejected:,} rejected", f"{counts.n_left:,} left for later"]
    differing = f"{count(len(found.cases), 'case')} that {'differs' if len(found.cases) == 1 else 'differ'}"
    said = [f"{name} of the baseline, on run {run}: of {differing}, {listed(parts)}."]
    n_before, n_after, n_known = drift
    if found.n_known:
        shares = f"from {n_before:,} of {found.n_known:,} ({percent(n_before, found.n_known)}) to {n_after:,} of {n_known:,}"
        still = (
            "; that is at or over the line, so the next full run like it will be due again" if n_after / n_known >= line - TOLERANCE else ""
        )
        said.append(f"Drift of this run: {shares} ({percent(n_after, n_known)}){still}.")
    if not counts.n_accepted:
        said.append(
            f"Nothing is accepted, so {name.lower()} has the outcomes of version {review.version_number}; it says that somebody looked."
        )
    return said


def _plain(case_ids: Iterable[str], cases: Mapping[str, DifferingCase]) -> frozenset[str]:
    return frozenset(case_id for case_id in case_ids if not cases[case_id].is_safety)


def _key(heals: tuple[str, ...], sentence: str) -> str:
    return sha256(canonical([list(heals), sentence]).encode("ascii")).hexdigest()[:KEY_LENGTH]


def _has(case: DifferingCase, words: list[str]) -> bool:
    text = f"{case.case_id} {case.question or ''}".casefold()
    return all(word in text for word in words)


def _outcomes(case: DifferingCase) -> tuple[bool | None, bool]:
    return case.certified, case.passed
