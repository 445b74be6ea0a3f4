"""What tables say of the cases of a review; what was chosen of each is laid over it."""

from __future__ import annotations

from seam_core.baseline.desk import Desk
from seam_core.baseline.reviewing import UNKNOWN, DifferingCase
from seam_core.views.baseline_agenda import Agenda, agenda
from seam_core.words import cut


def case_rows(desk: Desk, run_id: str) -> dict[str, dict[str, str]]:
    """case_id → what a table says of each case that differs, but for what was chosen of it."""
    found = agenda(desk, run_id)
    return {
        case.case_id: {
            "case_id": case.case_id,
            "was": "not certified" if case.certified is None else "pass" if case.certified else "fail",
            "now": "pass" if case.passed else "fail",
            "flips": case.noise.words,
            "since": since(found, case),
            "component": case.component or "",
            "question": case.question or "",
        }
        for case in found.review.cases
    }


def since(found: Agenda, case: DifferingCase) -> str:
    """The heals after which one case changed, for a table; ids as logged."""
    group = found.group_of[case.case_id]
    if group.sentence == UNKNOWN:
        return "new"
    return cut(group.heals[0]) if len(group.heals) == 1 else f"one of {len(group.heals):,} heals" if group.heals else "no heal"


def first_rows(desk: Desk, run_id: str) -> list[dict[str, str]]:
    """What a first baseline made of one run would hold, for a table: failing cases first, safety cases before others."""
    safety = {case_id for (case_id,) in desk.scope().query("select id from surface where safety")}
    found = sorted(desk.review(run_id).outcomes.items(), key=lambda one: (one[1], one[0] not in safety, one[0]))
    return [
        {"case_id": case_id, "now": "pass" if passed else "fail", "safety": "safety" if case_id in safety else ""}
        for case_id, passed in found
    ]
