"""Visible against held-out gains on a page: over time, one against the other, the heal or loop chosen, and the rows, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.parts import address, choice, tables
from pages.parts.figures import efficacy as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.report import Audit
from seam_core.views import gain, gains, gap_doubt
from seam_core.views.filters import Filters
from seam_core.views.gains import Each, Item
from seam_core.views.resolution import find_resolution, points_said
from seam_core.words import capital, count, cut

PAGES: dict[Each, str] = {"heal": "review/heals.py", "loop": "review/loop.py"}
POINTS = "gains and gap in points"
NARROW = "From the cases that changed where their runs are logged; else as if every case that changed had gone the same way."
WIDE = "The same where runs are logged; else as if the runs before and after had nothing in common."
UNKNOWN = "Empty where how many held-out cases there are, or of what span a pair is, cannot be told."
WHISKERS = (
    "Whiskers are the 95 % range of a gap: by the cases that changed where their runs are logged, else the narrowest that the scores allow."
)
P_VALUE = "Exact split test: how often a random split of the cases would give the held-out ones so little of the gain, or less."
Q_VALUE = "The share of false findings if this heal and all of smaller p are believed: with many heals, some p are small by chance."
WORDS: dict[Each, str] = {"heal": "per heal", "loop": "per loop"}


def missing(view: View, each: Each, chosen: str | None) -> None:
    """Why the heal or loop that the address names is not shown, if so."""
    pick = view.ask(gain.choose, each, chosen) if chosen else None
    if pick and not pick.item:
        st.warning(escape.plain(pick.sentence))


def over_time(view: View, each: Each, chosen: str | None) -> None:
    """The truth-gap trend: each item's two gains with the gap between them, or the means of equal spans of time."""
    found = view.ask(gap_doubt.series, each, view.filters)
    if not found.n:
        st.text("Nothing to draw: no item of this window has all four scores." if not view.filters else "Nothing passes the filters.")
        return
    exam, gap_max = view.ask(find_resolution), view.audit.settings.gap_max
    figure = view.ask(_time_figure, each, view.filters, chosen)
    alt = f"Visible and held-out gain {WORDS[each]} over time, and the gap between them; E is 0 from a gap of {100 * gap_max:g} points"
    _clickable(figure, f"time {each} {chosen}", each, alt)
    what = count(found.n, each)
    said = (
        f"{what}, one mark each" if found.span is None else f"{what}: too many to tell apart, so each mark is the mean of one {found.span}"
    )
    whiskers = f" {WHISKERS}" if any(moment.low is not None for moment in found.moments) else ""
    st.caption(f"{said}.{whiskers}{_filtered(view)}{_whole_loop_note(each, found.moments)}")
    with st.expander("The numbers behind this chart"):
        rows = [
            {
                "time": moment.ts,
                "item": moment.id if found.span is None else count(moment.n, each),
                "visible": exam.visible(moment.visible_gain),
                "held_out": exam.held_out(moment.holdout_gain),
                "gap": exam.gap(moment.visible_gain, moment.holdout_gain),
            }
            for moment in found.moments
        ]
        tables.show(
            rows, name=f"gains-over-time-{each}", alt="Gains over time", columns=_columns("time", "item", "visible", "held_out", "gap")
        )


def compared(view: View, each: Each, chosen: str | None) -> None:
    """The scatter of visible against held-out gain; beside it the choice by name, which is also the keyboard's, and what was chosen."""
    found = view.ask(gains.cells, each, view.filters)
    pick = view.ask(gain.choose, each, chosen) if chosen else None
    chart, beside = st.columns([3, 2], gap="medium")
    with beside:
        _twin(view, each, chosen)
        if pick and pick.item:
            _chosen(view, each, pick.item, found.grid)
        elif not chosen:
            st.caption("Click a mark, or choose one here, to see its scores.")
    with chart:
        if not found.n:
            st.text("Nothing to draw.")
            return
        figure = view.ask(_scatter_figure, each, view.filters, chosen)
        alt = f"Held-out against visible gain {WORDS[each]}, with the honest diagonal and the line at which E is 0"
        _clickable(figure, f"scatter {each} {chosen}", each, alt)
        apart = "" if found.grid <= gains.GRIDS[0] else f" Gains closer than {100 * found.grid:g} points share a mark."
        st.caption(f"{count(found.n, each)} at {count(len(found.cells), 'place')}; a larger mark stands for more.{apart}{_filtered(view)}")


def worst(view: View, each: Each) -> None:
    """Rows per heal or per loop, worst first; a click opens the thing."""
    found = view.ask(gap_doubt.rows, each, view.filters)
    more = f"the {len(found.items):,} worst of {found.n:,}, a shorter window shows the rest" if found.n > len(found.items) else ""
    note = " · ".join([POINTS, *([more] if more else [])])
    tested = ("p", "q") if found.table and "p" in found.table[0] else ()
    columns = ("id", "time", "heals", "visible", "held_out", "gap", "narrow", "wide", *tested, "e", "loop", "cycle", "measured")
    kept = [name for name in columns if name not in (("heals",) if each == "heal" else ("loop", "cycle", "measured"))]
    tables.show(
        found.table,
        name=f"efficacy-{each}s",
        alt=f"Gains and E {WORDS[each]}, worst first",
        columns=_columns(*kept),
        open_row=_opener(each),
        note=note,
    )


def empty(view: View) -> None:
    """Loops that look better where they look, and are not."""
    found = view.ask(gains.empty_gains, view.filters)
    if not found.n_empty:
        which = "the only loop" if found.n_rose == 1 else f"each of the {found.n_rose:,} loops"
        rose = f"{which} whose visible score rose gained held-out points, too" if found.n_rose else "no loop's visible score rose"
        st.text(f"None: {rose}.")
        return
    st.text(f"{found.n_empty:,} of {count(found.n_rose, 'loop')} whose visible score rose by a point or more gained no held-out point.")
    tokens = ["tokens"] if any(row["tokens"] is not None for row in found.table) else []
    columns = _columns("id", "time", "heals", "visible", "held_out", "gap", "e", *tokens)
    alt = "Loops with visible but no held-out gain"
    tables.show(found.table, name="empty-gains", alt=alt, columns=columns, open_row=_opener("loop"), note=POINTS)


def _time_figure(audit: Audit, each: Each, filters: Filters, chosen: str | None) -> go.Figure:
    item = gain.choose(audit, each, chosen).item if chosen else None
    found, exam = gap_doubt.series(audit, each, filters), find_resolution(audit)
    return figures.gains_over_time(found, exam, gap_max=audit.settings.gap_max, each=each, at=item.ts if item else None)


def _scatter_figure(audit: Audit, each: Each, filters: Filters, chosen: str | None) -> go.Figure:
    item = gain.choose(audit, each, chosen).item if chosen else None
    found, exam, settings = gains.cells(audit, each, filters), find_resolution(audit), audit.settings
    place = gains.place_of(found, item) if item else None
    return figures.one_against_the_other(found, exam, gap_max=settings.gap_max, alert=settings.alert_e, each=each, chosen=place)


def _clickable(figure: go.Figure, key: str, each: Each, alt: str) -> None:
    """A chart of which a click chooses the item under it. What is chosen is part of the key, so that every click counts."""

    def picked() -> None:
        marks = st.session_state[key]["selection"]["points"]
        name = next((mark["customdata"] for mark in marks if mark.get("customdata")), None)
        if name:
            address.put(each, name[0] if isinstance(name, list) else name)

    st.plotly_chart(figure, key=key, on_select=picked, selection_mode="points", config=NO_BAR, alt=alt)


def _twin(view: View, each: Each, chosen: str | None) -> None:
    """The same choice by name: the worst ones are offered, any other can be typed."""
    offered = view.ask(gains.offered, each, view.filters)
    choice.by_name(each, each.capitalize(), list(offered), chosen, lambda name: offered.get(name) or escape.visible(cut(name)))


def _chosen(view: View, each: Each, item: Item, grid: float) -> None:
    """The four scores of the item chosen as two pairs, what they say, and the way to it."""
    exam = view.ask(find_resolution)
    st.markdown(f"{escape.code(item.id)} **E {item.e:.2f}**")
    when = f"{item.ts:%Y-%m-%d %H:%M} UTC"
    where = (
        f"cycle {item.cycle} of {escape.code(item.loop_id)}, {when}"
        if each == "heal"
        else f"{count(item.n_heals, 'heal')}, the last {when}"
    )
    st.caption(where)
    pairs = (
        ("visible", f"{item.visible_before:.2f}", f"{item.visible_after:.2f}", exam.visible(item.visible_gain)),
        ("held-out", exam.score(item.holdout_before), exam.score(item.holdout_after), exam.held_out(item.holdout_gain)),
    )
    table = {
        "Score": [name for name, *_ in pairs],
        "Before": [before for _, before, _, _ in pairs],
        "After": [after for _, _, after, _ in pairs],
        "Gain (points)": [points_said(gain) for *_, gain in pairs],
    }
    st.dataframe(table, hide_index=True, alt="Scores before and after")
    st.text(escape.visible(view.ask(gain.tell, each, item)))
    for said in view.ask(gap_doubt.item_sentences, each, item.id):
        st.caption(escape.plain(f"{capital(said)}."))
    address.link(PAGES[each], f"Open {each}", **{each: item.id})
    same = view.ask(gains.same_place, each, item.id, grid, view.filters)
    if same:
        most, plus = ("the worst", "+") if len(same) == gains.SAME_MAX else ("all", "")
        with st.expander(f"Other {each}s with the same gains ({len(same)}{plus})"):
            columns = _columns("id", "time", "e")
            tables.show(same, name=f"same-{each}s", alt="The same gains", columns=columns, open_row=_opener(each), note=most)


def _columns(*names: str) -> dict[str, Any]:
    number = st.column_config.NumberColumn
    known: dict[str, Any] = {
        "id": "Name",
        "item": "Item",
        "loop": "Loop",
        "cycle": "Cycle",
        "heals": "Heals",
        "time": st.column_config.DatetimeColumn("Time (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
        "visible": "Visible gain",
        "held_out": "Held-out gain",
        "gap": "Gap",
        "narrow": st.column_config.TextColumn("95 % range, at least", help=f"{NARROW} {UNKNOWN}"),
        "wide": st.column_config.TextColumn("95 % range, at most", help=f"{WIDE} {UNKNOWN}"),
        "p": number("p", format="%.3f", help=P_VALUE),
        "q": number("q", format="%.3f", help=Q_VALUE),
        "e": number("E", format="%.2f"),
        "measured": "Held-out is of",
        "tokens": number("Tokens", format="localized"),
    }
    return {name: known[name] for name in names}


def _opener(each: Each) -> Any:
    return lambda row: address.go_later(PAGES[each], **{each: row["id"]})


def _filtered(view: View) -> str:
    return " Filtered by the sidebar; the scores above are not." if view.filters else ""


def _whole_loop_note(each: Each, moments: Sequence[gains.Moment]) -> str:
    n = sum(one.whole_loop for one in moments)
    if each == "loop" or not n or moments[0].id is None:
        return ""
    return f" {count(n, 'hollow square is', 'hollow squares are')} a held-out pair measured once for a whole loop: see it per loop."
