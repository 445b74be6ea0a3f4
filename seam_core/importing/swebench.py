"""SWE-bench reports: the run reports with lists of instances, in their three generations, and the report of single instances.

A resolved instance passes. One that was tried and is not resolved fails: no patch, a patch that does not apply, tests that fail. One that
could not be judged (an error of the harness, a timeout) is errored, and one that was not tried is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seam_core.importing.format import RUN_OPTIONS, Asked, Format, Found, Left, SourceError, name_of
from seam_core.importing.reading import a_list, an_object, digest_of, number_in, read_json
from seam_core.importing.runs import CaseBook, Outcome

# What each list of a run report makes of its instances; a resolved one is in several, and the first that names it counts.
LISTS: dict[str, tuple[tuple[str, Outcome, str], ...]] = {
    "by ids": (
        ("error_ids", "error", "the harness ended with an error"),
        ("resolved_ids", "pass", ""),
        ("empty_patch_ids", "fail", "empty patch"),
        ("unresolved_ids", "fail", "not resolved"),
        ("incomplete_ids", "skip", "was not run"),
    ),
    "by steps": (
        ("install_fail", "error", "could not be installed"),
        ("reset_failed", "error", "could not be reset"),
        ("test_errored", "error", "the tests ended with an error"),
        ("test_timeout", "error", "the tests took too long"),
        ("resolved", "pass", ""),
        ("no_generation", "fail", "no patch"),
        ("no_apply", "fail", "the patch does not apply"),
        ("applied", "fail", "not resolved"),
        ("generated", "fail", "not resolved, and nothing says why"),
    ),
}
TESTS = ("FAIL_TO_PASS", "PASS_TO_PASS")


def _add_lists(book: CaseBook, report: Mapping[str, Any], shape: str) -> None:
    placed: set[str] = set()
    resolved = set(_ids(report, "resolved_ids" if shape == "by ids" else "resolved"))
    for key, outcome, reason in LISTS[shape]:
        for one in _ids(report, key):
            if one in placed:
                continue
            placed.add(one)
            contradicts = one in resolved and outcome != "pass"
            told = f"{reason}, and the report also lists it as resolved" if contradicts else reason
            book.add(one, outcome, where=one, reason=told, evidence=told if outcome != "pass" else None, raw=key)
    submitted = set(_ids(report, "submitted_ids")) - placed
    for one in sorted(submitted):
        book.add(one, "skip", where=one, reason="was submitted, and no list says what became of it", raw="submitted_ids")


def _ids(report: Mapping[str, Any], key: str) -> list[str]:
    found = a_list(report.get(key, []), f"its {key}")
    if not all(isinstance(one, str) and one for one in found):
        raise SourceError(f"its {key} must be a list of names of instances")
    return found


def _add_solved(book: CaseBook, report: Mapping[str, Any], asked: Asked) -> None:
    """A report that names only what was resolved: of the others it has a number."""
    resolved = set(_ids(report, "resolved"))
    stats = report["stats"] if isinstance(report.get("stats"), dict) else {}
    tried = number_in(stats.get("generated"))
    if asked.instances is None:
        among = f"of the {tried:,.0f} that were tried" if tried is not None else "of all that were tried"
        raise SourceError(
            f"names only the {len(resolved):,} resolved instances {among}: a run of passes alone would hide each failure;"
            " name all that were tried with --instances FILE, or import the report that lists them"
        )
    if strays := sorted(resolved - asked.instances):
        raise SourceError(f"resolves {strays[0]}, which the file of --instances does not name; is it the list of this run?")
    for one in sorted(asked.instances):
        solved = one in resolved
        book.add(
            one, "pass" if solved else "fail", where=one, evidence=None if solved else "not resolved", raw="resolved" if solved else None
        )
    if tried is not None and tried != len(asked.instances):
        why = f"says that {tried:,.0f} were tried; --instances names {len(asked.instances):,}, and the rest of those count as failed"
        book.leave("stats.generated", why)


def _add_instances(book: CaseBook, report: Mapping[str, Any]) -> None:
    """The report of single instances: instance → what became of its patch and its tests."""
    for one, value in report.items():
        told = an_object(value, f"what it says of {one}")
        if not isinstance(told.get("resolved"), bool):
            book.leave(one, "does not say whether it is resolved")
            continue
        raw = {key: inner for key, inner in told.items() if key != "tests_status"}
        book.add(one, "pass" if told["resolved"] else "fail", where=one, evidence=_failed_tests(told), raw=raw)


def _failed_tests(told: Mapping[str, Any]) -> str | None:
    """Which tests of an instance failed, as evidence."""
    if told.get("patch_is_None") is True or told.get("patch_exists") is False:
        return "no patch"
    if told.get("patch_successfully_applied") is False:
        return "the patch does not apply"
    status = told.get("tests_status")
    lines = []
    for kind in TESTS:
        tests = status.get(kind) if isinstance(status, dict) else None
        failed = tests.get("failure") if isinstance(tests, dict) else None
        lines += [f"{kind} failed: {', '.join(map(str, failed))}"] if isinstance(failed, list) and failed else []
    return "\n".join(lines) or None


def _shape_of(report: Mapping[str, Any]) -> str:
    if "resolved_ids" in report:
        return "by ids"
    if "resolved" in report and "applied" in report:
        return "by steps"
    if isinstance(report.get("resolved"), list) and ("stats" in report or "resolved_per_project" in report):
        return "solved only"
    if report and all(isinstance(value, dict) and "resolved" in value for value in report.values()):
        return "instances"
    raise SourceError("is no report of SWE-bench: it has neither resolved_ids, nor resolved and applied, nor instances with resolved")


def _read(paths: Sequence[Path], asked: Asked) -> Iterator[Found]:
    """One run a file; reports of single instances, which stand in a file each, are one run together."""
    single: list[tuple[Path, Mapping[str, Any]]] = []
    for path in paths:
        try:
            report = an_object(read_json(path), "a report")
            shape = _shape_of(report)
            if shape == "instances":
                single.append((path, report))
                continue
            book = CaseBook(name_of(path))
            _add_solved(book, report, asked) if shape == "solved only" else _add_lists(book, report, shape)
            yield from _found(book, [path], asked)
        except SourceError as error:
            yield Left(name_of(path), "", str(error))
    if single:
        book = CaseBook(name_of(single[0][0]))
        try:
            for path, instances in single:
                book.file = name_of(path)
                _add_instances(book, instances)
            yield from _found(book, [path for path, _ in single], asked)
        except SourceError as error:
            yield Left(book.file, "", str(error))


def _found(book: CaseBook, paths: Sequence[Path], asked: Asked) -> Iterator[Found]:
    digests = sorted(digest_of(path) for path in paths)
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    source = {"format": "swebench", "file": [name_of(path) for path in paths] if len(paths) > 1 else name_of(paths[0]), "sha256": digest}
    yield from book.found(asked, name=f"swebench-{digest[:12]}", ended=None, source=source)


FORMAT = Format(
    "SWE-bench: the report of a run, or the reports of single instances",
    (*RUN_OPTIONS, "instances", "assume_ts"),
    _read,
    needs=("suite", "phase"),
)
