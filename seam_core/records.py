"""What is logged: one class per kind of line. The JSON Schema, the SQL columns and their checks are made from these.

A workspace is a folder of append-only JSON Lines files. Unknown keys are kept; missing and ``null`` mean the same.
``Meta.extra["column"]`` says how the store keeps a key: ``"presence"`` (only whether it has a value), ``"check"`` (its type
is checked, its value is not kept), ``"skip"`` (any value; read from the file when shown), or a plain column, the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

CYCLE_MAX = 10**9
COUNT_MAX = 10**15  # beyond any token count; keeps integers exact in a double

Name = Annotated[str, Meta(min_length=1)]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"}, extra={"time": True})]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=COUNT_MAX)]
Outcome = Literal["pass", "fail"]


def _kept(kind: str, description: str) -> Meta:
    return Meta(description=description, extra={"column": kind})


class Record(msgspec.Struct, frozen=True):
    """Base of every record: immutable, unknown keys allowed."""


class Trigger(Record, frozen=True):
    """Why the loop thought something had failed."""

    failure_signature: Annotated[Name, Meta(description="errortype:tool:context, deterministic; the join key of the Signal axis")]
    evidence: Annotated[Any, _kept("skip", "what the loop saw, in its own words")] = None


class Change(Record, frozen=True):
    """What the heal mutated."""

    target: Annotated[str | None, Meta(description="name of the mutated block, for example planner_prompt")] = None
    before_hash: Annotated[str | None, _kept("check", "hash of the block before the change")] = None
    after_text: Annotated[str | None, _kept("presence", "the whole mutated block after the change")] = None


class BreakGlass(Record, frozen=True):
    """Who lifted a limit, and why."""

    by: Annotated[str | None, Meta(description="who lifted the limit")] = None
    reason: Annotated[str | None, Meta(description="why")] = None


class Heal(Record, frozen=True):
    """One heal: one cycle of one repair loop."""

    heal_id: Annotated[Name, Meta(description="unique in the file")]
    ts: Annotated[Time, Meta(description="when the heal ended")]
    loop_id: Annotated[Name, Meta(description="groups the cycles that attacked one failure")]
    cycle: Annotated[int, Meta(ge=1, le=CYCLE_MAX, description="position in the loop, from 1")]
    level: Annotated[int, Meta(ge=0, le=3, description="what was mutated: 0 retry only, 1 task state, 2 agent config, 3 shared memory")]
    trigger: Trigger
    change: Change | None = None
    visible_before: Annotated[Share | None, Meta(description="the loop's own metric before the heal")] = None
    visible_after: Annotated[Share | None, Meta(description="the loop's own metric after the heal")] = None
    holdout_before: Annotated[Share | None, Meta(description="held-out score before the heal")] = None
    holdout_after: Annotated[Share | None, Meta(description="held-out score after the heal")] = None
    holdout_scope: Annotated[
        Literal["heal", "loop"] | None, Meta(description="whether the held-out pair was measured per heal or copied from the loop")
    ] = None
    tokens_spent: Annotated[Count | None, Meta(description="tokens the heal cost")] = None
    task_tokens: Annotated[Count | None, Meta(description="tokens the task itself costs")] = None
    was_real_failure: Annotated[bool | None, Meta(description="false when a plain retry passed")] = None
    label_source: Annotated[
        Literal["probe1", "probe3", "judge", "person"] | None, Meta(description="who said whether the failure was real")
    ] = None
    score: Annotated[Share | None, Meta(description="the cycle's own score, if the loop keeps one")] = None
    actor: Annotated[Any, _kept("skip", "which agent healed")] = None
    trace_url: Annotated[Any, _kept("skip", "http(s) link to the trace")] = None
    break_glass: Annotated[BreakGlass | None, _kept("presence", "set when a person lifted the budget limit")] = None


class Failure(Record, frozen=True):
    """One real failure that was seen, healed or not."""

    ts: Annotated[Time, Meta(description="when it was seen")]
    failure_signature: Annotated[Name, Meta(description="errortype:tool:context")]


class SuiteRun(Record, frozen=True):
    """One run of a case suite."""

    run_id: Annotated[Name, Meta(description="unique in the file")]
    ts: Annotated[Time, Meta(description="when the run ended")]
    suite: Annotated[Literal["surface", "holdout", "practice"], Meta(description="which suite was run")]
    phase: Annotated[Literal["before", "after", "nightly", "control", "rescore"], Meta(description="why it was run")]
    results: Annotated[dict[str, Outcome], Meta(description="case_id → pass or fail")]
    heal_id: Annotated[str | None, Meta(description="the heal it belongs to, for before and after runs")] = None
    night: Annotated[str | None, Meta(description="the night it belongs to, as a date")] = None
    claim: Annotated[bool | None, Meta(description="whether the loop claims an improvement")] = None
    state_hash: Annotated[str | None, Meta(description="hash of the agent's state")] = None
    grader_hash: Annotated[str | None, Meta(description="hash of the grader")] = None
    evidence: Annotated[Any, _kept("skip", "case_id → output text of at most 4 kB, or a URL")] = None


class HeldOutCase(Record, frozen=True):
    """One case of the held-out or of the practice suite."""

    id: Annotated[Name, Meta(description="unique in the file")]
    slice: Annotated[Literal["core", "rotating"] | None, Meta(description="core cases stay, rotating ones are replaced")] = None
    text: Annotated[str | None, Meta(description="the question")] = None
    tags: Annotated[Any, _kept("skip", "list of labels")] = None


class SurfaceCase(Record, frozen=True):
    """One regression case."""

    id: Annotated[Name, Meta(description="unique in the file")]
    safety: Annotated[bool | None, Meta(description="a regression here scores zero outright; missing means false")] = None
    component: Annotated[str | None, Meta(description="the part of the agent it covers")] = None
    text: Annotated[str | None, Meta(description="the question")] = None


class ProtectedBlock(Record, frozen=True):
    """One block that no heal may touch."""

    id: Annotated[Name, Meta(description="unique in the file")]
    kind: Annotated[Literal["safety_instruction", "tool_permission", "escalation_rule"], Meta(description="what it protects")]
    target: Annotated[Name, Meta(description="the block it must stay in; * means every target")]
    text: Annotated[str | None, Meta(description="text that must stay whole; without it the whole target is protected")] = None


@dataclass(frozen=True)
class Log:
    """One file of a workspace: its name, the table it becomes, the class of its lines and their identity."""

    file: str
    table: str
    record: type[Record]
    key: str | None  # the column that identifies a record; None: the whole line does
    fixture: bool = False  # lives in the fixtures folder


LOGS = (
    Log("heal_events.jsonl", "heals", Heal, "heal_id"),
    Log("failures.jsonl", "failures", Failure, None),
    Log("suite_runs.jsonl", "runs", SuiteRun, "run_id"),
    Log("holdout.jsonl", "holdout", HeldOutCase, "id", fixture=True),
    Log("practice.jsonl", "practice", HeldOutCase, "id", fixture=True),
    Log("surface.jsonl", "surface", SurfaceCase, "id", fixture=True),
    Log("protected.jsonl", "protected", ProtectedBlock, "id", fixture=True),
)
HEALS = LOGS[0]
CERTIFIED_FILE = "certified.json"


def json_schema(log: Log) -> dict[str, Any]:
    """JSON Schema (2020-12) of one line of a log, as published in ``docs/schema``."""
    schema = msgspec.json.schema(log.record)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": log.file, **schema}
