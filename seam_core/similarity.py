"""How alike two texts are, from 0 to 1."""

from __future__ import annotations

from difflib import SequenceMatcher

from rapidfuzz.distance import Indel

from seam_core.meaning import share_said

TOLERANCE = 1e-9
LONG_TEXT = 100_000  # characters; longer texts are compared by lines


def similarity(old: str, new: str, *, method: str = "indel", paraphrase_min: float = 1.0) -> float:
    """Similarity of two texts in [0, 1]: twice the longest common subsequence over the summed lengths; 1 for two empty texts.

    Texts over LONG_TEXT characters are compared by whole lines. method "difflib" is `SequenceMatcher(None, old, new).ratio()`
    exactly as the article calls it, default heuristic included; "embedding" also takes sentences that say the same for equal, and so
    is never below "indel".
    """
    first, second = _units(old, new)
    if method == "difflib":
        return SequenceMatcher(None, first, second).ratio()
    by_letters = Indel.normalized_similarity(first, second)
    return max(by_letters, share_said(old, new, least=paraphrase_min)) if method == "embedding" and by_letters < 1 else by_letters


def revisit_similarity(old: str, new: str, *, minimum: float, method: str = "indel", paraphrase_min: float = 1.0) -> float | None:
    """Similarity of two texts when it is more than `minimum` (with the tolerance of every threshold), else None.

    Never dearer than it must be: equal texts and texts of very different length are settled without comparing, and a model is asked only
    about texts that their letters do not settle.
    """
    bar = minimum + TOLERANCE
    if old == new:
        return 1.0 if bar < 1 else None
    found = _by_letters(old, new, minimum=minimum, method=method)
    if method == "embedding" and (found is None or found <= bar):
        found = share_said(old, new, least=paraphrase_min)
    return found if found is not None and found > bar else None


def _by_letters(old: str, new: str, *, minimum: float, method: str) -> float | None:
    bar = minimum + TOLERANCE
    first, second = _units(old, new)
    if 2 * min(len(first), len(second)) <= bar * (len(first) + len(second)) - TOLERANCE:
        return None
    if method == "difflib":
        return SequenceMatcher(None, first, second).ratio()
    return Indel.normalized_similarity(first, second, score_cutoff=minimum)


def compares_lines(old: str, new: str) -> bool:
    """Whether a pair is compared by lines because a text is long."""
    return len(old) > LONG_TEXT or len(new) > LONG_TEXT


def _units(old: str, new: str) -> tuple[str, str] | tuple[list[str], list[str]]:
    if compares_lines(old, new):
        return old.splitlines(keepends=True), new.splitlines(keepends=True)
    return old, new
