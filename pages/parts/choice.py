"""Choices that live in the address: the address is the truth, the widget shows it and writes it. For choices that code may make, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.parts import address


def segments(name: str, label: str, options: Mapping[str, str], chosen: str) -> str:
    """One of a few, side by side. `options`: value in the address → words."""
    key = _seed(name, chosen)
    st.segmented_control(label, list(options), format_func=options.__getitem__, required=True, key=key, on_change=_keep, args=(name, key))
    return chosen


def pills(name: str, label: str, options: Mapping[str, str]) -> str | None:
    """One of a few, or none of them: what the address says, where that is an option."""
    asked = address.get(name)
    chosen = asked if asked in options else None
    key = _seed(name, chosen)
    st.pills(label, list(options), format_func=options.__getitem__, key=key, on_change=_keep, args=(name, key))
    return chosen


def by_name(
    name: str, label: str, options: Sequence[str], chosen: str | None, words: Callable[[str], str], *, forget: Sequence[str] = ()
) -> None:
    """One of many; a name that is not among them can be typed whole. `forget`: parameters that go with the old choice."""
    key = _seed(name, chosen)
    offered = [*options, *([chosen] if chosen and chosen not in options else [])]
    labels = _apart(offered, words)
    st.selectbox(
        label,
        offered,
        format_func=lambda one: labels.get(one) or words(one),
        placeholder="Choose or type a name",
        accept_new_options=True,
        key=key,
        on_change=_keep,
        args=(name, key, *forget),
    )


def toggle(name: str, label: str, *, default: bool) -> bool:
    """A switch that stands in the address as 1 or 0 once it is not as usual."""
    chosen = {"1": True, "0": False}.get(address.get(name) or "", default)
    key = _seed(name, chosen)
    st.toggle(label, key=key, on_change=lambda: address.put(name, None if st.session_state[key] == default else int(st.session_state[key])))
    return chosen


def sheet(name: str, label: str, n_sheets: int) -> None:
    """Which sheet, where there are several."""
    if n_sheets > 1:
        key = _seed(name, min(max(address.number(name) or 1, 1), n_sheets))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(label, width="content")
            st.pagination(n_sheets, key=key, on_change=_keep, args=(name, key), width=320)


def _apart(options: Sequence[str], words: Callable[[str], str]) -> dict[str, str]:
    """The words of each option, numbered where two are alike: the browser sends the words back, and the first with them would be taken."""
    labels: dict[str, str] = {}
    n_alike: Counter[str] = Counter()
    for one in options:
        said = words(one)
        n_alike[said] += 1
        labels[one] = said if n_alike[said] == 1 else f"{said} ({n_alike[said]})"
    return labels


def _seed(name: str, value: object) -> str:
    key = f"choice {name}"
    st.session_state[key] = value
    return key


def _keep(name: str, key: str, *forget: str) -> None:
    address.put(name, st.session_state[key])
    for other in forget:
        address.put(other, None)
