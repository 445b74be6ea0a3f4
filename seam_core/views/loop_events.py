"""What happened at one cycle of a loop: its kind, by the worst about it, and everything about it in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seam_core.findings import gap_sentence
from seam_core.words import alike, count, cut, listed, points, signed

TOLERANCE = 1e-9
BASES = {"score": "own score", "holdout": "held-out score", "visible": "visible score"}

Kind = Literal["blocked", "retry", "returned", "idle", "dip", "gap", "gain", "rose", "flat", "unknown"]

# What the chart's key says of each kind, worst first.
KINDS: dict[Kind, str] = {
    "blocked": "stopped by the gate",
    "returned": "went back to an earlier text",
    "dip": "dip",
    "gap": "gain that is not real",
    "idle": "changed (almost) nothing",
    "retry": "retry only",
    "flat": "no gain",
    "rose": "rose, held-out unknown",
    "gain": "real gain",
    "unknown": "nothing to compare",
}


@dataclass(frozen=True)
class Revisit:
    """Two positions whose texts are alike enough to count; `idle` when nothing had changed since the position before.

    `step` is how alike the later text is to the one just before it; None where that is of another target or has no text.
    """

    earlier: int
    later: int
    idle: bool
    similarity: float
    step: float | None = None

    @property
    def is_return(self) -> bool:
        """Whether the text had left and came back: it is nearer to the earlier one than to the one just before it."""
        return not self.idle and (self.step is None or self.similarity > self.step + TOLERANCE)


@dataclass(frozen=True)
class Measured:
    """Which pairs of scores say something about a single cycle; the others are the whole loop's, copied onto its heals."""

    visible: bool
    held_out: bool


def what_happened(
    row: Mapping[str, Any],
    *,
    change: float | None,
    idle: bool,
    near: bool,
    revisits: Sequence[Revisit],
    basis: str | None,
    measured: Measured,
    blocks: Sequence[str],
    names: Mapping[int, int],
) -> tuple[Kind, str]:
    """The kind of a cycle, by the worst about it, and everything about it in words."""
    if row["is_blocked"]:
        which = f" ({'block' if len(blocks) == 1 else 'blocks'} {listed([cut(block) for block in blocks])})" if blocks else ""
        return "blocked", f"stopped by the boundary gate{which}: not scored, and no position of the loop"
    kind, told = _movement(row, change, basis, measured)
    if idle:
        told.insert(0, "changed nothing: its text is that of the cycle before")
        kind = kind if kind == "dip" else "idle"
    returned = [one for one in revisits if one.is_return]
    if returned:
        told.insert(0, _came_back(returned, names))
        kind = "returned"
    elif revisits:
        step = max(one.step or 0 for one in revisits)
        also = _places(revisits, names) if len(revisits) == 1 else count(len(revisits), "earlier cycle")
        told.insert(0, f"hardly changed: {alike(step)} to the cycle before, and so to {also}")
        kind = kind if kind == "dip" else "idle"
    elif near and not idle:
        told.insert(0, "hardly changed since the cycle before")
        kind = kind if kind == "dip" else "idle"
    elif row["level"] == 0:
        told.insert(0, "retry only")
        kind = kind if kind == "dip" else "retry"
    return kind, "; ".join(told) if told else "no score is logged"


def _came_back(returned: Sequence[Revisit], names: Mapping[int, int]) -> str:
    best = max(returned, key=lambda one: (one.similarity, one.earlier))
    more = f" and to {count(len(returned) - 1, 'other cycle')}" if len(returned) > 1 else ""
    how = "went back to" if best.similarity >= 1 else "came back near"
    return f"{how} the text of {_places([best], names)}{more}: {alike(best.similarity)}"


def _places(revisits: Sequence[Revisit], names: Mapping[int, int]) -> str:
    """The earlier cycles of some revisits, with the numbers that they were logged under where those differ."""
    said = [f"{one.earlier:,}" + (f" (logged as {names[one.earlier]:,})" if names[one.earlier] != one.earlier else "") for one in revisits]
    return f"{'cycle' if len(said) == 1 else 'cycles'} {listed(said)}"


def _movement(row: Mapping[str, Any], change: float | None, basis: str | None, measured: Measured) -> tuple[Kind, list[str]]:
    """What the scores did: the measure that judges the loop, and what of the visible gain was real."""
    told: list[str] = []
    kind: Kind = "unknown" if row["value"] is None and row["visible_after"] is None else "flat"
    if change is not None and abs(change) > TOLERANCE:
        size = count(abs(points(change)), "point") if points(change) else "less than a point"
        told.append(f"{BASES[basis or '']} {'fell' if change < 0 else 'rose'} by {size}" + (": a dip" if change < 0 else ""))
        kind = "rose" if change > 0 else kind
    seen = _gain(row, "visible") if measured.visible else None
    real = _gain(row, "holdout") if measured.held_out else None
    if seen is not None and real is not None:
        gap = gap_sentence(seen, real)
        told.append(gap or f"visible {signed(points(seen))}, held-out {signed(points(real))}")
        kind = "gap" if gap else "gain" if points(real) >= 1 else "flat"
    elif seen is not None:
        after = row["holdout_after"] if measured.held_out else None
        known = "not measured at this cycle" if after is None else f"{after:.2f} after it and not measured before"
        told.append(f"visible {signed(points(seen))}, held-out {known}")
        kind = "rose" if points(seen) >= 1 else kind
    elif real is not None:
        told.append(f"held-out {signed(points(real))}")
        kind = "gain" if points(real) >= 1 else kind
    if not told and kind == "flat":
        told.append(f"{BASES[basis]} stayed the same" if change is not None and basis else "nothing to compare its score with")
        kind = "flat" if change is not None else "unknown"
    return "dip" if change is not None and change < -TOLERANCE else kind, told


def _gain(row: Mapping[str, Any], score: str) -> float | None:
    before, after = row[f"{score}_before"], row[f"{score}_after"]
    return None if before is None or after is None else float(after - before)
