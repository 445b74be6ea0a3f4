"""One heal while it is at work: its attributes are the keys of the log, and it is written when the block ends, however it ends."""

from __future__ import annotations

import difflib
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .line import as_text, time_text
from .probe import Probe

ERROR_MAX = 500  # characters of an error that are logged
SCORES = ("visible_before", "visible_after", "holdout_before", "holdout_after")
AS_GIVEN = (*SCORES, "holdout_scope", "tokens_spent", "task_tokens", "was_real_failure", "label_source", "score", "actor", "trace_url")


@dataclass(frozen=True)
class Change:
    """A change of one block: its name, the whole text after it, and the text before it, of which only the hash is logged."""

    target: str | None
    after_text: str | None = None
    before_text: str | None = None

    def record(self) -> dict[str, Any]:
        """The change as it is logged."""
        return {
            "target": self.target,
            "before_hash": hash_of(self.before_text) if isinstance(self.before_text, str) else self.before_text,
            "after_text": self.after_text,
        }


def hash_of(text: str) -> str:
    """The hash by which a log tells which text a change started from."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass
class Heal:
    """One heal. What is not set is missing in the log, which is not the same as 0."""

    failure_signature: str
    loop_id: str
    level: int
    heal_id: str | None = None  # numbered when it is written, unless given
    cycle: int | None = None  # the same
    ts: datetime | str | None = None  # when it ended; now, unless given
    evidence: Any = None
    change: Change | None = None
    visible_before: float | None = None
    visible_after: float | None = None
    holdout_before: float | None = None
    holdout_after: float | None = None
    holdout_scope: str | None = None
    tokens_spent: int | None = None
    task_tokens: int | None = None
    was_real_failure: bool | None = None
    label_source: str | None = None
    probe: Probe | None = None  # sets the two above, unless they are given
    score: float | None = None
    actor: Any = None
    trace_url: str | None = None
    break_glass: dict[str, str] | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # keys that SEAM keeps and does not read
    written: bool = False  # whether it is in the log
    is_over: bool = False
    _begin: Callable[[Heal], None] | None = None
    _end: Callable[[Heal, str | None], None] | None = None
    _tell: Callable[[str], None] | None = None
    _started_s: float = 0
    _runs: list[dict[str, Any]] = field(default_factory=list)  # its suite runs, until it has an id

    if not TYPE_CHECKING:  # a slip in a name must neither end a repair nor lose a number

        def __setattr__(self, name: str, value: object) -> None:
            if name == "extra" and not isinstance(value, dict):
                value = {} if value is None else {"extra": value}
            if name in KNOWN:
                object.__setattr__(self, name, value)
                return
            self.extra[name] = value
            near = difflib.get_close_matches(name, KNOWN, n=1)
            if self._tell:
                self._tell(f"{name} is no key of a heal{f'; did you mean {near[0]}?' if near else ''} It was logged under that name")

    def spend(self, tokens: int) -> None:
        """Add to the tokens spent. With something that is no number the sum is not known, and is left out."""
        try:
            self.tokens_spent = (self.tokens_spent or 0) + tokens
        except Exception:
            self.tokens_spent = f"a sum with a {type(tokens).__name__}"  # type: ignore[assignment]  # what the rules leave out and tell

    def __enter__(self) -> Heal:
        if self.is_over:  # a second block is a second heal
            self.heal_id, self.cycle, self.written, self.is_over = None, None, False, False
        self._started_s = time.monotonic()
        if self._begin:
            self._begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.extra.setdefault("duration_s", round(time.monotonic() - self._started_s, 3))
        if error is not None:
            self.extra.setdefault("error", f"{type(error).__name__}: {as_text(error)}"[:ERROR_MAX])
        if self._end:
            self._end(self, type(error).__qualname__ if error is not None else None)

    def record(self, *, now: datetime) -> dict[str, Any]:
        """The heal as it is logged."""
        label: dict[str, Any] = {}
        found_by = self.probe if isinstance(self.probe, Probe) else None
        if found_by is None and self.probe is not None and self._tell:
            self._tell(f"probe must be what probe() returns, found a {type(self.probe).__name__}; it says nothing of the failure")
        if found_by is not None:
            label = {"was_real_failure": found_by.was_real_failure, "label_source": found_by.label_source}
        given = {name: value for name in AS_GIVEN if (value := getattr(self, name)) is not None}
        if "was_real_failure" in given:  # somebody else said it
            label = {}
        found: dict[str, Any] = {
            "heal_id": self.heal_id,
            "ts": time_text(self.ts, now=now),
            "loop_id": self.loop_id,
            "cycle": self.cycle,
            "level": self.level,
            "trigger": {"failure_signature": self.failure_signature, "evidence": self.evidence},
            "change": self.change.record() if isinstance(self.change, Change) else self.change,
            **label,
            **given,
            "break_glass": self.break_glass,
            "probe_votes": list(found_by.votes) if found_by else None,
        }
        return found | {key: value for key, value in self.extra.items() if key not in found}


KNOWN = tuple(item.name for item in fields(Heal))
