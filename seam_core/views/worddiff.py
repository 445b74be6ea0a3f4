"""What changed between two texts, by words, for a person to read; bounded in cost whatever the texts hold.

Whole lines are matched first, then the words inside the lines that changed. Joined, the `equal` and `del` segments are the old text
and the `equal` and `ins` segments the new one, character for character, however coarse the comparison had to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Indel

from seam_core.words import count

Tag = Literal["equal", "del", "ins"]
Detail = Literal["words", "lines", "sizes"]

CELLS = 400_000_000  # product of the two lengths that one comparison may cost: 20,000 words and signs a side, some 0.1 s and 50 MB
LONGEST = 2_000_000  # characters of a text beyond which only what both begin and end with is matched
CONTEXT = 3  # unchanged lines kept beside a change, the rest of its own line among them
CONTEXT_CHARACTERS = 300  # the same of a text that has long lines
KEPT_LINES, KEPT_CHARACTERS = 2, 160  # folding away less than this hides more than it saves
CHANGE_CHARACTERS = 6_000  # one change is shown up to here until all is asked for
ALL_CHARACTERS = 200_000  # and everything together up to here, so that a page stays a page
TAG_CHARACTERS = 24  # what marking up a segment costs
SHORT_EQUAL = 5  # so many unchanged words and signs between two larger changes have met by chance

# A number, a word, one sign of a script that writes words without spaces between them, a run of spaces, or one sign.
WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d\u2e80-\u9fff\uac00-\ud7af]\w*?(?=[\u2e80-\u9fff\uac00-\ud7af]|\W|$)|\s+|[^\s]")


@dataclass(frozen=True)
class Segment:
    """A run of text that is in both texts (`equal`), in the old one only (`del`) or in the new one only (`ins`)."""

    tag: Tag
    text: str


@dataclass(frozen=True)
class Fold:
    """Text that is not shown, in words."""

    said: str


@dataclass(frozen=True)
class Comparison:
    """Two texts side by side. `detail` says how finely they were compared; sizes are characters.

    `added`, `removed` and `kept` are words, as between spaces; None when the texts are too long to count them.
    """

    segments: tuple[Segment, ...]
    detail: Detail
    old_size: int
    new_size: int
    added: int | None
    removed: int | None
    kept: int | None

    @property
    def is_same(self) -> bool:
        """Whether the texts are equal to the last character."""
        return all(segment.tag == "equal" for segment in self.segments)

    @property
    def changed_share(self) -> float | None:
        """Share of the words of both texts that are not in the other, in [0, 1]; None when they were not counted."""
        if self.added is None or self.removed is None or self.kept is None:
            return None
        words = self.added + self.removed + 2 * self.kept
        return (self.added + self.removed) / words if words else 0.0


def compare(old: str, new: str) -> Comparison:
    """What changed from `old` to `new`, by words where that is affordable, else by whole lines, else as one block."""
    raw, detail = _segments(old, new)
    segments = tuple(_joined(raw))
    if max(len(old), len(new)) > LONGEST:
        return Comparison(segments, detail, len(old), len(new), None, None, None)
    words = {"equal": 0, "del": 0, "ins": 0}
    for segment in segments:
        words[segment.tag] += len(segment.text.split())
    return Comparison(segments, detail, len(old), len(new), words["ins"], words["del"], words["equal"])


def said(found: Comparison) -> str:
    """A comparison in one sentence."""
    if found.is_same:
        return "The two texts are identical." if found.new_size else "Both texts are empty."
    if not found.old_size or not found.new_size:
        which, size = ("first", found.new_size) if not found.old_size else ("second", found.old_size)
        return f"The {which} text is empty; the other has {count(size, 'character')}."
    if found.detail == "sizes" or found.added is None or found.removed is None or found.kept is None:
        sizes = f"{found.old_size:,} and {found.new_size:,} characters"
        return f"Too long to compare by words or lines ({sizes}): what both texts begin and end with is matched, the rest is shown whole."
    if not found.added and not found.removed:
        return "Only spaces or line breaks differ."
    both = f"{count(found.added, 'word')} added, {found.removed:,} removed, {found.kept:,} unchanged."
    return both if found.detail == "words" else f"{both} Some lines are too long to compare by words; they are shown whole."


def folded(found: Comparison) -> list[Segment | Fold]:
    """The segments with long unchanged stretches, and the middle of very long changes, folded away."""
    pieces: list[Segment | Fold] = []
    last = len(found.segments) - 1
    for at, segment in enumerate(found.segments):
        if segment.tag == "equal":
            pieces += _fold_equal(segment.text, after_change=at > 0, before_change=at < last)
        else:
            pieces += _fold_change(segment)
    return list(_within(pieces, ALL_CHARACTERS))


def unfolded(found: Comparison) -> list[Segment | Fold]:
    """Every segment, up to what a page can carry."""
    return list(_within(found.segments, ALL_CHARACTERS))


def in_short(found: Comparison, *, lines: int = 6, length: int = 60) -> list[str]:
    """The first changes, one line each: − what went, + what came. For a tooltip; text as it is, not escaped."""
    signs: dict[Tag, str] = {"del": "−", "ins": "+"}
    changes = [(signs[one.tag], " ".join(one.text.split())) for one in found.segments if one.tag != "equal"]
    told = [f"{sign} {text if len(text) <= length else text[: length - 1] + '…'}" for sign, text in changes if text]
    return told if len(told) <= lines else [*told[: lines - 1], f"… and {count(len(told) - lines + 1, 'more change')}"]


def _segments(old: str, new: str) -> tuple[list[Segment], Detail]:
    """The segments, not yet joined where two of a kind follow each other."""
    if old == new:
        return [Segment("equal", old)], "words"
    first, second = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _common(first, second)
    tail = _common(first[head:][::-1], second[head:][::-1])
    first_rest, second_rest = first[head : len(first) - tail], second[head : len(second) - tail]
    budget = CELLS
    detail: Detail = "words"
    middle: list[Segment] = []
    if max(len(old), len(new)) > LONGEST or len(first_rest) * len(second_rest) > budget:
        middle, detail = _block("".join(first_rest), "".join(second_rest)), "sizes"
    else:
        budget -= len(first_rest) * len(second_rest)
        for tag, before, after in _opcodes(first_rest, second_rest):
            if tag == "equal" or not before or not after:
                middle += [Segment("equal", "".join(before))] if tag == "equal" else _block("".join(before), "".join(after))
                continue
            cost, some = _by_words("".join(before), "".join(after), budget)
            budget -= cost
            detail = detail if cost else "lines"
            middle += some
    return [Segment("equal", "".join(first[:head])), *middle, Segment("equal", "".join(first[len(first) - tail :]))], detail


def _by_words(old: str, new: str, budget: int) -> tuple[int, list[Segment]]:
    """The cost of comparing two runs of lines by words, and their segments; cost 0 when it was too dear and they are shown whole."""
    first, second = WORD.findall(old), WORD.findall(new)
    cost = len(first) * len(second)
    if cost > budget:
        return 0, _block(old, new)
    found: list[Segment] = []
    for tag, before, after in _without_islands(_without_islands(list(_opcodes(first, second)))):
        found += [Segment("equal", "".join(before))] if tag == "equal" else _block("".join(before), "".join(after))
    return cost, found


Change = tuple[Literal["equal", "change"], list[str], list[str]]


def _opcodes(old: list[str], new: list[str]) -> Iterator[Change]:
    """Runs of units that are equal, or that replace each other (either side may be empty), in order."""
    before: list[str] = []
    after: list[str] = []
    for op in Indel.opcodes(old, new):
        gone, come = old[op.src_start : op.src_end], new[op.dest_start : op.dest_end]
        if op.tag == "equal" and gone == come:  # RapidFuzz compares hashes
            if before or after:
                yield "change", before, after
            yield "equal", gone, come
            before, after = [], []
        else:
            before += gone
            after += come
    if before or after:
        yield "change", before, after


def _without_islands(changes: list[Change]) -> list[Change]:
    """The same with a few equal words that stand between two larger changes made part of them: words that match by chance."""
    found: list[Change] = []
    for at, change in enumerate(changes):
        follows = bool(found) and found[-1][0] == "change"
        if follows and (change[0] == "change" or (at + 1 < len(changes) and _is_island(change[1], found[-1], changes[at + 1]))):
            found[-1][1].extend(change[1])
            found[-1][2].extend(change[2])
        else:
            found.append(change)
    return found


def _is_island(words: list[str], before: Change, after: Change) -> bool:
    """Whether equal words are few and shorter than the changes on either side. A line break always stands: it keeps lines apart."""
    if any("\n" in word for word in words):
        return False
    n_words = sum(not word.isspace() for word in words)
    around = min(max(_length(one[1]), _length(one[2])) for one in (before, after))
    return n_words == 0 or (n_words <= SHORT_EQUAL and _length(words) <= around)


def _length(words: list[str]) -> int:
    return sum(map(len, words))


def _block(old: str, new: str) -> list[Segment]:
    return [Segment("del", old), Segment("ins", new)]


def _joined(segments: Iterable[Segment]) -> Iterator[Segment]:
    """No empty segment, and no two of a kind in a row; what went stands before what came."""
    held: dict[Tag, list[str]] = {"equal": [], "del": [], "ins": []}

    def release(*tags: Tag) -> Iterator[Segment]:
        for tag in tags:
            text = "".join(held[tag])
            held[tag] = []
            if text:
                yield Segment(tag, text)

    for segment in segments:
        if segment.text:
            yield from release("del", "ins") if segment.tag == "equal" else release("equal")
            held[segment.tag].append(segment.text)
    yield from release("equal", "del", "ins")


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many units both begin with."""
    same = 0
    for first, second in zip(old, new, strict=False):
        if first != second:
            break
        same += 1
    return same


def _fold_equal(text: str, *, after_change: bool, before_change: bool) -> list[Segment | Fold]:
    lines = text.splitlines(keepends=True)
    alone = not after_change and not before_change
    n_head, n_tail = (4 * CONTEXT if alone else CONTEXT * after_change), CONTEXT * before_change
    head = _context(lines[:n_head], CONTEXT_CHARACTERS * (4 if alone else 1))
    tail = _context([line[::-1] for line in lines[::-1][:n_tail]], CONTEXT_CHARACTERS)[::-1]
    middle = text[len(head) : len(text) - len(tail)] if len(head) + len(tail) < len(text) else ""
    n_lines = len(middle.splitlines())
    if n_lines <= KEPT_LINES and len(middle) <= KEPT_CHARACTERS:
        return [Segment("equal", text)] if text else []
    hidden = count(n_lines, "unchanged line") if n_lines > 1 else count(len(middle), "unchanged character")
    pieces: list[Segment | Fold] = [Segment("equal", head)] if head else []
    pieces.append(Fold(hidden))
    return [*pieces, Segment("equal", tail)] if tail else pieces


def _context(lines: Sequence[str], most: int) -> str:
    """As many whole lines as fit, nearest first; of the first one, when it does not fit, what does, up to a space."""
    kept = ""
    for line in lines:
        if kept.strip() and len(kept) + len(line) > most:
            break
        kept += line
    if len(kept) <= most:
        return kept
    cut = kept[:most]
    return cut[: cut.rfind(" ") + 1] or cut


def _fold_change(segment: Segment) -> list[Segment | Fold]:
    text, most = segment.text, CHANGE_CHARACTERS
    if len(text) <= most + KEPT_CHARACTERS:
        return [segment]
    head, tail = text[: most - CONTEXT_CHARACTERS], text[-CONTEXT_CHARACTERS:]
    what = "removed" if segment.tag == "del" else "added"
    hidden = Fold(f"{len(text) - len(head) - len(tail):,} more characters {what}")
    return [Segment(segment.tag, head), hidden, Segment(segment.tag, tail)]


def _within(pieces: Sequence[Segment | Fold], most: int) -> Iterator[Segment | Fold]:
    """The pieces up to a number of characters, and how much is missing."""
    left = most
    for at, piece in enumerate(pieces):
        if isinstance(piece, Fold):
            yield piece
            continue
        cost = len(piece.text) + TAG_CHARACTERS
        if cost > left:
            kept = piece.text[: max(0, left - TAG_CHARACTERS)]
            if kept:
                yield Segment(piece.tag, kept)
            missing = sum(len(one.text) for one in pieces[at:] if isinstance(one, Segment)) - len(kept)
            yield Fold(f"{missing:,} more characters are not shown")
            return
        left -= cost
        yield piece
