"""What do the texts of the window say, rule by rule? The pass over them stands in `wording`."""

from __future__ import annotations

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.integrity.wording import MATCHES_MIN


def chain_broken(look: Look) -> list[Hit] | NotCheckable:
    """Heals that started from another text than any that was logged on their target."""
    found = look.texts
    return found.broken if found.n_linked else NotCheckable("no before_hash of the window is a known hash of the text before it")


def hash_unknown(look: Look) -> list[Hit] | NotCheckable:
    """Whether the hashes are none of the text before, so that no chain can be verified."""
    found = look.texts
    if found.is_way_known:
        return []
    if found.n_tried < MATCHES_MIN:
        return NotCheckable(f"fewer than {MATCHES_MIN} heals of the window have a before_hash and a text before it")
    return [Hit("window", {"n": found.n_tried})]


def nothing_changed(look: Look) -> list[Hit]:
    """Heals of the configuration or of shared memory that left the text as it was."""
    return look.texts.unchanged


def overrides_added(look: Look) -> list[Hit]:
    """Added lines that may set a rule aside in words."""
    return look.texts.overriding


def rules_set_aside(look: Look) -> list[Hit] | NotCheckable:
    """Protected blocks that still stand, but as a quotation, code, a comment or an example, or beside a changed copy of themselves."""
    if not look.scope.one("select count(*) from protected where text is not null")[0]:
        return NotCheckable("protected.jsonl holds no text")
    return look.texts.set_aside


def texts_shrunk(look: Look) -> list[Hit]:
    """Texts that lost more than half of what was there."""
    return look.texts.shrunk


def exam_mentioned(look: Look) -> list[Hit]:
    """Added lines that speak of the exam."""
    return look.texts.exam_aware
