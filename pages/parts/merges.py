"""Merging failure signatures: what is suggested and what speaks for it, deciding, what people said, and S with the merges.

Everything is written in callbacks, each by one call of the core, with what was shown as arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.parts import address, decisions, tables
from pages.parts.decisions import State
from pages.parts.frame import View
from seam_core import escape, merges
from seam_core.ledger import Actor, Ledger
from seam_core.ledger.kinds import COMMENT_MAX, MERGED_MAX, Likeness
from seam_core.merges import Merges
from seam_core.report import Audit
from seam_core.settings import Resolved
from seam_core.views import signal_duplicates, signal_merges
from seam_core.views.signal_merges import Together
from seam_core.window import Window
from seam_core.words import count, cut

SAID_AT_ONCE = 10  # words of people on screen at once
MOMENT = {"format": "YYYY-MM-DD HH:mm", "timezone": "UTC"}


def show(view: View) -> None:
    """Suggestions to decide on, S with what was merged, and who said what."""
    state = decisions.standing(view)
    if state.fault:
        st.warning(escape.plain(f"What people decided cannot be shown: {state.fault}"))
        said = Merges()
    else:
        said = _said(str(state.ledger.path), state.ledger.chain().head, state.ledger)
    _compare(view, state, said)
    _suggest(view, state, said)
    _words(state, said)


@st.cache_resource(max_entries=20, show_spinner=False)
def _said(path: str, head: str | None, _ledger: Ledger) -> Merges:
    return merges.merges_of(_ledger)


@st.cache_resource(max_entries=20, show_spinner=False)
def _together(key: str, window: Window, resolved: Resolved, path: str, head: str | None, _audit: Audit, _said: Merges) -> Together:
    with _audit.scope.store.lock:
        return signal_merges.compare(_audit, _said)


def _compare(view: View, state: State, said: Merges) -> None:
    """S as logged and S merged side by side, and what only merging finds; nothing while nobody merged anything."""
    if not said.groups:
        return
    found = _together(view.opened.key, view.window, view.resolved, str(state.ledger.path), state.ledger.chain().head, view.audit, said)
    st.text(found.sentence)
    columns = {
        "what": "Signatures", "S": st.column_config.NumberColumn("S", format="%.2f"), "healed": "Healed", "real": "Real",
        "not_real": "Not real", "missed": "Missed", "back": "Came back",
    }  # fmt: skip
    shown = tables.frame_of(found.sums)
    alt = "Signal of the signatures as logged, and with those merged that people hold for one failure"
    st.dataframe(shown, hide_index=True, height="content", column_config=columns, alt=alt, placeholder="–")
    st.markdown("**Came back under another name**")
    if not found.found:
        st.caption("Merging finds no recurrence in this window that S does not find by itself.")
        return
    names = {
        "healed_as": st.column_config.TextColumn("Healed as", width=260), "back_as": st.column_config.TextColumn("Back as", width=260),
        "days": "After days", "ts": st.column_config.DatetimeColumn("Back on (UTC)", **MOMENT), "heal": "Heal",
    }  # fmt: skip
    alt = "Recurrences that only merging finds"
    tables.show(found.found, name="merged-recurrences", alt=alt, columns=names, open_row=_open_heal)


def _open_heal(row: Mapping[str, Any]) -> None:
    address.go_later("review/heals.py", heal=row["heal"])


def _suggest(view: View, state: State, said: Merges) -> None:
    """What is still to decide: all of it as a table, and one suggestion with what speaks for it."""
    found = view.ask(signal_duplicates.find_duplicates)
    rows = signal_duplicates.open_suggestions(found, said)
    left_out = f" {count(found.n_left_out, 'signature')} too rare or too long to compare." if found.n_left_out else ""
    for name, tell in (("merge fault", st.error), ("merge note", st.info)):
        if told := st.session_state.pop(name, None):
            tell(escape.plain(told))
    if not rows:
        settled = "All that looked like one failure written twice is decided." if found.rows else ""
        st.text(f"{settled or 'No two signatures look like one failure written twice.'}{left_out}")
        return
    st.caption(
        "One failure under several names splits its heals and hides that it came back. S counts signatures as they were logged, whatever "
        "is decided here. Where each has its own number, they are one failure if it counts or identifies an occurrence, several if it "
        f"names the task.{left_out}"
    )
    columns = {
        "signature": st.column_config.TextColumn("Signature", width=230),
        "others": st.column_config.TextColumn("Also written as", width=230),
        "crossed": st.column_config.NumberColumn("Back as other", help="Came back under another name within the days that S uses"),
        "reason": st.column_config.TextColumn("Why", width=220), "n": "Names", "heals": "Heals", "failures": "Failures logged",
    }  # fmt: skip
    alt = "Signatures that may be one failure, the surest first"
    note = f"the first of {found.n_found:,}" if found.n_found > len(found.rows) else None
    tables.show(rows, name="likely-duplicates", alt=alt, columns=columns, open_row=_choose, note=note)
    known = {_key(row): row for row in rows}
    if st.session_state.get("merge shown") not in known:
        st.session_state["merge shown"] = next(iter(known))
    words = {key: f"{at}. {cut(row['signature'])} and {cut(row['others'][0])}" for at, (key, row) in enumerate(known.items(), start=1)}
    st.selectbox(
        f"To decide ({len(rows):,})",
        list(known),
        format_func=lambda one: escape.visible(words[one]),  # numbered: two that are cut alike must not be taken for each other
        key="merge shown",
    )
    _one(view, state, known[st.session_state["merge shown"]])


def _key(row: Mapping[str, Any]) -> str:
    return tables.digest_of([row["reason"], row["signature"], *row["others"]])


def _choose(row: Mapping[str, Any]) -> None:
    st.session_state["merge shown"] = _key(row)


def _one(view: View, state: State, row: Mapping[str, Any]) -> None:
    """One suggestion: each name with its numbers, and the decision."""
    names, key = (row["signature"], *row["others"]), _key(row)
    shown = names[:MERGED_MAX]
    columns = {
        "signature": st.column_config.TextColumn("Signature", width=300), "alike": "Alike (%)", "heals": "Heals", "real": "Labelled real",
        "failures": "Failures logged", "first": st.column_config.DatetimeColumn("First", **MOMENT),
        "last": st.column_config.DatetimeColumn("Last", **MOMENT), "plain": st.column_config.TextColumn("In plain form", width=300),
    }  # fmt: skip
    rows = view.ask(signal_duplicates.compare_names, shown)
    tables.show(rows, name="names", alt="The names that may be one failure, each held against the first", columns=columns)
    st.caption(escape.plain(f"Suggested because: {row['reason']}."))
    if len(names) > len(shown):
        st.caption(f"The {MERGED_MAX} most frequent of {len(names):,} names; the others follow once these are decided.")
    if len(shown) > 2:
        st.pills(
            "Names to decide on; the first of them stands for all",
            shown,
            selection_mode="multi",
            default=shown,
            format_func=lambda name: escape.plain(cut(name)),
            key=f"merge names {key}",
            disabled=not state.can_write,
        )
    st.text_input("Comment, kept with the decision", key=f"merge comment {key}", max_chars=COMMENT_MAX, disabled=not state.can_write)
    few = len(st.session_state.get(f"merge names {key}", shown)) < 2
    with st.container(horizontal=True, gap="xsmall"):
        for verdict, label in (("same", "One failure"), ("different", "Several failures")):
            st.button(
                label,
                key=f"{verdict} {key}",
                on_click=_decide,
                args=(state.ledger, key, shown, verdict, row["reason"]),
                disabled=not state.can_write or few,
            )
    if state.why_not:
        st.caption(escape.plain(state.why_not))


def _words(state: State, said: Merges) -> None:
    """What people said about signatures, the newest first; one's own can be taken back."""
    rows = signal_merges.list_said(said)
    if not rows:
        return
    with st.expander(f"What people said about signatures ({len(rows):,})", expanded=True):
        n_sheets = -(-len(rows) // SAID_AT_ONCE)
        at = st.pagination(n_sheets, key=f"merge words {n_sheets}") if n_sheets > 1 else 1
        for row in rows[(at - 1) * SAID_AT_ONCE : at * SAID_AT_ONCE]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"{escape.code(row['who'])} **{row['verdict']}**, {row['state']}", width="content")
                st.caption(f"{row['when']}, row {row['seq']}", width="content")
                if state.actor and row["key"] == state.actor.key and state.can_write:
                    st.button(
                        "Take back", key=f"take back {row['seq']}", type="tertiary", on_click=_take_back, args=(state.ledger, row["seq"])
                    )
            st.text(escape.visible(merges.in_short((row["signature"], *row["others"]), shown=6)))
            if row["comment"]:
                st.caption(escape.plain(row["comment"]))


def _decide(ledger: Ledger, key: str, shown: tuple[str, ...], verdict: Likeness, reason: str) -> None:
    """Write the decision about the names that are left chosen, in the order in which they were shown."""
    chosen = set(st.session_state.get(f"merge names {key}", shown))
    names = [name for name in shown if name in chosen]
    comment = st.session_state.get(f"merge comment {key}", "")

    def write(actor: Actor) -> str | None:
        row = merges.say_same(ledger, names, actor=actor, verdict=verdict, why_suggested=reason, comment=comment)
        what = "one failure" if verdict == "same" else "several failures"
        return row.note or f"{merges.in_short(names)}: {what}, row {row.seq} of the ledger."

    decisions.written(write, of="merge")


def _take_back(ledger: Ledger, seq: int) -> None:
    decisions.written(lambda actor: merges.take_back(ledger, seq, actor=actor).note or f"Row {seq} is taken back.", of="merge")
