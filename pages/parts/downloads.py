"""What can be taken away: the report as the command line prints it, and a digest for a chat."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame import View
from seam_core import markdown, report


def show(view: View) -> None:
    """Download buttons for the report of the window shown."""
    stem = f"seam-{view.audit.window.end:%Y-%m-%d}-{view.span}"
    with st.container(horizontal=True):
        data = report.to_json(view.audit)
        st.download_button(
            "Report (JSON)", data, f"{stem}.json", "application/json", on_click="ignore", help="As the command line prints it"
        )
        digest = markdown.to_markdown(view.audit)
        st.download_button("Digest (Markdown)", digest, f"{stem}.md", "text/markdown", on_click="ignore", help="Short, for a chat")
