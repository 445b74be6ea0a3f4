"""Numbers and lists in the words of the reports and pages: whole points, shares as percent, nothing finer than it was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rapidfuzz import fuzz, process

TOLERANCE = 1e-9
AXIS_NAMES = {"S": "Signal", "E": "Efficacy", "A": "Aftermath", "M": "Monotonicity"}
IDS_NAMED = 3  # ids named in one sentence; the rest are counted
ID_LENGTH = 60  # characters of an id that a sentence shows


def points(share: float) -> int:
    """A share or a difference of scores in whole points, halves away from zero."""
    return int(math.copysign(math.floor(abs(share) * 100 + 0.5 + TOLERANCE), share))


def capital(sentence: str) -> str:
    """A sentence with a capital first letter; the rest stays as it is, ids included."""
    return sentence[:1].upper() + sentence[1:]


def signed(whole: int) -> str:
    """A number of points with its sign: +25, −3, 0."""
    return f"{whole:+d}".replace("-", "−") if whole else "0"


def signed_points(whole: int) -> str:
    """The same with its unit: +25 points, −1 point, 0 points."""
    return f"{signed(whole)} {'point' if abs(whole) == 1 else 'points'}"


def percent(part: int, whole: int) -> str:
    """A share of counted things, with one decimal where that is not finer than one of them."""
    share = 100 * part / whole
    return f"{share:.0f} %" if whole < 20 or share == round(share) else f"{share:.1f} %"


def alike(similarity: float) -> str:
    """A similarity in words; only equal texts are identical."""
    return "identical" if similarity >= 1 else f"{min(99, math.floor(similarity * 100 + 0.5))} % alike"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """1 heal, 2 heals, 1,200 heals."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def times(ratio: float) -> str:
    """How many times: one decimal, whole from a hundred."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}"


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)


def named(ids: Sequence[str]) -> str:
    """The first few ids, long ones cut, and how many more there are."""
    shown = [cut(one) for one in ids[:IDS_NAMED]]
    return listed([*shown, f"{len(ids) - IDS_NAMED:,} more"]) if len(ids) > IDS_NAMED else listed(shown)


def cut(text: str, length: int = ID_LENGTH) -> str:
    """A text on one line, shortened with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def is_text(name: str) -> bool:
    """Whether it is Unicode text, as every id in the logs is: no half of a surrogate pair, which no query takes."""
    return name.encode("utf-8", "ignore").decode() == name


def unknown_key(key: str, known: Sequence[str]) -> str:
    """That a key is none of those that are known, and which of them it may have been meant for."""
    nearest = process.extractOne(key, known, scorer=fuzz.ratio)
    return f"unknown key {key}" + (f"; did you mean {nearest[0]}?" if nearest else "")
