"""How lines get into the logs of one workspace, what becomes of those that do not, and whom it is told to."""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from .appending import AppendError, NotSyncedError, OpenLog, Sync, opened, readable
from .aside import Aside
from .checking import Rules, latest_time
from .folder import FAILURES_FILE, HEALS_FILE, RUNS_FILE, UnreadableError, packed_form
from .history import History
from .line import Line, as_text, line_of
from .schema import FAILURES, HEALS, RUNS

PROBLEMS_KEPT = 100
logger = logging.getLogger("seam.recorder")


@dataclass(frozen=True)
class Problem:
    """Something that was not logged as it should have been. `line` is what it was about, where there is one."""

    ts: datetime
    file: str
    sentence: str
    line: bytes = b""


@dataclass(frozen=True)
class Receipt:
    """Whether a line is in its log, and by which id; a line that was refused has none."""

    written: bool
    id: str | None = None


@dataclass
class _Log:
    file: str
    rules: Rules
    history: History | None
    aside: Aside


Fill = Callable[[OpenLog | None], dict[str, Any]]  # the record; without a log its ids cannot be numbers


class Writer:
    """The logs of one workspace, to write to from any number of processes and threads. Nothing here raises."""

    def __init__(self, folder: Path, *, sync: Sync, wait_s: float, aside: Path | None, now: Callable[[], datetime]) -> None:
        """Make the folder when it is not there."""
        self.folder = folder
        self.problems: deque[Problem] = deque(maxlen=PROBLEMS_KEPT)
        self._sync, self._wait_s, self._aside, self._now = sync, wait_s, aside, now
        self._start_afresh()
        with self._told(HEALS_FILE):
            self.folder.mkdir(parents=True, exist_ok=True)
        _writers.add(self)

    def _start_afresh(self) -> None:
        """In a forked child nothing is locked, and what waits is its parent's to write."""
        self._guard = threading.RLock()
        self._heals = _Log(HEALS_FILE, HEALS, History("heal_id", "h_"), Aside(self._aside))
        self._failures = _Log(FAILURES_FILE, FAILURES, None, Aside(self._aside))
        self._runs = _Log(RUNS_FILE, RUNS, History("run_id", "run_"), Aside(self._aside))

    def flush(self) -> int:
        """Try again to write what waits; how many lines still do."""
        with self._guard:
            for log in (self._heals, self._failures, self._runs):
                if log.aside.lines:
                    with self._told(log.file), self._opened(log) as file:
                        self._write(log, file, b"")
            return sum(len(log.aside.lines) for log in (self._heals, self._failures, self._runs))

    def _append(self, log: _Log, fill: Fill, *, given: str | None = None) -> Receipt:
        """Append one record, or keep it aside; the receipt says which. An id that the caller gives must be new in the log."""
        line: Line | None = None
        record: dict[str, Any] = {}
        is_kept = False
        with self._guard:
            try:
                with self._opened(log) as file:
                    file.end_last_line()
                    record = fill(file)
                    line = self._line(log, record)
                    if line.fault is None and not self._is_taken(log, given, file, line):
                        self._write(log, file, line.data)
                        return Receipt(written=True, id=_id_of(log, record))
            except NotSyncedError as error:  # the same line once more does no harm: equal lines are one record
                self._keep_aside(log, line, str(error))
                is_kept = True
            except (AppendError, OSError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                with self._told(log.file):
                    record = fill(None)  # its number may be another process's by the time it is written
                    line = self._line(log, record)
                    if line.fault is None:
                        self._keep_aside(log, line, reason)
                        is_kept = True
            except Exception as error:  # whatever is wrong here must not end a repair
                self._fault(log.file, error)
        return Receipt(written=False, id=_id_of(log, record) if is_kept else None)

    @contextmanager
    def _opened(self, log: _Log) -> Iterator[OpenLog]:
        path = self.folder / log.file
        if packed := packed_form(path):
            raise AppendError(f"{packed.name} is there, and a packed log cannot be added to; unpack it")
        with opened(path, wait_s=self._wait_s, sync=self._sync) as file:
            yield file

    def _line(self, log: _Log, record: Mapping[str, Any]) -> Line:
        line = line_of(record, log.rules, latest=latest_time(self._now()))
        for path, reason in line.left_out.items():
            self._note(log.file, f"{path} {reason}; it was left out", line.data)
        if line.fault:
            self._note(log.file, f"not logged: {' '.join(line.fault)}", line.data)
        return line

    def _write(self, log: _Log, file: OpenLog, data: bytes) -> None:
        waiting = len(log.aside.lines)
        file.append(b"".join([*log.aside.lines, data]), sync=self._sync)
        if waiting:
            log.aside.clear()
            self._note(log.file, f"what waited is in the log now: {waiting} {'line' if waiting == 1 else 'lines'}")

    def _keep_aside(self, log: _Log, line: Line | None, reason: str) -> None:
        data = line.data if line else b""
        self._note(log.file, f"cannot be written ({reason}); the line is {log.aside.put(data, log=log.file)}", data)

    def _new_id(self, log: _Log, file: OpenLog | None) -> str:
        assert log.history is not None
        return log.history.next_id(file) if file else f"{log.history.beginning}aside_{secrets.token_hex(6)}"

    def _is_taken(self, log: _Log, given: str | None, file: OpenLog, line: Line) -> bool:
        """Whether a caller's own id is there already, which is told: a reader would take the first line and list the second."""
        if given is None or log.history is None:
            return False
        key = log.history.key
        if not log.history.ids.holds(given, file) and all(json.loads(waiting)[key] != given for waiting in log.aside.lines):
            return False
        self._note(log.file, f"not logged: {key} {given!r} is in the log already, and the first one counts", line.data)
        return True

    def _next_cycle(self, loop_id: str, file: OpenLog | None) -> int:
        heals = self._waiting(loop_id)
        with suppress(OSError):  # a heal that is kept aside has the next cycle as far as that can be told
            heals += self._heals_of(loop_id, file)
        return 1 + max((int(heal["cycle"]) for heal in heals), default=0)

    def _heals_of(self, loop_id: str, file: OpenLog | None = None) -> list[dict[str, Any]]:
        """The heals of one loop in the log, which may be open already; none when there is no log.  Raises OSError."""
        history = self._heals.history
        assert history is not None
        if file:
            return list(history.loop(loop_id, file, latest=latest_time(self._now())).heals.values())
        with suppress(FileNotFoundError), readable(self.folder / HEALS_FILE) as log:
            return list(history.loop(loop_id, log, latest=latest_time(self._now())).heals.values())
        return []

    def _waiting(self, loop_id: str) -> list[dict[str, Any]]:
        return [heal for line in self._heals.aside.lines if (heal := json.loads(line))["loop_id"] == loop_id]

    # ---- what went wrong

    @contextmanager
    def _told(self, file: str, notes: list[str] | None = None) -> Iterator[None]:
        """Whatever fails inside becomes a problem, and nothing more."""
        try:
            yield
        except (UnreadableError, AppendError, OSError) as error:
            self._note(file, str(error))
            if notes is not None:
                notes.append(str(error))
        except Exception as error:  # whatever is wrong here must not end a repair
            sentence = self._fault(file, error)
            if notes is not None:
                notes.append(sentence)

    def _fault(self, file: str, error: Exception) -> str:
        sentence = f"a fault of the recorder: {type(error).__name__}: {as_text(error)}"
        self._note(file, sentence)
        logger.debug("the fault", exc_info=error)
        return sentence

    def _note(self, file: str, sentence: str, line: bytes = b"") -> None:
        self.problems.append(Problem(self._now(), file, sentence, line))
        logger.warning("%s: %s", self.folder / file, sentence)


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _flush_all() -> None:
    for writer in list(_writers):
        writer.flush()


def _start_all_afresh() -> None:
    for writer in list(_writers):
        writer._start_afresh()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_afresh)


def _id_of(log: _Log, record: Mapping[str, Any]) -> str | None:
    found = record.get(log.history.key) if log.history else None
    return found if isinstance(found, str) else None
