"""One case as it was when it counted as certified, and as a reviewed run has it: two runs, with what each put on record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seam_core.report import Audit
from seam_core.views.case_history import Seen, case_history
from seam_core.views.case_runs import Output, outputs

NONE = Output("none")
RUNS_ASKED = 20  # newest ones that are asked for an output, where the reviewed run has none


@dataclass(frozen=True)
class Side:
    """What one run saw of the case, and put on record."""

    seen: Seen
    output: Output


@dataclass(frozen=True)
class Sides:
    """Before and now; None where no run is on record. `again`: where the reviewed run put nothing on record, the newest run that did, of
    those since the case changed with the same outcome.
    """

    then: Side | None
    now: Side | None
    again: Side | None = None


def sides(audit: Audit, case_id: str, *, run_id: str, certified: bool | None, certified_on: str | None, origin: str | None) -> Sides:
    """Both sides of a case in a review.

    certified_on: the run that the baseline was certified on; where there is none, or it is not as certified there, the newest run counts
    that is as certified, of those before the run `origin` in which the case changed.  Raises NoSuchCaseError.
    """
    seen = case_history(audit, case_id).seen
    now = next((one for one in seen if one.run_id == run_id), None)
    then = next((one for one in seen if one.run_id == certified_on and one.passed == certified), None)
    if then is None:
        ends = [at for at, one in enumerate(seen) if one.run_id in (origin, run_id)]
        then = next((one for one in reversed(seen[: min(ends, default=0)]) if one.passed == certified), None)
    found = outputs(audit, tuple(one.run_id for one in (then, now) if one), case_id)
    before, after = (Side(one, found.get(one.run_id, NONE)) if one else None for one in (then, now))
    return Sides(before, after, _again(audit, case_id, seen, now, origin) if now and found.get(now.run_id, NONE).kind == "none" else None)


def _again(audit: Audit, case_id: str, seen: Sequence[Seen], now: Seen, origin: str | None) -> Side | None:
    """The newest output of a run since the case changed, with the outcome of the reviewed run."""
    start = next((at for at, one in enumerate(seen) if one.run_id == origin), None)
    if start is None:
        return None
    alike = [one for one in seen[start : seen.index(now)] if one.passed == now.passed]
    asked = list({one.run_id: one for one in (*alike[:1], *alike[-RUNS_ASKED:])}.values())
    found = outputs(audit, tuple(one.run_id for one in asked), case_id)
    return next((Side(one, found[one.run_id]) for one in reversed(asked) if found.get(one.run_id, NONE).kind != "none"), None)
