"""What a rule is, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from seam_core.words import cut

if TYPE_CHECKING:
    from seam_core.integrity.look import Look

SHOWN_MAX = 160  # characters of an id or a text that a sentence shows

Severity = Literal["critical", "high", "medium", "low"]


@dataclass(frozen=True)
class Hit:
    """One place where a rule holds. `evidence` also fills the rule's sentence; severity and axis only where they are not the rule's own."""

    where: str
    evidence: dict[str, Any]
    severity: Severity | None = None
    axis: str | None = None


@dataclass(frozen=True)
class NotCheckable:
    """Why a rule says nothing of this window, in words."""

    reason: str


@dataclass(frozen=True)
class Rule:
    """One rule: what it needs, the query that finds where it holds, and the sentence for each such place."""

    id: str
    severity: Severity
    axis: str  # letters of the axes whose records are in question
    needs: tuple[str, ...]  # columns of heals (heals.holdout_after), logs (runs), fixtures (holdout), checkpoint
    looks_for: str
    sentence: str  # a template over `where` and the evidence
    find: Callable[[Look], list[Hit] | NotCheckable]


@dataclass(frozen=True)
class Finding:
    """One inconsistency."""

    rule_id: str
    severity: Severity
    axis: str
    where: str
    evidence: Mapping[str, Any]
    sentence: str


def finding(rule: Rule, hit: Hit) -> Finding:
    """A hit of a rule in full."""
    shown = {
        name: cut(value, SHOWN_MAX) if isinstance(value, str) else value for name, value in (hit.evidence | {"where": hit.where}).items()
    }
    sentence = rule.sentence.format(**shown)
    return Finding(rule.id, hit.severity or rule.severity, hit.axis or rule.axis, hit.where, hit.evidence, sentence)
