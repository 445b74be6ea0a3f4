"""What somebody pastes into an issue tracker about what a heal broke, or about one case."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from seam_core.report import Audit
from seam_core.views.case_diff import ComparedCase, Diff, named_states
from seam_core.views.case_history import History, Seen
from seam_core.views.case_runs import Output
from seam_core.views.cases import own_score
from seam_core.views.issue_text import assemble, bullets, code, facts, fenced
from seam_core.words import count, percent

CASES_LISTED = 50
CHANGES_LISTED = 20
QUESTION_LENGTH = 160  # characters


def regression_issue(audit: Audit, diff: Diff, *, link: str) -> str:
    """What a heal, or the newer of two runs, broke: numbers, cases and a link, as Markdown that ends in a newline."""
    broke = diff.of("broke")
    n_safety = sum(case.is_safety for case in broke)
    safety = f", {count(n_safety, 'safety case')} among them" if n_safety else ""
    heal = diff.heal
    if heal:
        title = f"Self-repair {code(heal.heal_id)} broke {len(broke):,} of {count(heal.n_cases, 'case')}{safety}"
        target = code(heal.target) if heal.target else "none logged"
        pairs = [
            ("healed at", _moment(heal.ts)),
            ("loop", f"{code(heal.loop_id)}, cycle {heal.cycle:,}"),
            ("change", f"target {target}, level {heal.level}"),
            ("A_heal", f"{own_score(audit, heal)} ({percent(heal.n_regressed, heal.n_cases)} broken)"),
        ]
    else:
        title = f"{count(len(broke), 'case')} broke between two runs of the surface{safety}"
        pairs = []
    before = code(diff.before.run_id) + f", {_moment(diff.before.ts)}" if diff.before else "no run of its own; filled from earlier runs"
    pairs += [("before", before), ("after", f"{code(diff.after.run_id)}, {_moment(diff.after.ts)}"), ("cases", named_states(diff.counts))]
    sections = [facts(pairs), _table("Broke", broke), _table("Fixed", diff.of("fixed")), _bullets("Read it with care", diff.warnings)]
    return assemble(title, sections, audit, link=link)


def case_issue(audit: Audit, history: History, *, at: Seen | None, shown: Sequence[tuple[str, bool, Output]], link: str) -> str:
    """One case: how it did, when it changed, and what the runs shown put on record; `shown` holds run id, outcome and output."""
    kind = "Safety case" if history.is_safety else "Case"
    newest = history.seen[-1] if history.seen else None
    told = at or newest
    how = f" {'passed' if told.passed else 'failed'} in {code(told.run_id)}" if told else " was not run yet"
    pairs = [("component", code(history.component) if history.component else "none logged")]
    pairs += [("certified", _word(history.certified) if history.certified is not None else "not part of the baseline")]
    pairs += [("newest outcome", f"{_word(newest.passed)}, {_moment(newest.ts)}")] if newest else []
    changes = [one for one in history.seen if one.has_changed][-CHANGES_LISTED:][::-1]
    lines = [f"- {_moment(one.ts)}: {_word(not one.passed)} → {_word(one.passed)} in {code(one.run_id)}{_why(one)}" for one in changes]
    more = history.n_changes - len(changes)
    lines += [f"- and {count(more, 'earlier change')}"] if more else []
    outputs = [f"Output in {code(run_id)} ({_word(passed)}):\n\n{fenced(output.text)}" for run_id, passed, output in shown if output.text]
    sections = [
        facts(pairs),
        f"**Question**\n\n{fenced(history.question)}" if history.question else "",
        bullets(history.sentences()),
        "**Changes, newest first**\n\n" + "\n".join(lines) if lines else "",
        *outputs,
    ]
    return assemble(f"{kind} {code(history.case_id)}{how}", sections, audit, link=link)


def _table(title: str, cases: Sequence[ComparedCase]) -> str:
    if not cases:
        return ""
    lines = ["| case | safety | component | question |", "|---|---|---|---|"]
    for case in cases[:CASES_LISTED]:
        question = code(case.question, length=QUESTION_LENGTH) if case.question else ""
        component = code(case.component) if case.component else ""
        lines.append(f"| {code(case.case_id)} | {'safety' if case.is_safety else ''} | {component} | {question} |")
    more = len(cases) - CASES_LISTED
    return f"**{title} ({len(cases):,})**\n\n" + "\n".join(lines) + (f"\n\nand {more:,} more" if more > 0 else "")


def _bullets(title: str, said: Sequence[str]) -> str:
    return f"**{title}**\n\n{bullets(said)}" if said else ""


def _why(one: Seen) -> str:
    if one.is_quiet:
        return ", with no heal between"
    return f", after heal {code(one.heal_id)}" if one.phase == "after" and one.heal_id else ""


def _word(passed: bool) -> str:  # noqa: FBT001 -- an outcome
    return "pass" if passed else "fail"


def _moment(ts: datetime) -> str:
    return f"{ts:%Y-%m-%d %H:%M} UTC"
