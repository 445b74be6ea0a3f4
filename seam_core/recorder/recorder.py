"""What an agent calls to log its heals, failures and suite runs. Nothing here raises into the agent: what fails is kept and told."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from .appending import OpenLog, Sync
from .checking import latest_time
from .folder import HEALS_FILE, RUNS_FILE, UnreadableError, budget_thresholds, protected_blocks
from .heal import Change, Heal
from .line import time_text
from .probe import Probe
from .schema import THRESHOLDS
from .shape import OUTCOMES
from .verdicts import BudgetVerdict, GateVerdict, budget_verdict, gate_verdict
from .writing import Receipt, Writer

OUTPUT_MAX = 4_000  # characters of one case's output


class Telemetry(Protocol):
    """Whoever wants to hear of heals besides the log; see `otel`."""

    def begin(self, heal: Heal) -> None:
        """A heal begins, in the thread that runs it."""

    def end(self, heal: Heal, record: Mapping[str, Any], error: str | None) -> None:
        """It has ended and was handed to the log. error: the type of what ended it early."""


class Recorder(Writer):
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
        super().__init__(Path(folder), sync=sync, wait_s=wait_s, aside=Path(aside) if aside else None, now=now)
        self._actor, self._telemetry = actor, telemetry
        self._fixtures = Path(fixtures) if fixtures else None
        self._lifted: dict[str, dict[str, str]] = {}

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
        found.actor, found.break_glass = self._actor, self._lifted.get(str(loop_id))
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
        heal: Heal | str | None = None,
        evidence: Mapping[str, Any] | None = None,
        ts: datetime | str | None = None,
        **keys: Any,
    ) -> Receipt:
        """Log one run of a suite. results: case → whether it passed, or "pass" or "fail"; what is neither is left out and told.

        heal: the heal that a before or after run belongs to, or its id. While its block runs it has none yet, and the run is
        written after it.
        keys: run_id, heal_id, night, claim, state_hash, grader_hash, and any that SEAM keeps and does not read.
        """
        record = {**keys, "ts": time_text(ts, now=self._now()), "suite": suite, "phase": phase}
        with self._told(RUNS_FILE):
            record |= _results(results)
            if evidence is not None:
                record["evidence"] = {case: text[:OUTPUT_MAX] if isinstance(text, str) else text for case, text in evidence.items()}
        if "no_outcome" in record:
            self._note(RUNS_FILE, f"left out of a run, since they neither passed nor failed: {', '.join(list(record['no_outcome'])[:3])}")
        if isinstance(heal, Heal) and not heal.is_over:
            heal._runs.append(record)
            return Receipt(written=False)
        if heal is not None:
            record["heal_id"] = heal.heal_id if isinstance(heal, Heal) else heal
        return self._append_run(record)

    def break_glass(self, loop_id: str, *, by: str, reason: str) -> None:
        """Lift the budget limit of a loop: the heals of this recorder that begin from now on carry who did it, and why."""
        self._lifted[str(loop_id)] = {"by": by, "reason": reason}

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
        lifted = self._lifted.get(str(loop_id))
        return BudgetVerdict(**(vars(found) | lifted)) if lifted else found

    # ---- a heal begins and ends

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
                record["cycle"] = self._next_cycle(heal.loop_id, log) if isinstance(heal.loop_id, str) else 1
            return record

        given = heal.heal_id if isinstance(heal.heal_id, str) else None
        receipt = self._append(self._heals, fill, given=given)
        heal.heal_id, heal.cycle, heal.written, heal.is_over = receipt.id or heal.heal_id, record.get("cycle"), receipt.written, True
        # The id of a heal that was refused may be another heal's, so its runs carry one that no heal has.
        heal_id = receipt.id or f"h_refused_{secrets.token_hex(6)}"
        while heal._runs:
            self._append_run({**heal._runs.pop(0), "heal_id": heal_id})
        if self._telemetry:
            with self._told(HEALS_FILE):
                self._telemetry.end(heal, record, error)

    def _append_run(self, record: dict[str, Any]) -> Receipt:
        given = record.get("run_id")
        return self._append(
            self._runs,
            lambda log: {"run_id": given or self._new_id(self._runs, log), **record},
            given=given if isinstance(given, str) else None,
        )


def _results(results: Mapping[str, Any]) -> dict[str, Any]:
    """The outcomes as they are logged, and beside them what had none."""
    outcomes: dict[str, str] = {}
    none: dict[str, Any] = {}
    for case, outcome in results.items():
        plain = _scalar(outcome)
        if isinstance(plain, bool):
            plain = "pass" if plain else "fail"
        if isinstance(plain, str) and plain in OUTCOMES:
            outcomes[str(case)] = "fail" if outcomes.get(str(case)) == "fail" else plain
        else:
            none[str(case)] = "nothing" if outcome is None else outcome
    return {"results": outcomes} | ({"no_outcome": none} if none else {})


def _scalar(outcome: Any) -> Any:
    """An outcome as Python's own value, where it is one of NumPy or PyTorch."""
    with suppress(Exception):  # a tensor of many values is no outcome
        return outcome.item()
    return outcome
