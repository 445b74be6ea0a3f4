"""Did files that should only grow, or stand still, change since somebody noted what they looked like?"""

from __future__ import annotations

from datetime import datetime, timedelta

from seam_core.baseline.copies import copy_state
from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.ledger.checkpoint import FINE, FIXTURES
from seam_core.ledger.kinds import Certification, Checkpoint, Rollback
from seam_core.records import CERTIFIED_FILE
from seam_core.words import count, named

LOG_AXES = {"heal_events.jsonl": "SEAM", "failures.jsonl": "S", "suite_runs.jsonl": "A"}
FIXTURE_AXES = {"holdout.jsonl": "E", "practice.jsonl": "E", "surface.jsonl": "A"}

OFTEN, OFTEN_MAX = timedelta(days=30), 2  # certifications in that time that are not too many

# Texts that stand in both exams, white space and case aside; ids alone tell nothing, since both may be numbered from one.
SHARED = """
with secret as (select id, lower(trim(regexp_replace(text, '\\s+', ' ', 'g'))) as words from holdout where text is not null),
open as (select id, lower(trim(regexp_replace(text, '\\s+', ' ', 'g'))) as words from practice where text is not null)
select secret.id, min(open.id) from secret join open using (words) where words <> '' group by secret.id order by secret.id
"""


def history_edited(look: Look) -> list[Hit]:
    """Logs that no longer begin as they did at the newest checkpoint."""
    return _changed(look, LOG_AXES)


def fixtures_changed(look: Look) -> list[Hit]:
    """Exams and surface that are not what they were at the newest checkpoint; cases that were added at the end aside."""
    return _changed(look, FIXTURE_AXES)


def protection_changed(look: Look) -> list[Hit]:
    """Protected blocks that are not what they were at the newest checkpoint."""
    return _changed(look, {"protected.jsonl": "SEAM"})


def _changed(look: Look, axes: dict[str, str]) -> list[Hit]:
    history = look.history
    return [
        Hit(name, {"state": found, "seq": history.seq}, axis=axes[name])
        for name, found in history.files.items()
        if name in axes and found not in FINE
    ]


def goalposts_moved(look: Look) -> list[Hit] | NotCheckable:
    """A certified baseline that nobody certified."""
    store = look.scope.store
    if store.versions:
        moved = copy_state(store.versions, store.certified).state == "moved"
        return [Hit(CERTIFIED_FILE, {"why": "the ledger of decisions holds another baseline"})] if moved else []
    if look.checkpoint is None or CERTIFIED_FILE not in look.history.files:
        return NotCheckable("the ledger of decisions holds neither a certification nor a checkpoint of certified.json")
    found = look.history.files[CERTIFIED_FILE]
    assert CERTIFIED_FILE in FIXTURES
    return [] if found == "same" else [Hit(CERTIFIED_FILE, {"why": f"{found} since the checkpoint of row {look.history.seq}"})]


def certified_often(look: Look) -> list[Hit] | NotCheckable:
    """More certifications within a month than somebody who looks closely makes; the newest such month."""
    rows = [one.row for one in look.scope.store.versions.decisions if isinstance(one.said, Certification)]
    if not rows:
        return NotCheckable("the ledger of decisions holds no certification")
    newest = datetime.fromisoformat(rows[-1].ts)
    within = [row for row in rows if newest - datetime.fromisoformat(row.ts) <= OFTEN]
    if newest <= look.scope.start or len(within) <= OFTEN_MAX:
        return []
    return [Hit(CERTIFIED_FILE, {"n": len(within), "rows": [row.seq for row in within], "days": OFTEN.days})]


def safety_cases_declassified(look: Look) -> list[Hit] | NotCheckable:
    """Safety cases of any checkpoint since the newest certification that are no safety cases any more."""
    noted: dict[str, int] = {}
    for row in look.checkpoints:
        said = row.decision
        if isinstance(said, Certification):
            noted.clear()  # somebody looked
        if isinstance(said, (Checkpoint, Certification, Rollback)) and said.safety:
            noted |= {case: row.seq for case in said.safety if case not in noted}
    if not noted:
        return NotCheckable("no checkpoint in the ledger of decisions notes a safety case")
    known = {case for (case,) in look.query("select id from surface where safety")}
    lost = sorted(noted.keys() - known)
    if not lost:
        return []
    evidence = {"cases": lost[:20], "seq": min(noted[case] for case in lost), "what": count(len(lost), "case"), "shown": named(lost)}
    return [Hit("surface.jsonl", evidence)]


def exam_leaked(look: Look) -> list[Hit]:
    """Held-out cases that stand word for word among the practice cases."""
    rows = look.query(SHARED)
    if not rows:
        return []
    return [Hit("practice.jsonl", {"n": len(rows), "cases": [case for case, _ in rows[:20]], "what": count(len(rows), "held-out case")})]


def exam_memorised(look: Look) -> list[Hit] | NotCheckable:
    """Held-out cases that stand in what heals of the window added."""
    reason = look.scope.query("select 1 from contamination_rows limit 1")
    rows = look.query("select case_id, coverage, heals from contamination_rows where contaminated order by case_id") if reason else []
    return [Hit(case_id, {"heals": heals, "coverage": share}) for case_id, share, heals in rows]
