"""Which file and which key switches on what, and what is missing where an axis is not scored."""

from __future__ import annotations

from seam_core.records import CERTIFIED_FILE
from seam_core.report import AXES, Audit
from seam_core.words import count, listed

FOUR_SCORES = ("visible_before", "visible_after", "holdout_before", "holdout_after")

# What a file that is not there would switch on.
ADDS = {
    "failures.jsonl": "Signal: failures that no heal was for (recall), and failures that came back, in place of heals by another loop",
    "suite_runs.jsonl": "Aftermath: what each heal broke, case by case; with surface.jsonl and certified.json also the drift",
    "holdout.jsonl": "Efficacy: contamination, whether heals copy held-out cases into what they change",
    "practice.jsonl": "the nightly exam: the cases that an agent may practise on",
    "surface.jsonl": "Aftermath: safety cases, which nothing averages away, and full runs, from which drift is measured",
    CERTIFIED_FILE: "Aftermath: how far the agent has drifted from what a person certified, and when to certify anew",
    "protected.jsonl": "the boundary gate: texts and targets that no heal may touch",
}

# What each optional key of a heal feeds.
FEEDS = {
    "target": "Efficacy (contamination), Monotonicity (returns), the boundary gate",
    "after_text": "Efficacy (contamination), Monotonicity (returns), the boundary gate",
    "visible_before": "Efficacy",
    "visible_after": "Efficacy, Monotonicity",
    "holdout_before": "Efficacy",
    "holdout_after": "Efficacy, Monotonicity",
    "holdout_scope": "Monotonicity: whether the held-out pair is the cycle's own",
    "tokens_spent": "budget, cost per real point",
    "task_tokens": "budget",
    "was_real_failure": "Signal",
    "label_source": "Signal: whose word the label is",
    "score": "Monotonicity: the loop's own score",
    "break_glass": "budget: who lifted a limit",
}


def missing_inputs(audit: Audit) -> dict[str, str]:
    """Axis → the file or key that would switch it on, for each axis that is not scored."""
    tellers = {"S": _no_signal, "E": _no_efficacy, "A": _no_aftermath, "M": _no_monotonicity}
    unscored = [axis for axis in AXES if audit.scores[axis] is None]
    if not audit.counts["scored"]:
        blocked = audit.counts["blocked"]
        sentence = "the boundary gate stopped every heal of this window." if blocked else "there is no heal in this window."
        return dict.fromkeys(unscored, sentence)
    with audit.scope.store.lock:
        return {axis: tellers[axis](audit) for axis in unscored}


def _no_signal(audit: Audit) -> str:
    n = count(audit.counts["scored"], "heal")
    return f"none of {n} says whether its failure was real. Fill was_real_failure in heal_events.jsonl: false when a plain retry passes."


def _no_efficacy(audit: Audit) -> str:
    present = audit.scope.one(f"select {', '.join(f'count({key})' for key in FOUR_SCORES)} from window_heals")
    absent = [key for key, n in zip(FOUR_SCORES, present, strict=True) if not n]
    if absent:
        return f"no heal of this window carries {listed(absent)}. Log {'it' if len(absent) == 1 else 'them'} in heal_events.jsonl."
    return "no heal carries all four of its scores. Log visible and holdout, before and after, in heal_events.jsonl."


def _no_aftermath(audit: Audit) -> str:
    scope = audit.scope
    if not scope.store.has("runs"):
        return "there is no suite_runs.jsonl. Log one surface run before and one after each heal there."
    if not scope.one("select count(*) from heal_runs")[0]:
        return "suite_runs.jsonl holds no surface run with phase after and the heal_id of a heal in this window."
    return "the surface runs have no earlier outcome to compare with. Log one with phase before in suite_runs.jsonl."


def _no_monotonicity(audit: Audit) -> str:
    n = count(audit.counts["loops"], "loop")
    return f"none of {n} has a score for every cycle. Log score, holdout_after or visible_after on every heal in heal_events.jsonl."
