"""The dashboard's server with an ear at Streamlit's functions: `python -m benchmarks.recording PORT FILE`.

What every page draws (which element, with which numbers and texts) is written to FILE on SIGUSR1. `bare.py` draws the same again from
there: it makes the figures and frames, since every page has to, and has nothing to ask or compute.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.io.formats.style import Styler
from streamlit.delta_generator import DeltaGenerator
from streamlit.web import cli

from benchmarks.ready import Call, Figure, Frame

# Elements, not containers: a bare page draws them one below the other.
ELEMENTS = (
    "text", "markdown", "caption", "code", "title", "header", "subheader", "html", "info", "warning", "error", "success", "badge", "metric",
    "plotly_chart", "dataframe", "table", "button", "download_button", "link_button", "page_link", "selectbox", "multiselect",
    "segmented_control", "pills", "radio", "checkbox", "toggle", "slider", "select_slider", "number_input", "text_input", "text_area",
    "date_input", "pagination", "progress",
)  # fmt: skip
DROPPED = ("on_change", "on_click", "args", "kwargs", "bind", "persist_state", "default", "value", "index")  # what belongs to the page

recorded: dict[str, list[Call]] = {}  # title of a page → what it drew on its last run
_now = threading.local()  # each run of a page has a thread of its own


def listen() -> None:
    """Have every element function note what it was called with, wherever it was imported from Streamlit."""
    for name in ELEMENTS:
        setattr(DeltaGenerator, name, _noting(name, getattr(DeltaGenerator, name)))
        setattr(st, name, getattr(st._main, name))


def _noting(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(draw)
    def drawn(self: DeltaGenerator, *args: Any, **options: Any) -> Any:
        if getattr(_now, "is_inside", False):  # an element that is made of others
            return draw(self, *args, **options)
        _now.is_inside = True
        try:
            _note(name, args, options)
            return draw(self, *args, **options)
        finally:
            _now.is_inside = False

    return drawn


def _note(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    calls: list[Call] = _now.__dict__.setdefault("calls", [])
    if name == "title":
        recorded[args[0]] = calls
    calls.append((name, *_ready(name, args, options)))


def _ready(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call without the page behind it: no callbacks, options already in words."""
    kept = {key: value for key, value in options.items() if key not in DROPPED}
    words = kept.pop("format_func", None)
    given = [_frozen(arg) for arg in args]
    if words and len(given) > 1:
        given[1] = [words(option) for option in given[1]]
    if callable(kept.get("on_select")):
        kept["on_select"] = "rerun"
    if name == "download_button":
        given = [given[0], b""]
        kept.pop("data", None)
    return tuple(given), {key: _frozen(value) for key, value in kept.items()}


def _frozen(value: Any) -> Any:
    """A value as plain numbers and texts. Of a styled frame only the frame, which is cheaper to draw, so that no page profits."""
    if isinstance(value, Styler):
        value = value.data  # type: ignore[attr-defined]
    if isinstance(value, pd.DataFrame):
        return Frame({str(name): list(value[name]) for name in value.columns})
    if isinstance(value, go.Figure):
        return Figure(json.loads(value.to_json()))
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return value


def main(port: str, file: Path) -> None:
    """Serve the dashboard until somebody ends it; write what its pages drew when asked to."""

    def write(_signal: int, _frame: object) -> None:
        unfinished = file.with_suffix(".part")
        unfinished.write_bytes(pickle.dumps(recorded))
        unfinished.rename(file)

    listen()
    signal.signal(signal.SIGUSR1, write)
    sys.argv = ["streamlit", "run", "app.py", "--server.port", port, "--server.address", "127.0.0.1"]
    cli.main()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
