"""Copy as issue: a text for the team's tracker, to be taken with one click."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def offer(text: str | Callable[[], str], *, label: str = "Copy as issue", key: str | None = None) -> None:
    """A closed box with the Markdown in it, shown as it is, and the copy button of every code block. Nothing leaves the machine.

    A function is called only once the box is open, for texts that take a while; it needs a `key`.
    """
    box = st.expander(label, key=key, on_change="ignore" if isinstance(text, str) else "rerun")
    if isinstance(text, str) or box.open:
        with box:
            st.caption("Markdown for an issue tracker; the copy button is at its upper right.")
            st.code(text if isinstance(text, str) else text(), language=None, wrap_lines=True)
