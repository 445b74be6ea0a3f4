"""An issue holds what a reader needs, and nothing that a tracker would act on."""

import re

import pytest

from seam_core.views.issue_text import CASES_NAMED, NoSuchHealError, code, fenced, heal_issue, named_cases, numbers, prose
from tests.seam_core.workspaces import audited, cases, four, heal, run, write

LINK = "http://localhost:8501/heals?heal=h2"
HOSTILE = [
    "@everyone look",
    "closes #12",
    "GH-12",
    "SEC-9 ",
    "org/repo#4",
    "deadbeefdeadbeef",
    "![x](http://evil.test/x.png)",
    "[a](javascript:alert(1))",
    "http://evil.test",
    "www.evil.test",
    "<img src=x>",
    "**a** _b_ ~c~",
    ":smile:",
    "$x$",
    "/close",
    "- [ ] todo",
    "%7 !8 ~9 &10",
    "a | b",
    "--- x",
    "a\u202eb",
]


def outside_code(markdown):
    """What is left of Markdown when its code is cut out: the part in which a tracker reads."""
    without_blocks = re.sub(r"^(`{3,})text\n.*?\n\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", without_blocks)


@pytest.fixture
def workspace(tmp_path):
    """Two heals of one target; the second gained 25 visible points and 4 held-out ones, and broke a safety case and another."""
    first = heal(1, 1, loop_id="L", target="prompt", text="one\ntwo\nthree", tokens_spent=10, task_tokens=10)
    second = heal(2, 2, loop_id="L", cycle=2, target="prompt", text="one\n2\nthree\nfour", tokens_spent=48_200, task_tokens=11_000)
    second |= four(0.70, 0.95, 0.70, 0.74)
    second["trigger"]["evidence"] = "timed out"
    passed = dict.fromkeys(("c0", "c1", "c2"), True)
    runs = [run("r1", "before", 1.5, passed, "h2"), run("r2", "after", 2, passed | {"c0": False, "c1": False}, "h2")]
    return write(tmp_path, heal_events=[first, second], suite_runs=runs, surface=cases(3, safety=("c1",)))


def test_an_issue_says_what_happened_with_numbers_reasons_cases_and_a_link(workspace):
    with audited(workspace) as found:
        text = heal_issue(found, "h2", link=LINK)
        digest = found.digest
    for part in (
        "### Self-repair `h2` needs a look",
        "- healed at: 2026-06-03 12:00:00 UTC\n",
        "- loop: `L`, cycle 2 (2 heals in the loop so far)",
        "- failure: `Err:2`",
        "level 2 (agent config); text of 16 characters; 2 lines added and 1 removed since heal `h1`",
        "48,200 spent on a task of 11,000: 4.4 times (elevated)",
        "| visible | 0.70 | 0.95 | +25 points |",
        "| held-out | 0.70 | 0.74 | +4 points |",
        "Truth gap: 21 points",
        "(efficacy of this heal 0.16; the window alerts below 0.80)",
        "- visible +25 points, held-out +4: 21 points are not real\n",
        "- broke safety case c1\n",
        "**Broke 2 of 3 cases**\n\n- `c1` (safety case)\n- `c0`\n",
        "```text\ntimed out\n```",
        f"Window 2026-06-02 .. 2026-06-03, report digest `{digest}`.\n<{LINK}>\n",
    ):
        assert part in text, part
    assert text.endswith("\n")


def test_what_was_not_logged_says_so_and_is_never_zero(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)])) as found:
        text = heal_issue(found, "h1", link=LINK)
    assert "| visible | not logged | not logged | unknown |" in text
    assert "Truth gap: not scored" in text
    assert "- tokens: not logged" in text
    assert "no target logged, level 2 (agent config); no text logged" in text
    assert "Nothing about this heal is flagged in this window." in text


def test_a_heal_that_the_gate_stopped_says_so(tmp_path):
    protected = [{"id": "p", "kind": "tool_permission", "target": "prompt", "text": "keep me"}]
    logs = {"heal_events": [heal(1, target="prompt", text="gone")], "protected": protected}
    with audited(write(tmp_path, **logs)) as found:
        text = heal_issue(found, "h1", link=LINK)
    assert "stopped by the boundary gate" in text
    assert "protected block p is not wholly there" in text


def test_a_heal_that_is_not_there_is_one_sentence(workspace):
    with audited(workspace) as found, pytest.raises(NoSuchHealError, match="There is no heal h9 in this workspace"):
        heal_issue(found, "h9", link=LINK)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_whatever_an_agent_wrote_stands_inside_code(tmp_path, hostile):
    bad = heal(1, heal_id=f"h {hostile}", loop_id=hostile, sig=hostile, target=hostile, text=hostile) | four(0, 1, 0, 0)
    bad |= {"was_real_failure": False}
    bad["trigger"]["evidence"] = f"```\n{hostile}\n````\n{hostile}"
    after = run("r2", "after", 1, {hostile: False}, bad["heal_id"])
    logs = {"heal_events": [bad], "suite_runs": [run("r1", "before", 0.5, {hostile: True}, bad["heal_id"]), after]}
    logs["surface"] = [{"id": hostile, "safety": True}]
    with audited(write(tmp_path, **logs)) as found:
        text = outside_code(heal_issue(found, bad["heal_id"], link=LINK))
    assert hostile.strip() not in text
    assert "evil" not in text
    assert not re.search(r"@|#\d|GH-|SEC-|deadbeef|!\[|<img|javascript|smile|\u202e", text)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_sentence_with_anything_but_plain_words_in_it_is_code(hostile):
    assert prose(hostile).startswith("`")
    assert prose(f"broke case {hostile}").startswith("`")


@pytest.mark.parametrize("start", ["1. one", "- one", "+ one"])
def test_a_sentence_that_would_start_a_list_is_code(start):
    assert prose(start) == f"`{start}`"


@pytest.mark.parametrize(
    "sentence",
    [
        "visible +25 points, held-out +4: 21 points are not real",
        "broke 5 of 21 cases (24 %)",
        "cycle 3 returned to the text of cycle 1 (94 % alike)",
        "broke safety case safe_05",
        "spent 7.3 times the task's own tokens; a person must look at it",
    ],
)
def test_plain_sentences_stay_plain(sentence):
    assert prose(sentence) == sentence


def test_a_fence_is_longer_than_any_run_of_backticks_in_the_text():
    assert fenced("a ```` b").splitlines()[0] == "`````text"
    assert fenced("a").splitlines()[0] == "```text"
    assert code("a `` b") == "```a `` b```"
    assert code("`") == "`` ` ``"
    assert code(" ") == "`(empty)`"


def test_regressed_cases_are_bounded_and_safety_comes_first():
    text = named_cases(["s"], [f"c{i}" for i in range(CASES_NAMED + 4)])
    assert text.startswith("- `s` (safety case)\n- `c0`")
    assert text.endswith("\n- and 5 more")
    assert text.count("\n") == CASES_NAMED


def test_numbers_are_whole_points():
    assert numbers([("x", 0.5, 0.565)]).endswith("| x | 0.50 | 0.56 | +7 points |")
