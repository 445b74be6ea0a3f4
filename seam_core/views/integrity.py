"""What the rules of integrity found, for people: findings with what proves them, what could not be checked and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from seam_core.integrity.rule import Finding
from seam_core.integrity.rules import RULES
from seam_core.records import CERTIFIED_FILE, LOGS
from seam_core.report import Audit
from seam_core.words import AXIS_NAMES, count, listed

UNCATCHABLE = (
    "A forger who makes hashes, ids, scores and snapshots fit each other passes every rule here: these records alone cannot show it.",
    "Only what happens outside the loop's reach helps: a checkpoint of the ledger taken before the loop can react, held-out set and surface"
    " run by another process, fixtures that the loop cannot write.",
    "A finding is an inconsistency to be explained, not an accusation: a lost line, a mended clock and a forged score look alike.",
)


Kind = Literal["heal", "loop", "signature", "case", "run", "file", "axis"]
NAMING = ("heals", "loops", "earlier", "example", "case", "run")  # evidence that names records
OPENED_MAX = 6  # records that one finding opens

# What a name in a finding is a name of; the first that fits.
KINDS = """
with names as (select unnest($names::varchar[]) as name)
select name, case when name in (select heal_id from heals semi join names on heal_id = name) then 'heal'
                  when name in (select loop_id from heals semi join names on loop_id = name) then 'loop'
                  when name in (select failure_signature from heals semi join names on failure_signature = name) then 'signature'
                  {optional} end as kind
from names
"""


@dataclass(frozen=True)
class Opens:
    """One record that proves a finding: what it is, and its name."""

    kind: Kind
    name: str


@dataclass(frozen=True)
class Shown:
    """One finding, with the records that prove it: at least one, if only the page of an axis that it is about."""

    finding: Finding
    axes: str
    opens: tuple[Opens, ...]
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
    kinds = _kinds(audit, sorted({name for one in found.findings for name in _names(one)}))
    more = {rule: n - sum(one.rule_id == rule for one in found.findings) for rule, n in found.found.items()}
    unlisted = listed([f"{n:,} more of {rule}" for rule, n in more.items() if n > 0])
    rules = {rule.id: rule.looks_for for rule in RULES}
    return Overview(
        f"{found.sentence}.",
        tuple(_shown(one, kinds) for one in found.findings),
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


def _kinds(audit: Audit, names: list[str]) -> dict[str, Kind]:
    """Name → what it is a name of, for those that are the name of anything."""
    optional = {"holdout": ("id", "case"), "runs": ("run_id", "run")}
    there = [
        f"when name in (select {key} from {table} semi join names on {key} = name) then '{kind}'"
        for table, (key, kind) in optional.items()
        if audit.scope.store.has(table)
    ]
    files = {log.file for log in LOGS} | {CERTIFIED_FILE}
    found = audit.scope.query(KINDS.format(optional=" ".join(there)), names=names)
    return {name: kind or "file" for name, kind in found if kind or name in files}


def _names(one: Finding) -> list[str]:
    """Names of records in a finding: what it is about, and what its evidence names."""
    named = [value for key, value in one.evidence.items() if key in NAMING]
    listed_names = [name for value in named for name in (value if isinstance(value, (list, tuple)) else [value])]
    return list(dict.fromkeys([one.where, *(name for name in listed_names if isinstance(name, str))]))


def _shown(one: Finding, kinds: Mapping[str, Kind]) -> Shown:
    axes = listed([AXIS_NAMES[axis] for axis in one.axis]) or "no axis"
    opens = [Opens(kinds[name], name) for name in _names(one) if name in kinds][:OPENED_MAX]
    return Shown(
        one,
        "every axis" if len(one.axis) == len(AXIS_NAMES) else axes,
        tuple(opens or [Opens("axis", axis) for axis in one.axis]),
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
