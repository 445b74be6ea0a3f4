"""Heals as OpenTelemetry spans, with their scores as ``gen_ai.evaluation.result`` events; needs the package opentelemetry-api.

    recorder = Recorder("my_agent", telemetry=Spans())

The span is current while the heal's block runs, so the agent's own spans lie below it. Keys of the log are attributes that begin with
``seam.``; names that begin with ``gen_ai.`` are those of OpenTelemetry's conventions for generative AI (in development there). Texts of
prompts and evidence leave the process only when `texts` is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opentelemetry import context, trace
from opentelemetry._logs import LoggerProvider, SeverityNumber, get_logger

from .heal import SCORES, Heal

SCOPE = "seam.recorder"
EVENT = "gen_ai.evaluation.result"
TEXTS = ("seam.change.after_text", "seam.trigger.evidence")


class Spans:
    """Tells OpenTelemetry of each heal; without an SDK set up it does nothing."""

    def __init__(
        self, *, tracer_provider: trace.TracerProvider | None = None, logger_provider: LoggerProvider | None = None, texts: bool = False
    ) -> None:
        """The global providers, unless others are given."""
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        self._logger = get_logger(SCOPE, logger_provider=logger_provider)
        self._texts = texts
        self._open: dict[int, tuple[trace.Span, Any]] = {}

    def begin(self, heal: Heal) -> None:
        """Start the heal's span and make it the current one."""
        span = self._tracer.start_span(f"heal {heal.failure_signature}", attributes={"gen_ai.operation.name": "heal"})
        self._open[id(heal)] = span, context.attach(trace.set_span_in_context(span))

    def end(self, heal: Heal, record: Mapping[str, Any], error: str | None) -> None:
        """End it, with what was logged."""
        span, token = self._open.pop(id(heal))
        context.detach(token)
        found = dict(_attributes(record, "seam"))
        if not self._texts:
            found = {key: value for key, value in found.items() if not key.startswith(TEXTS)}
        span.set_attributes(found)
        span.set_attribute("gen_ai.conversation.id", heal.loop_id)
        span.set_attribute("seam.written", heal.written)
        if isinstance(heal.actor, str):
            span.set_attribute("gen_ai.agent.name", heal.actor)
        if error is not None:
            span.set_attribute("error.type", error)
            span.set_status(trace.StatusCode.ERROR, error)
        for name, values in _evaluations(record):
            self._logger.emit(
                event_name=EVENT,
                severity_number=SeverityNumber.INFO,
                attributes={"gen_ai.evaluation.name": name, **values},
                context=trace.set_span_in_context(span),
            )
        span.end()


def _attributes(value: Any, name: str) -> Iterator[tuple[str, str | bool | int | float]]:
    """The keys of a record as flat attributes."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _attributes(inner, f"{name}.{key}")
    elif isinstance(value, str | bool | int | float):
        yield name, value
    elif value is not None:
        yield name, str(value)


def _evaluations(record: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each score of a heal, and what the probe or somebody said of the failure, as evaluation results."""
    for name in (*SCORES, "score"):
        if (score := record.get(name)) is not None:
            yield name, {"gen_ai.evaluation.score.value": float(score)}
    if (is_real := record.get("was_real_failure")) is not None:
        votes = record.get("probe_votes")
        said = {"gen_ai.evaluation.explanation": f"plain retries: {', '.join(votes)}"} if votes else {}
        yield "was_real_failure", {"gen_ai.evaluation.score.label": "real" if is_real else "not real", **said}
