"""The list of the review queue: what is asked for, one sheet of twelve lines, and the way from line to line. All of it in the address.

The chosen line is set from code at every run, so that keys, clicks and links agree on it; twelve lines are always in sight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st

from pages.parts import address, tables
from pages.parts.frame import View
from seam_core import escape
from seam_core.ranking import KINDS
from seam_core.views import groups, queue, verdicts
from seam_core.views.groups import Entry, Grouping
from seam_core.views.queue import Listing, Order, Row, Wanted
from seam_core.views.verdicts import Decided
from seam_core.words import count, cut

SIZE = 12  # lines of a sheet
MEMBERS_OFFERED = 200  # heals of a group to choose from
ORDERS: dict[str, Order] = {
    "worst first": "worst", "newest first": "newest", "largest gap": "gap", "most regressed": "regressed", "dearest": "dearest",
}  # fmt: skip
NOTHING = "No heal of this window is in this list. Take a filter away, or choose a longer window in the sidebar."
SEARCHED = "Heal ids, loops, signatures, targets, and in short lists the changed texts"
GROUPS: dict[str, Grouping | None] = {"nothing": None, "identical change": "change", "signature": "signature"}
assert set(ORDERS.values()) == set(get_args(Order))


@dataclass(frozen=True)
class Lines:
    """The lines of the list: heals, or groups of heals by the first of each. `heal_ids`: one a line; `found`: before the review filter."""

    heal_ids: tuple[str, ...]
    found: Listing
    state: str = "all"
    entries: tuple[Entry, ...] | None = None

    def at(self, heal_id: str | None) -> int | None:
        """The line on which a heal stands."""
        if self.entries is not None:
            return next((at for at, entry in enumerate(self.entries) if heal_id in entry.members), None)
        return self.heal_ids.index(heal_id) if heal_id in self.heal_ids else None

    def heals_of(self, at: int) -> tuple[str, ...]:
        """The heals that a line stands for."""
        return self.entries[at].members if self.entries is not None else self.heal_ids[at : at + 1]

    @property
    def all_heals(self) -> tuple[str, ...]:
        """Every heal of the list."""
        return self.heal_ids if self.entries is None else tuple(heal_id for entry in self.entries for heal_id in entry.members)


def choose(view: View, decided: Decided) -> Lines:
    """Draw the filters; the lines that they leave."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input("Search", key="find", bind="query-params", placeholder="name or text", width=165, help=SEARCHED)
        state = st.selectbox("Show", verdicts.STATES, key="review", bind="query-params", width=120)
        order = st.selectbox("Order", list(ORDERS), key="order", bind="query-params", width=145)
        by = st.selectbox("Group by", list(GROUPS), key="group", bind="query-params", width=150)
        offered = list(dict.fromkeys([*view.ask(queue.signatures), *st.query_params.get_all("sig")]))
        signature = st.selectbox(
            "Signature", offered, index=None, key="sig", bind="query-params", placeholder="all", width=140,
        )  # fmt: skip
    kinds = st.pills("Found (any of these)", KINDS, selection_mode="multi", key="found", bind="query-params")
    wanted = Wanted(tuple(sorted(kinds)), signature or "", text or "", view.filters)
    found = view.ask(queue.listing, wanted, ORDERS[order])
    grouping = GROUPS[by]
    if grouping is None:
        return Lines(verdicts.chosen(found.ids, decided, state), found, state)
    entries = verdicts.chosen_entries(view.ask(groups.grouped, wanted, ORDERS[order], grouping), decided, state)
    return Lines(tuple(entry.heal_id for entry in entries), found, state, entries)


def show(view: View, lines: Lines, decided: Decided, at: int | None) -> None:
    """One sheet of the list, the one with the chosen line on it."""
    if not lines.heal_ids:
        done = lines.state == "to do" and lines.found.ids
        st.info("Nothing left to do in this list." if done else NOTHING)
        return
    first = (at or 0) - (at or 0) % SIZE
    ids = lines.heal_ids[first : first + SIZE]
    rows = {row.heal_id: row for row in view.ask(queue.rows, ids)}
    if lines.entries is None:
        cells = [_line(rows[heal_id], name, decided) for heal_id, name in zip(ids, queue.short_ids(ids), strict=True)]
    else:
        entries = view.ask(groups.odd_ones, lines.entries[first : first + SIZE])
        cells = [_group_line(rows[one.heal_id], one, name, decided) for one, name in zip(entries, queue.short_ids(ids), strict=True)]
    widths = WIDTHS | (IN_GROUPS if lines.entries is not None else {})
    st.session_state["queue"] = {"selection": {"rows": [] if at is None else [at - first], "columns": [], "cells": []}}
    st.dataframe(
        tables.frame_of(cells),
        key="queue",
        on_select=lambda: _picked(ids, at),
        selection_mode=["single-row", "single-cell"],
        hide_index=True,
        height="content",
        alt="Heals of the queue; choose one to see it beside the list",
        column_config={name: st.column_config.TextColumn(name, width=_width(name, widths, cells)) for name in cells[0]},
    )
    _sheets(lines, first)


WIDTHS = {"Heals": 45, "Heal": 75, "Decided": 95, "Found": 300, "Odd one": 150}
IN_GROUPS = {"Decided": 65, "Found": 150}  # narrower there


NAME = 15  # characters of an id in the list; its end tells heals apart
LONG_NAME = 125  # px


def _width(column: str, widths: Mapping[str, int], cells: list[dict[str, Any]]) -> int:
    """Ids that are long take room from what was found."""
    n_extra = LONG_NAME - widths["Heal"] if any(len(cell["Heal"]) > 9 for cell in cells) else 0
    return widths[column] + {"Heal": n_extra, "Found": -n_extra}.get(column, 0)


def _name(heal_id: str) -> str:
    line = _cell(heal_id)
    return line if len(line) <= NAME else f"…{line[1 - NAME :]}"


def _line(row: Row, name: str, decided: Decided) -> dict[str, Any]:
    return {"Heal": _name(name), "Decided": _cell(verdicts.in_short(decided, row.heal_id)), "Found": _found(row)}


def _group_line(row: Row, entry: Entry, name: str, decided: Decided) -> dict[str, Any]:
    n_decided = sum(heal_id in decided.latest for heal_id in entry.members)
    done = f"{n_decided:,} of {len(entry.members):,}" if n_decided else ""
    odd = f"{entry.odd}{f' and {entry.n_odd - 1:,} more' if entry.n_odd > 1 else ''}" if entry.odd else ""
    return {"Heals": f"{len(entry.members):,}", "Heal": _name(name), "Decided": done, "Found": _found(row), "Odd one": _cell(odd)}


def _found(row: Row) -> str:
    return queue.in_brief(row) or "nothing"


def _cell(text: str) -> str:
    return escape.visible(cut(text, tables.CELL))


def _sheets(lines: Lines, first: int) -> None:
    """The way to other sheets, and how long the list is."""
    n_lines = len(lines.heal_ids)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        n_heals = len(lines.all_heals)
        what = count(n_heals, "heal") if lines.entries is None else f"{count(n_lines, 'group')} of {count(n_heals, 'heal')}"
        st.caption(f"{what}{f', window {lines.found.n_window:,}' if n_heals < lines.found.n_window else ''}", width="content")
        if n_lines > SIZE:
            key = f"sheet {first} of {n_lines}"
            st.pagination(
                -(-n_lines // SIZE), default=first // SIZE + 1, max_visible_pages=5, key=key, on_change=_turned, args=(key, lines.heal_ids)
            )
    if lines.found.searched:
        st.caption(lines.found.searched)


def _turned(key: str, heal_ids: tuple[str, ...]) -> None:
    open_heal(heal_ids[(st.session_state[key] - 1) * SIZE])


def _picked(ids: tuple[str, ...], at: int | None) -> None:
    """A click on a row or on one of its cells; unmarking the chosen row changes nothing."""
    selection = st.session_state["queue"]["selection"]
    rows = [cell[0] for cell in selection.get("cells", ())] or list(selection.get("rows", ()))
    if rows and rows[0] < len(ids) and (at is None or rows[0] != at % SIZE):
        open_heal(ids[rows[0]])


def open_heal(heal_id: str | None) -> None:
    """Show another heal; a callback."""
    address.put("heal", heal_id)


def members(view: View, lines: Lines, at: int | None, heal_id: str) -> None:
    """The other heals of a group, and the one about which something else was found."""
    if at is None or lines.entries is None or len(lines.heals_of(at)) == 1:
        return
    (entry,) = view.ask(groups.odd_ones, lines.entries[at : at + 1])
    key = f"members {entry.heal_id}"
    st.session_state[key] = heal_id
    offered = list(dict.fromkeys([*entry.members[:MEMBERS_OFFERED], heal_id]))
    label = f"Heals of this group ({len(entry.members):,})"
    st.selectbox(label, offered, format_func=escape.visible, key=key, on_change=lambda: open_heal(st.session_state[key]))
    if entry.odd:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            more = f" and {count(entry.n_odd - 1, 'other')}" if entry.n_odd > 1 else ""
            st.caption(f"Not like most of the group: {escape.code(entry.odd)}{more}", width="content")
            st.button(
                "Show it", key=f"odd {entry.odd}", on_click=open_heal, args=(entry.odd,), type="tertiary", disabled=entry.odd == heal_id
            )


def download(view: View, lines: Lines) -> None:
    """Every heal of the list as a file."""
    make: Callable[[], bytes] = lambda: tables.csv_bytes(queue.table(view.audit, lines.all_heals))  # noqa: E731 -- made when asked for
    st.download_button("List (CSV)", make, "heals.csv", "text/csv", on_click="ignore", help="All heals of this list, not only the sheet")
