"""What a page drew, as plain numbers and texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Call = tuple[str, tuple[Any, ...], dict[str, Any]]  # element, arguments


@dataclass(frozen=True)
class Figure:
    """A Plotly figure as JSON."""

    json: dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """A table as columns."""

    columns: dict[str, list[Any]]
