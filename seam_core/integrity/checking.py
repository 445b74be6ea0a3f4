"""Runs every rule on one window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Finding, Hit, NotCheckable, Rule, Severity, finding
from seam_core.integrity.rules import RULES
from seam_core.integrity.wording import Wording
from seam_core.scope import Scope
from seam_core.sharing import Shared

SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")
TEXTS = "heals.after_text"
LISTED_MAX = 10  # findings of one rule that are listed; all are counted


@dataclass(frozen=True)
class Integrity:
    """What the rules found: the worst first, how many of each rule, which rules found nothing, and which had nothing to look at."""

    findings: tuple[Finding, ...]
    counts: Mapping[Severity, int]  # of all findings, listed or not
    found: Mapping[str, int]  # rule → findings
    clean: tuple[str, ...]
    not_checkable: Mapping[str, str]  # rule → why
    withheld: Mapping[str, list[str]]  # axis → rules with a critical finding on it

    @property
    def sentence(self) -> str:
        """The headline: 0 critical, 1 high; what could not be checked."""
        said = ", ".join(f"{self.counts[severity]:,} {severity}" for severity in SEVERITIES if severity != "low")
        return f"{said}; {len(self.not_checkable)} of {len(RULES)} rules not checkable"


def check(scope: Scope, wording: Shared[Wording], *, rules: Sequence[Rule] = RULES) -> Integrity:
    """Every rule, or some, on a window whose axes were scored: they leave the tables that the rules read."""
    look = Look(scope, wording)
    in_turn = sorted(rules, key=lambda rule: TEXTS in rule.needs)  # what texts say may still be on its way
    answers = {rule.id: _answer(rule, look) for rule in in_turn}
    hits: dict[str, list[Hit]] = {}
    silent: dict[str, str] = {}
    for rule in rules:
        answer = answers[rule.id]
        if isinstance(answer, NotCheckable):
            silent[rule.id] = answer.reason
        else:
            hits[rule.id] = answer
    return _gathered(hits, silent)


def _answer(rule: Rule, look: Look) -> list[Hit] | NotCheckable:
    for need in rule.needs:
        if lack := look.missing(need):
            return lack
    return rule.find(look)


def _gathered(hits: Mapping[str, list[Hit]], silent: Mapping[str, str]) -> Integrity:
    counts: Counter[Severity] = Counter()
    withheld: dict[str, list[str]] = {}
    listed: list[Finding] = []
    for rule in RULES:
        found = [finding(rule, hit) for hit in hits.get(rule.id, ())]
        found.sort(key=lambda one: SEVERITIES.index(one.severity))  # in the order of the query otherwise
        counts.update(one.severity for one in found)
        listed += found[:LISTED_MAX]
        for axis in "".join(one.axis for one in found if one.severity == "critical"):
            if rule.id not in withheld.setdefault(axis, []):
                withheld[axis].append(rule.id)
    listed.sort(key=lambda one: SEVERITIES.index(one.severity))
    return Integrity(
        tuple(listed),
        {severity: counts[severity] for severity in SEVERITIES},
        {rule: len(some) for rule, some in hits.items() if some},
        tuple(rule for rule, some in hits.items() if not some),
        dict(silent),
        {axis: withheld[axis] for axis in "SEAM" if axis in withheld},
    )
