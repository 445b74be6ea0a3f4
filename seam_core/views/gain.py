"""One heal's or one loop's two gains, by name: the item itself, or why this window has no E for it; and what of its gain is not real."""

from __future__ import annotations

from dataclasses import dataclass

from seam_core.findings import gap_sentence, split_gap_sentence
from seam_core.inputs import FOUR_SCORES
from seam_core.report import Audit
from seam_core.views.gains import COLUMNS, Each, Item, sql_of
from seam_core.words import capital, count, cut, listed

ONE = f"with items as ({{items}}) select {COLUMNS} from items where id = $id"
# One visible pair on all of a loop's heals is the loop's, and may stand beside the loop's held-out pair.
ONE_PAIR = "select count(distinct (visible_before, visible_after)) from loop_heals where loop_id = $loop_id"


@dataclass(frozen=True)
class Chosen:
    """What an address names: the item, or why it is not shown."""

    item: Item | None
    sentence: str = ""


def choose(audit: Audit, each: Each, name: str) -> Chosen:
    """The heal or loop of that name, whatever is filtered; a sentence where this window has no E for it."""
    found = audit.scope.query(ONE.format(items=sql_of(each)[0]), id=name)
    if found:
        return Chosen(Item(*found[0]))
    return Chosen(None, _absent_heal(audit, name) if each == "heal" else _absent_loop(audit, name))


WHY_NO_HEAL = f"""
select ts, ts > (select start from span) and ts <= (select stop from span), row in (select row from blocked),
       {", ".join(f"{key} is null" for key in FOUR_SCORES)}
from heals where heal_id = $id
"""
WHY_NO_LOOP = "select count(*), (select count(*) from window_heals where loop_id = $id) from heals where loop_id = $id"


def tell(audit: Audit, each: Each, item: Item) -> str:
    """What of one item's visible gain is not real, as a sentence."""
    visible, held_out = item.visible_gain, item.holdout_gain
    said = gap_sentence(visible, held_out)
    if each == "heal" and item.whole_loop:
        is_loops_own = audit.scope.one(ONE_PAIR, loop_id=item.loop_id)[0] == 1
        said = gap_sentence(visible, held_out, whole_loop=True) if is_loops_own else split_gap_sentence(visible, held_out)
    said = said or "to a point, the held-out score gained as much or more"
    return f"{capital(said)}."


def _absent_heal(audit: Audit, name: str) -> str:
    found = audit.scope.query(WHY_NO_HEAL, id=name)
    if not found:
        return f"There is no heal {cut(name)} in this workspace."
    ts, is_inside, is_blocked, *lacks = found[0]
    if not is_inside:
        return f"Heal {cut(name)} is of {ts:%Y-%m-%d %H:%M} UTC, outside of this window."
    if is_blocked:
        return f"The boundary gate stopped heal {cut(name)}, so it has no E."
    missing = [key for key, lack in zip(FOUR_SCORES, lacks, strict=True) if lack]
    return f"Heal {cut(name)} has no E: it does not log {listed(missing)}."


def _absent_loop(audit: Audit, name: str) -> str:
    n_heals, n_inside = audit.scope.one(WHY_NO_LOOP, id=name)
    if not n_heals:
        return f"There is no loop {cut(name)} in this workspace."
    if not n_inside:
        return f"Loop {cut(name)} has no heal in this window ({count(n_heals, 'heal')} outside of it)."
    return f"Loop {cut(name)} has no E: none of its heals logs one of the four scores."
