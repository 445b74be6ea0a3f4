"""Tables: the same rows on screen and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a data frame, columns in the order of the first row."""
    return pd.DataFrame(list(rows), columns=list(rows[0]) if rows else None)


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV (RFC 4180). A text cell that a spreadsheet would run as a formula gets a leading apostrophe."""
    rows = list(rows)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if rows:
        writer.writerow([neutral(name) for name in rows[0]])
    writer.writerows([[neutral(value) for value in row.values()] for row in rows])
    return out.getvalue()


def neutral(value: object) -> object:
    """The value of one cell; a text that starts like a formula is kept from being one. Numbers stay numbers."""
    if value is None or isinstance(value, (int, float)):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def show(rows: Sequence[Mapping[str, Any]], *, name: str, alt: str) -> None:
    """The rows as a table, and all of them as a CSV file."""
    st.dataframe(frame_of(rows), hide_index=True, height="content", alt=alt)
    st.download_button("Table (CSV)", csv_text(rows), f"{name}.csv", "text/csv", key=f"csv {name}", on_click="ignore")
