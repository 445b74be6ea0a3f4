"""A cell that a spreadsheet would run is kept from it, whether it was made in Python or in SQL."""

from datetime import UTC, datetime, timedelta, timezone

import duckdb
import pytest

from seam_core.spreadsheet import FORMULA, csv_lines, neutral, neutral_sql

MOMENT = datetime(2026, 6, 9, 14, 22, 31, tzinfo=UTC)
CELLS = [
    ("VARCHAR", "=1+1", "'=1+1"),
    *(("VARCHAR", f"{sign}x", f"'{sign}x") for sign in FORMULA),
    ("VARCHAR", "a=b", "a=b"),
    ("VARCHAR", "", ""),
    ("VARCHAR", None, None),
    ("ENUM('-a', 'b')", "-a", "'-a"),
    ("ENUM('-a', 'b')", "b", "b"),
    ("DOUBLE", -0.25, -0.25),
    ("BIGINT", -3, -3),
    ("BOOLEAN", True, True),
    ("TIMESTAMP WITH TIME ZONE", MOMENT, "2026-06-09T14:22:31Z"),
    ("TIMESTAMP WITH TIME ZONE", MOMENT + timedelta(milliseconds=5), "2026-06-09T14:22:31.005000Z"),
    ("TIMESTAMP WITH TIME ZONE", MOMENT.astimezone(timezone(timedelta(hours=2))), "2026-06-09T14:22:31Z"),
    ("VARCHAR[]", ["=1", 'a"b'], '["=1","a\\"b"]'),
]


@pytest.mark.parametrize(("kind", "value", "cell"), CELLS)
def test_a_cell_made_in_sql_or_in_python_is_the_same(kind, value, cell):
    with duckdb.connect() as con:
        con.execute("set TimeZone = 'UTC'")
        made = con.execute(f"select {neutral_sql('value', kind)} from (select $value::{kind} as value)", {"value": value}).fetchone()[0]
    assert made == cell
    if kind != "VARCHAR[]":  # the space after a comma is all that differs
        assert neutral(value) == cell


def test_headings_are_cells_too_and_blocks_follow_each_other():
    made = b"".join(csv_lines(["@a", "b"], [[("=1", 2)], [("x,y", None)]]))
    assert made == b"'@a,b\r\n'=1,2\r\n\"x,y\",\r\n"
    assert b"".join(csv_lines(["a"], [])) == b"a\r\n"
    assert b"".join(csv_lines(["a"], [[("=1",)]], is_neutral=True)) == b"a\r\n=1\r\n"
