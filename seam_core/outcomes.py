"""Case outcomes of suite runs, read from the log for the runs that a question needs. A year of runs holds millions; few are asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import duckdb

from seam_core.errors import UnreadableLogError
from seam_core.lines import BOM
from seam_core.scope import Scope
from seam_core.store import Store

BATCH_BYTES = 32 * 2**20

UNFOLD = """
insert into {into}
select run, unnest(json_keys(results)), unnest(json_extract(results, '$.*'))::varchar = '"pass"' from {results}
"""
AT_HAND = "fullest_runs join unfold_queue using (run)"
FROM_FILE = """(
    select run, line.results as results
    from read_ndjson($path, columns = {'run': 'INTEGER', 'line': 'STRUCT(results JSON)'}, maximum_object_size = $object_max)
)"""

COLUMNS = "(run integer, case_id varchar, passed boolean)"
OUTCOMES = """
create or replace temp view outcomes as
from drift.outcomes where run in (from shared_runs)
union all
from own_outcomes
"""


def prepare_outcomes(scope: Scope) -> None:
    """Make ``outcomes`` (run, case_id, passed) of a scope, which begins with those that drift unfolded for all scopes."""
    scope.keep("shared_runs", "from drift.unfolded")  # it may grow later
    scope.keep("unfolded", "from shared_runs")
    scope.con.execute(f"create or replace temp table own_outcomes {COLUMNS}")
    scope.con.execute(OUTCOMES)


def unfold(scope: Scope, runs: str) -> None:
    """Bring the outcomes of the runs that a query of ``run`` names into ``outcomes``, those not yet there."""
    with scope.store.lock:
        unfold_into(scope.con, scope.store, "own_outcomes", f"from ({runs}) anti join unfolded using (run)")
        scope.query("insert into unfolded from unfold_queue")


def unfold_into(con: duckdb.DuckDBPyConnection, store: Store, table: str, runs: str) -> None:
    """Insert the outcomes of the runs that the rest of a query names into a table. Leaves ``unfold_queue``: these runs.

    Raises UnreadableLogError when the file was changed meanwhile.
    """
    con.execute(f"create or replace temp table unfold_queue as select distinct run {runs} order by run")
    con.execute(UNFOLD.format(into=table, results=AT_HAND))
    rows = [run for (run,) in con.execute("from unfold_queue anti join fullest_runs using (run) order by run").fetchall()]
    for batch, longest in _batches(rows, store.lines("runs", rows) if rows else iter(())):
        with tempfile.NamedTemporaryFile(prefix="seam-", suffix=".jsonl") as file:
            file.write(batch)
            file.flush()
            try:
                con.execute(UNFOLD.format(into=table, results=FROM_FILE), {"path": file.name, "object_max": max(longest, 2**20)})
            except duckdb.InvalidInputException:
                log = store.states["runs"].file
                raise UnreadableLogError(f"{log and log.path}: was changed while it was being read; read it again") from None


def _batches(rows: list[int], lines: Iterator[bytes]) -> Iterator[tuple[bytes, int]]:
    """Lines with their run numbers, some MB at a time, and the length of the longest."""
    parts: list[bytes] = []
    n_bytes = longest = 0
    for run, line in zip(rows, lines, strict=True):
        part = b'{"run":%d,"line":%s}\n' % (run, line.removeprefix(BOM).strip())
        parts.append(part)
        n_bytes += len(part)
        longest = max(longest, len(part))
        if n_bytes >= BATCH_BYTES:
            yield b"".join(parts), longest
            parts, n_bytes, longest = [], 0, 0
    if parts:
        yield b"".join(parts), longest
