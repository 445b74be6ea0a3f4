"""What the boundary gate stopped and what became of the protected text; which blocks are in force, and which of them protect nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel, LCSseq

from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.views.filters import Filters
from seam_core.words import count, cut

STOPPED_SHOWN = 1_000  # blocked heals and blocks listed, newest first; the packet has all
BLOCKS_SHOWN = 2_000
PASSAGE_MIN = 50  # of 100; below it nothing in a text is like the protected one …
SURELY = 75  # … and from here on something is, even where words are not set apart by spaces; between the two, words decide
LONG = 200_000  # characters; longer texts are not searched for what is left of a block
ALIKE = 80  # of 100; a target's name so much like one of the log is probably meant to be it

STOPPED = """
select b.heal_id, b.ts, b.loop_id, h.cycle, h.level, b.target, list(b.protected_id order by b.protected_id) as block_ids,
       bool_or(b.protected_text is null) as is_whole_target
from blocked_rows b join heals h using (row)
where {filter}
group by all
order by b.ts desc, b.heal_id desc
limit $n
"""

BROKEN = """
select b.protected_id, b.kind, p.target, b.protected_text, b.row, h.has_after_text
from blocked_rows b join protected p on p.id = b.protected_id join heals h on h.row = b.row
where b.heal_id = $heal_id
order by b.protected_id
"""

# For each block, the heals of the window on what it covers: how many, how many of them it stopped, how many it could not look into.
BLOCKS = """
with inside as (
    select target, has_after_text, row from heals
    where ts > (select start from span) and ts <= (select stop from span)
),
by_target as (select target, count(*) as n, count(*) filter (not has_after_text) as blind from inside group by target),
stopped as (select protected_id, count(distinct heal_id) as n from blocked_rows group by protected_id),
covered as (
    select p.id, coalesce(sum(t.n), 0) as n_heals, coalesce(sum(t.blind), 0) as n_blind
    from protected p left join by_target t on t.target = p.target or (p.target = '*' and (p.text is not null or t.target is not null))
    group by p.id
)
select p.id, p.kind, p.target, p.text, c.n_heals, c.n_blind, coalesce(s.n, 0) as n_stopped,
       p.target = '*' or exists (select 1 from heals h where h.target = p.target) as is_known
from protected p join covered c using (id) left join stopped s on s.protected_id = p.id
order by n_stopped desc, p.id
limit $n
"""

TARGETS = "select distinct target from heals where target is not null order by target"


@dataclass(frozen=True)
class Stopped:
    """One heal that the gate stopped, and the blocks that it breaks."""

    heal_id: str
    ts: datetime
    loop_id: str
    cycle: int
    level: int
    target: str | None
    blocks: tuple[str, ...]
    is_whole_target: bool


@dataclass(frozen=True)
class Broken:
    """One protected block that a heal breaks: what is protected, and what of it is left in the heal's text."""

    block_id: str
    kind: str
    target: str
    text: str | None  # None: the whole target is protected
    passage: str | None  # the most similar passage of the heal's text; None when nothing in it is like the block
    sentence: str


@dataclass(frozen=True)
class Block:
    """One protected block in force, over the heals of the window."""

    block_id: str
    kind: str
    target: str
    text: str | None
    n_heals: int  # on what it covers, stopped ones included
    n_stopped: int
    n_blind: int  # of those, heals that log no text for it to be looked for in
    fault: str  # why it protects nothing; "" when it may


def stopped(audit: Audit, filters: Filters) -> tuple[Stopped, ...]:
    """Heals of the window that the gate stopped, newest first, at most STOPPED_SHOWN."""
    condition, binds = filters.sql("h")
    rows = audit.scope.query(STOPPED.format(filter=condition), n=STOPPED_SHOWN, **binds)
    return tuple(
        Stopped(heal_id, ts, loop_id, cycle, level, target, tuple(block_ids), whole)
        for heal_id, ts, loop_id, cycle, level, target, block_ids, whole in rows
    )


def broken(audit: Audit, heal_id: str) -> tuple[Broken, ...]:
    """The blocks that one stopped heal breaks, and what became of each; empty for a heal that was not stopped."""
    return tuple(
        Broken(block_id, kind, target, text, *_what_became(audit.scope, row, target, text, has_text=has_text))
        for block_id, kind, target, text, row, has_text in audit.scope.query(BROKEN, heal_id=heal_id)
    )


def _what_became(scope: Scope, row: int, target: str, text: str | None, *, has_text: bool) -> tuple[str | None, str]:
    """(closest passage, in a sentence what happened to the block)."""
    if text is None:
        whose = "every target is" if target == "*" else "this target is"
        return None, f"{whose} protected as a whole: no heal may touch it, whatever it changes"
    after = (scope.text(row) or "") if has_text else ""
    if not after.strip():
        return None, "the whole text of the target was emptied, and the block with it"
    if len(after) > LONG:
        return None, f"the block is not in the text; at {len(after):,} characters that is too long to look for what is left of it"
    passage = closest_passage(text, after)
    if passage is None:
        return None, "the block is gone: nothing in the text is like it"
    if " ".join(passage.split()).casefold() == " ".join(text.split()).casefold():
        return passage, "only capital and small letters differ, and the gate takes that for a change"
    n_words = len(text.split())
    return (
        passage,
        f"the block was changed: {_words_left(text, passage):,} of its {count(n_words, 'word')} are left in the passage most like it",
    )


def closest_passage(block: str, text: str) -> str | None:
    """The passage of a text that is most like a block, in whole words; None when nothing is. Capital and small letters are alike."""
    seen = text.lower() if len(text.lower()) == len(text) else text
    found = fuzz.partial_ratio_alignment(block.lower(), seen, score_cutoff=PASSAGE_MIN)
    if found is None:
        return None
    start, stop = (found.dest_start, found.dest_end) if len(text) >= len(block) else (0, len(text))
    words = [word for word in re.finditer(r"\S+", text) if word.end() > start and word.start() < stop]
    low, high = _trimmed([word.lower() for word in block.split()], [word.group().lower() for word in words])
    passage = text[words[low].start() : words[high - 1].end()] if low < high else ""
    alike = fuzz.ratio(block.lower(), passage.lower())
    has_words = _words_left(block.lower(), passage.lower()) >= len(block.split()) / 2
    return passage if alike >= SURELY or (alike >= PASSAGE_MIN and has_words) else None


def _trimmed(block: list[str], words: list[str]) -> tuple[int, int]:
    """The range of some words that stands for a block: from the first that matches to the last, and as far beyond as the block goes."""
    same = [step for step in Indel.opcodes(block, words) if step.tag == "equal"]
    if not same:
        return 0, len(words)
    first, last = same[0], same[-1]
    return max(0, first.dest_start - first.src_start), min(len(words), last.dest_end + len(block) - last.src_end)


def _words_left(block: str, passage: str) -> int:
    """How many words of a block stand in a passage, in the same order."""
    return int(LCSseq.similarity(block.split(), passage.split()))


def blocks(audit: Audit) -> tuple[Block, ...]:
    """Protected blocks in force, those that stopped something first, at most BLOCKS_SHOWN."""
    targets: list[str] | None = None
    found = []
    for block_id, kind, target, text, n_heals, n_blind, n_stopped, is_known in audit.scope.query(BLOCKS, n=BLOCKS_SHOWN):
        fault = ""
        if text is not None and not text.strip():
            fault = "its text is empty, which every text holds: give it a text, or leave the key out to protect the whole target"
        elif not is_known:
            targets = targets if targets is not None else [row[0] for row in audit.scope.query(TARGETS)]
            nearest = process.extractOne(target, targets, scorer=fuzz.ratio, score_cutoff=ALIKE)
            meant = f"; did you mean {cut(nearest[0])}?" if nearest else ""
            fault = f"no heal in the log names this target{meant}"
        found.append(Block(block_id, kind, target, text, n_heals, n_stopped, n_blind, fault))
    return tuple(found)


SAFETY = "select count(*) filter (safety), count(*) from surface"


def cannot_see(audit: Audit, in_force: tuple[Block, ...]) -> tuple[str, ...]:
    """What no gate of this kind can see, and what of it this workspace leaves open, in sentences."""
    n_safety, n_cases = audit.scope.one(SAFETY)
    blind = max((block.n_blind for block in in_force if block.text is not None), default=0)
    found = [
        "A protected text that is left whole and made void by a sentence beside it: the gate looks for the text and not for its effect."
    ]
    found.append(
        f"That is what safety cases are for: {n_safety:,} of {count(n_cases, 'case')} in surface.jsonl."
        if n_safety
        else "That is what safety cases in surface.jsonl are for, and this workspace has none."
    )
    if blind:
        found.append(
            f"Heals that log no after_text: there is nothing to look into. A block covers {count(blind, 'such heal')} of this window."
        )
    return tuple(found)
