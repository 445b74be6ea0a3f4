"""Signal with merged signatures beside Signal as logged: both sums, and what came back that only merging finds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from seam_core import merges
from seam_core.axes.signal import Signal
from seam_core.merges import Merge, Merges
from seam_core.report import Audit, thresholds
from seam_core.summary import score_text
from seam_core.words import count

FOUND_MAX = 2_000  # recurrences listed
SAID = {"same": "one failure", "different": "several failures"}

# Failures of a merged group after a heal under another of its names, but for those that S itself takes for a recurrence.
FAILED_AGAIN = """
with healed as (
    select m.name, h.failure_signature as healed_as, h.heal_id, h.ts as healed_ts
    from window_heals h join merged_names m using (failure_signature)
),
failed as (
    select m.name, f.failure_signature as back_as, f.ts from failures f join merged_names m using (failure_signature)
    where f.ts > (select start from span) and f.ts <= (select stop from span) + $follow_up
),
known as (
    select f.back_as, f.ts from failed f asof join healed h on f.back_as = h.healed_as and f.ts > h.healed_ts
    where f.ts - h.healed_ts <= $follow_up
)
select distinct h.healed_as, h.heal_id, h.healed_ts, f.back_as, f.ts
from failed f asof join healed h on f.name = h.name and f.ts > h.healed_ts anti join known k on k.back_as = f.back_as and k.ts = f.ts
where f.ts - h.healed_ts <= $follow_up
order by f.ts, f.back_as
limit $most
"""

# Without a failure log: another loop's heal under another name.
HEALED_AGAIN = """
with healed as (
    select m.name, h.failure_signature as healed_as, h.heal_id, h.loop_id, h.ts as healed_ts
    from window_heals h join merged_names m using (failure_signature)
),
later as (
    select m.name, h.failure_signature as back_as, h.heal_id, h.loop_id, h.ts
    from heals h join merged_names m using (failure_signature) anti join blocked using (row)
    where h.ts > (select start from span) and h.ts <= (select stop from span) + $follow_up
)
select h.healed_as, h.heal_id, h.healed_ts, l.back_as, l.ts
from later l join healed h
  on h.name = l.name and l.ts > h.healed_ts and l.ts - h.healed_ts <= $follow_up and h.loop_id <> l.loop_id
qualify row_number() over (partition by l.heal_id order by h.healed_as = l.back_as desc, h.healed_ts desc) = 1 and h.healed_as <> l.back_as
order by l.ts, l.heal_id
limit $most
"""


@dataclass(frozen=True)
class Together:
    """S as logged beside S merged as rows of a table, in a sentence, and the recurrences that only merging finds."""

    sentence: str = ""
    sums: tuple[dict[str, Any], ...] = ()
    found: tuple[dict[str, Any], ...] = ()


def compare(audit: Audit, said: Merges) -> Together:
    """Signal of the window with the merges that people confirmed, beside Signal as logged; nothing while there are none."""
    if not said.groups:
        return Together()
    merged = merges.score_merged(audit.scope, said)
    line = thresholds(audit.settings)["S"]
    texts = ["not scored" if one.score is None else score_text(one.score, line=line) for one in (audit.signal, merged.signal)]
    names = f"{count(merged.n_names, 'name')} merged into {count(merged.n_failures, 'failure')}"
    sentence = f"S as logged: {texts[0]}. S with {names}: {texts[1]}; it stands beside S and never replaces it."
    follow_up = timedelta(days=audit.settings.recurrence_days)
    has_log = audit.scope.store.has("failures")
    rows = audit.scope.query(FAILED_AGAIN if has_log else HEALED_AGAIN, follow_up=follow_up, most=FOUND_MAX)
    found = tuple(
        {"healed_as": healed_as, "back_as": back_as, "days": round((ts - healed_ts) / timedelta(days=1), 1), "ts": ts, "heal": heal_id}
        for healed_as, heal_id, healed_ts, back_as, ts in rows
    )
    return Together(sentence, (_sum("as logged", audit.signal), _sum("merged", merged.signal)), found)


def list_said(said: Merges) -> tuple[dict[str, Any], ...]:
    """What people said about signatures, the newest first: `state` says what came of it."""
    return tuple(
        {
            "seq": one.seq, "signature": one.signatures[0], "others": one.signatures[1:], "verdict": SAID[one.verdict],
            "state": _state(said, one), "who": one.actor.name, "key": one.actor.key, "when": f"{one.ts[:16].replace('T', ' ')} UTC",
            "comment": one.comment,
        }
        for one in reversed(said.said)
    )  # fmt: skip


def _state(said: Merges, one: Merge) -> str:
    if one.verdict == "different":
        return "kept apart"
    if one.seq in said.disputed:
        return "people differ: not merged"
    merged = {said.names.get(name) for name in one.signatures}
    return "merged" if len(merged) == 1 and None not in merged else "overtaken by a later word"


def _sum(what: str, signal: Signal) -> dict[str, Any]:
    recurred = None if signal.recurrence is None else round(signal.recurrence * signal.n_signatures)
    return {
        "what": what, "S": None if signal.score is None else round(signal.score, 2), "healed": signal.n_signatures, "real": signal.tp,
        "not_real": signal.fp, "missed": signal.fn, "back": recurred,
    }  # fmt: skip
