"""Going back: which heals the agent can be brought back to, which texts that would restore, and which the log does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from seam_core.baseline.bundle import Lost, Restored, plan_bundle
from seam_core.baseline.desk import Desk
from seam_core.words import count, cut

HEALS_OFFERED = 500  # newest first; an older one can be typed

HEALS = """
select heal_id, ts, target from heals
where row not in (select row from blocked)
order by ts desc, heal_id desc
limit $n
"""


@dataclass(frozen=True)
class Stop:
    """A heal to go back to: the state right after it."""

    heal_id: str
    ts: datetime
    target: str | None

    @property
    def words(self) -> str:
        """What it is, in one line; ids as logged."""
        return f"{self.ts:%Y-%m-%d %H:%M} · {cut(self.heal_id)} · {cut(self.target) if self.target is not None else 'no target'}"


@dataclass(frozen=True)
class Plan:
    """What going back to one heal would restore."""

    heal_id: str
    restored: tuple[Restored, ...]
    lost: tuple[Lost, ...]

    @property
    def sentence(self) -> str:
        """The same in one sentence."""
        if not self.restored and not self.lost:
            return f"No heal after {cut(self.heal_id)} changed a target: there is nothing to restore."
        what = f"{count(len(self.restored), 'target')} would go back to the text after {cut(self.heal_id)}"
        return f"{what}; {count(len(self.lost), 'target')} cannot, since the log does not hold the text." if self.lost else f"{what}."


def stops(desk: Desk) -> tuple[Stop, ...]:
    """The newest heals that took effect, newest first."""
    return tuple(Stop(*row) for row in desk.scope().query(HEALS, n=HEALS_OFFERED))


def plan(desk: Desk, heal_id: str, run_id: str) -> Plan:
    """What going back to one heal would restore.  Raises BaselineError for a heal that there is not, or that never took effect."""
    review = desk.review(run_id)
    bundle = plan_bundle(desk.scope(), heal_id=heal_id, run_id=run_id, version=review.version_number)
    return Plan(heal_id, bundle.restored, bundle.not_restored)
