"""The rows behind each number, as CSV: one file for each table that the axes and gates keep."""

from __future__ import annotations

from collections.abc import Iterator

from seam_core.report import Audit
from seam_core.spreadsheet import csv_lines, neutral_sql

# What each file holds, and its query. Numbers of rows inside the store mean nothing outside of it: ids stand in their place.
TABLES: dict[str, tuple[str, str]] = {
    "heals": ("every heal of the window that was scored", "select * exclude (row, after_text_hash) from window_heals"),
    "signal_signatures": ("S: one row a healed failure signature", "select * from signal_rows"),
    "signal_missed": ("S: signatures that failed and were not healed", "select * from missed_rows"),
    "efficacy_heals": ("E: one row a heal with all four scores", "select * exclude (row) from efficacy_rows"),
    "efficacy_loops": ("E by loop: one row a loop", "select * from efficacy_loops"),
    "efficacy_trend": ("the widening test: mean signed gap of each loop looked at", "select * from trend_rows"),
    "efficacy_contamination": ("held-out cases found in what heals added", "select * from contamination_rows"),
    "efficacy_paraphrases": ("held-out cases that a model suspects in what heals added", "select * from paraphrase_rows"),
    "aftermath_heals": ("A: one row a heal with runs to compare", "select * from aftermath_rows"),
    "aftermath_cases": (
        "A: one row a heal and case, before and after",
        "select heal_id, ts, case_id, passed_before, passed_after from surface_cases",
    ),
    "aftermath_drift": ("anchored drift of every full surface run", "select * from drift_rows"),
    "monotonicity_loops": ("M: one row a loop", "select * from loop_rows"),
    "monotonicity_cycles": (
        "M: one row a cycle of loops of two and more",
        "select c.loop_id, c.position, h.heal_id, h.cycle, h.ts, c.value, c.mutates, c.target from cycles c join heals h using (row)",
    ),
    "monotonicity_revisits": (
        "M: pairs of cycles with the same or nearly the same text",
        "select r.loop_id, r.earlier, r.later, e.heal_id as earlier_heal_id, l.heal_id as later_heal_id, r.idle, r.similarity"
        " from revisit_rows r join heals e on e.row = r.earlier_row join heals l on l.row = r.later_row",
    ),
    "gate_blocked": ("heals that the boundary gate stopped, and by which block", "select * exclude (row) from blocked_rows"),
    "budget": ("one row a heal: tokens, ratio, verdict", "select * exclude (row) from budget_rows"),
}


def csv_files(audit: Audit) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, chunks) of each file; the chunks of one are to be taken before the next is asked for."""
    for name, (_, sql) in TABLES.items():
        kinds = {row[0]: row[1] for row in audit.scope.query(f"describe {sql}")}
        cells = ", ".join(neutral_sql(column, kind) for column, kind in kinds.items())
        rows = audit.scope.stream(f"select {cells} from ({sql}) found order by {', '.join(f'found.{column}' for column in kinds)}")
        yield f"rows/{name}.csv", csv_lines(list(kinds), rows, is_neutral=True)
    rejects = ((reject.file, reject.line, reject.path, reject.reason) for reject in audit.scope.store.rejects())
    yield "rows/rejected_lines.csv", csv_lines(("file", "line", "path", "reason"), [rejects])
