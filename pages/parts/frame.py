"""What every page stands on: the workspace opened and read, the window chosen, the audit computed; errors and empty states.

`shell.py` calls `open_view` once a run; a page asks for `audit()` or `view()`, which open it when the page runs alone.
Nothing is computed here; `memory` keeps stores, audits and answers for all sessions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st

from pages.parts import empty, memory, sidebar
from pages.parts.empty import ChooseError, NothingThereError
from pages.parts.memory import Opened, Past
from seam_core import report
from seam_core.errors import SeamError, UnreadableLogError
from seam_core.findings import Finding, worst_heals
from seam_core.report import Audit
from seam_core.settings import Resolved, read_server_settings, resolve
from seam_core.store import Store
from seam_core.views import filters
from seam_core.views.filters import Filters
from seam_core.window import Window, make_window
from seam_core.workspace import holds_heal_log, workspaces_in

ROOT = Path(__file__).parents[2]
VARIABLE = "SEAM_WORKSPACE"
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """What one run of a page shows."""

    name: str
    span: str
    opened: Opened
    resolved: Resolved
    window: Window
    audit: Audit
    key: str  # tells this audit from every other
    filters: Filters = field(default_factory=Filters)

    def ask(self, function: Callable[Concatenate[Audit, P], T], *args: P.args, **options: P.kwargs) -> T:
        """What a core function says of this audit; computed once for all sessions, so never change what it returns.

        The arguments must be hashable; they, the function, the data read, the window and the settings make the key.
        """
        answer: T = memory.answer(self.key, self.audit, function, args, options)
        return answer

    def is_current(self) -> bool:
        """Whether the server still knows of these logs what this view shows. A fragment that runs alone keeps the view of the last whole
        run, while other sessions read on, or let go of the store.
        """
        opened = memory.open_store(self.opened.store.workspace.folder)
        return memory.audit_key(opened, self.window, self.resolved) == self.key

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows behind a number, by the name of their table."""
        return self.ask(_rows, table)

    def findings(self) -> list[Finding]:
        """The heals to look at first."""
        return self.ask(worst_heals)

    def history(self) -> list[Past]:
        """The last windows of this length, oldest first, this one last; weeks when the window is all of history."""
        return memory.history(self.opened, self.audit)

    def previous(self) -> Past | None:
        """The window of the same length just before; None for all of history and before the first heal."""
        return memory.previous(self.opened, self.audit)


def _rows(audit: Audit, table: str) -> list[dict[str, Any]]:
    return audit.scope.rows(table)


_view: ContextVar[View | None] = ContextVar("view", default=None)


def forget_view() -> None:
    """Start of a run: what the last one showed counts no more."""
    _view.set(None)


def audit() -> Audit:
    """The audit of the chosen window."""
    return view().audit


def view() -> View:
    """What this run shows. Draws the sidebar's controls when the shell has not; stops the page when there is nothing to show."""
    found = _view.get()
    if found is None:
        try:
            found = open_view()
        except SeamError as error:
            empty.stop(error)
    return found


def open_view() -> View:
    """Open what the sidebar and the address choose, and draw the sidebar's controls.

    Raises NothingThereError when there is no heal yet, another SeamError when something cannot be read.
    """
    server = read_server_settings()
    with st.sidebar:
        root = workspaces_root()
        folders = workspaces_in(root)
        name = sidebar.choose_workspace(folders)
        if name is None:
            raise ChooseError(sorted(folders), sidebar.take_workspace)
        folder = folders[name]
        if not holds_heal_log(folder):
            if not root.is_dir():
                raise NothingThereError(_no_folder(root))
            raise NothingThereError(f"{root}: holds no heal_events.jsonl. Let the agent append one line a heal to heal_events.jsonl there.")
        opened = memory.open_store(folder)
        opened.refresh()
        first, newest, _ = opened.extent()
        if newest is None:
            raise _no_heal(opened.store)
        span, end = sidebar.choose_window(newest)
        window = make_window(span, end=end, first=first)
        places = st.container(), st.container()
    resolved = resolve(opened.store.workspace.settings_file, server=server)
    audited = memory.audit_of(opened, window, resolved)
    found = View(name, span, opened, resolved, window, audited, memory.audit_key(opened, window, resolved))
    with places[0]:
        found = replace(found, filters=sidebar.choose_filters(found.ask(filters.targets)))
    with places[1]:
        sidebar.tell_reading(name, opened, newer=opened.n_after(end), local=server.file is None)
        sidebar.watch(opened.store.workspace.heals, n_bytes=opened.n_bytes)
    _view.set(found)
    return found


def workspaces_root() -> Path:
    """The folder that SEAM_WORKSPACE names, else ``workspace`` beside app.py."""
    return Path(os.environ.get(VARIABLE) or ROOT / "workspace").absolute()


def _no_folder(root: Path) -> str:
    """What to do when the folder of workspaces is not there: look at its name first."""
    first = f"Check {VARIABLE}" if os.environ.get(VARIABLE) else f"Start the server with {VARIABLE}=FOLDER"
    fill = "If the name is right, let the agent append one line a heal to heal_events.jsonl there."
    return f"{first}: there is no such folder as {root}. {fill}"


def _no_heal(store: Store) -> SeamError:
    """Why there is no heal: nothing yet, or lines that are all wrong."""
    try:
        report.window_of(store)
    except UnreadableLogError as error:
        has_faults = any(state.rejects for state in store.states.values())
        return error if has_faults else NothingThereError(f"{error}. Let the agent append one line a heal there.")
    raise AssertionError("a store without a heal has no window")
