"""Which heals a list or chart shows: by level and by target. Filters narrow what is shown, never the scores."""

from __future__ import annotations

from dataclasses import dataclass

from seam_core.report import Audit

LEVELS = {"retry only": 0, "task state": 1, "agent config": 2, "shared memory": 3}
TARGETS_OFFERED = 200  # the most often healed ones


@dataclass(frozen=True)
class Filters:
    """Levels and targets to show; empty means all."""

    levels: tuple[int, ...] = ()
    targets: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.levels or self.targets)

    def sql(self, alias: str = "") -> tuple[str, dict[str, list[int] | list[str]]]:
        """(condition, values to bind) for a table with the columns ``level`` and ``target``; ``true`` when nothing is filtered."""
        prefix = f"{alias}." if alias else ""
        chosen: dict[str, list[int] | list[str]] = {"level": list(self.levels), "target": list(self.targets)}
        binds = {f"filter_{name}": values for name, values in chosen.items() if values}
        parts = [f"{prefix}{name} in (select unnest($filter_{name}))" for name, values in chosen.items() if values]
        return " and ".join(parts) or "true", binds


TARGETS = """
select target from window_heals where target is not null
group by target order by count(*) desc, target limit $n
"""


def targets(audit: Audit) -> list[str]:
    """Names of the targets healed in the window, most often first."""
    return [target for (target,) in audit.scope.query(TARGETS, n=TARGETS_OFFERED)]
