"""Tables: the same rows on screen, a sheet at a time, and all of them as CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from hashlib import sha256
from typing import Any

import pandas as pd
import streamlit as st

from seam_core import escape
from seam_core.spreadsheet import csv_lines
from seam_core.words import count

SHEET = 100  # rows on screen at once; every one of them travels to the browser on each change
CELL = 300  # characters of a text cell on screen; the CSV has all
TALL = 473  # px; a longer table scrolls inside, and half a row at its end says so

Row = Mapping[str, Any]


def show(
    rows: Sequence[Row],
    *,
    name: str,
    alt: str,
    columns: Mapping[str, Any] | None = None,
    open_row: Callable[[Row], None] | None = None,
    tick: str | None = None,
    note: str | None = None,
) -> list[Row]:
    """The rows as a table, a sheet at a time, and all of them as a CSV file. Returns the rows that are ticked.

    columns: key → label or Streamlit column; only these are shown, in this order. open_row: a callback for the row clicked. tick: the key
    whose values tell rows apart; rows can then be ticked, several at a time. Other rows on the sheet make another table, with none ticked.
    """
    if not rows:
        st.caption(note or "No rows.")
        return []
    labels = dict(columns or {key: _capital(key) for key in rows[0]})
    sheet = _sheet(rows, labels, name) if len(rows) > SHEET else rows
    shown = frame_of([{key: _cell(row.get(key)) for key in labels} for row in sheet])
    picking: dict[str, Any] = {}
    if open_row:
        key = f"table {name}" if tick is None else f"table {name} {digest_of([str(row[tick]) for row in sheet])}"
        modes = ["single-row" if tick is None else "multi-row", "single-cell"]
        picking = {"key": key, "on_select": lambda: _picked(key, sheet, open_row, keeps=tick is not None), "selection_mode": modes}
    height = TALL if len(sheet) > 12 else "content"
    drawn: Any = st.dataframe(shown, hide_index=True, height=height, alt=alt, column_config=labels, placeholder="–", **picking)
    with st.container(horizontal=True, vertical_alignment="center"):
        data = lambda: csv_bytes([{key: row.get(key) for key in labels} for row in rows])  # noqa: E731 -- made when it is asked for
        st.download_button("Table (CSV)", data, f"{name}.csv", "text/csv", key=f"csv {name}", on_click="ignore")
        st.caption(" · ".join([count(len(rows), "row"), *([note] if note else []), *(["a click opens the row"] if open_row else [])]))
    ticked = drawn["selection"]["rows"] if tick is not None and open_row else []
    return [sheet[at] for at in ticked if at < len(sheet)]


def frame_of(rows: Sequence[Row]) -> pd.DataFrame:
    """Rows as a data frame, columns in the order of the first row."""
    return pd.DataFrame(list(rows), columns=list(rows[0]) if rows else None)


def csv_bytes(rows: Sequence[Row]) -> bytes:
    """Rows as CSV, no cell of which a spreadsheet runs as a formula."""
    return b"".join(csv_lines(list(rows[0]), [[list(row.values()) for row in rows]])) if rows else b""


def _sheet(rows: Sequence[Row], labels: Mapping[str, Any], name: str) -> Sequence[Row]:
    """The rows of the sheet chosen, in the order chosen; the order covers all rows, not only those on screen."""
    as_given = "as given"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = {as_given: "As listed", **{key: _label(label, key) for key, label in labels.items()}}
        order = st.selectbox("Order by", list(words), format_func=words.__getitem__, key=f"order {name}", width=220)
        falling = st.toggle("Largest first", value=True, key=f"falling {name}", disabled=order == as_given)
        if order != as_given:
            rows = sorted(rows, key=lambda row: _rank(row.get(order)), reverse=falling)
        number = st.pagination(-(-len(rows) // SHEET), key=f"sheet {name} {order} {falling}")
    return rows[(number - 1) * SHEET : number * SHEET]


def _rank(value: object) -> tuple[bool, Any]:
    """Sorts values of one column; missing ones count as least."""
    if value is None:
        return (False, 0)
    return (True, value if isinstance(value, (int, float, datetime, date)) else str(value))


def digest_of(names: Sequence[str]) -> str:
    """A short text that tells these names, in this order, from any others: part of a widget's key."""
    return sha256("\n".join(names).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _picked(key: str, sheet: Sequence[Row], open_row: Callable[[Row], None], *, keeps: bool) -> None:
    """Open the row clicked. `keeps`: rows are ticked apart from that, and stay so."""
    selection = st.session_state[key]["selection"]
    rows = list(selection.get("rows", ()))
    at = next((cell[0] for cell in selection.get("cells", ())), None if keeps else next(iter(rows), None))
    if at is None or at >= len(sheet):
        return
    marked = rows if keeps else [at]
    st.session_state[key] = {"selection": {"rows": marked, "cells": [], "columns": []}}  # the row stays marked, and every click counts
    open_row(sheet[at])


def _cell(value: object) -> object:
    if isinstance(value, str):
        return escape.visible(value, length=CELL)
    if isinstance(value, (list, tuple)):
        return escape.visible(", ".join(str(one) for one in value), length=CELL)
    return value


def _label(column: Any, key: str) -> str:
    return column if isinstance(column, str) else str(column.get("label") or _capital(key))


def _capital(key: str) -> str:
    return key[:1].upper() + key[1:].replace("_", " ")
