"""Who said what was real: the labels by their source, and people's verdicts beside them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import address, decisions, tables
from pages.parts.frame import View
from seam_core import escape
from seam_core.report import Audit
from seam_core.settings import Resolved
from seam_core.views import signal, signal_reviews
from seam_core.views.signal_reviews import Compared
from seam_core.views.verdicts import Decided
from seam_core.window import Window
from seam_core.words import count


def compared(view: View) -> Compared:
    """The window's labels beside what people decided up to now; nothing while the ledger cannot be read."""
    state = decisions.state(view)
    if state.fault:
        st.warning(escape.plain(f"What people decided cannot be shown: {state.fault}"))
        return Compared()
    return _compared(
        view.opened.key, view.window, view.resolved, str(state.ledger.path), state.ledger.chain().head, view.audit, state.decided
    )


@st.cache_resource(max_entries=20, show_spinner=False)
def _compared(key: str, window: Window, resolved: Resolved, ledger: str, head: str | None, _audit: Audit, _decided: Decided) -> Compared:
    with _audit.scope.store.lock:
        return signal_reviews.compare(_audit, _decided.latest, _decided.again)


def show(view: View, found: Compared) -> None:
    """Whose word the labels are, and where people say otherwise."""
    rows, n_unlabelled = view.ask(signal.list_labels)
    columns: dict[str, Any] = {"source": "Label from"}
    columns |= {
        key: st.column_config.NumberColumn(label, format="localized")
        for key, label in (("real", "Real"), ("not_real", "Not real"), ("heals", "Heals"))
    }
    if rows:
        shown = tables.frame_of([{key: row[key] for key in columns} for row in rows])
        st.dataframe(shown, hide_index=True, height="content", column_config=columns, alt="Heals by who said whether the failure was real")
    if n_unlabelled:
        st.caption(f"{count(n_unlabelled, 'heal has', 'heals have')} no label and {'says' if n_unlabelled == 1 else 'say'} nothing here.")
    if not found.rows:
        st.caption("No person has reviewed a heal of this window yet. Verdicts are given on the page Heals; they stand beside the labels.")
        return
    for sentence in found.sentences[1:]:
        st.text(sentence)
    columns = {
        "agree": "Label and people", "heal": "Heal", "label": "Label says", "people": "People say", "who": "Who", "source": "Label from",
        "signature": "Signature", "open_again": "Open again",
    }  # fmt: skip
    note = f"the first of {found.n_found:,}" if found.n_found > len(found.rows) else None
    alt = "Heals that people reviewed, those on which they differ from the label first"
    tables.show(found.rows, name="labels-and-verdicts", alt=alt, columns=columns, note=note, open_row=_open_heal)


def _open_heal(row: tables.Row) -> None:
    address.go_later("review/heals.py", heal=row["heal"])
