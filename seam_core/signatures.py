"""Which failure signatures are probably one failure written in several ways. Nothing is merged here: a person decides that.

A signature is ``errortype:tool:context``. It is normalised (case, separators, and in the context what changes from one occurrence to
the next: addresses, ids, times, numbers), then compared with the signatures of the same tool. Source: docs/method.md, Signal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from rapidfuzz import fuzz, process

from seam_core.words import listed

NORMALISER_VERSION = 1
KIND_ALIKE, CONTEXT_ALIKE = 85.0, 90.0  # RapidFuzz ratios, 0–100, from which two types and two contexts may be the same
LONGEST = 300  # characters; a longer signature is a text, not a key, and is left out
LEADERS_MAX = 200  # others are compared with so many contexts of one tool and type, and types of one tool: the most frequent ones

Kind = Literal["spelling", "added", "alike", "differs"]
ORDER: tuple[Kind, ...] = ("spelling", "added", "alike", "differs")  # surest first

# What is masked in a context, in this order: an earlier pattern takes what a later one would break up.
_EDGE, _END = r"(?<![^\W_])", r"(?![^\W_])"  # not glued to a letter or digit
_MASKS = (
    ("url", r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://\S+"),
    ("email", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("uuid", rf"{_EDGE}[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}{_END}"),
    (
        "time",
        rf"{_EDGE}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
        rf"(?:[t _][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]+)?)?(?:z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?{_END}",
    ),
    ("ip", rf"{_EDGE}[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}(?::[0-9]+)?{_END}"),
    ("path", r"(?<![\w./])(?:[a-z]:)?(?:[/\\][\w.@-]+){2,}"),
    ("hex", rf"{_EDGE}(?:0x)?(?=[a-f]*[0-9])[0-9a-f]{{7,}}{_END}"),
    ("duration", rf"{_EDGE}[0-9]+(?:\.[0-9]+)?(?:ns|us|ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|d|days?){_END}"),
    ("number", rf"{_EDGE}[0-9]+(?:\.[0-9]+)*{_END}"),
)
_MASKED = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _MASKS))
_SEPARATORS = re.compile(r"[\s_\-./]+")
_PLACEHOLDER = re.compile(r"<(?:" + "|".join(name for name, _ in _MASKS) + ")>")
_SUFFIX = re.compile(r"_(?:error|exception|err)$")


@dataclass(frozen=True)
class Normal:
    """A signature in its plain form: parts in lower case, separators as ``_``, what changes masked as ``<number>`` and the like."""

    kind: str
    tool: str
    context: str
    masked: tuple[str, ...]  # what was masked in the context, in its order

    @property
    def text(self) -> str:
        """The three parts as one signature."""
        return f"{self.kind}:{self.tool}:{self.context}"

    @cached_property
    def skeleton(self) -> Skeleton:
        """The parts without placeholders, and without _error, _exception or _err at the end of the type."""
        return Skeleton(self.tool, _SUFFIX.sub("", self.kind), _squeezed(_PLACEHOLDER.sub("_", self.context)))


class Skeleton(NamedTuple):
    """What is left of a signature that is the same each time."""

    tool: str
    kind: str
    context: str


@dataclass(frozen=True)
class Suggestion:
    """Signatures that may be one, most frequent first, and why."""

    kind: Kind
    signatures: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Suggestions:
    """What may be one, the surest reasons first; how many signatures were too long to be compared, and how many so rare, in a crowded
    tool, that they were compared with the frequent ones only.
    """

    found: tuple[Suggestion, ...]
    n_compared: int
    n_long: int
    n_rare: int


def normalise(signature: str) -> Normal:
    """The plain form of a signature. Only the context is masked: ``http500`` and a tool's version must survive."""
    kind, tool, context = (*unicodedata.normalize("NFKC", signature).casefold().split(":", 2), "", "")[:3]
    masked: list[str] = []

    def mask(found: re.Match[str]) -> str:
        masked.append(found.group())
        return f"<{found.lastgroup}>"

    return Normal(_squeezed(kind), _squeezed(tool), _squeezed(_MASKED.sub(mask, context)), tuple(masked))


def suggest(frequency: Mapping[str, int]) -> Suggestions:
    """Which of the signatures may be one failure, given how often each was seen. The same for any order of the mapping."""
    by_rank = sorted((name for name in frequency if len(name) <= LONGEST), key=lambda name: (-frequency[name], name))
    plain = {name: normalise(name) for name in by_rank}
    groups: dict[Skeleton, list[str]] = {}
    for name in by_rank:
        groups.setdefault(plain[name].skeleton, []).append(name)
    found = [_of_one_skeleton(names, [plain[name] for name in names]) for names in groups.values() if len(names) > 1]
    weight = {skeleton: sum(frequency[name] for name in names) for skeleton, names in groups.items()}
    skeletons = sorted(groups, key=lambda skeleton: (-weight[skeleton], skeleton))
    alike, n_rare = _alike({skeleton: plain[groups[skeleton][0]] for skeleton in skeletons})
    for leader, others in alike.items():
        names = [groups[skeleton][0] for skeleton in (leader, *(other.skeleton for other in others))]
        found.append(Suggestion("alike", tuple(names), _likeness(others)))
    found.sort(key=lambda one: (ORDER.index(one.kind), -sum(frequency[name] for name in one.signatures), one.signatures))
    return Suggestions(tuple(found), len(by_rank), len(frequency) - len(by_rank), n_rare)


def _of_one_skeleton(names: list[str], normals: list[Normal]) -> Suggestion:
    """Why signatures with one skeleton may be one."""
    if len({normal.context for normal in normals}) == 1 and len({normal.masked for normal in normals}) == 1:
        suffixed = len({normal.kind for normal in normals}) > 1
        why = "only error, exception or err at the end of the type differs" if suffixed else "only case or separators differ"
        return Suggestion("spelling", tuple(names), why)
    what = listed(sorted({found[1:-1] for normal in normals for found in _PLACEHOLDER.findall(normal.context)}))
    if not all(normal.masked for normal in normals):
        return Suggestion("added", tuple(names), f"the same words, some with a {what}")
    return Suggestion("differs", tuple(names), f"the same words, each with its own {what}")


class _Match(NamedTuple):
    """One skeleton that resembles an earlier one; ratios 0–100."""

    context_ratio: float
    kind_ratio: float
    skeleton: Skeleton


def _alike(first: Mapping[Skeleton, Normal]) -> tuple[dict[Skeleton, list[_Match]], int]:
    """Skeletons that later ones resemble, with those; each follows the earlier one it resembles most. And how many resemble none and
    are not held against those after them, for there are enough of their tool and type.

    Where both have something masked it must be the same: two numbers and two words that differ are two differences.
    """
    found: dict[Skeleton, list[_Match]] = {}
    leaders: dict[tuple[str, str], dict[tuple[str, ...] | None, list[str]]] = {}  # (tool, type) → masked (None: any) → contexts
    kinds: dict[str, list[str]] = {}  # tool → types of its leaders
    n_rare = 0
    for skeleton, normal in first.items():
        best: tuple[_Match, Skeleton] | None = None
        near = process.extract(skeleton.kind, kinds.get(skeleton.tool, ()), scorer=fuzz.ratio, score_cutoff=KIND_ALIKE, limit=None)
        for kind, kind_ratio, _ in near:
            by_masked = leaders[skeleton.tool, kind]
            for masked in (normal.masked, ()) if normal.masked else (None,):
                match = process.extractOne(skeleton.context, by_masked.get(masked, ()), scorer=fuzz.ratio, score_cutoff=CONTEXT_ALIKE)
                if match and (best is None or (match[1], kind_ratio) > best[0][:2]):
                    best = _Match(match[1], kind_ratio, skeleton), Skeleton(skeleton.tool, kind, match[0])
        if best:
            found.setdefault(best[1], []).append(best[0])
        elif not _lead(skeleton, normal, leaders, kinds.setdefault(skeleton.tool, [])):
            n_rare += 1
    return found, n_rare


def _lead(
    skeleton: Skeleton, normal: Normal, leaders: dict[tuple[str, str], dict[tuple[str, ...] | None, list[str]]], kinds: list[str]
) -> bool:
    """Let later skeletons be compared with this one; False where they have enough to be compared with."""
    block = leaders.get((skeleton.tool, skeleton.kind))
    if block is None:
        if len(kinds) >= LEADERS_MAX:
            return False
        kinds.append(skeleton.kind)
        block = leaders[skeleton.tool, skeleton.kind] = {None: []}
    if len(block[None]) >= LEADERS_MAX:
        return False
    for masked in (normal.masked, None):
        block.setdefault(masked, []).append(skeleton.context)
    return True


def _likeness(others: list[_Match]) -> str:
    kind, context = min(one.kind_ratio for one in others), min(one.context_ratio for one in others)
    return f"types {_percent(kind)}, contexts {_percent(context)}"


def _percent(ratio: float) -> str:
    return "the same" if ratio == 100 else f"{ratio:.0f} % alike"


def _squeezed(text: str) -> str:
    return _SEPARATORS.sub("_", text).strip("_")
