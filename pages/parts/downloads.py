"""What can be taken away: the report as the command line prints it, a digest for a chat, and the evidence behind both."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import datetime
from typing import IO

import streamlit as st

from pages.parts.frame import View
from seam_core import escape, markdown, report
from seam_core.errors import SeamError
from seam_core.ledger import ledger_file, noted
from seam_core.merges import merged_for_report
from seam_core.packet import Asked, Made, make_packet
from seam_core.settings import read_server_settings
from seam_core.words import capital

CONTENTS = (
    "The report, the rows behind each of its numbers, the settings, and the logs as far as they were read, with one command that computes"
    " the same report from them"
)


@dataclass(frozen=True)
class Packet:
    """A packet made in this session: of what, the file (it has no name and goes with the session), and what is to be said of it."""

    of: tuple[object, ...]
    file: IO[bytes]
    n_bytes: int
    made: Made

    def data(self) -> bytes:
        """The whole zip."""
        self.file.seek(0)
        return self.file.read()


def show(view: View) -> None:
    """Download buttons for the window shown. Nothing is made before somebody asks for it."""
    stem = f"seam-{view.audit.window.end:%Y-%m-%d}-{view.span}"
    with st.container(horizontal=True):
        st.download_button(
            "Report (JSON)",
            lambda: _report(view),
            f"{stem}.json",
            "application/json",
            on_click="ignore",
            help="As the command line prints it",
        )
        digest = lambda: markdown.to_markdown(view.audit)  # noqa: E731 -- made when it is asked for
        st.download_button("Digest (Markdown)", digest, f"{stem}.md", "text/markdown", on_click="ignore", help="Short, for a chat")
        is_asked = st.button("Evidence packet (zip)", help=CONTENTS)
    if is_asked:
        _make(view)
    packet: Packet | None = st.session_state.get("packet")
    if packet and packet.of == _subject(view):
        size = f"{packet.n_bytes / 1e6:,.1f} MB" if packet.n_bytes >= 1e5 else f"{packet.n_bytes / 1e3:,.0f} kB"
        st.download_button(
            f"Save the packet ({size})", packet.data, f"{stem}-evidence.zip", "application/zip", on_click="ignore", type="primary"
        )
        st.caption(escape.plain(packet.made.note))


def _report(view: View) -> str:
    ledger = ledger_file(view.opened.store.workspace.folder, read_server_settings())
    return report.to_json(view.audit, ledger=noted(ledger), merged=merged_for_report(view.audit.scope, ledger))


def _subject(view: View) -> tuple[object, ...]:
    """What a packet is of: when it changes, the packet on offer is one of something else."""
    return view.opened.key, view.window, view.resolved


def _make(view: View) -> None:
    """Make the packet, saying how far it is, and keep it for this session."""
    st.session_state.pop("packet", None)
    progress = st.progress(0.0, "Making the packet …")
    file = tempfile.TemporaryFile(prefix="seam-packet-")  # noqa: SIM115 -- lives as long as the session keeps it
    try:
        made = make_packet(
            file, view.audit, _asked(view, view.opened.read_at), tell=lambda what, share: progress.progress(share, _capital(what))
        )
        st.session_state["packet"] = Packet(_subject(view), file, file.seek(0, 2), made)
    except SeamError as error:
        st.error(escape.plain(str(error)))
    except OSError as error:
        st.error(escape.plain(f"The packet could not be written: {error.strerror}."))
    progress.empty()


def _asked(view: View, now: datetime) -> Asked:
    server = read_server_settings()
    return Asked(view.span, now, server, ledger=ledger_file(view.opened.store.workspace.folder, server))


def _capital(sentence: str) -> str:
    return escape.plain(f"{capital(sentence)} …")
