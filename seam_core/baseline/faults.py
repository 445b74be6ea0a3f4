"""Why a baseline was not certified or rolled back, in one sentence; nothing was written."""

from __future__ import annotations

from seam_core.errors import SeamError


class BaselineError(SeamError):
    """A decision on a baseline that cannot be taken down as it was sent."""


class ConflictError(BaselineError):
    """What the decision was made on is not so any more. `cases`: those that a newer run contradicts."""

    def __init__(self, sentence: str, cases: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.cases = cases
