"""What an agent calls to log its heals, failures and suite runs. Nothing here raises into the agent: what fails is kept and told."""

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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from .appending import AppendError, NotSyncedError, OpenLog, Sync, opened, readable
from .aside import Aside
from .checking import Rules, latest_time
from .folder import (
    FAILURES_FILE,
    HEALS_FILE,
    RUNS_FILE,
    UnreadableError,
    budget_thresholds,
    packed_form,
    protected_blocks,
)
from .heal import Change, Heal
from .history import History
from .line import Line, line_of, time_text
from .probe import Probe
from .schema import FAILURES, HEALS, RUNS, THRESHOLDS
from .verdicts import BudgetVerdict, GateVerdict, budget_verdict, gate_verdict

PROBLEMS_KEPT = 100
OUTPUT_MAX = 4_000  # characters of one case's output
logger = logging.getLogger("seam.recorder")


class Telemetry(Protocol):
    """Whoever wants to hear of heals besides the log; see `otel`."""

    def begin(self, heal: Heal) -> None:
        """A heal begins, in the thread that runs it."""

    def end(self, heal: Heal, record: Mapping[str, Any], error: str | None) -> None:
        """It has ended and was handed to the log. error: the type of what ended it early."""


@dataclass(frozen=True)
class Problem:
    """Something that was not logged as it should have been. `line` is what it was about, where there is one."""

    ts: datetime
    file: str
    sentence: str
    line: bytes = b""


@dataclass(frozen=True)
class Receipt:
    """Whether a line is in its log, and by which id."""

    written: bool
    id: str | None = None


@dataclass
class _Log:
    file: str
    rules: Rules
    history: History | None
    aside: Aside


Fill = Callable[[OpenLog | None], dict[str, Any]]  # the record; without a log its ids cannot be numbers


class Recorder:
    """The logs of one workspace, to write to from any number of processes and threads."""

    def __init__(
        self,
        folder: str | Path,
        *,
        actor: Any = None,
        sync: Sync = "disk",
        wait_s: float = 10,
        aside: str | Path | None = None,
        fixtures: str | Path | None = None,
        telemetry: Telemetry | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Make the folder when it is not there.

        sync: a line is acknowledged when it is on the "disk", or when the operating "system" has it, which outlives a killed process and
        no power cut. wait_s: how long another process may keep the lock. aside: where lines wait that cannot be written.
        """
        self.folder = Path(folder)
        self.problems: deque[Problem] = deque(maxlen=PROBLEMS_KEPT)
        self._actor, self._sync, self._wait_s, self._telemetry, self._now = actor, sync, wait_s, telemetry, now
        self._fixtures = Path(fixtures) if fixtures else None
        self._lifted: dict[str, dict[str, str]] = {}
        self._queued: dict[int, list[dict[str, Any]]] = {}  # runs of heals that have no id yet
        self._aside = Path(aside) if aside else None
        self._start_afresh()
        with self._told(HEALS_FILE):
            self.folder.mkdir(parents=True, exist_ok=True)
        _recorders.add(self)

    def _start_afresh(self) -> None:
        """In a forked child nothing is locked, and what waits is its parent's to write."""
        self._guard = threading.RLock()
        self._heals = _Log(HEALS_FILE, HEALS, History("heal_id", "h_"), Aside(self._aside))
        self._failures = _Log(FAILURES_FILE, FAILURES, None, Aside(self._aside))
        self._runs = _Log(RUNS_FILE, RUNS, History("run_id", "run_"), Aside(self._aside))

    # ---- what is logged

    def heal(
        self,
        failure_signature: str,
        *,
        loop_id: str,
        level: int,
        cycle: int | None = None,
        heal_id: str | None = None,
        evidence: Any = None,
        task_tokens: int | None = None,
        probe: Probe | None = None,
    ) -> Heal:
        """A heal to be used in a ``with`` block, at whose end it is written. Without a cycle it is the loop's next one."""
        found = Heal(failure_signature, loop_id, level, heal_id, cycle, evidence=evidence, task_tokens=task_tokens, probe=probe)
        found.actor, found.break_glass = self._actor, self._lifted.get(loop_id)
        found._begin, found._end, found._tell = self._begin, self._end, lambda sentence: self._note(HEALS_FILE, sentence)
        return found

    def failure(self, failure_signature: str, *, ts: datetime | str | None = None, **extra: Any) -> Receipt:
        """Log one failure that was seen, healed or not."""
        found = {**extra, "ts": time_text(ts, now=self._now()), "failure_signature": failure_signature}
        return self._append(self._failures, lambda _: found)

    def suite_run(
        self,
        suite: Literal["surface", "holdout", "practice"],
        phase: Literal["before", "after", "nightly", "control", "rescore"],
        results: Mapping[str, Any],
        *,
        heal: Heal | None = None,
        evidence: Mapping[str, Any] | None = None,
        ts: datetime | str | None = None,
        **keys: Any,
    ) -> Receipt:
        """Log one run of a suite. results: case → whether it passed, or "pass" or "fail"; what is neither is left out and told.

        heal: the heal that a before or after run belongs to. While its block runs it has no id yet, and the run is written after it.
        keys: run_id, heal_id, night, claim, state_hash, grader_hash, and any that SEAM keeps and does not read.
        """
        record = {**keys, "ts": time_text(ts, now=self._now()), "suite": suite, "phase": phase}
        with self._told(RUNS_FILE):
            record |= _results(results)
            if evidence is not None:
                record["evidence"] = {case: text[:OUTPUT_MAX] if isinstance(text, str) else text for case, text in evidence.items()}
        if "no_outcome" in record:
            self._note(RUNS_FILE, f"left out of a run, since they neither passed nor failed: {', '.join(list(record['no_outcome'])[:3])}")
        if heal is not None and not heal.is_over:
            self._queued.setdefault(id(heal), []).append(record)
            return Receipt(written=False)
        if heal is not None:
            record["heal_id"] = heal.heal_id
        return self._append_run(record)

    def break_glass(self, loop_id: str, *, by: str, reason: str) -> None:
        """Lift the budget limit of a loop: the heals of this recorder that begin from now on carry who did it, and why."""
        self._lifted[loop_id] = {"by": by, "reason": reason}

    # ---- what is asked

    def gate(self, change: Change) -> GateVerdict:
        """The boundary gate's verdict on a change, before it is accepted."""
        try:
            blocks = protected_blocks(self.folder, self._fixtures, latest=latest_time(self._now()))
            return gate_verdict(change.target, change.after_text, blocks)
        except UnreadableError as error:
            return GateVerdict("unknown", reason=str(error))
        except Exception as error:  # the agent must get an answer
            return GateVerdict("unknown", reason=self._fault(HEALS_FILE, error))

    def budget(self, loop_id: str) -> BudgetVerdict:
        """What a loop has spent, before the next attempt: normal, elevated, escalated, or unknown where tokens are not logged."""
        limits = {key: default for key, (default, _, _) in THRESHOLDS.items()}
        notes: list[str] = []
        blocks: list[tuple[str, str, str | None]] = []
        heals: list[dict[str, Any]] = []
        with self._told(HEALS_FILE, notes):
            limits = budget_thresholds(self.folder, os.environ)
        with self._told(HEALS_FILE, notes):
            blocks = protected_blocks(self.folder, self._fixtures, latest=latest_time(self._now()))
        with self._told(HEALS_FILE, notes), self._guard:
            heals = self._waiting(loop_id)
            heals = [*self._heals_of(loop_id), *heals]
        found = budget_verdict(heals, blocks, limits, "; ".join(notes))
        lifted = self._lifted.get(loop_id)
        return BudgetVerdict(**(vars(found) | lifted)) if lifted else found

    def flush(self) -> int:
        """Try again to write what waits; how many lines still do."""
        with self._guard:
            for log in (self._heals, self._failures, self._runs):
                if log.aside.lines:
                    with self._told(log.file), self._opened(log) as file:
                        self._write(log, file, b"")
            return sum(len(log.aside.lines) for log in (self._heals, self._failures, self._runs))

    # ---- how it is written

    def _begin(self, heal: Heal) -> None:
        if self._telemetry:
            with self._told(HEALS_FILE):
                self._telemetry.begin(heal)

    def _end(self, heal: Heal, error: str | None) -> None:
        record: dict[str, Any] = {}

        def fill(log: OpenLog | None) -> dict[str, Any]:
            record.update(heal.record(now=self._now()))
            record["heal_id"] = record["heal_id"] or self._new_id(self._heals, log)
            if record["cycle"] is None:
                record["cycle"] = self._next_cycle(heal.loop_id, log)
            return record

        receipt = self._append(self._heals, fill)
        heal.heal_id, heal.cycle, heal.written, heal.is_over = receipt.id, record.get("cycle"), receipt.written, True
        for run in self._queued.pop(id(heal), ()):
            self._append_run({**run, "heal_id": heal.heal_id})
        if self._telemetry:
            with self._told(HEALS_FILE):
                self._telemetry.end(heal, record, error)

    def _append_run(self, record: dict[str, Any]) -> Receipt:
        return self._append(self._runs, lambda log: {"run_id": record.get("run_id") or self._new_id(self._runs, log), **record})

    def _append(self, log: _Log, fill: Fill) -> Receipt:
        """Append one record, or keep it aside; the receipt says which."""
        line: Line | None = None
        record: dict[str, Any] = {}
        with self._guard:
            try:
                with self._opened(log) as file:
                    file.end_last_line()
                    record = fill(file)
                    line = self._line(log, record)
                    if line.fault is None:
                        self._write(log, file, line.data)
                        return Receipt(written=True, id=_id_of(log, record))
            except NotSyncedError as error:  # the same line once more does no harm: equal lines are one record
                self._keep_aside(log, line, str(error))
            except (AppendError, OSError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                with self._told(log.file):
                    record = fill(None)  # its number may be another process's by the time it is written
                    line = self._line(log, record)
                    if line.fault is None:
                        self._keep_aside(log, line, reason)
            except Exception as error:  # whatever is wrong here must not end a repair
                self._fault(log.file, error)
        return Receipt(written=False, id=_id_of(log, record))

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
        sentence = f"a fault of the recorder: {type(error).__name__}: {error}"
        self._note(file, sentence)
        logger.debug("the fault", exc_info=error)
        return sentence

    def _note(self, file: str, sentence: str, line: bytes = b"") -> None:
        self.problems.append(Problem(self._now(), file, sentence, line))
        logger.warning("%s: %s", self.folder / file, sentence)


_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _flush_all() -> None:
    for recorder in list(_recorders):
        recorder.flush()


def _start_all_afresh() -> None:
    for recorder in list(_recorders):
        recorder._start_afresh()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_afresh)


def _id_of(log: _Log, record: Mapping[str, Any]) -> str | None:
    found = record.get(log.history.key) if log.history else None
    return found if isinstance(found, str) else None


def _results(results: Mapping[str, Any]) -> dict[str, Any]:
    """The outcomes as they are logged, and beside them what had none."""
    outcomes: dict[str, str] = {}
    none: dict[str, Any] = {}
    for case, outcome in results.items():
        plain = outcome.item() if callable(getattr(outcome, "item", None)) else outcome
        if isinstance(plain, bool):
            plain = "pass" if plain else "fail"
        if plain in ("pass", "fail"):
            outcomes[str(case)] = "fail" if outcomes.get(str(case)) == "fail" else plain
        else:
            none[str(case)] = "nothing" if outcome is None else outcome
    return {"results": outcomes} | ({"no_outcome": none} if none else {})
