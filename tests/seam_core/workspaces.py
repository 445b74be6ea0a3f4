"""Small workspaces for tests: records with sensible defaults, files made of them, and the report on them.

Times are days from START, so that a test can say "healed on day 1, failed again on day 8".
"""

import json
from collections.abc import Iterable
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from seam_core.report import audit, report, window_of
from seam_core.settings import resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_log

START = datetime(2026, 6, 1, 12, tzinfo=UTC)
NOW = datetime(2026, 9, 1, tzinfo=UTC)
FOUR = ("visible_before", "visible_after", "holdout_before", "holdout_after")
DIRECT_MIN = {"in blocks": 2**40, "by DuckDB": 0}  # from which size DuckDB reads a log by itself
LOG_NAMES = ("heal_events", "failures", "suite_runs", "holdout", "practice", "surface", "protected")


def at(days=0.0, seconds=0.0):
    """RFC 3339 time `days` and `seconds` after START."""
    return (START + timedelta(days=days, seconds=seconds)).isoformat().replace("+00:00", "Z")


def heal(number=1, days=None, **changes):
    """A valid heal ``h<number>``, by default alone in loop ``L<number>`` on day `number`.

    `sig`, `target` and `text` are short for the nested keys; any other key is set as given.
    """
    record = {
        "heal_id": f"h{number}",
        "ts": at(number if days is None else days),
        "loop_id": f"L{number}",
        "cycle": 1,
        "level": 2,
        "trigger": {"failure_signature": changes.pop("sig", f"Err:{number}")},
    }
    change = {key: changes.pop(short) for short, key in (("target", "target"), ("text", "after_text")) if short in changes}
    if change:
        record["change"] = {"target": "prompt"} | change
    return record | changes


def loop(loop_id, scores, *, first_day=0.0, **changes):
    """A loop of one heal per own score, a day apart; a value in `changes` that is a list gives each heal its own."""
    heals = []
    for at_place, score in enumerate(scores):
        own = {key: value[at_place] if isinstance(value, list) else value for key, value in changes.items()}
        record = heal(f"{loop_id}.{at_place + 1}", first_day + at_place, **({"cycle": at_place + 1, "score": score} | own))
        heals.append(record | {"loop_id": loop_id})
    return heals


def four(visible_before, visible_after, holdout_before, holdout_after):
    """The four scores of a heal."""
    return dict(zip(FOUR, (visible_before, visible_after, holdout_before, holdout_after), strict=True))


def gap(truth_gap):
    """Four scores whose truth gap is `truth_gap`: only the visible metric moved."""
    return four(0.0, truth_gap, 0.5, 0.5)


def run(run_id, phase, days, results, heal_id=None, *, suite="surface"):
    """A suite run; `results` maps a case to whether it passed."""
    outcomes = {case: "pass" if passed else "fail" for case, passed in results.items()}
    record = {"run_id": run_id, "ts": at(days), "suite": suite, "phase": phase, "results": outcomes}
    return record | ({"heal_id": heal_id} if heal_id else {})


def failure(sig, days, seconds=0.0):
    """A line of the failure log."""
    return {"ts": at(days, seconds), "failure_signature": sig}


def cases(n, *, safety=()):
    """`n` regression cases c0, c1 …"""
    return [{"id": f"c{i}", "safety": f"c{i}" in safety} for i in range(n)]


def json_lines(rows):
    """Rows as the bytes of a log; text and bytes among them stand for themselves."""
    return b"".join(as_line(row) + b"\n" for row in rows)


def as_line(row):
    """One row as bytes, without a newline."""
    if isinstance(row, bytes):
        return row
    return (row if isinstance(row, str) else json.dumps(row)).encode()


def write(folder, *, certified=None, settings=None, **logs):
    """Write a workspace; returns its heal log. A log is a list of rows or the bytes of the file; `settings` is the text of seam.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in logs.items():
        assert name in LOG_NAMES, name
        (folder / f"{name}.jsonl").write_bytes(rows if isinstance(rows, bytes) else json_lines(rows))
    if certified is not None:
        text = certified if isinstance(certified, str) else json.dumps(certified)
        (folder / "certified.json").write_text(text, encoding="utf-8")
    if settings is not None:
        (folder / "seam.toml").write_text(settings, encoding="utf-8")
    return folder / "heal_events.jsonl"


@contextmanager
def opened(heals, *, now=NOW):
    """A loaded store around one heal log."""
    store = Store(workspace_of_log(heals), now=now)
    try:
        store.refresh()
        yield store
    finally:
        store.close()


@contextmanager
def audited(heals, *, window="all", as_of=None, require=(), now=NOW, **thresholds):
    """The audit of one window, with its rows, as long as the block runs."""
    with opened(heals, now=now) as store:
        resolved = resolve(store.workspace.settings_file, flags=thresholds)
        yield audit(store, window_of(store, span=window, as_of=as_of), resolved, require=require)


def report_on(heals, **options):
    """The report as the command line prints it, as a dict."""
    with audited(heals, **options) as found:
        return report(found)


def reports_with(heals, *thresholds):
    """The report on all of history with each of several sets of thresholds, from one load."""
    with opened(heals) as store:
        return [report(audit(store, window_of(store, span="all"), resolve(None, flags=flags))) for flags in thresholds]


def texts_of(store, rows):
    """The text of each row."""
    return [edit.after_text for edit in store.edits(rows)]


def kept(store, table="heals"):
    """(physical line, identity) of every row that was kept, in the order of the file."""
    key = {"heals": "heal_id", "runs": "run_id", "failures": "failure_signature"}.get(table, "id")
    rows = store.cursor().execute(f"select row, {key} from {table} order by row").fetchall()
    return [(store.line_number(table, row), name) for row, name in rows]


def rejected(store, file="heal_events.jsonl"):
    """(line, path, reason) of what was not kept from one file."""
    return [(reject.line, reject.path, reject.reason) for reject in store.rejects() if reject.file == file]


def rows_of(found, table, key):
    """A kept table of an audit as key → row."""
    return {row[key]: row for row in found.scope.rows(table)}


def words(first, last, prefix="w"):
    """Words first … last − 1 of a text in which no word stands twice."""
    return " ".join(f"{prefix}{i}" for i in range(first, last))


def concat(groups: Iterable[list]):
    """The lists one after the other."""
    return [item for group in groups for item in group]
