"""The main script: navigation, sidebar, title and vector strip around every page, and one place for what goes wrong."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, empty, frame, sidebar, strip
from pages.parts.menu import PAGES
from seam_core.errors import SeamError


def home() -> None:
    """The default page has no address of its own, so it only hands over to the first page, which has one."""
    st.switch_page(pages[0], query_params=st.query_params.to_dict())


frame.forget_view()
pages = [st.Page(entry.file, title=entry.title) for entry in PAGES]
sections: dict[str, list[st.Page]] = {}
for entry, one in zip(PAGES, pages, strict=True):
    sections.setdefault(entry.section, []).append(one)
page = st.navigation([st.Page(home, default=True, visibility="hidden"), *pages], position="hidden")
if page not in pages:
    page.run()
address.leave_if_asked()
shown = PAGES[pages.index(page)]
st.set_page_config(page_title=f"{shown.title} · SEAM", layout="wide", initial_sidebar_state=sidebar.WIDTH)
sidebar.menu(sections)
st.title(shown.title, anchor=False)
st.caption(shown.question)
try:
    view = frame.open_view()
    if shown.has_strip:
        strip.show(view)
    page.run()
except SeamError as error:
    empty.stop(error)
