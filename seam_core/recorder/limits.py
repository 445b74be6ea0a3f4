"""The boundary gate and the budget governor for one heal: the same rules before a change is accepted, and in the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

TOLERANCE = 1e-9
Spending = Literal["normal", "elevated", "escalated", "unknown"]


def folded(text: str) -> str:
    """A text with its runs of white space folded."""
    return " ".join(text.split())


def broken_blocks(text: str, blocks: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Ids of the blocks (id, text, folded text) that are not wholly present in `text`, whitespace runs folded."""
    plain_folded: str | None = None
    for block_id, plain, folded_block in blocks:
        if plain in text:
            continue
        plain_folded = folded(text) if plain_folded is None else plain_folded
        if folded_block not in plain_folded:
            yield block_id


def stopped_by(target: str | None, after_text: str | None, blocks: Iterable[tuple[str, str, str | None]]) -> list[str]:
    """Ids, sorted, of the protected blocks (id, target, text) that stop a change; one without text protects its whole target."""
    mine = [(block_id, text) for block_id, where, text in blocks if where in ("*", target)]
    found = [block_id for block_id, text in mine if text is None and target is not None]
    if after_text is not None:
        found += broken_blocks(after_text, ((block_id, text, folded(text)) for block_id, text in mine if text is not None))
    return sorted(found)


def spending(tokens_spent: int | None, task_tokens: int | None, *, elevated: float, escalated: float) -> Spending:
    """The budget verdict on one heal; a ratio equal to a bound belongs to the milder side."""
    if tokens_spent is None or not task_tokens:
        return "unknown"
    ratio = tokens_spent / task_tokens
    if ratio > escalated + TOLERANCE:
        return "escalated"
    return "elevated" if ratio > elevated + TOLERANCE else "normal"
