"""A second look for held-out cases that heals added in other words, where a model is installed. It finds suspects and changes no rate.

Source: docs/method.md, Other words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seam_core.additions import Changes
from seam_core.exam import Cases, Gram, added_lines, case_grams
from seam_core.meaning import model, sentences_of
from seam_core.scope import Scope, insert_rows
from seam_core.words import count, cut, listed

TOLERANCE = 1e-9
SHORT = 20  # characters; a shorter sentence is said everywhere
SENTENCES_AT_ONCE = 2_000  # added sentences held against the exam at a time
NAMED = 5  # cases named in the flag

PARAPHRASE_ROWS = """
create or replace temp table paraphrase_rows (case_id varchar, share double, heal_id varchar, sentence varchar, added varchar)
"""
CASES = """
select id, text from holdout
where text is not null and id not in (select case_id from contamination_rows where contaminated)
order by id
"""


def find_paraphrases(scope: Scope, held_out: Cases, changes: Changes) -> None:
    """Fill ``paraphrase_rows`` with the held-out cases of which one heal added a good part in other words, by the heal that added most.

    A case is a suspect when a heal added sentences that say what sentences of the case say, and these are `ngram_coverage` of the case's
    text and more. Short sentences do not count. What is contaminated word for word is not looked at again, neither the case nor the
    sentences that leaked: those are known to be another case's.
    """
    if scope.settings.similarity_method != "embedding":
        return
    grams = held_out.exam.grams
    cases = {case: text for case, text in scope.query(CASES) if case in grams}
    sentences = {case: [one for one in dict.fromkeys(sentences_of(text)) if len(one) >= SHORT] for case, text in cases.items()}
    offered = list(dict.fromkeys(one for some in sentences.values() for one in some))
    lengths = {case: sum(map(len, some)) for case, some in sentences.items()}
    found: dict[str, tuple[float, int, str, str]] = {}  # case → the greatest share, the heal's row, and the longest sentence with its like
    leaked = _leaked(scope, grams)
    for row, added in _in_lots(_added(scope, changes, leaked)):
        said = model().alike(offered, added, scope.settings.suspect_min)
        for case, some in sentences.items() if said else ():
            again = [one for one in some if one in said]
            share = sum(map(len, again)) / lengths[case] if again else 0.0
            if share >= scope.settings.ngram_coverage - TOLERANCE and share > found.get(case, (0.0,))[0]:
                longest = max(again, key=len)
                found[case] = share, row, longest, said[longest]
    heal_rows = [row for _, row, _, _ in found.values()]
    names = dict(scope.query("select row, heal_id from heals where row in (select unnest($rows::bigint[]))", rows=heal_rows))
    rows = [(case, share, names[row], sentence, like) for case, (share, row, sentence, like) in sorted(found.items())]
    insert_rows(scope, "paraphrase_rows", "case_id, share, heal_id, sentence, added", rows)
    if rows:
        scope.flags["E"].append(f"{in_words([case for case, *_ in rows])}; a model suspects it, and a person has to look")


def in_words(cases: list[str]) -> str:
    """Which cases may stand in what heals added, in other words."""
    more = [f"{len(cases) - NAMED:,} more"] if len(cases) > NAMED else []
    names = listed([*(cut(case) for case in cases[:NAMED]), *more])
    return f"{count(len(cases), 'held-out case')} may stand in other words in what heals added: {names}"


def _leaked(scope: Scope, grams: Mapping[str, frozenset[Gram]]) -> frozenset[Gram]:
    """The word sequences of the cases that are contaminated."""
    cases = scope.query("select case_id from contamination_rows where contaminated")
    return frozenset(gram for (case,) in cases for gram in grams[case])


def _added(scope: Scope, changes: Changes, leaked: frozenset[Gram]) -> Iterator[tuple[int, list[str]]]:
    """(heal's row, the sentences that it added to its target, but for those that leaked word for word), in time order."""
    for row, earlier, text in zip(changes.row, changes.before, scope.texts(changes.row), strict=True):
        before = next(scope.texts([earlier])) if earlier >= 0 else None
        runs = added_lines(None if before is None else set(before.splitlines()), (text or "").splitlines())
        added = [one for run in runs for one in sentences_of("\n".join(run)) if len(one) >= SHORT]
        added = [one for one in added if leaked.isdisjoint(case_grams(one, n=scope.settings.ngram))] if leaked else added
        if added:
            yield row, added


def _in_lots(found: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """The same, with no more sentences at once than fit."""
    for row, added in found:
        for at in range(0, len(added), SENTENCES_AT_ONCE):
            yield row, added[at : at + SENTENCES_AT_ONCE]
