"""OTLP as JSON: spans, and the events on them, from ``resourceSpans`` and ``resourceLogs``, as one document or one a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seam_core.importing.format import SourceError
from seam_core.importing.moments import of_nanoseconds
from seam_core.importing.reading import json_lines, open_source, read_json

LISTS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
SpanId = tuple[str, str]  # trace, span


@dataclass(frozen=True)
class Event:
    """Something that was said of a span: an event on it, or a log record that names it."""

    name: str
    attributes: dict[str, Any]
    ts: str | None


@dataclass
class Span:
    """One span, with its attributes as plain values."""

    key: SpanId
    parent: SpanId | None
    name: str
    attributes: dict[str, Any]
    ended: str | None
    has_failed: bool = False
    events: list[Event] = field(default_factory=list)


@dataclass(frozen=True)
class Trace:
    """All spans of one file, in order, and the events of spans that are not in it."""

    spans: dict[SpanId, Span]
    strays: list[Event]


def read_trace(path: Path) -> Trace:
    """The spans of a file.  Raises SourceError when it is no OTLP JSON."""
    spans: dict[SpanId, Span] = {}
    told: list[tuple[SpanId, Event]] = []
    for document in _documents(path):
        for kind, one in _entries(document):
            if kind == "resourceSpans":
                span = _span(one, len(spans))
                spans[span.key] = span
            else:
                told.append((_key(one, "spanId"), _event(one, str(one.get("eventName") or ""))))
    strays = []
    for key, event in told:
        strays += [] if key in spans else [event]
        if key in spans:
            spans[key].events.append(event)
    return Trace(spans, strays)


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    with open_source(path) as file:
        head = file.readline(2**20)
    is_lines = head.strip().startswith(b"{") and head.strip().endswith(b"}")
    found = (value for _, value in json_lines(path)) if is_lines else iter([read_json(path)])
    for value in found:
        if isinstance(value, SourceError):
            raise value
        if not isinstance(value, dict) or not any(key in value for key in LISTS):
            raise SourceError("is no OTLP JSON: it has neither resourceSpans nor resourceLogs")
        yield value


def _entries(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for outer, (middle, inner) in LISTS.items():
        for resource in _objects(document.get(outer)):
            for scope in _objects(resource.get(middle)):
                for one in _objects(scope.get(inner)):
                    yield outer, one


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _span(told: dict[str, Any], n: int) -> Span:
    key = _key(told, "spanId") if told.get("spanId") else ("", f"#{n}")
    status = told.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    return Span(
        key,
        _key(told, "parentSpanId") if told.get("parentSpanId") else None,
        str(told.get("name") or ""),
        _attributes(told.get("attributes")),
        of_nanoseconds(told.get("endTimeUnixNano")),
        code in (2, "STATUS_CODE_ERROR"),
        [_event(one, str(one.get("name") or "")) for one in _objects(told.get("events"))],
    )


def _key(told: dict[str, Any], name: str) -> SpanId:
    return str(told.get("traceId") or ""), str(told.get(name) or "")


def _event(told: dict[str, Any], name: str) -> Event:
    attributes = _attributes(told.get("attributes"))
    ts = of_nanoseconds(told.get("timeUnixNano")) or of_nanoseconds(told.get("observedTimeUnixNano"))
    return Event(name or str(attributes.get("event.name") or ""), attributes, ts)


def _attributes(told: Any) -> dict[str, Any]:
    return {str(one.get("key")): _value(one.get("value")) for one in _objects(told)}


def _value(told: Any, depth: int = 20) -> Any:
    """A value of OTLP as a plain one; None for what is none. Whole numbers are written as text there."""
    if not isinstance(told, dict) or depth == 0:
        return None
    if "intValue" in told:
        whole = told["intValue"]
        return int(whole) if isinstance(whole, str) and whole.lstrip("-").isdecimal() and len(whole) < 20 else whole
    for key in ("stringValue", "doubleValue", "boolValue", "bytesValue"):
        if key in told:
            return told[key]
    if isinstance(told.get("arrayValue"), dict):
        return [_value(one, depth - 1) for one in _objects(told["arrayValue"].get("values"))]
    if isinstance(told.get("kvlistValue"), dict):
        return {str(one.get("key")): _value(one.get("value"), depth - 1) for one in _objects(told["kvlistValue"].get("values"))}
    return None
