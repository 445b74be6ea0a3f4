"""A heal as OpenTelemetry's own SDK exports it."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seam_core.recorder import Change, Recorder, probe
from seam_core.recorder.otel import Spans


class Exported:
    """A recorder with the SDK's exporters behind it."""

    def __init__(self, folder, **options):
        self._spans, self._events = InMemorySpanExporter(), InMemoryLogRecordExporter()
        self.tracing, logging = TracerProvider(), LoggerProvider()
        self.tracing.add_span_processor(SimpleSpanProcessor(self._spans))
        logging.add_log_record_processor(SimpleLogRecordProcessor(self._events))
        telemetry = Spans(tracer_provider=self.tracing, logger_provider=logging, **options)
        self.recorder = Recorder(folder, actor="repair-agent", sync="system", telemetry=telemetry)

    @property
    def spans(self):
        return self._spans.get_finished_spans()

    @property
    def events(self):
        return [event.log_record for event in self._events.get_finished_logs()]


def test_a_heal_is_a_span_with_its_scores_as_evaluation_results(tmp_path):
    found = Exported(tmp_path)
    with found.recorder.heal("timeout:tool:x", loop_id="loop_1", level=2, probe=probe(lambda: False), evidence="secret") as heal:
        heal.visible_before, heal.holdout_after, heal.tokens_spent = 0.5, 0.75, 1200
        heal.change = Change("prompt", "the whole secret prompt", "old")
        found.tracing.get_tracer("agent").start_span("chat").end()
    inner, span = found.spans
    assert inner.parent.span_id == span.context.span_id
    assert (span.name, span.status.status_code) == ("heal timeout:tool:x", trace.StatusCode.UNSET)
    expected = {
        "gen_ai.operation.name": "heal",
        "gen_ai.conversation.id": "loop_1",
        "gen_ai.agent.name": "repair-agent",
        "seam.heal_id": "h_0001",
        "seam.cycle": 1,
        "seam.level": 2,
        "seam.trigger.failure_signature": "timeout:tool:x",
        "seam.change.target": "prompt",
        "seam.tokens_spent": 1200,
        "seam.visible_before": 0.5,
        "seam.was_real_failure": True,
        "seam.written": True,
    }
    assert span.attributes.items() >= expected.items()
    assert "secret" not in str(dict(span.attributes))
    results = {event.attributes["gen_ai.evaluation.name"]: event for event in found.events}
    assert {event.event_name for event in found.events} == {"gen_ai.evaluation.result"}
    assert {event.span_id for event in found.events} == {span.context.span_id}
    assert set(results) == {"visible_before", "holdout_after", "was_real_failure"}
    assert results["holdout_after"].attributes["gen_ai.evaluation.score.value"] == 0.75
    assert results["was_real_failure"].attributes["gen_ai.evaluation.score.label"] == "real"
    assert results["was_real_failure"].attributes["gen_ai.evaluation.explanation"] == "plain retries: fail"


def test_texts_leave_the_process_when_that_is_asked_for(tmp_path):
    found = Exported(tmp_path, texts=True)
    with found.recorder.heal("a:b:c", loop_id="L", level=2) as heal:
        heal.change = Change("prompt", "the whole prompt")
    assert found.spans[0].attributes["seam.change.after_text"] == "the whole prompt"


def test_a_heal_that_ends_in_an_exception_is_a_span_in_error(tmp_path):
    found = Exported(tmp_path)

    def repair():
        with found.recorder.heal("a:b:c", loop_id="L", level=2):
            raise TimeoutError("too slow")

    with pytest.raises(TimeoutError):
        repair()
    (span,) = found.spans
    assert (span.attributes["error.type"], span.status.status_code) == ("TimeoutError", trace.StatusCode.ERROR)
    assert trace.get_current_span() is trace.INVALID_SPAN, "the context of the agent is as it was"


def test_telemetry_that_fails_costs_neither_the_heal_nor_the_agent(tmp_path):
    class Broken(Spans):
        def end(self, heal, record, error):
            raise RuntimeError("collector gone")

    recorder = Recorder(tmp_path, sync="system", telemetry=Broken())
    with recorder.heal("a:b:c", loop_id="L", level=2) as heal:
        pass
    assert heal.written
    assert "collector gone" in recorder.problems[0].sentence
