"""What of an exam stands in lines of text: the word sequences of its cases, and where they show.  Source: docs/method.md, Contamination."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise

TOLERANCE = 1e-9
SHORT_TOKENS = 4  # a case shorter than one n-gram is testable from this many tokens …
SHORT_CHARACTERS = 20  # … and characters
BOILERPLATE_SHARE = 0.10  # n-grams in more cases than this are stock phrases …
BOILERPLATE_CASES = 10  # … once there are this many cases
HEALS_NAMED = 20  # heals named per n-gram
OPENS, CLOSES, SHOWS = 1, 2, 4  # what a line can do: end in the first word of a pair, start with the second, hold an n-gram
CACHE_LINES = 200_000  # distinct lines remembered; a log edits the same lines again and again

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(f"[a-z0-9]+|[{_CJK}]")

Gram = tuple[str, ...]


@dataclass(frozen=True)
class Exam:
    """The words of every testable held-out case and the n-grams that count, with an index from n-gram to cases."""

    words: dict[str, list[str]]
    grams: dict[str, frozenset[Gram]]
    index: dict[Gram, list[str]]
    pairs: frozenset[tuple[str, str]]  # neighbours inside any n-gram: a quick no for everything else
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Cases:
    """Held-out cases as (id, text), and how many words an n-gram has; the exam that they make is built by whoever looks for it."""

    texts: tuple[tuple[str, str], ...]
    n: int

    @property
    def exam(self) -> Exam:
        """Their exam; built once, since window after window asks for it."""
        return _exam_of(self)


@lru_cache(maxsize=4)
def _exam_of(cases: Cases) -> Exam:
    return build_exam(cases.texts, n=cases.n)


@dataclass(frozen=True)
class Trace:
    """What of one case shows: which of its `n_grams` n-grams, and the first heals, by row, that showed each."""

    words: list[str]
    n_grams: int
    heals: dict[Gram, list[int]] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Share of its n-grams that show, in (0, 1]."""
        return len(self.heals) / self.n_grams

    @property
    def rows(self) -> list[int]:
        """The heals that showed them."""
        return sorted({heal for heals in self.heals.values() for heal in heals})

    @property
    def passage(self) -> str:
        """The longest run of its words that shows."""
        words, size = self.words, len(next(iter(self.heals)))
        best: tuple[int, int] = (0, 0)
        start = 0
        for at in range(len(words) - size + 2):
            if at > len(words) - size or tuple(words[at : at + size]) not in self.heals:
                if at > start:
                    best = max(best, (at - start + size - 1, -start))
                start = at + 1
        return " ".join(words[-best[1] : -best[1] + best[0]])


def all_traces(parts: Iterable[Mapping[str, Trace]]) -> dict[str, Trace]:
    """Case → what of it shows in any of several parts of a log, given in the order of time; the case that shows most first."""
    found: dict[str, Trace] = {}
    for part in parts:
        for case, trace in part.items():
            heals = found.setdefault(case, Trace(trace.words, trace.n_grams)).heals
            for gram, rows in trace.heals.items():
                heals[gram] = [*heals.get(gram, ()), *rows][:HEALS_NAMED]
    return dict(sorted(found.items(), key=lambda item: (-item[1].share, item[0])))


def build_exam(cases: Iterable[tuple[str, str]], *, n: int) -> Exam:
    """The exam of (case id, text) pairs: the n-grams of each testable case, stock phrases left out."""
    texts = dict(cases)
    grams = {case: found for case, text in texts.items() if (found := case_grams(text, n=n))}
    spread = Counter(chain.from_iterable(grams.values()))
    if len(grams) >= BOILERPLATE_CASES:
        stock = {gram for gram, cases_with in spread.items() if cases_with > BOILERPLATE_SHARE * len(grams) + TOLERANCE}
        grams = {case: kept for case, found in grams.items() if (kept := found - stock)}
    index: dict[Gram, list[str]] = {}
    for case, found in grams.items():
        for gram in found:
            index.setdefault(gram, []).append(case)
    pairs = frozenset(chain.from_iterable(map(pairwise, index)))
    words = {case: tokens_of(text) for case, text in texts.items() if case in grams}
    return Exam(words, grams, index, pairs, tuple(sorted({len(gram) for gram in index})))


def case_grams(text: str, *, n: int) -> frozenset[Gram]:
    """The word n-grams of a case; its whole sequence of words when it is shorter but long enough to tell; else none."""
    tokens = tokens_of(text)
    if len(tokens) >= n:
        return frozenset(zip(*(tokens[at:] for at in range(n)), strict=False))  # as many as the last of these is long
    if len(tokens) >= SHORT_TOKENS and len(text) >= SHORT_CHARACTERS:
        return frozenset([tuple(tokens)])
    return frozenset()


def tokens_of(text: str) -> list[str]:
    """Words of a text: NFKC, case folded, letters and digits; each CJK character is a word of its own."""
    return _TOKEN.findall(text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold())


def added_lines(before: set[str] | None, after: list[str]) -> list[list[str]]:
    """The lines of `after` that are not among `before`, in runs of neighbours; all of them when there is nothing before."""
    runs: list[list[str]] = [[]]
    for line in after:
        if before is None or line not in before:
            runs[-1].append(line)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


class Scanner:
    """Looks for an exam's n-grams in runs of added lines. Each distinct line is tokenised once; words that cross a line break
    are looked at only where the two words at the break are neighbours somewhere in the exam.
    """

    def __init__(self, exam: Exam) -> None:
        self._exam = exam
        self._reach = max(exam.lengths, default=2) - 1
        self._opening = frozenset(first for first, _ in exam.pairs)
        self._closing = frozenset(second for _, second in exam.pairs)
        self._kinds: dict[str, int] = {}
        self._lines: dict[str, tuple[list[str], list[str], list[Gram]]] = {}
        self.shown: dict[Gram, list[int]] = {}  # the heals, by row, that showed each

    def may_show(self, lines: Iterable[str]) -> bool:
        """Whether lines, in whatever order, can show an n-gram: one holds it, or one ends in a word that the first of another follows."""
        found = 0
        for line in lines:
            kind = self._kinds.get(line)
            found |= self._kind(line) if kind is None else kind
        return found >= OPENS + CLOSES

    def scan(self, heal: int, runs: Iterable[list[str]]) -> None:
        """Mark what of the exam stands in the lines that one heal added."""
        for run in runs:
            tail: list[str] = []
            for line in run:
                head, end, hits = self._lines.get(line) or self._read(line)
                for gram in hits:
                    self._mark(gram, heal)
                if tail and head and (tail[-1], head[0]) in self._exam.pairs:
                    self._cross(tail, head, heal)
                tail = end if len(end) == self._reach else (tail + end)[-self._reach :]

    def traces(self) -> dict[str, Trace]:
        """Case → what of it shows."""
        exam = self._exam
        found: dict[str, Trace] = {}
        for gram, heals in self.shown.items():
            for case in exam.index[gram]:
                found.setdefault(case, Trace(exam.words[case], len(exam.grams[case]))).heals[gram] = heals
        return found

    def _kind(self, line: str) -> int:
        head, end, hits = self._lines.get(line) or self._read(line)
        opens, closes = bool(end) and end[-1] in self._opening, bool(head) and head[0] in self._closing
        self._kinds[line] = kind = SHOWS * bool(hits) + OPENS * opens + CLOSES * closes
        return kind

    def _read(self, line: str) -> tuple[list[str], list[str], list[Gram]]:
        words = tokens_of(line)
        found = words[: self._reach], words[-self._reach :], list(self._hits(words, 0, len(words)))
        if len(self._lines) >= CACHE_LINES:
            self._lines.clear()
            self._kinds.clear()
        self._lines[line] = found
        return found

    def _cross(self, tail: list[str], head: list[str], heal: int) -> None:
        for gram in self._hits(tail + head, 0, len(tail)):
            self._mark(gram, heal)

    def _hits(self, words: list[str], first: int, last: int) -> Iterator[Gram]:
        """The exam's n-grams that start at words first … last − 1."""
        pairs, index = self._exam.pairs, self._exam.index
        for at in range(first, min(last, len(words) - 1)):
            if (words[at], words[at + 1]) in pairs:
                for length in self._exam.lengths:
                    gram = tuple(words[at : at + length])
                    if len(gram) == length and gram in index:
                        yield gram

    def _mark(self, gram: Gram, heal: int) -> None:
        heals = self.shown.setdefault(gram, [])
        if len(heals) < HEALS_NAMED and heal not in heals:
            heals.append(heal)
