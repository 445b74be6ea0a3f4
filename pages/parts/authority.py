"""Who may do what on this server: what can be done, by whom, the reviewers one by one, and what the person who looks may do."""

from __future__ import annotations

import streamlit as st

from pages.parts import identity, tables
from seam_core import escape
from seam_core.settings import read_server_settings
from seam_core.views import rights


def show() -> None:
    """All of it, as it stands now: the settings are read anew."""
    server, providers, me = read_server_settings(), identity.names_of_providers(), identity.who()
    signs_in = providers is not None
    st.text(escape.visible(f"You: {me.sentence}"))
    found = rights.rights(server, signs_in=signs_in, is_local=not signs_in and me.actor is not None, n_providers=len(providers or ()))
    for one in found:  # no table: its cells would cut the sentences off
        with st.container(gap=None):
            st.caption(escape.plain(one.what))
            st.text(escape.visible(one.who))
    email = me.claims.email if me.claims and me.claims.email_verified else None
    named = rights.reviewers(server, signs_in=signs_in, you=me.actor, email=email)
    tables.show(
        [{"entry": one.entry, "read_as": one.read_as, "you": "you" if one.is_you else ""} for one in named],
        name="reviewers",
        alt="Reviewers named in the server settings",
        columns={"entry": "Reviewer", "read_as": "Read as", "you": "You"},
        note=None if named else "No reviewers are named.",
    )
    st.caption("A workspace's seam.toml has no say in any of this; one of these keys there is an error.")
