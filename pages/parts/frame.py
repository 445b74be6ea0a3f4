"""What every page stands on: the workspace opened and read, the window chosen, the audit computed; errors and empty states.

`shell.py` calls `open_view` once a run; a page asks for `audit()` or `view()`, which open it when the page runs alone.
Nothing is computed here, only kept: stores and audits in the server's memory, never in a session.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import uuid4

import streamlit as st

from pages.parts import empty, sidebar
from pages.parts.empty import ChooseError, NothingThereError
from seam_core import findings, report
from seam_core.errors import SeamError, UnreadableLogError
from seam_core.report import Audit
from seam_core.settings import Resolved, read_server_settings, resolve
from seam_core.store import Store
from seam_core.views import filters
from seam_core.views.filters import Filters
from seam_core.window import Window, make_window
from seam_core.workspace import holds_heal_log, workspace_of_folder, workspaces_in

ROOT = Path(__file__).parents[2]
VARIABLE = "SEAM_WORKSPACE"
N_PAST = 8  # windows in the small charts
P = ParamSpec("P")
T = TypeVar("T")
WEEK = timedelta(days=7)  # what the small charts step by when the window is all of history


@dataclass
class Opened:
    """One workspace's store in this server, and when it was last read."""

    store: Store
    born: str  # tells this store from another one of the same folder, whose versions start anew
    read_at: datetime
    n_reloads: int = 0  # how often something but an appended line was noticed

    @property
    def key(self) -> str:
        """Changes whenever anything that an audit could show may have changed."""
        return f"{self.born}:{self.store.version}"

    @property
    def n_lines(self) -> int:
        """Lines kept, over all logs."""
        return sum(state.n_rows for state in self.store.states.values())


@dataclass(frozen=True)
class Past:
    """One window of the small charts."""

    window: Window
    scores: dict[str, float | None]
    minimum: float | None
    n_heals: int


@dataclass(frozen=True)
class View:
    """What one run of a page shows."""

    name: str
    span: str
    opened: Opened
    resolved: Resolved
    window: Window
    audit: Audit
    filters: Filters = field(default_factory=Filters)

    def ask(self, function: Callable[Concatenate[Audit, P], T], *args: P.args, **options: P.kwargs) -> T:
        """What a core function says of this audit; computed once for all sessions, so never change what it returns.

        The arguments must be hashable; they, the function, the data read, the window and the settings make the key.
        """
        name = f"{function.__module__}.{function.__qualname__}"
        asked = (args, tuple(sorted(options.items())))
        answer: T = _answer(self.opened.key, self.window, self.resolved, name, asked, self.audit, function)
        return answer

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows behind a number, by the name of their table."""
        with self.opened.store.lock:
            return self.audit.scope.rows(table)

    def findings(self) -> list[findings.Finding]:
        """The heals to look at first."""
        return _findings(self.opened.key, self.window, self.resolved, self.audit)

    def history(self) -> list[Past]:
        """The last windows of this length, oldest first, this one last; weeks when the window is all of history."""
        newest = self.window if self.window.start else Window(self.window.end - WEEK, self.window.end, self.window.first)
        windows = [newest]
        while len(windows) < N_PAST and (before := report.previous(windows[0])):
            windows.insert(0, before)
        return [self._past(window) for window in windows if self._has_heals(window)]

    def previous(self) -> Past | None:
        """The window of the same length just before; None for all of history and before the first heal."""
        window = report.previous(self.window)
        return self._past(window) if window and self._has_heals(window) else None

    def _has_heals(self, window: Window) -> bool:
        return window.first is None or window.end >= window.first

    def _past(self, window: Window) -> Past:
        if window == self.window:
            return _in_short(self.audit)
        until = window.end + timedelta(days=self.resolved.settings.recurrence_days)
        known = _ask(self.opened.store, KNOWN, until=until)
        fixtures = tuple(state.n_rows for state in self.opened.store.states.values() if state.log.fixture)
        key = f"{self.opened.born}:{self.opened.n_reloads}:{known}:{fixtures}"
        return _past(key, window, self.resolved, self.opened.store)


# What an old window's scores can depend on: lines up to its follow-up, and later runs of its heals. New lines of today change none.
KNOWN = """
with known as (select heal_id from heals where ts <= $until)
select (select count(*) from known), (select count(*) from failures where ts <= $until),
       (select count(*) from runs where ts <= $until or heal_id in (from known))
"""

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
        opened = _open_store(str(folder))
        opened.n_reloads += bool(opened.store.refresh(now=datetime.now(UTC)).notes)
        opened.read_at = datetime.now(UTC)
        first, newest, n_heals = _ask(opened.store, "select min(ts), max(ts), count(*) from heals")
        if not n_heals:
            raise _no_heal(opened.store)
        span, end = sidebar.choose_window(newest.astimezone(UTC))
        window = make_window(span, end=end, first=first.astimezone(UTC))
        places = st.container(), st.container()
    resolved = resolve(opened.store.workspace.settings_file, server=server)
    found = View(name, span, opened, resolved, window, _audit(opened.key, window, resolved, opened.store))
    with places[0]:
        found = replace(found, filters=sidebar.choose_filters(found.ask(filters.targets)))
    with places[1]:
        sidebar.tell_reading(name, opened, newer=_newer(opened.store, end), local=server.file is None)
        sidebar.watch(opened.store.workspace.heals, n_bytes=_n_bytes(opened.store))
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


def _n_bytes(store: Store) -> int:
    """Bytes of the heal log that were read."""
    file = store.states["heals"].file
    return file.packed_stat[0] if file else 0


def _newer(store: Store, end: datetime) -> int:
    return int(_ask(store, "select count(*) from heals where ts > $end", end=end)[0])


def _ask(store: Store, sql: str, **binds: object) -> tuple[Any, ...]:
    """The single row of a query."""
    with store.lock, store.cursor() as cursor:
        row: tuple[Any, ...] = cursor.execute(sql, binds or None).fetchall()[0]
    return row


def _close(opened: Opened) -> None:
    """Let go of a workspace that nobody asked for lately; audits kept of it would keep its tables in memory."""
    with opened.store.lock:
        opened.store.close()
    _audit.clear()
    _answer.clear()


@st.cache_resource(max_entries=2, on_release=_close, show_spinner="Reading the logs …")
def _open_store(folder: str) -> Opened:
    store = Store(workspace_of_folder(Path(folder)), now=datetime.now(UTC))
    return Opened(store, uuid4().hex, datetime.now(UTC))


@st.cache_resource(max_entries=6, show_spinner="Scoring the window …")
def _audit(key: str, window: Window, resolved: Resolved, _store: Store) -> Audit:
    return report.audit(_store, window, resolved)


@st.cache_resource(max_entries=500, show_spinner="Looking closer …")
def _answer(
    key: str, window: Window, resolved: Resolved, name: str, asked: tuple[Any, ...], _audit: Audit, _function: Callable[..., Any]
) -> Any:
    args, options = asked
    with _audit.scope.store.lock:
        return _function(_audit, *args, **dict(options))


@st.cache_data(max_entries=200, show_spinner="Scoring the windows before …")
def _past(key: str, window: Window, resolved: Resolved, _store: Store) -> Past:
    return _in_short(report.audit(_store, window, resolved))


def _in_short(found: Audit) -> Past:
    return Past(found.window, found.scores, found.minimum, found.counts["scored"])


@st.cache_data(max_entries=20, show_spinner=False)
def _findings(key: str, window: Window, resolved: Resolved, _audit: Audit) -> list[findings.Finding]:
    return findings.worst_heals(_audit)
