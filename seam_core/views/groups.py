"""Heals of the review queue that are one case: many of them become one line, and the one that is not like the others is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from seam_core.report import Audit
from seam_core.views.queue import Order, Wanted, listing, prepare

# What makes heals one case. Without a text there is nothing that could be identical, so such a heal stands alone.
KEYS = {
    "change": "case when h.has_after_text then hash(h.target, h.after_text_hash) else hash(h.heal_id, 'alone') end",
    "signature": "hash(h.failure_signature)",
}
Grouping = Literal["change", "signature"]
GROUP_KEYS = "select h.heal_id, {key} from queue_rows q join heals h using (row)"
FOUND = """
select heal_id, q.place, list_sort(q.kinds)
from (select unnest($ids::varchar[]) as heal_id) asked join heals h using (heal_id) join queue_rows q using (row)
"""


@dataclass(frozen=True)
class Entry:
    """One line of a grouped queue: its first heal stands for all. `odd`: the worst of those that are not like most of them."""

    heal_id: str
    members: tuple[str, ...]
    odd: str | None = None
    n_odd: int = 0


def grouped(audit: Audit, wanted: Wanted, order: Order, by: Grouping) -> tuple[Entry, ...]:
    """The heals wanted with those that are one case as one entry, in the order of their first. See `odd_ones` for what is odd."""
    with audit.scope.store.lock:
        ids = listing(audit, wanted, order).ids
        key_of = dict(audit.scope.query(GROUP_KEYS.format(key=KEYS[by])))
    groups: dict[int, list[str]] = {}
    for heal_id in ids:
        groups.setdefault(key_of[heal_id], []).append(heal_id)
    return tuple(Entry(some[0], tuple(some)) for some in groups.values())


def odd_ones(audit: Audit, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, each with the heal about which something else was found than about most of its group, if most of it are alike."""
    ids = [heal_id for entry in entries if len(entry.members) > 1 for heal_id in entry.members]
    with audit.scope.store.lock:
        prepare(audit)
        found = {heal_id: (place, tuple(kinds)) for heal_id, place, kinds in audit.scope.query(FOUND, ids=ids)}
    return tuple(_with_odd_one(entry, found) if len(entry.members) > 1 else entry for entry in entries)


def _with_odd_one(entry: Entry, found: Mapping[str, tuple[int, tuple[str, ...]]]) -> Entry:
    (usual, n_usual), *_ = Counter(found[heal_id][1] for heal_id in entry.members).most_common(1)
    odd = [heal_id for heal_id in entry.members if found[heal_id][1] != usual]
    if not odd or 2 * n_usual <= len(entry.members):
        return entry
    return replace(entry, odd=min(odd, key=lambda heal_id: found[heal_id][0]), n_odd=len(odd))
