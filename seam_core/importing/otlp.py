"""Traces of OpenTelemetry as OTLP JSON: heals that were recorded as spans, and evaluations (``gen_ai.evaluation.result``).

A heal is a span with ``seam.heal_id``; each further key of a heal is an attribute of the same name with ``seam.`` before it
(``seam.change.after_text``). What is not there is taken from the GenAI attributes: the loop from ``gen_ai.conversation.id``, the
signature from ``error.type``, tokens from ``gen_ai.usage.*`` of the innermost spans below it that carry them. An evaluation on a heal is
its score after, or before where it says ``seam.side`` = ``before``. Evaluations of other spans are the cases of one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from seam_core.columns import columns_of
from seam_core.importing.format import HEAL_LOG, HEAL_OPTIONS, RUN_OPTIONS, Asked, Format, Found, Left, SourceError, each, name_of
from seam_core.importing.heals import Healed, heal_item
from seam_core.importing.moments import moment_in
from seam_core.importing.otlp_json import Event, Span, SpanId, Trace, read_trace
from seam_core.importing.reading import digest_of, number_in, text_in
from seam_core.importing.runs import CaseBook, Outcome
from seam_core.importing.verdicts import judged

OURS = "seam."
EVALUATION = "gen_ai.evaluation.result"
NAME, VALUE, LABEL = "gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"
EXPLANATION, ERROR_TYPE, CONVERSATION = "gen_ai.evaluation.explanation", "error.type", "gen_ai.conversation.id"
USAGE = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
CASE_KEY = "test.case.name"
PLAIN = ("heal_id", "ts", "loop_id", "cycle", "level")
MORE = {column.name: column.inner for column in columns_of(HEAL_LOG) if len(column.path) == 1 and column.name not in PLAIN}
NESTED = ("trigger.failure_signature", "trigger.evidence", "change.target", "change.after_text")


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    trace = read_trace(path)
    file = name_of(path)
    source = {"format": "otlp", "file": file, "sha256": digest_of(path)}
    heals = {key: span for key, span in trace.spans.items() if OURS + "heal_id" in span.attributes}
    parts: dict[SpanId | None, list[Span]] = {}
    for span in trace.spans.values():
        parts.setdefault(_heal_above(trace, span, heals), []).append(span)
    others = [(span, event) for span in parts.get(None, []) for event in _evaluations(span.events)]
    strays = [(None, event) for event in _evaluations(trace.strays)]
    if not heals and not others and not strays:
        what = f"holds {len(trace.spans):,} spans, none of them a heal ({OURS}heal_id), and no {EVALUATION} event"
        raise SourceError(f"{what}; what is missing must be recorded first")
    order = 0
    for span in heals.values():
        try:
            healed = _healed(span, parts[span.key], asked)
        except SourceError as error:
            yield Left(file, str(span.attributes[OURS + "heal_id"]), str(error))
            continue
        yield from _unnamed(file, healed, asked)
        yield heal_item(healed, asked, order=order, file=file, source=source)
        order += 1
    if others or strays:
        yield from _run([*others, *strays], asked, file=file, source=source)


def _evaluations(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.name == EVALUATION]


def _heal_above(trace: Trace, span: Span, heals: dict[SpanId, Span]) -> SpanId | None:
    """The heal that a span is, or is part of."""
    seen: set[SpanId] = set()
    at: Span | None = span
    while at is not None and at.key not in seen:
        if at.key in heals:
            return at.key
        seen.add(at.key)
        at = trace.spans.get(at.parent) if at.parent else None
    return None


def _healed(span: Span, within: list[Span], asked: Asked) -> Healed:
    """A span and those within it as a heal.  Raises SourceError naming the attribute that is missing."""
    told = {key.removeprefix(OURS): value for key, value in span.attributes.items() if key.startswith(OURS)}
    before: dict[str, float | None] = {}
    after: dict[str, float | None] = {}
    for one in within:
        for event in _evaluations(one.events):
            name = text_in(event.attributes.get(NAME))
            if name:
                side = before if event.attributes.get(OURS + "side") == "before" else after
                side[name] = number_in(event.attributes.get(VALUE))
    cycle, level = told.get("cycle"), told.get("level")
    for key, value in (("cycle", cycle), ("level", level)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise SourceError(f"has no whole number {OURS}{key}, which every heal needs")
    more = {name: told[name] if name in told else _object(told, name, inner) for name, inner in MORE.items()}
    more["tokens_spent"] = _tokens(within) if more.get("tokens_spent") is None else more["tokens_spent"]
    return Healed(
        heal_id=str(told["heal_id"]),
        loop_id=_needed(
            told.get("loop_id"), asked.loop_id, span.attributes.get(CONVERSATION), names="seam.loop_id or gen_ai.conversation.id"
        ),
        cycle=int(cycle or 0),
        level=int(level or 0),
        signature=_needed(
            told.get("trigger.failure_signature"), span.attributes.get(ERROR_TYPE), names="seam.trigger.failure_signature or error.type"
        ),
        target=text_in(told.get("change.target")),
        after_text=told.get("change.after_text"),
        evidence=told.get("trigger.evidence"),
        before=before,
        after=after,
        ended=moment_in(told.get("ts")) or span.ended,
        more=more,
        raw={"span": span.name, "trace_id": span.key[0], "span_id": span.key[1]}
        | {key: value for key, value in span.attributes.items() if not _is_ours(key.removeprefix(OURS))}
        | ({"evaluations": {"before": before, "after": after}} if before or after else {}),
    )


def _object(told: dict[str, Any], name: str, inner: tuple[str, ...]) -> dict[str, Any] | None:
    """A key that holds an object, from attributes for each of its keys."""
    return {key: told[f"{name}.{key}"] for key in inner if f"{name}.{key}" in told} or None


def _is_ours(name: str) -> bool:
    """Whether an attribute has become a key of the record."""
    return name in (*PLAIN, *MORE, *NESTED) or name.rpartition(".")[0] in MORE


def _needed(*values: Any, names: str) -> str:
    found = next((text for value in values if (text := text_in(value))), None)
    if found is None:
        raise SourceError(f"has no {names}, which every heal needs")
    return found


def _tokens(spans: list[Span]) -> int | None:
    """Tokens of the innermost spans that carry any: what is above them often repeats their sum."""
    used = {span.key: n for span in spans if (n := sum(one for key in USAGE if isinstance(one := span.attributes.get(key), int))) > 0}
    parents = {span.key: span.parent for span in spans}
    repeated: set[SpanId] = set()
    for key in used:
        at = parents.get(key)
        while at is not None and at not in repeated:
            repeated.add(at)
            at = parents.get(at)
    return sum(n for key, n in used.items() if key not in repeated) if used else None


def _unnamed(file: str, heal: Healed, asked: Asked) -> Iterator[Left]:
    """The evaluations of a heal of which nobody said whether the loop saw them."""
    for name in dict.fromkeys([*heal.before, *heal.after]):
        if name not in (asked.visible, asked.holdout, *MORE):  # a score that is an attribute, too, is declared by its own name
            yield Left(file, heal.heal_id, f"evaluation {name}: neither --visible nor --holdout says what it is", is_fault=False)


def _run(told: list[tuple[Span | None, Event]], asked: Asked, *, file: str, source: dict[str, Any]) -> Iterator[Found]:
    """The evaluations of spans that are no part of a heal, as one run."""
    if asked.suite is None or asked.phase is None:
        reason = "is an evaluation outside every heal: --suite and --phase would make a run of these"
        yield from (
            Left(file, _case(span, event, asked) or f"evaluation {n}", reason, is_fault=False) for n, (span, event) in enumerate(told)
        )
        return
    names = sorted({str(event.attributes.get(NAME)) for _, event in told})
    if asked.score is None and len(names) > 1:
        raise SourceError(f"holds several evaluations: say which one judges a case with --score ({', '.join(names[:10])})")
    book = CaseBook(file)
    times = []
    for n, (span, event) in enumerate(told):
        if asked.score is not None and event.attributes.get(NAME) != asked.score:
            continue
        times += [event.ts] if event.ts else [span.ended] if span and span.ended else []
        failed = text_in(event.attributes.get(ERROR_TYPE))
        label, value = event.attributes.get(LABEL), event.attributes.get(VALUE)
        shown = label if label is not None and (asked.pass_label is not None or (value is None or asked.pass_at is None)) else value
        outcome: Outcome = "error"
        reason = f"error: {failed}"
        if not failed:
            outcome, reason = judged(float("nan") if shown is None else shown, asked)
        book.add(
            _case(span, event, asked),
            outcome,
            where=f"evaluation {n}",
            reason=reason,
            evidence=text_in(event.attributes.get(EXPLANATION)),
            raw={key: one for key in (NAME, VALUE, LABEL, ERROR_TYPE) if (one := event.attributes.get(key)) is not None},
        )
    digest = str(source["sha256"])
    yield from book.found(asked, name=f"otlp-{digest[:12]}", ended=max(times, default=None), source=source)


def _case(span: Span | None, event: Event, asked: Asked) -> str | None:
    key = asked.case_key or CASE_KEY
    return text_in(event.attributes.get(key)) or (text_in(span.attributes.get(key)) if span else None)


OPTIONS = (*HEAL_OPTIONS, *RUN_OPTIONS, "score", "case_key", "pass_at", "pass_label", "assume_ts")
FORMAT = Format("OpenTelemetry: traces as OTLP JSON, with heals as spans", OPTIONS, each(_read_one))
