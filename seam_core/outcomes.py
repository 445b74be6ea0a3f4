"""Case outcomes of suite runs, read from the log for the runs that a question needs. A year of runs holds millions; few are asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import duckdb

from seam_core.errors import UnreadableLogError
from seam_core.lines import BOM
from seam_core.scope import Scope

BATCH_BYTES = 32 * 2**20

UNFOLD = """
insert into outcomes
select run, unnest(json_keys(results)), unnest(json_extract(results, '$.*'))::varchar = '"pass"' from {results}
"""
AT_HAND = UNFOLD.format(results="fullest_runs join unfold_queue using (run)")
FROM_FILE = UNFOLD.format(
    results="""(
    select run, line.results as results
    from read_ndjson($path, columns = {'run': 'INTEGER', 'line': 'STRUCT(results JSON)'}, maximum_object_size = $object_max)
)"""
)


def prepare_outcomes(scope: Scope) -> None:
    """Make the empty temporary tables ``outcomes`` (run, case_id, passed) and ``unfolded`` (runs that are in it)."""
    scope.con.execute("create or replace temp table outcomes (run integer, case_id varchar, passed boolean)")
    scope.con.execute("create or replace temp table unfolded (run integer)")


def unfold(scope: Scope, runs: str) -> None:
    """Bring the outcomes of the runs that a query of ``run`` names into ``outcomes``, those not yet there."""
    scope.keep("unfold_queue", f"select distinct run from ({runs}) anti join unfolded using (run) order by run")
    scope.query(AT_HAND)
    rows = [run for (run,) in scope.query("from unfold_queue anti join fullest_runs using (run) order by run")]
    for batch, longest in _batches(rows, scope.store.lines("runs", rows) if rows else iter(())):
        with tempfile.NamedTemporaryFile(prefix="seam-", suffix=".jsonl") as file:
            file.write(batch)
            file.flush()
            try:
                scope.query(FROM_FILE, path=file.name, object_max=max(longest, 2**20))
            except duckdb.InvalidInputException:
                log = scope.store.states["runs"].file
                raise UnreadableLogError(f"{log and log.path}: was changed while it was being read; read it again") from None
    scope.query("insert into unfolded from unfold_queue")


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
