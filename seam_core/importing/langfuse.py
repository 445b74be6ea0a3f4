"""Langfuse: exported scores, as JSON Lines or a JSON list, of the blob export, the API or the pages; a trace with its scores inside, too.

Scores of one dataset run are one run; those that name none are a run together. The export does not name the dataset's item, so the caller
may say which key names a case (``--case-key``), else the trace does. For a score of type TEXT the exported value is always 0, which is no
score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seam_core.importing.format import RUN_OPTIONS, Asked, Format, Found, Left, SourceError, each, name_of
from seam_core.importing.moments import moment_in
from seam_core.importing.reading import digest_of, json_lines, kept, open_source, read_json, text_in
from seam_core.importing.runs import CaseBook
from seam_core.importing.verdicts import judged

TEXT, CATEGORICAL, BOOLEAN = "TEXT", "CATEGORICAL", "BOOLEAN"
RAW = ("name", "value", "stringValue", "string_value", "dataType", "data_type", "source", "id")


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    runs: dict[str, tuple[CaseBook, list[str]]] = {}
    names: set[str] = set()
    for where, score in _scores(path):
        if isinstance(score, SourceError):
            yield Left(name_of(path), where, str(score))
            continue
        name = text_in(score.get("name"))
        if name is None or ("value" not in score and "stringValue" not in score and "string_value" not in score):
            yield Left(name_of(path), where, "is no score: it has no name or no value")
            continue
        names.add(name)
        if asked.score is not None and name != asked.score:
            continue
        run = text_in(_either(score, "datasetRunId", "dataset_run_id")) or ""
        book, times = runs.setdefault(run, (CaseBook(name_of(path)), []))
        _add(book, score, where, asked)
        moment = moment_in(score.get("timestamp")) or moment_in(_either(score, "createdAt", "created_at"))
        times += [moment] if moment else []
    if asked.score is None and len(names) > 1:
        raise SourceError(f"holds several scores: say which one judges a case with --score ({', '.join(sorted(names)[:10])})")
    if not runs:
        there = f"; there are {', '.join(sorted(names)[:10])}" if names else ": it holds no score of Langfuse"
        raise SourceError(f"has nothing to import{there}")
    if len(runs) > 1 and asked.run_id is not None:
        raise SourceError(f"holds {len(runs):,} dataset runs, which cannot all be --run-id {asked.run_id}; leave it away")
    digest = digest_of(path)
    source = {"format": "langfuse", "file": name_of(path), "sha256": digest}
    for run, (book, times) in runs.items():
        name = "-".join(part for part in ("langfuse", run or digest[:12], asked.score) if part)
        yield from book.found(asked, name=name, ended=max(times, default=None), source=source | ({"dataset_run_id": run} if run else {}))


def _scores(path: Path) -> Iterator[tuple[str, Any]]:
    """(where, score) of every score in a file, whichever way it was exported; a SourceError for a line that cannot be read."""
    with open_source(path) as file:
        head = file.read(2**16)
    first, second = [*head.split(b"\n", 2), b""][:2]
    is_lines = first.strip().startswith(b"{") and (
        path.suffix == ".jsonl" or (first.strip().endswith(b"}") and second.strip().startswith(b"{"))
    )
    if is_lines:
        for number, value in json_lines(path):
            if isinstance(value, (dict, SourceError)):
                yield f"line {number}", value
            else:
                yield f"line {number}", SourceError("is no object")
        return
    value = read_json(path)
    if isinstance(value, dict) and isinstance(value.get("observations"), list) and not isinstance(value.get("scores"), list):
        raise SourceError("is a trace without scores: export the scores of its project, or the trace with scores")
    rows = (
        value
        if isinstance(value, list)
        else next((value[key] for key in ("data", "scores") if isinstance(value, dict) and isinstance(value.get(key), list)), None)
    )
    if rows is None and isinstance(value, dict) and "name" in value and "value" in value:
        rows = [value]
    if rows is None:
        raise SourceError("is no export of scores: neither a list, nor an object with data or scores")
    for number, row in enumerate(rows, start=1):
        yield f"score {number}", row if isinstance(row, dict) else SourceError("is no object")


def _either(score: Mapping[str, Any], one: str, other: str) -> Any:
    """A value that is named one way by the API and another by the export."""
    return score[one] if score.get(one) is not None else score.get(other)


def _add(book: CaseBook, score: Mapping[str, Any], where: str, asked: Asked) -> None:
    kind = _either(score, "dataType", "data_type")
    case_id = text_in(_at(score, asked.case_key)) if asked.case_key else _default_case(score)
    raw = {key: score[key] for key in RAW if score.get(key) is not None}
    comment = text_in(score.get("comment"))
    if kind == TEXT:
        book.add(case_id, "skip", where=where, reason="its score is a text, whose exported value says nothing", evidence=comment, raw=raw)
        return
    word = _either(score, "stringValue", "string_value")
    value = (
        word
        if word is not None and (kind == CATEGORICAL or asked.pass_label is not None or score.get("value") is None)
        else score.get("value")
    )
    outcome, reason = judged(float("nan") if value is None else kept(value), asked)
    if case_id is None and asked.case_key:
        book.leave(where, f"has no {asked.case_key}, which was to name its case")
        return
    book.add(case_id, outcome, where=where, reason=reason, evidence=comment, raw=raw)


def _default_case(score: Mapping[str, Any]) -> str | None:
    trace, observation = text_in(_either(score, "traceId", "trace_id")), text_in(_either(score, "observationId", "observation_id"))
    return f"{trace}/{observation}" if trace and observation else trace or text_in(_either(score, "sessionId", "session_id"))


def _at(value: Any, path: str) -> Any:
    """The value at a key, or at keys joined by dots."""
    for key in [path] if isinstance(value, dict) and path in value else path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


FORMAT = Format(
    "Langfuse: exported scores, JSON or JSON Lines",
    (*RUN_OPTIONS, "score", "case_key", "pass_at", "pass_label", "assume_ts"),
    each(_read_one),
    needs=("suite", "phase"),
)
