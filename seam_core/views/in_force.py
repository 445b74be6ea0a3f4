"""Every threshold in force: what it is by default, where it was set, what the server holds it at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seam_core.settings import SETTINGS_LABEL, Bound, Resolved, ServerSettings, bounds

DEFAULT, SERVER, FLAG = "default", "server settings", "flag"
STRICTER = {"lower": "lower", "higher": "higher", "same": "neither: it is another measure"}


@dataclass(frozen=True)
class Threshold:
    """One threshold. `held` is what the server holds it at; no workspace may loosen that."""

    name: str
    value: Any
    default: Any
    unit: str
    allowed: str
    meaning: str
    stricter: str
    set_by: str
    held: Any = None

    @property
    def is_default(self) -> bool:
        """Whether it is at its default, whoever set it."""
        return bool(self.value == self.default)


def thresholds_in_force(resolved: Resolved, server: ServerSettings) -> tuple[Threshold, ...]:
    """Every threshold, in the order of the reference."""
    return tuple(
        Threshold(
            name,
            getattr(resolved.settings, name),
            default,
            bound.unit,
            _allowed(default, bound),
            bound.meaning,
            STRICTER[bound.stricter],
            _source(resolved, name),
            server.thresholds.get(name),
        )
        for name, (default, bound) in bounds().items()
    )


def _source(resolved: Resolved, name: str) -> str:
    origin = resolved.origin.get(name)
    return DEFAULT if origin is None else origin if origin in (SETTINGS_LABEL, FLAG) else SERVER


def _allowed(default: Any, bound: Bound) -> str:
    if isinstance(default, str):
        return "indel or difflib"
    return f"{'above' if bound.above_low else 'from'} {bound.low:g} to {bound.high:,g}"
