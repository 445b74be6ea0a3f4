"""The address: what is shown lives in it, so that a pasted link shows the same. The sidebar's own parameters stay by themselves."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

LONGEST = 20_000  # characters of a parameter that are looked at; ids have no limit, and browsers take longer addresses than this
KEPT = ("workspace", "win", "end", "level", "target")  # the sidebar's


class _Going(NamedTuple):
    page: str
    params: dict[str, str]


def get(name: str) -> str | None:
    """The value of a parameter; None when it is absent or empty."""
    value = st.query_params.get(name)
    return value[:LONGEST] if value else None


def number(name: str) -> int | None:
    """The value of a parameter that is a whole number from 0; None for anything else."""
    value = get(name)
    return int(value) if value and value.isascii() and value.isdecimal() and len(value) <= 9 else None


def put(name: str, value: object | None) -> None:
    """Set a parameter, or take it away."""
    if value is None or value == "":
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = str(value)


def link(page: str, label: str, *, hint: str | None = None, **params: object) -> None:
    """A link to another page (a file below ``pages``) in the same tab. The label is Markdown: escape what an agent wrote."""
    try:
        st.page_link(page, label=label, help=hint, query_params=_texts(params))
    except StreamlitPageNotFoundError:  # this page runs alone, without the shell that knows the others
        st.caption(label)


def go(page: str, **params: object) -> None:
    """Leave for another page at once. Not for callbacks: see `go_later`."""
    st.switch_page(page, query_params=_texts(params))


def go_later(page: str, **params: object) -> None:
    """From a callback: leave for another page as soon as the run starts."""
    st.session_state["going"] = _Going(page, _texts(params))


def leave_if_asked() -> None:
    """Start of a run: go where a callback wanted to."""
    going: _Going | None = st.session_state.pop("going", None)
    if going:
        st.switch_page(going.page, query_params=going.params)


def permalink(page: str = "", **params: object) -> str:
    """The whole address of a page (by its last part, ``heals``), with what the sidebar holds, the window's end in full."""
    kept = {name: st.query_params.get_all(name) for name in KEPT}
    pairs = [(name, value) for name, values in kept.items() for value in values if value]
    pairs += [(name, value) for name, value in _texts(params).items() if name not in KEPT]
    found = urlsplit(st.context.url or "")
    base = f"{found.scheme}://{found.netloc}" if found.netloc else ""
    return f"{base}/{page}?{urlencode(pairs)}" if pairs else f"{base}/{page}"


def _texts(params: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in params.items() if value is not None}
