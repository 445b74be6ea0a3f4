"""What do the texts that heals wrote say, and does each start from the text that the one before it left?

One pass over the texts in the order of time answers all of these rules. `before_hash` is held against the text before; how it is made is
found out by trying: sha256, sha1 or md5, cut to the length that is logged, of the text as it is, without white space around it, or with LF
line ends. Another process may do this: nothing here asks a database, or loads one.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from rapidfuzz import fuzz

from seam_core.integrity.rule import Hit
from seam_core.texts import Edits
from seam_core.words import cut, named

TRIED_MAX, MATCHES_MIN = 300, 3  # links that may be tried, and how many must match, before a way of hashing is believed
HASH_MIN = 6  # hexadecimal digits; a shorter one fits by chance
SHRUNK = 0.5
NEARLY = 85.0  # RapidFuzz ratio, 0–100, from which an added line is a changed copy of a protected one
EXAM_ID_MIN = 5  # characters of a held-out id that is looked for; shorter ones are words

OVERRIDES = re.compile(
    r"\b(?:ignore|disregard)\b[^.\n]{0,40}\b(?:previous|above|earlier)\b|\btakes? precedence\b|\boverrid(?:e|es|ing|den)\b"
    r"|\bregardless of\b"
    r"|\bdo not escalate\b|\bskip (?:the )?(?:check|confirmation|approval)s?\b|\bwithout asking\b|\bno need to (?:ask|confirm)\b",
    re.IGNORECASE,
)
EXAM_WORDS = re.compile(r"\bhold[- ]?out\b|\bheld[- ]out\b|\bsecret exam\b|\bgraders?\b|\beval(?:uation)? cases?\b", re.IGNORECASE)
WORD = re.compile(r"[\w-]+")
SET_ASIDE = re.compile(r"\b(?:deprecated|previously|obsolete|for example|example:|no longer)\b", re.IGNORECASE)
MARKS = (">", "//", "<!--", "~~")

# What such lines hold at the least, in lower case: asked first, since it costs a tenth of the patterns.
OVERRIDE_STEMS = ("ignore", "disregard", "precedence", "overrid", "regardless", "escalate", "skip", "without asking", "no need")
EXAM_STEMS = ("hold", "held", "secret", "grader", "eval")

HASHES: tuple[Callable[[bytes], str], ...] = (
    lambda data: hashlib.sha256(data).hexdigest(),
    lambda data: hashlib.sha1(data, usedforsecurity=False).hexdigest(),
    lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest(),
)
FORMS: tuple[Callable[[str], str], ...] = (str, str.strip, lambda text: text.replace("\r\n", "\n"))
WAYS = tuple(product(HASHES, FORMS))

Way = tuple[Callable[[bytes], str], Callable[[str], str]]


@dataclass(frozen=True)
class Written:
    """One heal's text, and the text before it on its target; None where that is not known."""

    heal_id: str
    target: str | None
    level: int
    before_hash: str | None
    before: str | None
    text: str
    added: list[str]  # lines


@dataclass(frozen=True)
class ExamIds:
    """The held-out ids that are looked for, and what all of them begin with."""

    ids: frozenset[str]
    start: str

    def in_text(self, text: str) -> list[str]:
        """Those that stand in a text as words."""
        return sorted(self.ids.intersection(WORD.findall(text))) if self.ids and self.start in text else []


@dataclass(frozen=True)
class Task:
    """Whose texts are read, in the order of time, and what is looked for in them."""

    rows: array[int]
    heals: Sequence[Sequence[Any]]  # of each row: id, target, level, and whether what it wrote is judged
    blocks: Mapping[str, list[str]]  # target → its protected blocks, "*" those of every target
    exam: ExamIds


@dataclass
class Wording:
    """What one pass over the texts found, rule by rule."""

    n_linked: int = 0
    n_tried: int = 0  # texts that could be held against a before_hash, until it was clear how that is made
    is_way_known: bool = False
    broken: list[Hit] = field(default_factory=list)
    unchanged: list[Hit] = field(default_factory=list)
    overriding: list[Hit] = field(default_factory=list)
    set_aside: list[Hit] = field(default_factory=list)
    shrunk: list[Hit] = field(default_factory=list)
    exam_aware: list[Hit] = field(default_factory=list)


def read_wording(edits: Edits, task: Task) -> Wording:
    """What the texts of the task's heals say."""
    found = Wording()
    way = _way(_written(edits, task), found)
    found.is_way_known = way is not None
    known: dict[str, list[str]] = {}  # target → hashes of its texts so far: a heal may start from any of them, as after a roll-back
    for one in _written(edits, task):
        _judge_chain(found, one, way, known)
        own = task.blocks.get(one.target, ()) if one.target not in (None, "*") else ()
        _judge_text(found, one, task.exam, [*task.blocks.get("*", ()), *own])
    return found


def exam_ids(cases: Iterable[str]) -> ExamIds:
    """Those of some ids that cannot be words."""
    ids = [case for case in cases if len(case) >= EXAM_ID_MIN and re.search(r"\d", case)]
    return ExamIds(frozenset(ids), _common_start(ids))


def _common_start(names: list[str]) -> str:
    """What all of some names begin with."""
    first, last = (min(names), max(names)) if names else ("", "")
    return first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))]


def _written(edits: Edits, task: Task) -> Iterator[Written]:
    """Each text that is judged, and the text before it."""
    before: dict[str | None, tuple[str, set[str]]] = {}  # target → its text, and the same as lines
    for (heal_id, target, level, is_judged), edit in zip(task.heals, edits(task.rows), strict=True):
        if edit.after_text is None:
            before.pop(target, None)
            continue
        old, old_lines = before.get(target, (None, set()))
        new_lines = edit.after_text.splitlines()
        if is_judged:
            added = [line for line in new_lines if line not in old_lines]
            yield Written(heal_id, target, level, edit.before_hash or None, old, edit.after_text, added)
        if target is not None:
            before[target] = edit.after_text, set(new_lines)


def _way(written: Iterable[Written], found: Wording) -> Way | None:
    """The way of hashing that the log uses; None when none of those that are known fits."""
    matches = [0] * len(WAYS)
    for one in written:
        if one.before_hash is None or one.before is None:
            continue
        found.n_tried += 1
        for at, way in enumerate(WAYS):
            matches[at] += _is_hash(one.before_hash, _digest(way, one.before))
            if matches[at] >= MATCHES_MIN:
                return way
        if found.n_tried >= TRIED_MAX:
            break
    return None


def _digest(way: Way, text: str) -> str:
    hashed, form = way
    return hashed(form(text).encode("utf-8", "surrogatepass"))


def _is_hash(logged: str, digest: str) -> bool:
    plain = _plain(logged)
    return len(plain) >= HASH_MIN and digest.startswith(plain)


def _plain(logged: str) -> str:
    """A hash without the name of its kind before it."""
    return logged.rpartition(":")[2].casefold()


def _judge_chain(found: Wording, one: Written, way: Way | None, known: dict[str, list[str]]) -> None:
    if one.text == one.before and one.level >= 2:
        found.unchanged.append(Hit(one.heal_id, {"target": one.target}))
    if way is None or one.target is None:
        return
    seen = known.setdefault(one.target, [])
    if one.before is None:
        seen.clear()
    elif not seen:
        seen.append(_digest(way, one.before))
    if one.before_hash is not None and seen:
        found.n_linked += 1
        newest_fits = _is_hash(one.before_hash, seen[-1])  # nearly always
        if not newest_fits and not any(_is_hash(one.before_hash, digest) for digest in seen):
            found.broken.append(Hit(one.heal_id, {"target": cut(one.target), "before_hash": cut(one.before_hash, 16)}))
    if one.before_hash is not None:
        seen.append(_plain(one.before_hash))  # what this heal started from may be gone back to, too
    seen.append(_digest(way, one.text))


def _judge_text(found: Wording, one: Written, exam: ExamIds, blocks: list[str]) -> None:
    new = "\n".join(one.added)
    plain = new.casefold()
    if one.level >= 2 and (said := _search(OVERRIDES, OVERRIDE_STEMS, new, plain)):  # what a task notes for itself is no rule
        found.overriding.append(Hit(one.heal_id, {"said": cut(said, 80)}))
    said = _search(EXAM_WORDS, EXAM_STEMS, new, plain)
    if mentioned := [said] if said else exam.in_text(new):
        found.exam_aware.append(Hit(one.heal_id, {"said": mentioned[:5], "shown": named(mentioned)}))
    if one.before and len(one.text) < SHRUNK * len(one.before):
        found.shrunk.append(Hit(one.heal_id, {"was": len(one.before), "now": len(one.text)}))
    for block in blocks:
        how = _aside(one.text, block)
        if how and (one.before is None or not _aside(one.before, block)):
            found.set_aside.append(Hit(one.heal_id, {"block": cut(block, 80), "how": how}))
        elif copy := next((line for line in one.added if _is_nearly(line, block)), None):
            found.set_aside.append(Hit(one.heal_id, {"block": cut(block, 80), "how": f"beside a changed copy: {cut(copy, 80)}"}))


def _search(pattern: re.Pattern[str], stems: tuple[str, ...], text: str, plain: str) -> str:
    """What a pattern finds first in a text, given with its case folded, too; empty when it finds nothing."""
    found = pattern.search(text) if any(map(plain.__contains__, stems)) else None
    return found.group() if found else ""


def _aside(text: str, block: str) -> str:
    """How a protected block was made harmless where it stands; empty when it was not."""
    at = text.find(block)
    if at < 0:
        return ""
    line_start = text.rfind("\n", 0, at) + 1
    lead = text[line_start:at]
    if text.count("```", 0, at) % 2:
        return "inside a block of code"
    if lead.lstrip().startswith(MARKS) or text.rfind("<!--", 0, at) > text.rfind("-->", 0, at):
        return "as a quotation or a comment"
    above = text[text.rfind("\n", 0, max(0, line_start - 1)) + 1 : line_start]
    return "after words that set it aside" if SET_ASIDE.search(lead) or SET_ASIDE.search(above) else ""


def _is_nearly(line: str, block: str) -> bool:
    if not 0.7 * len(block) <= len(line) <= 1.4 * len(block) or block in line:
        return False
    return fuzz.ratio(line, block, score_cutoff=NEARLY) > 0 and line.split() != block.split()
