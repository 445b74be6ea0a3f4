"""Before scoring: what the boundary gate stops, and what the budget governor says."""

import pytest

from seam_core import gates
from seam_core.report import report
from tests.seam_core.workspaces import as_line, audited, gap, heal, loop, opened, report_on, reports_with, rows_of, write

BLOCKS = [
    {"id": "ask", "kind": "safety_instruction", "target": "prompt", "text": "Ask  first,\n then act."},
    {"id": "stop", "kind": "escalation_rule", "target": "*", "text": "STOP"},
    {"id": "tools", "kind": "tool_permission", "target": "tools"},
    {"id": "other", "kind": "safety_instruction", "target": "elsewhere", "text": "nothing here"},
]
# Target and text of a heal (None: it has none), and the blocks that stop it.
HEALS = {
    "keeps both": ("prompt", "STOP. Ask first, then act.", []),
    "keeps both in other white space": ("prompt", "STOP\n\n\tAsk first,\t\tthen\n\n act.", []),
    "keeps both to the letter": ("prompt", "Ask  first,\n then act. STOP", []),
    "white space is folded, not dropped": ("prompt", "STOP Ask first,then act.", ["ask"]),
    "other letters": ("prompt", "STOP ask first, then act.", ["ask"]),
    "cut short": ("prompt", "STOP Ask first, then", ["ask"]),
    "words between": ("prompt", "STOP Ask first, and then act.", ["ask"]),
    "loses the one for every target": ("prompt", "Ask first, then act.", ["stop"]),
    "loses both": ("prompt", "do as you like", ["ask", "stop"]),
    "empty text": ("prompt", "", ["ask", "stop"]),
    "another target keeps its own": ("memory", "STOP", []),
    "another target loses it": ("memory", "Ask first, then act.", ["stop"]),
    "no target": (None, "go", ["stop"]),
    "no target, kept": (None, "STOP", []),
    "no text": ("prompt", None, []),
    "a protected target": ("tools", None, ["tools"]),
    "a protected target, whatever it says": ("tools", "STOP", ["tools"]),
    "a protected target and a lost text": ("tools", "go", ["stop", "tools"]),
    "the target named *": ("*", "go", ["stop"]),
}


@pytest.fixture(scope="module", params=["one by one", "suspects by DuckDB"])
def stopped(request, tmp_path_factory):
    """heal_id → blocks that stopped it; a large history is first searched by DuckDB."""
    heals = [heal(name, 1, target=target, text=text, score=0.5) for name, (target, text, _) in HEALS.items()]
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "suspects by DuckDB":
            patch.setattr(gates, "COPY_MAX", 0)
        with audited(write(tmp_path_factory.mktemp("gate"), heal_events=heals, protected=BLOCKS)) as found:
            blocks = {}
            for row in found.scope.rows("blocked_rows"):
                blocks.setdefault(row["heal_id"], []).append(row["protected_id"])
            yield blocks, report(found)


@pytest.mark.parametrize("name", HEALS)
def test_a_heal_is_stopped_when_a_protected_text_is_not_wholly_there(stopped, name):
    assert stopped[0].get(f"h{name}", []) == HEALS[name][2]


def test_what_is_stopped_is_counted_and_not_scored(stopped):
    n = sum(bool(row[2]) for row in HEALS.values())
    counts = stopped[1]["counts"]
    assert (stopped[1]["gate_blocks"], counts["heals"], counts["scored"], counts["blocked"], counts["loops"]) == (
        n, len(HEALS), len(HEALS) - n, n, len(HEALS) - n,
    )  # fmt: skip


HIDDEN = heal(1, text="go")  # breaks the block for every target
INNOCENT = heal(1, text="STOP")


@pytest.mark.parametrize(
    "lines",
    [
        [HIDDEN],
        [b"\xef\xbb\xbf" + as_line(HIDDEN)],
        [HIDDEN, INNOCENT],  # the later line is a rewrite: the first counts
        [b"\xef\xbb\xbf" + as_line(HIDDEN), INNOCENT],
        [as_line(HIDDEN)[:-1] + b', "x": ' + b"[" * 5000 + b"]" * 5000 + b"}"],
        ["junk", HIDDEN],
        [heal(1, text="x" * 20_000_000)],
    ],
    ids=["plain", "byte order mark", "rewritten later", "byte order mark, rewritten later", "nested deep", "beside a bad line", "20 MB"],
)
def test_no_way_of_writing_a_line_hides_it_from_the_gate_of_a_large_history(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(gates, "COPY_MAX", 0)
    path = write(tmp_path, heal_events=[*lines, heal(2, text="STOP")], protected=BLOCKS[1:2])
    assert report_on(path)["gate_blocks"] == 1


def test_no_folder_name_makes_the_gate_look_at_another_log(tmp_path, monkeypatch):
    monkeypatch.setattr(gates, "COPY_MAX", 0)
    write(tmp_path / "agent1", heal_events=[INNOCENT])
    assert report_on(write(tmp_path / "agent[1]", heal_events=[HIDDEN], protected=BLOCKS[1:2]))["gate_blocks"] == 1


def test_a_blocked_heal_is_taken_out_of_loops_signals_budget_and_texts(tmp_path):
    """The second of three cycles is stopped: no dip, no cost, no label, and the third text is compared with the first."""
    heals = loop(
        "L", [0.5, 0.1, 0.6], text=["STOP a", "b", "STOP a"], tokens_spent=[1, 100, 1], task_tokens=1, was_real_failure=[True, False, True]
    )
    for record, signature in zip(heals, ("E", "F", "E"), strict=True):
        record["trigger"] = {"failure_signature": signature}
    found = report_on(write(tmp_path, heal_events=heals, protected=BLOCKS[1:2], failures=b""))
    assert (found["gate_blocks"], found["budget_escalated"], found["counts"]["signatures"]) == (1, 0, 1)
    assert (found["S"], found["M"], found["monotonicity"]["returned"]) == (1.0, 1.0, 0)


def test_a_protected_block_with_an_empty_text_protects_nothing_and_says_so(tmp_path):
    protected = [{"id": "void", "kind": "escalation_rule", "target": "*", "text": " \n"}]
    found = report_on(write(tmp_path, heal_events=[heal(1, text="go")], protected=protected))
    assert found["gate_blocks"] == 0
    assert "protected block void has an empty text and protects nothing" in found["flags"]


def test_the_gate_is_at_work_before_the_window_too(tmp_path):
    """The heal of day 1 is stopped; the loop's part inside the window starts with day 2."""
    heals = loop("L", [0.5, 0.4, 0.6, 0.5], text=["go", "STOP", "STOP 1", "STOP 2"])
    found = report_on(write(tmp_path, heal_events=heals, protected=BLOCKS[1:2]), window="24h")
    assert (found["gate_blocks"], found["monotonicity"]["extra_dips"]) == (0, 0)


# ---- budget

BUDGETS = {
    (300, 100): "normal",  # a ratio of exactly 3 is still normal
    (301, 100): "elevated",
    (600, 100): "elevated",  # exactly 6
    (601, 100): "escalated",
    (0, 100): "normal",
    (9, 3): "normal",
    (21, 7): "normal",
    (10**15, 1): "escalated",
    (5, 0): "unknown",
    (5, None): "unknown",
    (None, 5): "unknown",
    (0, 0): "unknown",
}


@pytest.fixture(scope="module")
def budget(tmp_path_factory):
    heals = [heal(f"{spent}/{task}", 1, tokens_spent=spent, task_tokens=task) for spent, task in BUDGETS]
    with audited(write(tmp_path_factory.mktemp("budget"), heal_events=heals)) as found:
        yield rows_of(found, "budget_rows", "heal_id"), report(found)


@pytest.mark.parametrize("tokens", BUDGETS)
def test_a_ratio_above_three_is_elevated_and_above_six_escalated(budget, tokens):
    assert budget[0][f"h{tokens[0]}/{tokens[1]}"]["verdict"] == BUDGETS[tokens]


def test_the_budget_is_counted_and_blocks_nothing(budget):
    found = budget[1]
    assert (found["budget_elevated"], found["budget_escalated"], found["gate_blocks"], found["alerts"]) == (2, 2, 0, [])
    assert [flag for flag in found["flags"] if "4 of 12" in flag]


def test_budget_lines_are_settings_and_ties_are_no_alarm(tmp_path):
    """0.1 + 0.2 of a task and a line at 0.3."""
    path = write(tmp_path, heal_events=[heal(1, tokens_spent=3, task_tokens=10)])
    lines = [
        {"budget_elevated": 0.1 + 0.2},
        {"budget_elevated": 0.3},
        {"budget_elevated": 0.29},
        {"budget_elevated": 0.1, "budget_escalated": 0.2},
    ]
    found = [(made["budget_elevated"], made["budget_escalated"]) for made in reports_with(path, *lines)]
    assert found == [(0, 0), (0, 0), (1, 0), (0, 1)]


def test_who_lifted_a_limit_and_why_is_kept(tmp_path):
    lifted = heal(1, tokens_spent=70, task_tokens=10, break_glass={"by": "Ana", "reason": "customer waits"}, **gap(0))
    with audited(write(tmp_path, heal_events=[lifted, heal(2)])) as found:
        rows = rows_of(found, "budget_rows", "heal_id")
        assert (rows["h1"]["has_break_glass"], rows["h2"]["has_break_glass"], rows["h1"]["verdict"]) == (True, False, "escalated")
    with opened(tmp_path / "heal_events.jsonl") as store:
        (line,) = store.lines("heals", [0])
        assert b"customer waits" in line
