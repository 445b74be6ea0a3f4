"""Contamination laid open: which held-out cases stand in what heals added, where exactly, and which cases cannot be tested."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seam_core.exam import Gram, build_exam, case_grams, tokens_of
from seam_core.paraphrases import in_words
from seam_core.report import Audit
from seam_core.views import issue_text
from seam_core.words import count, listed, percent, points

TOLERANCE = 1e-9
LISTED_MAX = 500  # cases listed of each kind
HEALS_MAX = 20  # heals opened of one case
LINES_MAX = 12  # lines shown of one heal's text

CASES = """
select case_id, coverage, contaminated, heals, passage from contamination_rows
order by contaminated desc, coverage desc, case_id
limit $n
"""
TEXTS = "select id, text from holdout order by id"
CASE = "select text from holdout where id = $id"
HEALS = """
select heal_id, loop_id, ts, target, row from heals where heal_id in (select unnest($ids::varchar[]))
order by ts, heal_id limit $n
"""


@dataclass(frozen=True)
class Leak:
    """A held-out case of which something stands in added lines. `coverage`: the share of its word sequences that does."""

    case_id: str
    coverage: float
    contaminated: bool
    heals: tuple[str, ...]
    passage: str


@dataclass(frozen=True)
class Untestable:
    """Held-out cases that cannot be tested for one reason."""

    why: str
    case_ids: tuple[str, ...]
    n: int


@dataclass(frozen=True)
class Leaks:
    """Sentences on the rate, cases contaminated and cases merely touched, worst first, and those that cannot be tested."""

    sentences: tuple[str, ...]
    contaminated: tuple[Leak, ...]
    touched: tuple[Leak, ...]
    n_touched: int
    untestable: tuple[Untestable, ...]


@dataclass(frozen=True)
class Place:
    """One heal that added words of a case: the lines of its text that hold them, as they stand there."""

    heal_id: str
    loop_id: str
    ts: datetime
    target: str | None
    lines: tuple[str, ...]
    n_more: int


@dataclass(frozen=True)
class CaseLeak:
    """One case in full: the leak, the case's own text, and where it stands."""

    leak: Leak
    text: str
    places: tuple[Place, ...]


def find_leaks(audit: Audit) -> Leaks:
    """Everything that contamination rests on, for this window."""
    found = [
        Leak(case, share, bad, tuple(heals), passage) for case, share, bad, heals, passage in audit.scope.query(CASES, n=2 * LISTED_MAX)
    ]
    n_touched = audit.scope.one("select count(*) from contamination_rows where not contaminated")[0]
    untestable = _untestable(audit)
    bad = tuple(leak for leak in found if leak.contaminated)[:LISTED_MAX]
    touched = tuple(leak for leak in found if not leak.contaminated)[:LISTED_MAX]
    return Leaks(tuple(_sentences(audit, untestable)), bad, touched, n_touched, untestable)


def open_case(audit: Audit, case_id: str) -> CaseLeak | None:
    """One case that something of was found of; None for any other case."""
    rows = audit.scope.query("select coverage, contaminated, heals, passage from contamination_rows where case_id = $id", id=case_id)
    if not rows:
        return None
    share, bad, heals, passage = rows[0]
    text = audit.scope.one(CASE, id=case_id)[0]
    grams = case_grams(text, n=audit.settings.ngram)
    found = audit.scope.query(HEALS, ids=heals, n=HEALS_MAX)
    places = []
    for heal_id, loop_id, ts, target, row in found:
        lines = lines_with(audit.scope.text(row) or "", grams)
        places.append(Place(heal_id, loop_id, ts, target, tuple(lines[:LINES_MAX]), max(0, len(lines) - LINES_MAX)))
    return CaseLeak(Leak(case_id, share, bad, tuple(heals), passage), text, tuple(places))


def lines_with(text: str, grams: frozenset[Gram]) -> list[str]:
    """The lines of a text that hold one of the word sequences, or a part of one that runs over a line break."""
    lines = text.splitlines()
    words = [(word, at) for at, line in enumerate(lines) for word in tokens_of(line)]
    marked: set[int] = set()
    for length in {len(gram) for gram in grams}:
        for start in range(len(words) - length + 1):
            if tuple(word for word, _ in words[start : start + length]) in grams:
                marked.update(at for _, at in words[start : start + length])
    return [lines[at] for at in sorted(marked)]


def share_said(leak: Leak) -> str:
    """Of how many of its word sequences this case is found, in words."""
    return f"{points(leak.coverage)} % of its word sequences"


def issue(audit: Audit, case_id: str, *, link: str) -> str | None:
    """One leaked case as Markdown for an issue tracker; None when nothing of that case was found."""
    case = open_case(audit, case_id)
    if case is None:
        return None
    settings, leak = audit.settings, case.leak
    what = "Held-out case {} stands in what heals added" if leak.contaminated else "Words of held-out case {} stand in what heals added"
    sections = [
        issue_text.facts(
            [
                ("case", issue_text.code(case_id)),
                (
                    "found",
                    f"{share_said(leak)} (of {count(settings.ngram, 'word')} each; contaminated from {points(settings.ngram_coverage)} %)",
                ),
                ("heals", ", ".join(issue_text.code(heal_id) for heal_id in leak.heals)),
            ]
        ),
        f"**Longest passage, in plain words**\n\n{issue_text.fenced(leak.passage)}",
        f"**The case**\n\n{issue_text.fenced(case.text)}",
        *(_place(place) for place in case.places if place.lines),
    ]
    return issue_text.assemble(what.format(issue_text.code(case_id)), sections, audit, link=link)


def _place(place: Place) -> str:
    where = issue_text.code(place.target) if place.target is not None else "its text"
    more = f"\n\n… and {count(place.n_more, 'more line')}" if place.n_more else ""
    return (
        f"**Heal {issue_text.code(place.heal_id)}**, {place.ts:%Y-%m-%d %H:%M} UTC, in {where}:\n\n"
        f"{issue_text.fenced(chr(10).join(place.lines))}{more}"
    )


def _sentences(audit: Audit, untestable: tuple[Untestable, ...]) -> list[str]:
    found, settings = audit.efficacy.contamination, audit.settings
    if found.rate is None:
        return [f"Contamination is not measured: {found.reason}."]
    n, bad = found.n_cases, found.n_contaminated
    stands = f"{bad:,} of {count(n, 'testable held-out case')} {'stands' if bad == 1 else 'stand'} in what heals of this window added"
    said = [
        f"{stands} ({percent(bad, n)})."
        if bad
        else f"None of {count(n, 'testable held-out case')} stands in what heals of this window added."
    ]
    first = int(settings.contamination_max * n + TOLERANCE) + 1
    fires = f"It alerts above {settings.contamination_max * 100:g} %"
    said.append(f"{fires}, here from the {_ordinal(first)} case on." if first <= n else f"{fires}.")
    n_out = sum(one.n for one in untestable)
    if n_out:
        said.append(f"{count(n_out, 'more case')} cannot be tested: {listed([f'{one.n:,} {one.why}' for one in untestable])}.")
    if found.n_first_texts:
        came = f"{count(found.n_first_texts, 'text')} came first on {'its' if found.n_first_texts == 1 else 'their'} target"
        said.append(f"{came}, so every line of {'it' if found.n_first_texts == 1 else 'them'} counts as added.")
    suspects = [case for (case,) in audit.scope.query("select case_id from paraphrase_rows order by share desc, case_id")]
    if suspects:
        said.append(f"{in_words(suspects)}. A model suspects it and the rate leaves it out: a person has to look.")
    return said


def _untestable(audit: Audit) -> tuple[Untestable, ...]:
    if audit.efficacy.contamination.n_cases == audit.scope.one("select count(*) from holdout")[0]:
        return ()
    n = audit.settings.ngram
    silent: list[str] = []
    short: list[str] = []
    texts: dict[str, str] = {}
    for case_id, text in audit.scope.query(TEXTS):
        if text is None:
            silent.append(case_id)
        elif not case_grams(text, n=n):
            short.append(case_id)
        else:
            texts[case_id] = text
    kept = build_exam(texts.items(), n=n).grams
    stock = [case_id for case_id in texts if case_id not in kept]
    reasons = (("without a text", silent), ("too short to tell", short), ("made of stock phrases of the exam", stock))
    return tuple(Untestable(why, tuple(cases[:LISTED_MAX]), len(cases)) for why, cases in reasons if cases)


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"
