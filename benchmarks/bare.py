"""A Streamlit page that only draws: the elements of one page of the dashboard, from numbers and texts that are ready."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.ready import Call, Figure, Frame


@st.cache_resource
def ready() -> dict[str, list[Call]]:
    """Title of a page → what it draws."""
    found: dict[str, list[Call]] = pickle.loads(Path(os.environ["SEAM_READY"]).read_bytes())
    return found


def made(value: Any) -> Any:
    """A figure or a frame from its numbers; anything else as it is."""
    if isinstance(value, Figure):
        return go.Figure(value.json)
    return pd.DataFrame(value.columns) if isinstance(value, Frame) else value


st.set_page_config(layout="wide")
for name, args, options in ready()[st.query_params["title"]]:
    if name == "page_link":  # there is no other page here
        st.markdown(str(options.get("label") or "link"))
    else:
        getattr(st, name)(*map(made, args), **{key: made(value) for key, value in options.items()})
