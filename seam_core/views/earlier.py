"""The text that a target had before a moment: the newest one that took effect."""

from __future__ import annotations

from datetime import datetime

from seam_core.recorder.limits import broken_blocks, folded
from seam_core.scope import Scope
from seam_core.views.dossier import Earlier

TRIED = 20  # earlier texts of a target looked at for one that the boundary gate let through

EARLIER = """
select row, heal_id, ts, loop_id, cycle from heals anti join blocked using (row)
where target = $target and has_after_text and (ts, heal_id) < ($ts, $heal_id)
order by ts desc, heal_id desc
limit $n
"""
BLOCKS = "select id, text from protected where target in ('*', $target) order by id"


def earlier_text(scope: Scope, target: str, ts: datetime, heal_id: str = "") -> Earlier | None:
    """A target's newest text before a heal (or a moment) that took effect: what the boundary gate stops never did, looked at by it or
    not. None when there is none, as always where the whole target is protected.
    """
    blocks = scope.query(BLOCKS, target=target)
    if any(text is None for _, text in blocks):
        return None
    plain = [(block, text, folded(text)) for block, text in blocks]
    for row, earlier, moment, loop_id, cycle in scope.query(EARLIER, target=target, ts=ts, heal_id=heal_id, n=TRIED):
        text = scope.text(row) or ""
        if next(broken_blocks(text, plain), None) is None:
            return Earlier(earlier, moment, loop_id, cycle, text)
    return None
