"""What the server remembers for all its sessions: stores, audits, and what was asked of them. Nothing is kept in a session.

Keys are texts made once a run: hashing a window and its settings anew for every question would cost more than the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import streamlit as st
from plotly.graph_objects import Figure

from seam_core import report
from seam_core.baseline.copies import mend_copy
from seam_core.baseline.desk import Desk
from seam_core.doubt import Doubt
from seam_core.ledger import ledger_file
from seam_core.records import CERTIFIED_FILE
from seam_core.report import Audit
from seam_core.settings import Resolved, read_server_settings
from seam_core.store import Store
from seam_core.window import Window
from seam_core.workspace import workspace_of_folder

N_PAST = 8  # windows in the small charts
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

    @property
    def n_bytes(self) -> int:
        """Bytes of the heal log that were read."""
        file = self.store.states["heals"].file
        return file.packed_stat[0] if file else 0

    def refresh(self) -> None:
        """Read what was appended since the last run."""
        self.n_reloads += bool(self.store.refresh(now=datetime.now(UTC)).notes)
        self.read_at = datetime.now(UTC)

    def extent(self) -> tuple[datetime | None, datetime | None, int]:
        """Times of the first and the newest heal, and how many there are."""
        first, newest, n_heals = _ask(self.key, "select min(ts), max(ts), count(*) from heals", None, self.store)
        return first and first.astimezone(UTC), newest and newest.astimezone(UTC), n_heals

    def n_after(self, moment: datetime) -> int:
        """How many heals are newer."""
        return int(_ask(self.key, "select count(*) from heals where ts > $moment", moment, self.store)[0])


@dataclass(frozen=True)
class Past:
    """One window of the small charts."""

    window: Window
    scores: dict[str, float | None]
    doubt: Mapping[str, Doubt]
    minimum: float | None
    n_heals: int


# What an old window's scores can depend on: lines up to its follow-up, and later runs of its heals. New lines of today change none.
KNOWN = """
with known as (select heal_id from heals where ts <= $moment)
select (select count(*) from known), (select count(*) from failures where ts <= $moment),
       (select count(*) from runs where ts <= $moment or heal_id in (from known))
"""


def open_store(folder: Path) -> Opened:
    """The store of one workspace, opened once for all sessions; the two last used are kept."""
    return _store(str(folder))


def audit_key(opened: Opened, window: Window, resolved: Resolved) -> str:
    """What an audit is remembered by: the data read, the window and the settings."""
    return f"{opened.key} {window} {resolved}"


def audit_of(opened: Opened, window: Window, resolved: Resolved) -> Audit:
    """The audit of one window."""
    return _audit(audit_key(opened, window, resolved), window, resolved, opened.store)


def desk_of(opened: Opened, resolved: Resolved, *, approvals_required: int) -> Desk:
    """Where one workspace's baseline is decided on; one for all sessions, since it keeps tables of its own."""
    return _desk(f"{opened.born} {resolved.settings} {approvals_required}", opened.store, resolved, approvals_required)


def answer(key: str, about: Audit | Desk, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function says of an audit or a desk, remembered by its key, the function and its arguments."""
    name = f"{key} {function.__module__}.{function.__qualname__}"
    return _answer(name, (args, tuple(sorted(options.items()))), about, function)


def draw(make: Callable[..., Figure], *args: Any, **options: Any) -> Figure:
    """A chart, made once for all sessions. What it is made of must never change: what `answer` returned, texts, numbers, or values
    whose `key` says all of them.
    """
    given = [*enumerate(args), *sorted(options.items())]
    key = f"{make.__module__}.{make.__qualname__} {[(name, _identity(value)) for name, value in given]}"
    return _drawn(key, make, args, options)[0]


def _identity(value: object) -> str:
    """A text that no other living value has; `_drawn` keeps what it drew alive, so that its number is not given away."""
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    return f"{type(value).__name__} {getattr(value, 'key', None) or id(value)}"


def history(opened: Opened, audit: Audit) -> list[Past]:
    """The last windows of this length, oldest first, the audit's own last; weeks when the window is all of history."""
    window = audit.window
    newest = window if window.start else Window(window.end - WEEK, window.end, window.first)
    windows = [newest]
    while len(windows) < N_PAST and (before := windows[0].previous):
        windows.insert(0, before)
    return [_past_of(opened, audit, one) for one in windows if _has_heals(one)]


def previous(opened: Opened, audit: Audit) -> Past | None:
    """The window of the same length just before; None for all of history and before the first heal."""
    window = audit.window.previous
    return _past_of(opened, audit, window) if window and _has_heals(window) else None


def _has_heals(window: Window) -> bool:
    return window.first is None or window.end >= window.first


def _past_of(opened: Opened, audit: Audit, window: Window) -> Past:
    if window == audit.window:
        return _in_short(audit)
    until = window.end + timedelta(days=audit.settings.recurrence_days)
    known = _ask(opened.key, KNOWN, until, opened.store)
    fixtures = tuple(state.n_rows for state in opened.store.states.values() if state.log.fixture)
    key = f"{opened.born}:{opened.n_reloads}:{known}:{fixtures} {window} {audit.resolved}"
    return _past(key, window, audit.resolved, opened.store)


def _in_short(found: Audit) -> Past:
    return Past(found.window, found.scores, found.doubt, found.minimum, found.counts["scored"])


def _close(opened: Opened) -> None:
    """Let go of a workspace that nobody asked for lately; audits kept of it would keep its tables in memory."""
    _desk.clear()
    with opened.store.lock:
        opened.store.close()
    _audit.clear()
    _answer.clear()


@st.cache_resource(max_entries=2, on_release=_close, show_spinner="Reading the logs …")
def _store(folder: str) -> Opened:
    workspace = workspace_of_folder(Path(folder))
    store = Store(workspace, now=datetime.now(UTC), ledger=ledger_file(workspace.folder, read_server_settings()))
    mend_copy(store.ledger, workspace.fixtures / CERTIFIED_FILE)
    return Opened(store, uuid4().hex, datetime.now(UTC))


@st.cache_data(max_entries=500, show_spinner=False)
def _ask(key: str, sql: str, moment: datetime | None, _store: Store) -> tuple[Any, ...]:
    with _store.lock, _store.cursor() as cursor:
        row: tuple[Any, ...] = cursor.execute(sql, {"moment": moment} if moment else None).fetchall()[0]
    return row


@st.cache_resource(max_entries=6, show_spinner="Scoring the window …")
def _audit(key: str, _window: Window, _resolved: Resolved, _store: Store) -> Audit:
    return report.audit(_store, _window, _resolved)


@st.cache_resource(max_entries=2, on_release=Desk.close, show_spinner=False)
def _desk(key: str, _store: Store, _resolved: Resolved, _approvals_required: int) -> Desk:
    return Desk(_store, _resolved.settings, approvals_required=_approvals_required)


@st.cache_resource(max_entries=500, show_spinner="Looking closer …")
def _answer(key: str, asked: tuple[Any, ...], _about: Audit | Desk, _function: Callable[..., Any]) -> Any:
    args, options = asked
    store = _about.store if isinstance(_about, Desk) else _about.scope.store
    with store.lock:
        return _function(_about, *args, **dict(options))


@st.cache_resource(max_entries=200, show_spinner=False)
def _drawn(
    key: str, _make: Callable[..., Figure], _args: tuple[Any, ...], _options: dict[str, Any]
) -> tuple[Figure, tuple[Any, ...], dict[str, Any]]:
    return _make(*_args, **_options), _args, _options


@st.cache_data(max_entries=200, show_spinner="Scoring the windows before …")
def _past(key: str, _window: Window, _resolved: Resolved, _store: Store) -> Past:
    return _in_short(report.audit(_store, _window, _resolved))
