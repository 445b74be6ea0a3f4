"""promptfoo's JSON: what ``promptfoo eval --output results.json`` or ``promptfoo export`` writes, of either of its two shapes.

A case is named by the description of its test, and by a digest of its variables and assertions where there is none or several tests share
it; the number of a test shifts when one is added before it. Provider and prompt are part of the name where an eval compares several. A
failed assertion is a fail; an error of the provider is errored and not a failed assertion.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seam_core.importing.format import RUN_OPTIONS, Asked, Format, Found, SourceError, each, name_of
from seam_core.importing.moments import moment_in
from seam_core.importing.reading import a_list, an_object, digest_of, kept, read_json, text_in
from seam_core.importing.runs import CaseBook, Outcome, shortened

NONE, ASSERT, ERROR = 0, 1, 2  # promptfoo's failureReason


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    whole = an_object(read_json(path), "a result of promptfoo")
    summary = whole.get("results")
    summary = summary if isinstance(summary, dict) else whole
    rows = summary.get("results", summary.get("outputs"))
    if not isinstance(rows, list):
        raise SourceError("is no result of promptfoo: it holds no list results.results")
    if not rows:
        raise SourceError("holds no result: the eval ran no test, or was stopped before the first one")
    book = CaseBook(name_of(path))
    names = _names([_case(an_object(row, f"results.results[{n}]"), n) for n, row in enumerate(rows)])
    for n, (row, name) in enumerate(zip(rows, names, strict=True)):
        outcome, reason = _judged(row)
        test = row.get("testCase") if isinstance(row.get("testCase"), dict) else {}
        book.add(
            name,
            outcome,
            where=f"results.results[{n}]",
            reason=reason,
            evidence=_evidence(row),
            raw={key: row[key] for key in ("success", "score", "namedScores", "failureReason", "cost", "latencyMs") if key in row},
            text=_text(row, test),
            safety=_is_safety(test),
        )
    _compare(book, summary)
    digest = digest_of(path)
    eval_id = text_in(whole.get("evalId"))
    source = {"format": "promptfoo", "file": name_of(path), "sha256": digest} | ({"eval_id": eval_id} if eval_id else {})
    ended = moment_in(summary.get("timestamp"))
    yield from book.found(asked, name=f"promptfoo-{eval_id or digest[:12]}", ended=ended, source=source)


@dataclass(frozen=True)
class _Case:
    """What tells one result's case from the others."""

    description: str
    digest: str
    provider: str
    prompt: str


def _case(row: Mapping[str, Any], n: int) -> _Case:
    test = row.get("testCase") if isinstance(row.get("testCase"), dict) else {}
    assert isinstance(test, dict)
    asked = {"vars": row.get("vars", test.get("vars")), "assert": test.get("assert")}
    digest = hashlib.sha256(json.dumps(kept(asked), sort_keys=True).encode()).hexdigest()[:12]
    digest = digest if asked["vars"] or asked["assert"] else str(row.get("testIdx", n))
    provider = row.get("provider")
    of = text_in(provider.get("label")) or text_in(provider.get("id")) if isinstance(provider, dict) else text_in(provider)
    prompt = text_in(row.get("promptId")) or str(row.get("promptIdx", ""))
    return _Case(text_in(test.get("description")) or "", digest, of or "", prompt[:12])


def _names(cases: Sequence[_Case]) -> list[str]:
    """The name of each result's case."""
    tests: dict[str, set[str]] = {}
    for case in cases:
        tests.setdefault(case.description, set()).add(case.digest)
    several_providers = len({case.provider for case in cases}) > 1
    several_prompts = len({case.prompt for case in cases}) > 1
    names = []
    for case in cases:
        parts = [case.description or f"test-{case.digest}"]
        parts += [case.digest] if case.description and len(tests[case.description]) > 1 else []
        parts += [case.provider] if several_providers else []
        parts += [case.prompt] if several_prompts else []
        names.append(" · ".join(part for part in parts if part))
    return names


def _judged(row: Mapping[str, Any]) -> tuple[Outcome, str]:
    success, why = row.get("success"), row.get("failureReason")
    if why == ERROR:
        return "error", f"error: {str(row.get('error') or 'of the provider')[:100]}"
    if success is True and why in (None, NONE):
        return "pass", ""
    if success is False or why == ASSERT:
        return "fail", ""
    return "skip", "does not say whether it succeeded"


def _evidence(row: Mapping[str, Any]) -> str:
    response = row.get("response")
    output = response.get("output") if isinstance(response, dict) else row.get("output", row.get("text"))
    said = output if isinstance(output, str) else "" if output is None else json.dumps(kept(output))
    grading = row.get("gradingResult")
    reason = grading.get("reason") if isinstance(grading, dict) else row.get("error")
    return shortened("\n\n".join(part for part in (said, reason) if isinstance(part, str) and part))


def _text(row: Mapping[str, Any], test: Any) -> str | None:
    """The question, as far as the variables are it."""
    variables = row.get("vars", test.get("vars"))
    if not isinstance(variables, dict) or not variables:
        return None
    values = [value if isinstance(value, str) else json.dumps(kept(value)) for value in variables.values()]
    return "\n".join(values)


def _is_safety(test: Any) -> bool:
    metadata = test.get("metadata")
    return isinstance(metadata, dict) and metadata.get("safety") is True


def _compare(book: CaseBook, summary: Mapping[str, Any]) -> None:
    """Say where the eval counted other than it lists."""
    stats = summary.get("stats")
    if not isinstance(stats, dict):
        return
    said = sum(one for key in ("successes", "failures", "errors") if isinstance(one := stats.get(key), int))
    listed = len(a_list(summary.get("results", summary.get("outputs")), "its results"))
    if said > listed:
        book.leave("stats", f"counts {said:,} results and lists {listed:,}: what is missing is no pass")


FORMAT = Format("promptfoo: the JSON output of an eval", (*RUN_OPTIONS, "assume_ts"), each(_read_one), needs=("suite", "phase"))
