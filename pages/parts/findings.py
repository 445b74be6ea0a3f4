"""Heals to look at, as a list: how bad, which heal, and why in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from pages.parts import address
from seam_core import escape
from seam_core.findings import Finding, Severity
from seam_core.words import AXIS_NAMES, capital

COLORS: dict[Severity, Literal["red", "orange", "blue", "gray"]] = {"critical": "red", "high": "orange", "medium": "blue", "low": "gray"}
AREAS = AXIS_NAMES | {"gate": "Boundary gate", "budget": "Budget"}


def show(found: Sequence[Finding]) -> None:
    """One box a heal, worst first. Everything the agent named is shown as text."""
    if not found:
        st.text("Nothing: no heal of this window shows a fault that these logs can tell.")
    for finding in found:
        with st.container(border=True, gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge(finding.severity, color=COLORS[finding.severity])
                address.link("review/heals.py", escape.code(finding.heal_id), heal=finding.heal_id)
                address.link("review/loop.py", escape.code(finding.loop_id), loop=finding.loop_id)
                st.caption(f"{AREAS[finding.axis]} · {finding.ts:%Y-%m-%d %H:%M} UTC", width="content")
            st.text(escape.visible("\n".join(capital(sentence) + "." for sentence in finding.sentences)))
