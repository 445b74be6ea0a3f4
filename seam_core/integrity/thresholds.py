"""Does the loop stay just out of reach of a rule?"""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.scope import insert_rows
from seam_core.signatures import Skeleton, suggest

REOPENED_HOURS = 6
DILUTED, MATERIAL_SHARE = 0.10, 0.40
SPLIT, SIGNATURES_MIN = 1.2, 5
LABELS_MIN = 20
COMPARED_MAX = 1_000  # signatures healed, and as many not healed, that are held against each other
TOLERANCE = 1e-9

# Loops on one target and one failure, however it is spelt, that follow each other within hours: which of them are one.
REOPENED = """
with loops as (
    select h.loop_id, h.target, p.plain, epoch_us(min(h.ts)) as start_us, epoch_us(max(h.ts)) as stop_us, count(*) as n_cycles
    from loop_heals h join plain_signatures p using (failure_signature)
    group by all
),
steps as (
    select *, coalesce(start_us - lag(stop_us) over in_time between 1 and $hours * 3600000000, false) as goes_on
    from loops
    window in_time as (partition by target, plain order by start_us, loop_id)
),
continued as (
    from steps semi join (select target, plain from steps where goes_on) found
    on steps.target is not distinct from found.target and steps.plain = found.plain
),
chains as (
    select *, sum((not goes_on)::int) over (partition by target, plain order by start_us, loop_id) as chain from continued
)
select list(loop_id order by start_us, loop_id), sum(n_cycles)::int
from chains
group by target, plain, chain
having count(*) > 1 and sum(n_cycles) >= $cap and max(n_cycles) < $cap
order by 1
"""

MATERIAL = """
select avg(e_heal), avg(e_heal) filter (visible_gain >= $step - 1e-9), count(*), count(*) filter (visible_gain >= $step - 1e-9)
from efficacy_rows
"""


# Signatures that failed up to a follow-up after the window, which no heal since its start is on.
UNHEALED = """
select failure_signature from failures
where ts > (select start from span) and ts <= (select stop from span) + $follow_up
    and failure_signature not in (select failure_signature from heals where ts > (select start from span))
group by failure_signature
order by count(*) desc, failure_signature
limit $n
"""

RENAMED = """
select r.name, min(r.healed)
from renamings r join failures f on f.failure_signature = r.name join window_heals h on h.failure_signature = r.healed
where f.ts > h.ts and f.ts <= h.ts + $follow_up
group by r.name
order by r.name
"""

# A text belongs to the configuration when most heals that write it say so, or when a part of it is protected.
UNDERSTATED = """
with texts as (
    select heal_id, ts, target, level, after_text_hash, lag(after_text_hash) over in_time as was
    from window_heals
    where has_after_text and target in (select target from window_heals where has_after_text and level < 2)
    window in_time as (partition by target order by ts, heal_id)
),
configuration as (
    select target from texts group by target having count(*) filter (level >= 2) > count(*) filter (level < 2)
    union
    select target from protected
)
select heal_id, target, level from texts
where level < 2 and after_text_hash <> was and (level = 0 or target in (select target from configuration))
order by ts, heal_id
"""


def loops_reopened(look: Look) -> list[Hit]:
    """Loops that stop below the depth cap and go on under another name within hours."""
    numbers: dict[tuple[Skeleton, tuple[str, ...]], int] = {}  # of what is left of a signature: cheaper to group by than texts
    plain = [(name, numbers.setdefault((one.skeleton, one.masked), len(numbers))) for name, one in look.signatures.items()]
    look.scope.con.execute("create or replace temp table plain_signatures (failure_signature varchar, plain integer)")
    insert_rows(look.scope, "plain_signatures", "failure_signature, plain", plain)
    cap = look.scope.settings.depth_cap
    return [
        Hit(loops[0], {"loops": loops, "n_loops": len(loops), "cycles": cycles, "cap": cap, "hours": REOPENED_HOURS})
        for loops, cycles in look.query(REOPENED, hours=REOPENED_HOURS, cap=cap)
    ]


def efficacy_diluted(look: Look) -> list[Hit]:
    """Whether E is carried by heals that moved the visible metric by less than a case."""
    score, material, n, n_material = look.scope.one(MATERIAL, step=1 / look.n_rows("practice"))
    if material is None or score - material < DILUTED - TOLERANCE or n_material >= MATERIAL_SHARE * n - TOLERANCE:
        return []
    return [Hit("window", {"score": score, "material": material, "n": n, "n_material": n_material})]


def signatures_split(look: Look) -> list[Hit] | NotCheckable:
    """Failure signatures of which several are one, but for spelling or an added number."""
    if len(look.signatures) < SIGNATURES_MIN:
        return NotCheckable(f"fewer than {SIGNATURES_MIN} failure signatures in the window")
    groups: dict[Skeleton, list[str]] = {}
    for name, normal in look.signatures.items():
        groups.setdefault(normal.skeleton, []).append(name)
    merged = [names for names in groups.values() if len(names) > 1 and _is_one(look, names)]
    n_plain = len(look.signatures) - sum(len(names) - 1 for names in merged)
    if len(look.signatures) / n_plain <= SPLIT + TOLERANCE:
        return []
    largest = max(merged, key=lambda names: (len(names), names))
    return [Hit(largest[0], {"n": len(look.signatures), "n_plain": n_plain, "example": sorted(largest)[:5]})]


def _is_one(look: Look, names: list[str]) -> bool:
    """Different numbers name different things, where every one of them has a number."""
    masked = [look.signatures[name].masked for name in names]
    return not all(masked) or len(set(masked)) == 1


def recurrences_renamed(look: Look) -> list[Hit]:
    """Failures nobody healed that came soon after heals on a signature which they resemble."""
    follow_up = timedelta(microseconds=round(look.scope.settings.recurrence_days * 86_400_000_000))
    unhealed = {name for (name,) in look.query(UNHEALED, follow_up=follow_up, n=COMPARED_MAX)}
    healed = dict(islice(look.signatures.items(), COMPARED_MAX))
    found = suggest(dict.fromkeys([*healed, *sorted(unhealed)], 1)).found if unhealed else ()
    pairs = [
        (one, other)
        for suggestion in found
        if suggestion.kind != "differs"
        for one in unhealed.intersection(suggestion.signatures)
        for other in suggestion.signatures
        if other in healed
    ]
    look.scope.con.execute("create or replace temp table renamings (name varchar, healed varchar)")
    insert_rows(look.scope, "renamings", "name, healed", pairs)
    days = look.scope.settings.recurrence_days
    return [Hit(name, {"healed": other, "days": days}) for name, other in look.query(RENAMED, follow_up=follow_up)]


def levels_understated(look: Look) -> list[Hit]:
    """Heals that changed a text of the configuration and call it a retry or the state of a task."""
    return [Hit(heal_id, {"target": target, "level": level}) for heal_id, target, level in look.query(UNDERSTATED)]


def nothing_but_real(look: Look) -> list[Hit] | NotCheckable:
    """Whether no heal is ever labelled a false alarm."""
    n, n_real = look.scope.one("select count(was_real_failure), count(*) filter (was_real_failure) from window_heals")
    if n < LABELS_MIN:
        return NotCheckable(f"fewer than {LABELS_MIN} labelled heals in the window")
    return [Hit("window", {"n": n})] if n == n_real else []
