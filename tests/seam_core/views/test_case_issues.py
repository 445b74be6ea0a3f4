"""Issues on what a heal broke and on one case: numbers, cases, a link, and no markup of the agent's."""

import re

import pytest

from seam_core.views.case_diff import heal_diff, run_diff
from seam_core.views.case_history import case_history as history_of
from seam_core.views.case_issues import case_issue, regression_issue
from seam_core.views.case_runs import read_output
from tests.seam_core.views.surface_logs import LINK, write_small
from tests.seam_core.views.test_issue_text import HOSTILE, outside_code
from tests.seam_core.workspaces import audited, heal, run, write


@pytest.fixture
def small(tmp_path):
    return write_small(tmp_path)


def test_an_issue_on_a_heal_has_numbers_cases_and_a_link(small):
    with audited(small, r_max=0.5) as found:
        text = regression_issue(found, heal_diff(found, "h1"), link=LINK)
    for part in (
        "### Self-repair `h1` broke 1 of 6 cases\n",
        "- healed at: 2026-06-02 12:00 UTC\n- loop: `L1`, cycle 1\n- change: target `planner`, level 2\n",
        "- A_heal: 1 − min((1 ÷ 6) ÷ 0.5, 1) = 0.6667 (17 % broken)\n",
        "- before: `b1`, 2026-06-02 09:36 UTC\n- after: `a1`, 2026-06-02 14:24 UTC\n",
        "- cases: 1 broke, 1 fixed, 1 still failing, 1 only after and 2 still passing\n",
        "**Broke (1)**\n\n| case | safety | component | question |\n|---|---|---|---|\n| `c1` |  |  |  |\n",
        f"<{LINK}>\n",
    ):
        assert part in text, part


def test_an_issue_on_a_case_has_its_history_and_outputs(small):
    with audited(small) as found:
        history = history_of(found, "c1")
        shown = [("a2", True, read_output("all good"))]
        text = case_issue(found, history, at=history.at("a1"), shown=shown, link=LINK)
    for part in (
        "### Case `c1` failed in `a1`\n",
        "- certified: pass\n- newest outcome: pass, 2026-06-03 14:24 UTC\n",
        "- Passed in 3 of 5 runs that had it; it changed twice.\n",
        "- 2026-06-03 14:24 UTC: fail → pass in `a2`, after heal `h2`\n- 2026-06-02 14:24 UTC: pass → fail in `a1`, after heal `h1`\n",
        "Output in `a2` (pass):\n\n```text\nall good\n```",
    ):
        assert part in text, part


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_an_agent_wrote_is_markdown_in_an_issue(tmp_path, hostile):
    heals = [heal(1, heal_id=hostile, loop_id=hostile, target=hostile, text="x")]
    runs = [run(f"{hostile} b", "before", 0.9, {hostile: True}, hostile), run(hostile, "after", 1.1, {hostile: False}, hostile)]
    known = [{"id": hostile, "safety": True, "component": hostile, "text": hostile}]
    with audited(write(tmp_path, heal_events=heals, suite_runs=runs, surface=known)) as found:
        history = history_of(found, hostile)
        issues = [
            regression_issue(found, heal_diff(found, hostile), link=LINK),
            regression_issue(found, run_diff(found, f"{hostile} b", hostile), link=LINK),
            case_issue(found, history, at=None, shown=[(hostile, False, read_output(hostile))], link=LINK),
        ]
    for issue in issues:
        left = outside_code(issue)
        assert hostile.strip() not in left
        assert "evil.test" not in left
        assert not re.search(r"@everyone|#12|GH-12|SEC-9", left)
