"""What a score lost to what: parts that add up to 1 − score, each with the working that a reader can redo by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TENTH = 0.1


@dataclass(frozen=True)
class Loss:
    """One cause. `share` is what it took from the score, in [0, 1].

    `alone` is what it would have taken if a part of the score could fall below zero; the two differ only where one cannot.
    """

    label: str
    n: int  # how many of it there were
    working: str  # 0.4 × 7 ÷ 30
    alone: float
    share: float


@dataclass(frozen=True)
class Sum:
    """A score taken apart. `lines` lead to it step by step; `losses` lead from 1 down to it. `note` says where the steps bend.

    Lines that are known stand there even when there is no score; losses do not.
    """

    score: float | None
    lines: tuple[str, ...]
    losses: tuple[Loss, ...]
    note: str = ""


def number(value: float) -> str:
    """A value inside a working, so that it can be typed again: three decimals, and more where they would make it 0 or 1."""
    for decimals in (3, 4, 5):
        rounded = round(value, decimals)
        if rounded not in (0, 1) or rounded == value:
            break
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".") or "0"


def cost_in_points(points: float) -> float:
    """What one thing costs, in points: two decimals, and below a tenth two digits."""
    return round(points, 2) if points >= TENTH else float(f"{points:.2g}")


def loss_rows(found: Sum) -> list[dict[str, Any]]:
    """The losses as rows of a table, in points with one decimal."""
    return [
        {"cause": loss.label, "n": loss.n, "working": f"{loss.working} = {number(loss.alone)}", "took": round(100 * loss.share, 1)}
        for loss in found.losses
    ]
