"""Is what a heal cost plausible?"""

from __future__ import annotations

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit

FILLER_MIN, FILLER_SHARE = 5, 0.05  # heals with one and the same cost: so many, and more than this share of those in the window
PADDED, TARGET_HEALS_MIN = 3, 5  # times the median of the target, and the heals from which there is one

PADDED_TASKS = """
with usual as (
    select target, median(task_tokens) as tokens from window_heals where task_tokens > 0 group by target having count(*) >= $least
)
select h.heal_id, h.task_tokens, u.tokens from window_heals h join usual u using (target)
where h.task_tokens > $times * u.tokens
order by h.ts, h.heal_id
"""

FILLER = """
select tokens_spent, count(*) from window_heals where tokens_spent > 0
group by tokens_spent having count(*) >= greatest($least, $share * (select count(tokens_spent) from window_heals))
order by count(*) desc, tokens_spent
"""


def tasks_padded(look: Look) -> list[Hit]:
    """Heals whose task cost several times what tasks on that target cost, which makes their ratio small."""
    rows = look.query(PADDED_TASKS, times=PADDED, least=TARGET_HEALS_MIN)
    return [Hit(heal_id, {"task_tokens": tokens, "usual": usual}) for heal_id, tokens, usual in rows]


def costs_repeat(look: Look) -> list[Hit]:
    """One and the same cost again and again, as a filler would be."""
    return [Hit("window", {"tokens": tokens, "n": n}) for tokens, n in look.query(FILLER, least=FILLER_MIN, share=FILLER_SHARE)]
