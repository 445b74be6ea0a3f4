"""Lines that stand twice: equal as JSON is one record, the same identity with other content is a rewrite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import duckdb

from seam_core.judge import whole_number
from seam_core.logstate import LogState

# Groups of rows that share an identity, when at least one of them is new.
SAME_IDENTITY = """
with twice as (select {identity} from {rows} {among} where kept group by all having count(*) > 1)
select list(r.rowid order by r.rowid) as members
from {rows} r join twice using ({identity})
where r.kept
group by {identity}
order by members[1]
"""

# Identities that only grow stand once each, in whatever order they are looked at; mostly they do, and this takes a fifth.
GROWS = """
select 1 from (select {identity} <= lag({identity}) over () as falls from {rows} where kept) where falls limit 1
"""

# Where rows were there before, only identities that a new one has.
AMONG_FRESH = "semi join (select {identity} from {rows} where kept and rowid >= {first_row}) using ({identity})"


def settle(con: duckdb.DuckDBPyConnection, state: LogState, *, first_row: int) -> None:
    """Keep the earliest line of each identity among the rows from `first_row` on; count repeats, list rewrites.

    A log without a key (failures) has no rewrites: only lines equal as JSON are one record.
    """
    identity = state.log.key or "digest"
    if state.log.key and not first_row and not con.execute(GROWS.format(identity=identity, rows=state.rows_table)).fetchall():
        return
    among = AMONG_FRESH.format(identity=identity, rows=state.rows_table, first_row=first_row) if first_row else ""
    sql = SAME_IDENTITY.format(identity=identity, rows=state.rows_table, among=among)
    dropped: list[int] = []
    for (members,) in con.execute(sql).fetchall():
        dropped += _settle_group(state, members)
    if dropped:
        con.execute(f"update {state.rows_table} set kept = false where rowid in (select unnest($rows))", {"rows": dropped})


def _settle_group(state: LogState, members: list[int]) -> Iterator[int]:
    seen: dict[str, int] = {}
    for row, text in zip(members, _canonical(state, members), strict=True):
        if text in seen:
            state.repeated += 1
            yield row
        elif seen and state.log.key:
            state.rewritten += 1
            first = state.line_of(members[0])
            state.reject(state.offset_of(row), state.log.key, f"rewritten: line {first} already has this {state.log.key}")
            yield row
        else:
            seen[text] = row


def _canonical(state: LogState, rows: Iterable[int]) -> Iterator[str]:
    assert state.file is not None
    for line in state.file.lines_at(state.offset_of(row) for row in rows):
        text = line.decode("utf-8-sig")
        try:
            yield json.dumps(json.loads(text, parse_int=whole_number), sort_keys=True)
        except (json.JSONDecodeError, RecursionError):  # DuckDB reads a little more than the standard allows
            yield text
