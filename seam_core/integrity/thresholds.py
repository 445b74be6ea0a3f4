"""Does the loop stay just out of reach of a rule?"""

from __future__ import annotations

from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.scope import insert_rows
from seam_core.signatures import Skeleton

REOPENED_HOURS = 6
DILUTED, MATERIAL_SHARE = 0.10, 0.40
SPLIT, SIGNATURES_MIN = 1.2, 5
LABELS_MIN = 20
TOLERANCE = 1e-9

# Loops on one target and one failure, however it is spelt, that follow each other within hours: which of them are one.
REOPENED = """
with loops as (
    select h.loop_id, h.target, p.plain, min(h.ts) as start_ts, max(h.ts) as stop_ts, count(*) as n_cycles
    from loop_heals h join plain_signatures p using (failure_signature)
    group by all
),
steps as (
    select *, coalesce(start_ts > lag(stop_ts) over in_time and start_ts <= lag(stop_ts) over in_time + to_hours($hours), false) as goes_on
    from loops
    window in_time as (partition by target, plain order by start_ts, loop_id)
),
continued as (
    from steps semi join (select target, plain from steps where goes_on) found
    on steps.target is not distinct from found.target and steps.plain = found.plain
),
chains as (
    select *, sum((not goes_on)::int) over (partition by target, plain order by start_ts, loop_id) as chain from continued
)
select list(loop_id order by start_ts, loop_id), sum(n_cycles)::int
from chains
group by target, plain, chain
having count(*) > 1 and sum(n_cycles) >= $cap and max(n_cycles) < $cap
order by 1
"""

MATERIAL = """
select avg(e_heal), avg(e_heal) filter (visible_gain >= $step - 1e-9), count(*), count(*) filter (visible_gain >= $step - 1e-9)
from efficacy_rows
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


def nothing_but_real(look: Look) -> list[Hit] | NotCheckable:
    """Whether no heal is ever labelled a false alarm."""
    n, n_real = look.scope.one("select count(was_real_failure), count(*) filter (was_real_failure) from window_heals")
    if n < LABELS_MIN:
        return NotCheckable(f"fewer than {LABELS_MIN} labelled heals in the window")
    return [Hit("window", {"n": n})] if n == n_real else []
