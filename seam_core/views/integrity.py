"""What the rules of integrity found, for people: findings with what proves them, what could not be checked and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from seam_core.integrity import Finding
from seam_core.integrity.rules import RULES
from seam_core.report import Audit
from seam_core.words import AXIS_NAMES, count, listed

UNCATCHABLE = (
    "A forger who makes hashes, ids, scores and snapshots fit each other passes every rule here: these records alone cannot show it.",
    "Only what happens outside the loop's reach helps: a checkpoint of the ledger taken before the loop can react, held-out set and surface"
    " run by another process, fixtures that the loop cannot write.",
    "A finding is an inconsistency to be explained, not an accusation: a lost line, a mended clock and a forged score look alike.",
)


@dataclass(frozen=True)
class Shown:
    """One finding, with what it is about where that can be opened."""

    finding: Finding
    axes: str
    opens: Literal["heal", "loop"] | None
    evidence: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Overview:
    """All of it: the headline, findings worst first, rules that had nothing to look at, rules that found nothing."""

    headline: str
    findings: tuple[Shown, ...]
    unlisted: str  # how many more there are, in words; empty when there are none
    unchecked: tuple[dict[str, str], ...]
    clean: tuple[dict[str, str], ...]


def overview(audit: Audit) -> Overview:
    """What there is to say of the integrity of this window's records."""
    found = audit.integrity
    names = [one.where for one in found.findings]
    heals = {
        name for (name,) in audit.scope.query("select heal_id from heals where heal_id in (select unnest($names::varchar[]))", names=names)
    }
    loops = {
        name for (name,) in audit.scope.query("select loop_id from heals where loop_id in (select unnest($names::varchar[]))", names=names)
    }
    more = {rule: n - sum(one.rule_id == rule for one in found.findings) for rule, n in found.found.items()}
    unlisted = listed([f"{n:,} more of {rule}" for rule, n in more.items() if n > 0])
    rules = {rule.id: rule.looks_for for rule in RULES}
    return Overview(
        f"{found.sentence}.",
        tuple(_shown(one, heals, loops) for one in found.findings),
        f"Not listed: {unlisted}." if unlisted else "",
        tuple({"rule": rule, "looks_for": rules[rule], "why": why} for rule, why in found.not_checkable.items()),
        tuple({"rule": rule, "looks_for": rules[rule]} for rule in found.clean),
    )


def withheld_sentence(audit: Audit) -> str:
    """Which axes are withheld and by which rules; empty when none is."""
    parts = [f"{AXIS_NAMES[axis]} ({', '.join(rules)})" for axis, rules in audit.withheld.items()]
    if not parts:
        return ""
    is_are, them = ("is", "it") if len(parts) == 1 else ("are", "them")
    why = f"the records behind {them} contradict themselves, and a number that is struck through is no ground for a decision"
    return f"{listed(parts)} {is_are} withheld: {why}."


def notice(audit: Audit) -> str:
    """The worst findings by number, in words; empty when none is critical or high."""
    parts = [f"{audit.integrity.counts[severity]:,} {severity}" for severity in ("critical", "high") if audit.integrity.counts[severity]]
    return f"Integrity: {', '.join(parts)}" if parts else ""


def _shown(one: Finding, heals: set[str], loops: set[str]) -> Shown:
    axes = listed([AXIS_NAMES[axis] for axis in one.axis]) or "no axis"
    return Shown(
        one,
        "every axis" if len(one.axis) == len(AXIS_NAMES) else axes,
        "heal" if one.where in heals else "loop" if one.where in loops else None,
        tuple((name.replace("_", " "), _text(value)) for name, value in one.evidence.items() if name not in ("what", "shown", "again")),
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(one) for one in value) if value else count(0, "item")
    if isinstance(value, dict):
        return " ".join(f"{_text(part)}" for part in value.values())
    return str(value)
