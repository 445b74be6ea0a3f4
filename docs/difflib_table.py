"""Prints the table of method.md that compares RapidFuzz's Indel similarity with difflib: ``python docs/difflib_table.py``.

Pairs of texts are made from a seed, so counts repeat exactly; times are of the machine that runs it. The run takes a minute or
two, nearly all of it difflib without its heuristic.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher

from rapidfuzz.distance import Indel

SEED = 20260609
BAR = 0.90  # more similar than this is a revisit
N_PAIRS = {150: 300, 400: 300, 1000: 100, 3000: 20}  # characters → pairs

INSTRUCTIONS = """the agent must ask before it cancels an order and never reads more than one page of results at once when a tool
times out wait then try again with a smaller query keep card numbers out of notes write dates with their offset prefer the
ledger over the cache hand over to a person if money is at stake name the source of each figure do not guess limits split long
work into steps that can be undone alone check stock on both sides of an import report what changed and why"""
WORDS = INSTRUCTIONS.split()

Pair = tuple[str, str]
Measure = Callable[[str, str], float]


def text_of(rng: random.Random, length: int) -> list[str]:
    """Lines of plain instructions, about `length` characters in all."""
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < length:
        lines.append("- " + " ".join(rng.choice(WORDS) for _ in range(rng.randint(7, 14))) + ".")
    return lines


def words_replaced(rng: random.Random, length: int) -> Pair:
    """The same text with up to a quarter of its words replaced, each by another word."""
    old = "\n".join(text_of(rng, length))
    share = rng.uniform(0, 0.25)
    new = " ".join(rng.choice(WORDS) if rng.random() < share else word for word in old.split(" "))
    return old, new


def lines_added(rng: random.Random, length: int) -> Pair:
    """The same text with one to three new lines somewhere."""
    lines = text_of(rng, length)
    longer = list(lines)
    for line in text_of(rng, length)[: rng.randint(1, 3)]:
        longer.insert(rng.randint(0, len(longer)), line)
    return "\n".join(lines), "\n".join(longer)


def line_moved(rng: random.Random, length: int) -> Pair:
    """The same lines, one of them in another place."""
    lines = text_of(rng, length)
    moved = list(lines)
    moved.insert(rng.randint(0, len(moved)), moved.pop(rng.randrange(len(moved))))
    return "\n".join(lines), "\n".join(moved)


def unrelated(rng: random.Random, length: int) -> Pair:
    """Two texts written from the same words."""
    return "\n".join(text_of(rng, length)), "\n".join(text_of(rng, length))


KINDS = (words_replaced, lines_added, line_moved, unrelated)


def difflib_default(old: str, new: str) -> float:
    """The ratio as it comes."""
    return SequenceMatcher(None, old, new).ratio()


def difflib_plain(old: str, new: str) -> float:
    """The ratio without the heuristic that drops frequent characters."""
    return SequenceMatcher(None, old, new, autojunk=False).ratio()


@dataclass(frozen=True)
class Measured:
    """One measure over a set of pairs: which it calls more similar than the bar, and the seconds of its fastest round."""

    verdicts: list[bool]
    seconds: float


def measured(measure: Measure, pairs: list[Pair], *, rounds: int) -> Measured:
    """The verdict of a measure on each pair, timed a few times over."""
    verdicts: list[bool] = []
    seconds: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        verdicts = [measure(old, new) > BAR for old, new in pairs]
        seconds.append(time.perf_counter() - start)
    return Measured(verdicts, min(seconds))


def row_of(kind: Callable[[random.Random, int], Pair], length: int, n_pairs: int) -> str:
    """One line of the table."""
    rng = random.Random(f"{SEED}:{kind.__name__}:{length}")
    pairs = [kind(rng, length) for _ in range(n_pairs)]
    indel = measured(Indel.normalized_similarity, pairs, rounds=30)
    default = measured(difflib_default, pairs, rounds=3)
    plain = measured(difflib_plain, pairs, rounds=1)
    cells = [
        kind.__name__.replace("_", " "), f"{length:,}", f"{n_pairs}", f"{sum(indel.verdicts)}", f"{sum(plain.verdicts)}",
        f"{sum(default.verdicts)}", flipped(indel, default), flipped(indel, plain),
        times(default, indel), times(plain, indel),
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def flipped(one: Measured, other: Measured) -> str:
    """Share of pairs on which two measures disagree."""
    n_flips = sum(a != b for a, b in zip(one.verdicts, other.verdicts, strict=True))
    return f"{n_flips / len(one.verdicts):.1%}"


def times(one: Measured, other: Measured) -> str:
    """How many times as long one measure took, to two digits: more would be the machine's mood."""
    return f"{float(f'{one.seconds / other.seconds:.2g}'):,.0f} ×"


HEAD = (
    "| kind of pair | characters | pairs | Indel > 0.90 | plain > 0.90 | default > 0.90 | default flips | plain flips"
    " | default's time | plain's time |"
)


def table() -> str:
    """The whole table as Markdown."""
    rows = [row_of(kind, length, n_pairs) for kind in KINDS for length, n_pairs in N_PAIRS.items()]
    return "\n".join([HEAD, "|---|" + "---:|" * 9, *rows]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
