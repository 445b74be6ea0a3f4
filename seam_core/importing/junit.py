"""JUnit XML, as pytest, Jest, GoogleTest, Surefire and many others write it. There is no official schema, so little is taken for granted.

A case is ``classname::name``, or ``suite::name`` where there is no class. A failed attempt that a tool repeated (``flakyFailure``,
``rerunFailure``) is a listing of its case that failed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from seam_core.importing.format import RUN_OPTIONS, Asked, Format, Found, Left, SourceError, each, name_of
from seam_core.importing.moments import moment_in
from seam_core.importing.reading import digest_of, open_source
from seam_core.importing.runs import CaseBook, Outcome

FAILED = ("failure", "rerunFailure", "flakyFailure")
ERRED = ("error", "rerunError", "flakyError")
SKIPPED_STATES = ("disabled", "skipped", "notrun", "suppressed", "ignored", "pending")
FAILED_STATES = ("fail", "failed", "failure", "broken")
ERRED_STATES = ("error", "errored", "timeout", "timedout", "timed out", "aborted", "crashed", "inconclusive")
DEPTH_MAX = 100
LISTED = "seam-cases"  # the attribute in which a suite's cases are counted
TRUE = ("true", "1", "yes")


@dataclass
class Report:
    """What one or more files of one run say."""

    book: CaseBook
    ended: list[datetime] = field(default_factory=list)

    @property
    def end(self) -> str | None:
        """When the last suite ended, as the tool wrote it: without an offset where it wrote none."""
        if not self.ended:
            return None
        last = max(self.ended, key=lambda moment: moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        return last.isoformat().replace("+00:00", "Z")


def read_into(report: Report, path: Path) -> None:
    """Add the cases of one file to a report.  Raises SourceError."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    above: list[Element] = []
    with open_source(path) as file:
        try:
            for event, element in iterparse(file, events=("start", "end")):
                if event == "start":
                    _check_root(element) if not above else None
                    element.attrib.pop(LISTED, None)  # ours to count
                    above.append(element)
                    if len(above) > DEPTH_MAX:
                        raise SourceError("is nested too deeply to be read")
                    continue
                above.pop()
                if _tag(element) == "testcase":
                    _add_case(report.book, element, above)
                elif _tag(element) == "testsuite":
                    _end_suite(report, element, above)
                if above and _tag(element) in ("testcase", "testsuite"):
                    above[-1].remove(element)  # what was counted need not be kept
        except ParseError as error:
            raise SourceError(f"is not XML, or only half of it: {error}") from None
        except DefusedXmlException:
            raise SourceError("declares entities, which a report of tests has no need of and which may unfold without end") from None
        except (UnicodeError, LookupError, ValueError) as error:
            raise SourceError(f"is not XML: {error}") from None


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _check_root(element: Element) -> None:
    if _tag(element) not in ("testsuites", "testsuite"):
        raise SourceError(f"is no JUnit report: it begins with <{_tag(element)[:40]}>, not with <testsuites>")


def _add_case(book: CaseBook, element: Element, above: Sequence[Element]) -> None:
    for suite in above:
        suite.set(LISTED, str(int(suite.get(LISTED, "0")) + 1))
    place = next((suite.get("name") for suite in reversed(above) if suite.get("name")), "")
    name = element.get("name") or None
    group = element.get("classname") or place
    number = above[0].get(LISTED) if above else "1"
    case_id = f"{group}::{name}" if name and group else name
    outcome, reason, evidence = _judged(element)
    raw: dict[str, Any] | None = {"attributes": dict(element.attrib), "elements": [_tag(child) for child in element]}
    book.add(
        case_id,
        outcome,
        where=case_id or f"test case {number}",
        reason=reason,
        evidence=evidence,
        raw=None if outcome == "pass" else raw,
        safety=_is_safety(element),
    )


def _judged(element: Element) -> tuple[Outcome, str, str]:
    """The outcome of one listing, why it is none, and what the tool printed."""
    by_tag: dict[str, list[Element]] = {}
    for child in element:
        by_tag.setdefault(_tag(child), []).append(child)
    state = {(element.get(key) or "").lower() for key in ("status", "result")}
    printed = "\n".join(_text(child) for tag in ("system-out", "system-err") for child in by_tag.get(tag, []))
    for tags, outcome in ((FAILED, "fail"), (ERRED, "error")):
        told = "\n".join(_text(child) for tag in tags for child in by_tag.get(tag, []))
        if any(tag in by_tag for tag in tags):
            return outcome, f"error: {told[:100]}" if outcome == "error" else "", f"{told}\n{printed}".strip()  # type: ignore[return-value]
    if state & set(FAILED_STATES):
        return "fail", "", printed
    if erred := sorted(state & set(ERRED_STATES)):
        return "error", erred[0], printed
    if "skipped" in by_tag or state & set(SKIPPED_STATES):
        return "skip", "skipped", printed
    return "pass", "", printed


def _text(element: Element) -> str:
    message, text = element.get("message") or "", "".join(element.itertext()).strip()
    return text if text.startswith(message) else f"{message}\n{text}".strip()


def _is_safety(element: Element) -> bool:
    return any(
        _tag(one) == "property" and one.get("name") == "safety" and (one.get("value") or "").lower() in TRUE for one in element.iter()
    )


def _end_suite(report: Report, element: Element, above: Sequence[Element]) -> None:
    """Note when a suite ended, and whether it lists all the cases that it says it ran."""
    try:
        started = datetime.fromisoformat(moment_in(element.get("timestamp")) or "")
        report.ended.append(started + timedelta(seconds=max(0.0, min(float(element.get("time") or 0), 10.0**7))))
    except (ValueError, OverflowError):
        pass
    said, listed = element.get("tests") or "", int(element.get(LISTED, "0"))
    is_outermost = not any(_tag(suite) == "testsuite" for suite in above)
    if is_outermost and said.isdecimal() and len(said) < 10 and int(said) > listed:
        name = element.get("name") or "a suite"
        report.book.leave(name, f"says that it ran {int(said):,} tests and lists {listed:,}: what is missing is no pass")


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    report = Report(CaseBook(name_of(path)))
    read_into(report, path)
    digest = digest_of(path)
    source = {"format": "junit", "file": name_of(path), "sha256": digest}
    yield from report.book.found(asked, name=f"junit-{digest[:12]}", ended=report.end, source=source)


def _read_merged(paths: Sequence[Path], asked: Asked) -> Iterator[Found]:
    """One run from the files of its parts; none of them may be missing, since what it held would count as not run."""
    files = [name_of(path) for path in paths]
    report = Report(CaseBook(files[0]))
    digests = []
    for path in paths:
        try:
            read_into(report, path)
            digests.append(digest_of(path))
        except SourceError as error:
            yield Left(name_of(path), "", f"{error}; a run is not merged from some of its files")
            return
    digest = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()
    try:
        source = {"format": "junit", "file": files, "sha256": digests}
        yield from report.book.found(asked, name=f"junit-{digest[:12]}", ended=report.end, source=source)
    except SourceError as error:
        yield Left(files[0], "", str(error))


def _read(paths: Sequence[Path], asked: Asked) -> Iterator[Found]:
    yield from _read_merged(paths, asked) if asked.merge else each(_read_one)(paths, asked)


FORMAT = Format("JUnit XML: a run of tests", (*RUN_OPTIONS, "merge", "assume_ts"), _read, needs=("suite", "phase"))
