"""Surface runs: which there are, what one of them is, and what it put on record about a case (its output, as text or as a link)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from seam_core.errors import SeamError
from seam_core.lines import BOM
from seam_core.report import Audit
from seam_core.words import count, cut

RUNS_OFFERED = 500  # in a list to choose from
OUTPUT_BYTES = 4_096  # what the format allows; longer outputs are cut

# Runs of one moment stand in the order of their phases: a heal's before run, any other, its after run.
RUNS = """
select r.run, r.run_id, r.ts, r.phase::varchar, r.heal_id, r.n_results, s.state_hash, s.grader_hash
from (select *, case phase when 'before' then 0 when 'after' then 2 else 1 end as phase_rank from surface_runs) r
join runs s on s.row = r.run
"""
NEWEST_FIRST = "order by r.ts desc, phase_rank desc, r.run_id desc limit $n"
FULL_FIRST = "order by r.n_results < (select count(*) from surface), r.ts desc, phase_rank desc, r.run_id desc limit 2"


class NoSuchRunError(SeamError):
    """An address names a surface run that the log does not hold."""


@dataclass(frozen=True)
class Run:
    """One run of the surface."""

    run: int  # its row in the log
    run_id: str
    ts: datetime
    phase: str
    heal_id: str | None
    n_cases: int
    state_hash: str | None
    grader_hash: str | None

    @property
    def words(self) -> str:
        """What the run is, in one line; the ids are as logged."""
        whose = f" {cut(self.heal_id)}" if self.heal_id else ""
        return f"{self.ts:%Y-%m-%d %H:%M} · {self.phase}{whose} · {count(self.n_cases, 'case')} · {cut(self.run_id)}"


@dataclass(frozen=True)
class RunList:
    """The newest runs of the surface, newest first, and how many there are in all."""

    runs: tuple[Run, ...]
    n_runs: int


@dataclass(frozen=True)
class Output:
    """What a run put on record about one case. `text` is as the agent wrote it, at most 4 kB of it; of a link, the whole address."""

    kind: Literal["none", "text", "link"]
    text: str = ""
    host: str = ""
    is_cut: bool = False


class _Line(msgspec.Struct):
    evidence: msgspec.Raw = msgspec.Raw(b"null")


def surface_runs(audit: Audit) -> RunList:
    """The newest surface runs, of all times: they are not bound to the window."""
    n_runs = audit.scope.one("select count(*) from surface_runs")[0]
    return RunList(tuple(_runs(audit, NEWEST_FIRST, n=RUNS_OFFERED)), n_runs)


def find_run(audit: Audit, run_id: str) -> Run:
    """One surface run by its id.  Raises NoSuchRunError."""
    found = _runs(audit, "where r.run_id = $run_id", run_id=run_id)
    if not found:
        raise NoSuchRunError(f"There is no surface run {cut(run_id)} in suite_runs.jsonl.")
    return found[0]


def runs_of(audit: Audit, rows: list[int]) -> dict[int, Run]:
    """Runs by their row in the log."""
    return {run.run: run for run in _runs(audit, "where r.run in (select unnest($rows::bigint[]))", rows=rows)}


def default_pair(audit: Audit) -> tuple[str, str] | None:
    """(before, after): the two newest runs of the whole surface, or else of fewer cases; None below two runs."""
    found = _runs(audit, FULL_FIRST)[::-1]
    found.sort(key=lambda run: (run.ts, run.phase == "after", run.phase != "before"))
    return (found[0].run_id, found[1].run_id) if len(found) > 1 else None


def outputs(audit: Audit, run_ids: tuple[str, ...], case_id: str) -> dict[str, Output]:
    """Run id → what that run put on record about the case, for the runs that the log holds."""
    found = _runs(audit, "where r.run_id in (select unnest($run_ids::varchar[]))", run_ids=list(run_ids))
    lines = audit.scope.store.lines("runs", [run.run for run in found]) if found else iter(())
    return {run.run_id: _output(line, case_id) for run, line in zip(found, lines, strict=True)}


def read_output(value: Any) -> Output:
    """What one entry of `evidence` is: a link when all of it is one http(s) address, else text."""
    if value is None or value == "":
        return Output("none")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    host = _host(text)
    if host:
        return Output("link", text, host)
    cut_text = text.encode("utf-8", "backslashreplace")[:OUTPUT_BYTES].decode("utf-8", "ignore")
    return Output("text", cut_text, is_cut=len(cut_text) < len(text))


def _host(text: str) -> str:
    """The host of an http(s) address; nothing for any other text, for one with a name or password in it, or with odd characters."""
    if len(text) > OUTPUT_BYTES or not text.isascii() or not text.isprintable() or any(sign in text for sign in " \\\"'<>`{}|^"):
        return ""
    try:
        found = urlsplit(text)
        port = found.port
    except ValueError:
        return ""
    if found.scheme not in ("http", "https") or not found.hostname or "@" in found.netloc:
        return ""
    return f"{found.hostname}:{port}" if port else found.hostname


def _output(line: bytes, case_id: str) -> Output:
    try:
        logged = msgspec.json.decode(line.removeprefix(BOM), type=_Line).evidence
        found = json.loads(bytes(logged))
    except (msgspec.DecodeError, ValueError, RecursionError):  # a line that only DuckDB reads
        return Output("none")
    return read_output(found.get(case_id)) if isinstance(found, dict) else Output("none")


def _runs(audit: Audit, more: str, **binds: Any) -> list[Run]:
    order = "" if "order by" in more else " order by r.position"
    return [Run(*row) for row in audit.scope.query(f"{RUNS} {more}{order}", **binds)]
