"""The retry probe: was the failure real, or does the case pass when it is simply tried again?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .line import as_text
from .shape import OUTCOMES

Vote = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True)
class Probe:
    """What plain retries said. `was_real_failure` and `label_source` are None when they could not decide."""

    was_real_failure: bool | None
    votes: tuple[Vote, ...]
    label_source: Literal["probe1", "probe3"] | None
    errors: tuple[str, ...] = ()  # what retries raised, which counts as failing


def probe(replay: Callable[[], object], *, votes: Literal[1, 3] = 1) -> Probe:
    """Replay the triggering case without healing, once or up to three times, and say whether it still fails.

    replay: runs the case and returns whether it passed; an exception is a failure of the case. Of three, two that agree decide. A
    replay that returns None, NaN or any text but "pass" and "fail" has not said anything: its vote is unknown.
    """
    wanted = 3 if votes == 3 else 1
    needed = wanted // 2 + 1
    cast: list[Vote] = []
    errors: list[str] = []
    while len(cast) < wanted and max(cast.count("pass"), cast.count("fail")) < needed:
        try:
            cast.append(_vote(replay()))
        except Exception as error:  # the case may fail in any way, and failing is an answer
            cast.append("fail")
            errors.append(f"{type(error).__name__}: {as_text(error)}"[:500])
    decided = max(cast.count("pass"), cast.count("fail")) >= needed
    is_real = cast.count("fail") >= needed if decided else None
    return Probe(is_real, tuple(cast), ("probe3" if wanted == 3 else "probe1") if decided else None, tuple(errors))


def _vote(passed: object) -> Vote:
    if isinstance(passed, str):
        return "pass" if passed == OUTCOMES[0] else "fail" if passed == OUTCOMES[1] else "unknown"
    is_nothing = passed is None or (isinstance(passed, float) and math.isnan(passed))
    return "unknown" if is_nothing else "pass" if passed else "fail"
