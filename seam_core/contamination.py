"""Has the agent learnt its exam? Held-out cases whose words stand in lines that heals added.  Source: docs/method.md, Contamination."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from seam_core.gates import Gate
from seam_core.scope import Scope, insert_rows

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

# Every heal of the window that carries a text, and before them the newest earlier text of each of their targets; in time order,
# so that the text before a heal is the one last seen on its target. `is_last`: nothing follows on that target.
CHANGES = """
with inside as (select row, heal_id, target, ts, true as in_window from window_heals where has_after_text),
targets as (select target, min(ts) as first_ts from inside where target is not null group by target),
newest_before as (
    select h.target, max(h.ts) as ts
    from heals h join targets t using (target) anti join blocked using (row)
    where h.has_after_text and h.ts < t.first_ts
    group by h.target
),
before as (
    select arg_max(h.row, h.heal_id) as row, max(h.heal_id) as heal_id, h.target, h.ts, false as in_window
    from heals h join newest_before n on n.target = h.target and n.ts = h.ts anti join blocked using (row)
    where h.has_after_text
    group by h.target, h.ts
)
select row, heal_id, target, in_window, row_number() over (partition by target order by ts desc, heal_id desc) = 1 as is_last, ts
from (select row, heal_id, target, ts, in_window from inside union all select row, heal_id, target, ts, in_window from before)
"""


@dataclass(frozen=True)
class Contamination:
    """Contaminated ÷ testable held-out cases, in [0, 1]; None with a reason when no case can be tested."""

    rate: float | None
    reason: str | None
    n_cases: int
    n_contaminated: int
    n_first_texts: int  # heals whose whole text counted as added, because their target had none before


Gram = tuple[str, ...]


@dataclass(frozen=True)
class Exam:
    """The words of every testable held-out case and the n-grams that count, with an index from n-gram to cases."""

    words: dict[str, list[str]]
    grams: dict[str, frozenset[Gram]]
    index: dict[Gram, list[str]]
    pairs: frozenset[tuple[str, str]]  # neighbours inside any n-gram: a quick no for everything else
    lengths: tuple[int, ...]


def measure_contamination(scope: Scope, gate: Gate) -> Contamination:
    """How much of the held-out exam stands in what heals of the window added. Keeps ``contamination_rows``."""
    scope.con.execute(
        "create or replace temp table contamination_rows"
        " (case_id varchar, coverage double, contaminated boolean, heals varchar[], passage varchar)"
    )
    if not scope.store.has("holdout"):
        return Contamination(None, "no holdout.jsonl", 0, 0, 0)
    if not scope.one("select count(*) from window_heals")[0]:
        return Contamination(None, "no heal in the window", 0, 0, 0)
    exam = build_exam(scope.query("select id, text from holdout where text is not null order by id"), n=scope.settings.ngram)
    if not exam.grams:
        return Contamination(None, "no held-out case has a text long enough to test", 0, 0, 0)
    if not scope.one("select count(*) from window_heals where has_after_text")[0]:
        return Contamination(None, "no heal in the window logs the changed text", 0, 0, 0)
    scanner = Scanner(exam)
    n_first = 0
    for heal_id, before, lines, found in _changed_lines(scope, gate):
        n_first += before is None
        if scanner.may_show(found if before is None else found - before):
            scanner.scan(heal_id, added_lines(before, lines))
    bar = scope.settings.ngram_coverage - TOLERANCE
    rows = [(case, share, share >= bar, heals, passage) for case, share, heals, passage in scanner.findings()]
    insert_rows(scope, "contamination_rows", "case_id, coverage, contaminated, heals, passage", rows)
    n_bad = sum(contaminated for _, _, contaminated, _, _ in rows)
    return Contamination(n_bad / len(exam.grams), None, len(exam.grams), n_bad, n_first)


def keep_changes(scope: Scope, gate: Gate) -> None:
    """Keep ``changes``: the texts of the window, and the newest one before it on each of their targets that the gate did not stop."""
    while True:
        scope.keep("changes", CHANGES)
        if not gate.stop("select row from changes where not in_window"):
            break


def build_exam(cases: Iterable[tuple[str, str]], *, n: int) -> Exam:
    """The exam of (case id, text) pairs: the n-grams of each testable case, stock phrases left out."""
    texts = dict(cases)
    grams = {case: found for case, text in texts.items() if (found := case_grams(text, n=n))}
    spread = Counter(gram for found in grams.values() for gram in found)
    if len(grams) >= BOILERPLATE_CASES:
        stock = {gram for gram, cases_with in spread.items() if cases_with > BOILERPLATE_SHARE * len(grams) + TOLERANCE}
        grams = {case: kept for case, found in grams.items() if (kept := found - stock)}
    index: dict[Gram, list[str]] = {}
    for case, found in grams.items():
        for gram in found:
            index.setdefault(gram, []).append(case)
    pairs = frozenset((gram[at], gram[at + 1]) for gram in index for at in range(len(gram) - 1))
    words = {case: tokens_of(text) for case, text in texts.items() if case in grams}
    return Exam(words, grams, index, pairs, tuple(sorted({len(gram) for gram in index})))


def case_grams(text: str, *, n: int) -> frozenset[Gram]:
    """The word n-grams of a case; its whole sequence of words when it is shorter but long enough to tell; else none."""
    tokens = tokens_of(text)
    if len(tokens) >= n:
        return frozenset(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))
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


def _changed_lines(scope: Scope, gate: Gate) -> Iterator[tuple[str, set[str] | None, list[str], set[str]]]:
    """(heal_id, the lines its target had before, its lines, the same as a set) of every heal of the window that carries a text."""
    keep_changes(scope, gate)
    newest: dict[str, set[str]] = {}  # the lines of each target's text, as long as it changes again
    for changes in scope.stream("select row, heal_id, target, in_window, is_last from changes order by ts, heal_id"):
        texts = scope.texts([change[0] for change in changes])
        for (_, heal_id, target, in_window, is_last), text in zip(changes, texts, strict=True):
            if text is None:
                continue
            before = newest.pop(target, None) if target is not None else None
            lines = text.splitlines()
            found = set(lines)
            if target is not None and not is_last:
                newest[target] = found
            if in_window:
                yield heal_id, before, lines, found


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
        self._shown: dict[Gram, list[str]] = {}

    def may_show(self, lines: Iterable[str]) -> bool:
        """Whether lines, in whatever order, can show an n-gram: one holds it, or one ends in a word that the first of another follows."""
        found = 0
        for line in lines:
            kind = self._kinds.get(line)
            found |= self._kind(line) if kind is None else kind
        return found >= OPENS + CLOSES

    def scan(self, heal_id: str, runs: Iterable[list[str]]) -> None:
        """Mark what of the exam stands in the lines that one heal added."""
        for run in runs:
            tail: list[str] = []
            for line in run:
                head, end, hits = self._lines.get(line) or self._read(line)
                for gram in hits:
                    self._mark(gram, heal_id)
                if tail and head and (tail[-1], head[0]) in self._exam.pairs:
                    self._cross(tail, head, heal_id)
                tail = end if len(end) == self._reach else (tail + end)[-self._reach :]

    def findings(self) -> list[tuple[str, float, list[str], str]]:
        """(case, share of its n-grams shown, heals that showed them, longest passage), most shown first."""
        shown = {case for gram in self._shown for case in self._exam.index[gram]}
        found = [self._finding(case) for case in shown]
        return sorted(found, key=lambda finding: (-finding[1], finding[0]))

    def _finding(self, case: str) -> tuple[str, float, list[str], str]:
        grams = self._exam.grams[case]
        seen = [gram for gram in grams if gram in self._shown]
        heals = sorted({heal_id for gram in seen for heal_id in self._shown[gram]})
        return case, len(seen) / len(grams), heals, self._passage(case)

    def _passage(self, case: str) -> str:
        words, size = self._exam.words[case], len(next(iter(self._exam.grams[case])))
        best: tuple[int, int] = (0, 0)
        start = 0
        for at in range(len(words) - size + 2):
            if at > len(words) - size or tuple(words[at : at + size]) not in self._shown:
                if at > start:
                    best = max(best, (at - start + size - 1, -start))
                start = at + 1
        return " ".join(words[-best[1] : -best[1] + best[0]])

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

    def _cross(self, tail: list[str], head: list[str], heal_id: str) -> None:
        for gram in self._hits(tail + head, 0, len(tail)):
            self._mark(gram, heal_id)

    def _hits(self, words: list[str], first: int, last: int) -> Iterator[Gram]:
        """The exam's n-grams that start at words first … last − 1."""
        pairs, index = self._exam.pairs, self._exam.index
        for at in range(first, min(last, len(words) - 1)):
            if (words[at], words[at + 1]) in pairs:
                for length in self._exam.lengths:
                    gram = tuple(words[at : at + length])
                    if len(gram) == length and gram in index:
                        yield gram

    def _mark(self, gram: Gram, heal_id: str) -> None:
        heals = self._shown.setdefault(gram, [])
        if len(heals) < HEALS_NAMED and heal_id not in heals:
            heals.append(heal_id)
