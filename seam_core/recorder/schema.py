"""What a line may hold, and the budget's thresholds. Made by docs/make_reference.py from the core; not to be edited."""

from __future__ import annotations

from .checking import Rules
from .shape import Column

HEALS = Rules.of(
    (
        Column("heal_id", ("heal_id",), "text", "column", required=True, low=1),
        Column("ts", ("ts",), "time", "column", required=True),
        Column("loop_id", ("loop_id",), "text", "column", required=True, low=1),
        Column("cycle", ("cycle",), "int", "column", required=True, low=1.0, high=1000000000.0),
        Column("level", ("level",), "int", "column", required=True, low=0.0, high=3.0),
        Column("failure_signature", ("trigger", "failure_signature"), "text", "column", required=True, low=1),
        Column("evidence", ("trigger", "evidence"), "any", "skip", required=False),
        Column("target", ("change", "target"), "text", "column", required=False),
        Column("before_hash", ("change", "before_hash"), "text", "check", required=False),
        Column("after_text", ("change", "after_text"), "text", "presence", required=False),
        Column("visible_before", ("visible_before",), "share", "column", required=False, low=0.0, high=1.0),
        Column("visible_after", ("visible_after",), "share", "column", required=False, low=0.0, high=1.0),
        Column("holdout_before", ("holdout_before",), "share", "column", required=False, low=0.0, high=1.0),
        Column("holdout_after", ("holdout_after",), "share", "column", required=False, low=0.0, high=1.0),
        Column("holdout_scope", ("holdout_scope",), "choice", "column", required=False, choices=("heal", "loop")),
        Column("tokens_spent", ("tokens_spent",), "int", "column", required=False, low=0.0, high=1000000000000000.0),
        Column("task_tokens", ("task_tokens",), "int", "column", required=False, low=0.0, high=1000000000000000.0),
        Column("was_real_failure", ("was_real_failure",), "bool", "column", required=False),
        Column("label_source", ("label_source",), "choice", "column", required=False, choices=("probe1", "probe3", "judge", "person")),
        Column("score", ("score",), "share", "column", required=False, low=0.0, high=1.0),
        Column("actor", ("actor",), "any", "skip", required=False),
        Column("trace_url", ("trace_url",), "any", "skip", required=False),
        Column("break_glass", ("break_glass",), "object", "presence", required=False, inner=("by", "reason")),
    )
)
FAILURES = Rules.of(
    (
        Column("ts", ("ts",), "time", "column", required=True),
        Column("failure_signature", ("failure_signature",), "text", "column", required=True, low=1),
    )
)
RUNS = Rules.of(
    (
        Column("run_id", ("run_id",), "text", "column", required=True, low=1),
        Column("ts", ("ts",), "time", "column", required=True),
        Column("suite", ("suite",), "choice", "column", required=True, choices=("surface", "holdout", "practice")),
        Column("phase", ("phase",), "choice", "column", required=True, choices=("before", "after", "nightly", "control", "rescore")),
        Column("results", ("results",), "map", "column", required=True),
        Column("heal_id", ("heal_id",), "text", "column", required=False),
        Column("night", ("night",), "text", "column", required=False),
        Column("claim", ("claim",), "bool", "column", required=False),
        Column("state_hash", ("state_hash",), "text", "column", required=False),
        Column("grader_hash", ("grader_hash",), "text", "column", required=False),
        Column("evidence", ("evidence",), "any", "skip", required=False),
    )
)
PROTECTED = Rules.of(
    (
        Column("id", ("id",), "text", "column", required=True, low=1),
        Column("kind", ("kind",), "choice", "column", required=True, choices=("safety_instruction", "tool_permission", "escalation_rule")),
        Column("target", ("target",), "text", "column", required=True, low=1),
        Column("text", ("text",), "text", "column", required=False),
    )
)
THRESHOLDS = {  # key: default, what it is above, and at most
    "budget_elevated": (3.0, 0.0, 1000000.0),
    "budget_escalated": (6.0, 0.0, 1000000.0),
}
