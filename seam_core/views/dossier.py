"""The parts of one heal's dossier, as plain values. What is missing is None and says why beside it; `views/heal.py` fills them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from seam_core.ranking import Severity
from seam_core.words import cut


@dataclass(frozen=True)
class Pair:
    """One score before and after the heal, in [0, 1]."""

    before: float | None
    after: float | None

    @property
    def gain(self) -> float | None:
        """After less before; None when one of them is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class Scores:
    """The two pairs and what they say together. `gap` is the truth gap in [0, 1]; `said` is about it, or why there is none."""

    visible: Pair
    held_out: Pair
    gap: float | None
    said: str
    whole_loop: bool  # the held-out pair was measured over the loop
    splits: bool  # … and the visible pair was not: two spans that cannot be compared
    sure: tuple[str, ...] = ()  # how sure the gap is
    exam: str = ""  # how fine the held-out exam is


@dataclass(frozen=True)
class Earlier:
    """The text that a change is compared with: the newest one on its target before it."""

    heal_id: str
    ts: datetime
    loop_id: str
    cycle: int
    text: str


@dataclass(frozen=True)
class Changed:
    """What the heal mutated. `why` says what cannot be compared, and why; None when both texts are there."""

    target: str | None
    text: str | None
    earlier: Earlier | None
    why: str | None


@dataclass(frozen=True)
class Case:
    """A regression case whose outcome differs after the heal."""

    case_id: str
    is_safety: bool
    component: str | None
    passed_after: bool


@dataclass(frozen=True)
class Surface:
    """What the surface run after the heal shows against what was known before it; counts are cases."""

    run: str
    run_before: str | None  # None: every earlier outcome comes from other runs
    n_cases: int
    n_new: int
    is_sample: bool
    broken: tuple[Case, ...]
    fixed: tuple[Case, ...]


@dataclass(frozen=True)
class Revisit:
    """An earlier cycle of the loop whose text the heal came back to."""

    heal_id: str
    cycle: int
    said: str


@dataclass(frozen=True)
class Stopped:
    """A protected block that the heal did not leave whole; without a text the whole target is protected."""

    block_id: str
    kind: str
    text: str | None


@dataclass(frozen=True)
class Dossier:
    """One heal. Sentences start small and end without a stop, as in the report; ids and texts are as logged."""

    heal_id: str
    ts: datetime
    loop_id: str
    cycle: int
    level: int
    level_name: str
    signature: str
    position: int  # in its loop, from 1
    n_cycles: int
    previous: str | None  # the loop's heal before it
    following: str | None
    in_window: bool
    is_blocked: bool
    severity: Severity | None
    axis: str | None
    sentences: tuple[str, ...]
    stopped: tuple[Stopped, ...]
    scores: Scores
    own_score: float | None
    changed: Changed
    surface: Surface | None
    surface_why: str | None  # why there is no surface
    revisits: tuple[Revisit, ...]
    tokens_spent: int | None
    task_tokens: int | None
    ratio: float | None
    spending: str
    lifted: str | None  # who lifted the limit, and why
    label: str
    evidence: str | None
    actor: str | None
    trace_url: str | None  # http or https only
    trace_host: str | None
    trace_said: str
    file: str
    line_number: int
    raw: str
    unknown: Mapping[str, str]  # keys that this format does not know, by path

    @property
    def place(self) -> str:
        """Where the heal stands in its loop."""
        return f"cycle {self.cycle:,} of {cut(self.loop_id)}, heal {self.position:,} of {self.n_cycles:,} there"
