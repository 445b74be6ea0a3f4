"""The sidebar: the menu, which workspace, which window, and when the data was last read. What is chosen lives in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.navigation.page import Page

from pages.parts import identity
from pages.parts.empty import ChooseError
from seam_core import escape
from seam_core.errors import WindowError
from seam_core.views.filters import LEVELS, Filters
from seam_core.window import make_window, parse_end
from seam_core.words import count, cut

if TYPE_CHECKING:
    from pages.parts.memory import Opened

WINDOWS = ("24h", "7d", "28d", "all")  # as they stand in the address
OTHER = "other"
DEFAULT_WINDOW = "7d"
COUNTED_AT_ONCE = 2**20  # bytes
WIDTH = 330  # px; the window control fits on one line


def menu(sections: Mapping[str, Sequence[Page]]) -> None:
    """Links to the pages, grouped by section."""
    with st.sidebar:
        st.markdown("**SEAM** repair audit")
        for section, pages in sections.items():
            st.caption(section)
            for page in pages:
                st.page_link(page, width="stretch")


def choose_workspace(folders: Mapping[str, Path]) -> str | None:
    """Name of the workspace: the only one, or the one that the address or the picker names; None when none is chosen yet.

    Raises ChooseError when it is not there.
    """
    if len(folders) == 1:
        return next(iter(folders))
    asked = st.query_params.get("workspace") or st.session_state.get("workspace")
    if asked and asked not in folders:
        raise ChooseError(sorted(folders), take_workspace, asked=asked)
    if asked and st.query_params.get("workspace") != asked:
        st.query_params["workspace"] = asked
    st.session_state["workspace"] = st.session_state["workspace_picked"] = asked
    st.selectbox(
        "Workspace",
        list(folders),
        placeholder="Choose one",
        key="workspace_picked",
        on_change=lambda: take_workspace(st.session_state["workspace_picked"]),
    )
    return asked


def take_workspace(name: str) -> None:
    """Go to another workspace; its window ends at its own newest heal."""
    _forget_end()
    st.session_state["workspace"] = st.query_params["workspace"] = name


def choose_window(newest: datetime) -> tuple[str, datetime]:
    """Length and end of the window. Both stand in the address in full, so that a link keeps its meaning.

    Raises WindowError when what was typed cannot be understood.
    """
    span = _kept("win", DEFAULT_WINDOW)
    st.session_state["win_picked"] = span if span in WINDOWS else OTHER
    st.segmented_control("Window", [*WINDOWS, OTHER], required=True, key="win_picked", on_change=_take_window)
    if span not in WINDOWS:
        st.session_state["span_typed"] = "" if span == OTHER else span
        st.text_input("Length", key="span_typed", on_change=_take_span, help="Hours, days or weeks: 36h, 14d, 6w", placeholder="14d")
        span = "14d" if span == OTHER else span
    end = _choose_end(newest)
    _check_length(span, end)
    return span, end


def _check_length(span: str, end: datetime) -> None:
    """Raises WindowError in the words of the field, not of the command line."""
    make_window("all", end=end)
    try:
        make_window(span, end=end)
    except WindowError:
        raise WindowError(f"Length must be like 24h, 7d or 4w; {cut(span) or 'nothing'} is none of these or too long.") from None


def _choose_end(newest: datetime) -> datetime:
    asked = st.session_state["end_typed"] = _kept("end", _stamp(newest))
    st.text_input(
        "Ends at (UTC)", key="end_typed", on_change=_take_end, help="A time, or a date for the end of that day. Empty: the newest heal."
    )
    return parse_end(asked)


def _kept(name: str, default: str) -> str:
    """A choice that stands in the address, else what this session chose before; it is written to the address."""
    asked = st.query_params.get(name) or st.session_state.get(name) or default
    if st.query_params.get(name) != asked:
        st.query_params[name] = asked
    st.session_state[name] = asked
    return str(asked)


def _kept_all(name: str) -> list[str]:
    """The same for a choice of several values, none by default."""
    asked = st.query_params.get_all(name) or st.session_state.get(name) or []
    if st.query_params.get_all(name) != asked:
        st.query_params[name] = asked
    st.session_state[name] = asked
    return list(asked)


def choose_filters(targets: Sequence[str]) -> Filters:
    """Which heals the lists and charts show."""
    levels = st.session_state["level_picked"] = [level for level in _kept_all("level") if level in LEVELS]
    names = st.session_state["target_picked"] = _kept_all("target")
    with st.expander("Filter heals", key="filters"):
        st.pills("Level", list(LEVELS), selection_mode="multi", key="level_picked", on_change=_take_all, args=("level",))
        options = list(dict.fromkeys([*targets, *names]))
        st.multiselect("Target", options, key="target_picked", on_change=_take_all, args=("target",), placeholder="All targets")
    if levels or names:
        st.caption("Lists and charts show some heals only. The scores are those of all.")
    return Filters(tuple(sorted(LEVELS[level] for level in levels)), tuple(names))


@st.fragment(run_every="30s")
def watch(log: Path, *, n_bytes: int) -> None:
    """While the page is open: say when the log has grown, and bring the new heals in at a click; tell who is signed out by now."""
    if not identity.is_as_shown():
        st.rerun()
    n_new = _lines_after(log, n_bytes)
    if n_new and st.button(f"{count(n_new, 'new heal')}: load", type="primary", width="stretch"):
        _forget_end()
        st.rerun()


def _lines_after(log: Path, n_bytes: int) -> int:
    """Whole lines that a plain log has beyond its first bytes; 0 when it cannot be read, which the next run will say."""
    if log.suffix != ".jsonl":
        return 0
    try:
        with log.open("rb") as file:
            file.seek(n_bytes)
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(COUNTED_AT_ONCE), b""))
    except OSError:
        return 0


def tell_reading(name: str, opened: Opened, *, newer: int, local: bool) -> None:
    """When the logs were read, how many lines were new since this session last looked, and who could have written them."""
    seen: dict[str, int] = st.session_state.setdefault("lines_seen", {})
    before = seen.get(opened.born)
    seen[opened.born] = opened.n_lines
    more = opened.n_lines - (before or 0)
    new = count(more, "line") if before is None else count(more, "new line") if more > 0 else "nothing new"
    if newer:
        st.caption(f"{count(newer, 'heal is', 'heals are')} newer than this window.")
        st.button("Go to the newest heal", on_click=_forget_end, width="stretch")
    st.caption(f"{escape.code(name)} read at {opened.read_at:%H:%M:%S} UTC: {new}.")
    _tell_who()
    if local:
        st.caption("Local use: no SEAM_SETTINGS is set, so whoever can write in the workspace can replace everything shown here.")


def _tell_who() -> None:
    """Who decides here and what they may do, and the way in or out where people sign in."""
    me = identity.who()
    identity.note_shown(me)
    if me.actor:
        st.caption(f"You decide as {escape.code(me.actor.name)} ({me.role.in_short}).")
    else:
        st.caption(escape.plain(me.why_not))
    if me.may_sign_in:
        identity.offer_sign_in("sidebar")
    elif me.claims:
        st.button("Sign out", on_click=identity.sign_out)


def _take_window() -> None:
    st.session_state["win"] = st.query_params["win"] = st.session_state["win_picked"]


def _take_span() -> None:
    st.session_state["win"] = st.query_params["win"] = st.session_state["span_typed"].strip() or OTHER


def _take_all(name: str) -> None:
    st.session_state[name] = chosen = list(st.session_state[f"{name}_picked"])
    if chosen:
        st.query_params[name] = chosen
    else:
        st.query_params.pop(name, None)


def _take_end() -> None:
    typed = st.session_state["end_typed"].strip()
    if typed:
        st.session_state["end"] = st.query_params["end"] = typed
    else:
        _forget_end()


def _forget_end() -> None:
    st.session_state["end"] = ""
    st.query_params.pop("end", None)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
