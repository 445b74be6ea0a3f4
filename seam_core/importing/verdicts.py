"""Whether a score is a pass. Only 1 and 0, true and false, and the words for them speak for themselves; for others the caller says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from seam_core.importing.format import Asked, SourceError
from seam_core.importing.runs import Outcome
from seam_core.judge import describe

WORDS = {
    "true": 1.0,
    "yes": 1.0,
    "pass": 1.0,
    "passed": 1.0,
    "correct": 1.0,
    "false": 0.0,
    "no": 0.0,
    "fail": 0.0,
    "failed": 0.0,
    "incorrect": 0.0,
}


def judged(value: Any, asked: Asked, *, letters: Mapping[str, float] | None = None) -> tuple[Outcome, str]:
    """The outcome of a score, and why it is none.

    letters: texts that stand for a number at this source.  Raises SourceError when the caller has to say what passes.
    """
    if asked.pass_label is not None:
        if isinstance(value, str):
            return ("pass" if value == asked.pass_label else "fail"), ""
        raise SourceError(f"--pass-label {asked.pass_label}: a score is {describe(value)}, which is no text; use --pass-at")
    number = _number(value, letters or {})
    if number is None:
        raise SourceError(f"a score is {describe(value)}: say what passes with --pass-label")
    if math.isnan(number):
        return "error", "its score is no number"
    if asked.pass_at is not None:
        return ("pass" if number >= asked.pass_at - 1e-9 else "fail"), ""
    if number not in (0.0, 1.0) and not (isinstance(value, str) and letters):
        raise SourceError(f"a score is {number:g}: say from where on a case passes with --pass-at, such as --pass-at 0.5")
    return ("pass" if number == 1 else "fail"), ""


def _number(value: Any, letters: Mapping[str, float]) -> float | None:
    if isinstance(value, (bool, int, float)):
        return float(value) if abs(value) < 1e300 else math.nan  # not a number stays so
    if not isinstance(value, str):
        return None
    return letters.get(value, WORDS.get(value.strip().lower()))
