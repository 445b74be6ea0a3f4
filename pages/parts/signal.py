"""The parts of the Signal page: the sum, signatures over time and in a table, what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts import address, losses, memory, tables
from pages.parts.figures import signal as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import signal, signal_duplicates, signal_timeline
from seam_core.views.signal_reviews import Compared
from seam_core.words import count, cut

LANES = 10  # signatures on the timeline while none is chosen
OFFERED = 200  # signatures in the picker; any other can be typed
BESIDE = 4  # likely duplicates drawn beside the signature chosen
OVERVIEW = ""
MOMENT = {"format": "YYYY-MM-DD HH:mm", "timezone": "UTC"}


def score(view: View, verdicts: Compared) -> None:
    """S step by step, and what its points were lost to."""
    why = "F1 = 2 · real ÷ (2 · real + not real + missed): each false alarm and each missed failure costs the same."
    if view.audit.signal.fn is None:
        why = "There is no failures.jsonl: what was missed is not known, so precision stands in for F1, and a failure counts as back when "
        why += "another loop heals it again."
    if view.audit.signal.score is None:
        why = f"S needs at least one heal that says whether its failure was real. {why}"
    losses.show(view, view.ask(signal.take_apart), axis="S", why=" ".join([why, view.ask(signal.rates_sentence)]).strip())
    if verdicts.sentences:
        st.text(verdicts.sentences[0])


def choose_shown() -> str:
    """What timeline and table are narrowed to."""
    options = list(signal.SHOWN)
    chosen = st.segmented_control("Show", options, default="all", required=True, key="signatures", bind="query-params")
    return str(chosen)


def over_time(view: View, shown: str) -> None:
    """The signature that the address names, else those that cost most, on one time axis."""
    rows = view.ask(signal.list_signatures, view.filters, shown).rows
    name = address.get("signature")
    _pick(name, [row["signature"] for row in rows[:OFFERED]])
    names = tuple(row["signature"] for row in rows[:LANES]) if name is None else (name, *_beside(view, name))
    found = view.ask(signal_timeline.draw_timeline, view.filters, names)
    if name is not None:
        row = view.ask(signal.find_signature, name)
        if row:
            st.text(signal.describe(row))
        else:
            st.warning(escape.plain(view.ask(signal_timeline.absent, name)))
    if found.lanes:
        _chart(view, found, name)
    elif name is None:
        st.text("Nothing to draw: no signature passes.")
    if name is not None:
        _events(view, name)


def _pick(name: str | None, offered: list[str]) -> None:
    options = [OVERVIEW, *dict.fromkeys([*([name] if name else []), *offered])]
    st.session_state["signature_picked"] = name or OVERVIEW
    st.selectbox(
        "Signature",
        options,
        format_func=lambda one: escape.visible(cut(one, 100)) if one else f"the {LANES} worst",
        key="signature_picked",
        on_change=lambda: address.put("signature", st.session_state["signature_picked"]),
        accept_new_options=True,
        help="A click on the timeline or on a row of the table below chooses, too.",
    )


def _beside(view: View, name: str) -> tuple[str, ...]:
    alike = [(row["signature"], *row["others"]) for row in view.ask(signal_duplicates.find_duplicates).rows]
    alike = [names for names in alike if name in names]
    return tuple(other for other in alike[0] if other != name)[:BESIDE] if alike else ()


def _chart(view: View, found: signal_timeline.Timeline, name: str | None) -> None:
    has_failures = view.audit.signal.fn is not None
    key = f"timeline {name}"

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        at, heal = points[0]["customdata"] if points and "customdata" in points[0] else (None, "")
        if at is not None and (name is None or found.lanes[at].signature != name):
            address.put("signature", found.lanes[at].signature)
        elif heal:
            address.go_later("review/heals.py", heal=heal)

    figure = memory.draw(figures.timeline, found, has_failures=has_failures)
    alt = f"Heals by label, failures and recurrences of {count(len(found.lanes), 'signature')} over time; the tables have the same"
    st.plotly_chart(figure, key=key, config=NO_BAR, alt=alt, on_select=clicked, selection_mode="points")
    said = ["A click opens the signature." if name is None else "A click on a heal opens it."]
    said += ["Below the signature chosen: its likely duplicates."] if name is not None and len(found.lanes) > 1 else []
    said += ["Crowded lanes are thinned out evenly; the table has the totals."] if any(lane.is_thinned for lane in found.lanes) else []
    st.caption(" ".join(said))


def _events(view: View, name: str) -> None:
    events = view.ask(signal_timeline.list_events, view.filters, name)
    if not events:
        return
    columns = {
        "ts": st.column_config.DatetimeColumn("Time (UTC)", **MOMENT), "what": "What", "heal": "Heal", "loop": "Loop", "cycle": "Cycle",
        "source": "Label from",
    }  # fmt: skip
    tables.show(events, name="signature-events", alt="Heals and failures of this signature", columns=columns, open_row=_open_heal)


def _open_heal(row: Mapping[str, Any]) -> None:
    if row["heal"]:
        address.go_later("review/heals.py", heal=row["heal"])


def table(view: View, shown: str, verdicts: Compared) -> None:
    """All signatures, the dearest first."""
    found = view.ask(signal.list_signatures, view.filters, shown)
    columns = {
        "signature": st.column_config.TextColumn("Signature", width=290), "verdict": "Verdict",
        "back": st.column_config.TextColumn("Came back", width=190),
        "cost": losses.cost_column("Costs S (points)", found.rows), "heals": "Heals", "loops": "Loops", "real": "Labelled real",
        "not_real": "Labelled not real", "unlabelled": "No label", "failures": "Failures logged",
        "first": st.column_config.DatetimeColumn("First", **MOMENT), "last": st.column_config.DatetimeColumn("Last", **MOMENT),
    }  # fmt: skip
    note = f"the worst of {found.n_found:,}" if found.n_found > len(found.rows) else None
    if view.filters:
        st.caption("Filtered by level or target: signatures without a heal have neither and are not listed.")
    rows: Sequence[dict[str, Any]] = found.rows
    if verdicts.by_signature:
        rows = [row | {"people": verdicts.by_signature.get(row["signature"], "")} for row in rows]
        columns["people"] = "People say"
    alt = "Failure signatures, worst first"
    tables.show(rows, name="signatures", alt=alt, columns=columns, open_row=_open_signature, note=note)


def _open_signature(row: Mapping[str, Any]) -> None:
    address.put("signature", row["signature"])


def stayed_away(view: View) -> None:
    """How many came back within 7, 14 and 30 days, of those that had the time."""
    found = view.ask(signal.list_returns)
    if not found:
        st.text("No signature was healed in this window.")
        return
    alt = "Healed signatures that came back, stayed away, or have not had the time, by days of follow-up; the sentences have the numbers"
    left, right = st.columns([4, 5], gap="medium")
    with left:
        st.plotly_chart(memory.draw(figures.returns, found), key="returns", config=NO_BAR, alt=alt)
    with right:
        for one in found:
            st.text(f"{signal.days_in_words(one.days)}{', the time that S uses' if one.is_scored else ''}: {one.sentence}")
        after = view.audit.signal.recurrence_after_loop
        if after is not None:
            n = round(after * view.audit.signal.n_signatures)
            more = " S also counts failures in a loop still at work." if view.audit.signal.fn is not None else ""
            st.caption(f"Counted only from the last heal of a loop: {n:,} came back.{more}")
        if view.window.start and not next(one.n_followed for one in found if one.is_scored):
            st.caption("A window that ends earlier leaves its failures time to come back.")
