"""What somebody pastes into an issue tracker about one heal: what happened, the numbers, why it was flagged, where to look.

Trackers read much into plain text: mentions, references such as #12, links, images, quick commands. So whatever an agent may have
written stands as code, in which none of that is read, unless it is nothing but plain words. The small helpers here (`prose`, `code`,
`fenced`, `facts`, `numbers`, `assemble`) make the issues of other things the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rapidfuzz.distance import Indel

from seam_core import escape, findings
from seam_core.errors import SeamError
from seam_core.lines import BOM
from seam_core.ranking import prepare_ranking
from seam_core.report import Audit
from seam_core.scope import Scope
from seam_core.words import count, cut, points, signed_points, times

CASES_NAMED = 20  # regressed cases that are named; the rest are counted
TEXT_LENGTH = 1_000  # characters of a fenced text
CODE_LENGTH = 200  # characters of an inline text
DIFF_MAX = 100_000  # longer texts are not compared line by line here
UNFLAGGED = "Nothing about this heal is flagged in this window."
LEVELS = ("retry only", "task state", "agent config", "shared memory")

# Words, numbers and the signs of a sentence, in which no tracker reads anything …
_PLAIN = re.compile(r"[\w .,:;()+−–×÷…%'-]*")
# … but for commit hashes, GH-12 and ABC-12, www., :smile:, emphasis, milestones, quick commands and whatever looks like an address.
_RISKY = re.compile(
    r"(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])|[a-z]{2,}-\d|www\.|:[\w+-]+:|(?<!\w)_|_(?!\w)|//|%\w|^[-+]|^\d+[.)]|--", re.IGNORECASE
)

HEAL = """
select heal_id, ts, loop_id, cycle, level, failure_signature, target, has_after_text, visible_before, visible_after, holdout_before,
       holdout_after, holdout_scope, tokens_spent, task_tokens, row,
       (select count(*) from heals o where o.loop_id = h.loop_id and o.ts <= (select stop from span)) as n_cycles
from heals h
where heal_id = $heal_id
"""

BEFORE = """
select row, heal_id from heals anti join blocked using (row)
where target = $target and has_after_text and (ts, heal_id) < ($ts, $heal_id)
order by ts desc, heal_id desc
limit 1
"""

BROKEN = "select regressed_safety, regressed, n_cases from aftermath_rows where heal_id = $heal_id"
GAP = "select truth_gap, e_heal, visible_gain, holdout_gain from efficacy_rows where heal_id = $heal_id"
SPENT = "select ratio, verdict from budget_rows where heal_id = $heal_id"


class NoSuchHealError(SeamError):
    """An address names a heal that the log does not hold."""


def heal_issue(audit: Audit, heal_id: str, *, link: str) -> str:
    """One heal as Markdown for an issue tracker, ending in a newline.  Raises NoSuchHealError."""
    with audit.scope.store.lock:
        found = _rows(audit.scope, HEAL, heal_id=heal_id)
        if not found:
            raise NoSuchHealError(f"There is no heal {cut(heal_id)} in this workspace.")
        heal = found[0]
        sections = [
            facts(_what(audit, heal)),
            _scores(audit, heal),
            "**Why it was flagged**\n\n" + bullets(sentences(audit, heal_id) or (UNFLAGGED,)),
            _broken(audit, heal_id),
            _evidence(audit, heal),
        ]
    return assemble(f"Self-repair {code(heal_id)} needs a look", sections, audit, link=link)


def sentences(audit: Audit, heal_id: str) -> tuple[str, ...]:
    """Everything that was found about one heal of the window, in the words of the findings; empty for a heal outside of it."""
    with audit.scope.store.lock:
        prepare_ranking(audit)
        return findings.sentences_of(audit.scope, [heal_id])[heal_id]


def assemble(title: str, sections: Iterable[str], audit: Audit, *, link: str) -> str:
    """Title, sections that are not empty, and at the end where the numbers come from; Markdown that ends in a newline."""
    return "\n\n".join([f"### {title}", *(section for section in sections if section), _source(audit, link)]) + "\n"


def prose(text: str) -> str:
    """A sentence as it is when it holds plain words only; else as code."""
    line = " ".join(text.split())
    return line if _PLAIN.fullmatch(line) and not _RISKY.search(line) else code(line)


def code(text: str, *, length: int = CODE_LENGTH) -> str:
    """A text on one line as inline code, between more backticks than any run in it; a column sign is safe in tables, too."""
    line = " ".join(escape.visible(text, length=length).split()) or "(empty)"
    line = line.replace("|", "¦")
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(text: str, *, length: int = TEXT_LENGTH) -> str:
    """A text of several lines as a code block, its fence longer than any run of backticks in it."""
    shown = escape.visible(text.replace("\r\n", "\n"), length=length)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown}\n{fence}"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Name and value, one a line. Values are Markdown: pass an agent's words through `code` or `prose` first."""
    return "\n".join(f"- {name}: {value}" for name, value in pairs)


def bullets(said: Iterable[str]) -> str:
    """Sentences as a list, each made harmless."""
    return "\n".join(f"- {prose(sentence)}" for sentence in said)


def numbers(rows: Sequence[tuple[str, float | None, float | None]]) -> str:
    """Scores before and after as a table, with what changed in whole points; what was not logged says so."""
    lines = ["| score | before | after | change |", "|---|---|---|---|"]
    for name, before, after in rows:
        change = "unknown" if before is None or after is None else signed_points(points(after - before))
        lines.append(f"| {name} | {_score(before)} | {_score(after)} | {change} |")
    return "\n".join(lines)


def named_cases(safety: Sequence[str], others: Sequence[str]) -> str:
    """Cases as a list, safety cases first; so many that a reader still reads them, and how many more there are."""
    both = [(case, " (safety case)") for case in safety] + [(case, "") for case in others]
    lines = [f"- {code(case)}{mark}" for case, mark in both[:CASES_NAMED]]
    return "\n".join(lines + ([f"- and {len(both) - CASES_NAMED:,} more"] if len(both) > CASES_NAMED else []))


def _what(audit: Audit, heal: dict[str, Any]) -> list[tuple[str, str]]:
    blocked = audit.scope.one("select count(*) from blocked where row = $row", row=heal["row"])[0]
    return [
        ("healed at", f"{heal['ts']:%Y-%m-%d %H:%M:%S} UTC" + (", stopped by the boundary gate" if blocked else "")),
        ("loop", f"{code(heal['loop_id'])}, cycle {heal['cycle']:,} ({count(heal['n_cycles'], 'heal')} in the loop so far)"),
        ("failure", code(heal["failure_signature"])),
        ("change", f"{_target(heal)}, level {heal['level']} ({LEVELS[heal['level']]}); {_change_size(audit.scope, heal)}"),
        ("tokens", _tokens(audit, heal)),
    ]


def _target(heal: dict[str, Any]) -> str:
    return code(heal["target"]) if heal["target"] is not None else "no target logged"


def _change_size(scope: Scope, heal: dict[str, Any]) -> str:
    """How long the text is, and how many lines were added to and removed from the target's text before."""
    if not heal["has_after_text"]:
        return "no text logged"
    new = scope.text(heal["row"]) or ""
    size = f"text of {count(len(new), 'character')}"
    before = scope.query(BEFORE, target=heal["target"], ts=heal["ts"], heal_id=heal["heal_id"]) if heal["target"] is not None else []
    if not before:
        return f"{size}, the first seen on this target"
    old = scope.text(before[0][0]) or ""
    if max(len(old), len(new)) > DIFF_MAX:
        return f"{size}, {len(new) - len(old):+,} against heal {code(before[0][1])}"
    blocks = [step for step in Indel.opcodes(old.splitlines(), new.splitlines()) if step.tag != "equal"]
    added = sum(step.dest_end - step.dest_start for step in blocks)
    removed = sum(step.src_end - step.src_start for step in blocks)
    return f"{size}; {count(added, 'line')} added and {removed:,} removed since heal {code(before[0][1])}"


def _tokens(audit: Audit, heal: dict[str, Any]) -> str:
    spent, task = heal["tokens_spent"], heal["task_tokens"]
    if spent is None:
        return "not logged"
    if not task:
        return f"{spent:,} spent; the task's own tokens are not logged, so the ratio is unknown"
    row = audit.scope.query(SPENT, heal_id=heal["heal_id"])
    verdict = f" ({row[0][1]})" if row and row[0][1] != "normal" else ""
    return f"{spent:,} spent on a task of {task:,}: {times(spent / task)} times{verdict}"


def _scores(audit: Audit, heal: dict[str, Any]) -> str:
    whose = " (of the whole loop)" if heal["holdout_scope"] == "loop" else ""
    pairs = [("visible", heal["visible_before"], heal["visible_after"])]
    table = numbers([*pairs, (f"held-out{whose}", heal["holdout_before"], heal["holdout_after"])])
    found = audit.scope.query(GAP, heal_id=heal["heal_id"])
    if not found:
        return f"{table}\n\nTruth gap: not scored, as one of the four scores is missing or the heal is not among those scored."
    gap, e_heal, seen, real = found[0]
    not_real = points(seen) - points(real) if gap else 0
    return (
        f"{table}\n\nTruth gap: {count(not_real, 'point')} of visible gain that the held-out score does not show "
        f"(efficacy of this heal {e_heal:.2f}; the window alerts below {audit.settings.alert_e:.2f})."
    )


def _broken(audit: Audit, heal_id: str) -> str:
    found = audit.scope.query(BROKEN, heal_id=heal_id)
    if not found or not found[0][1]:
        return ""
    safety, every, n_cases = found[0]
    known = set(safety or ())
    listed = named_cases(safety or (), [case for case in every if case not in known])
    return f"**Broke {len(every):,} of {count(n_cases, 'case')}**\n\n{listed}"


def _evidence(audit: Audit, heal: dict[str, Any]) -> str:
    line = next(audit.scope.store.lines("heals", [heal["row"]])).removeprefix(BOM)
    try:
        evidence = json.loads(line)["trigger"].get("evidence")
    except (ValueError, RecursionError):  # a line that only DuckDB reads
        evidence = None
    if evidence is None:
        return ""
    text = evidence if isinstance(evidence, str) else json.dumps(evidence, ensure_ascii=False, indent=2)
    return f"**What the loop saw, in its own words**\n\n{fenced(text)}"


def _source(audit: Audit, link: str) -> str:
    seen = f"<{link}>" if re.fullmatch(r"https?://[^\s<>]+", link) else code(link)
    return f"Window {audit.window.label}, report digest `{audit.digest}`.\n{seen}"


def _rows(scope: Scope, sql: str, **binds: Any) -> list[dict[str, Any]]:
    result = scope.con.execute(sql, binds)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _score(value: float | None) -> str:
    return "not logged" if value is None else f"{value:.2f}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
