"""Is a part of the log missing, out of order, or written anew?"""

from __future__ import annotations

from seam_core.integrity.chance import fisher_more
from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.records import CERTIFIED_FILE, LOGS
from seam_core.words import count, cut, named

NUMBERED_MIN = 5  # ids with one beginning, from which they can be a numbering
IN_ORDER = 0.05  # a numbering is in the order of time when no larger share of its steps goes back
HIDDEN_P = 0.01  # stricter than the usual .05, which one honest log in twenty would miss
NAMED_MAX = 20
FILE_AXES = {"heals": "SEAM", "failures": "S", "runs": "A", "holdout": "E", "practice": "E", "surface": "A", "protected": "SEAM"}

# Ids that end in a number, by what stands before it, where at most half of the numbers between the least and the greatest are missing.
NUMBERED = """
with parts as (
    select heal_id, ts, regexp_extract(heal_id, '^(.*?)(\\d{{1,15}})$', ['prefix', 'digits']) as id from {heals}
),
numbered as (select heal_id, ts, id.prefix as prefix, id.digits::bigint as number from parts where id.digits <> ''),
dense as (
    select prefix from numbered
    group by prefix
    having count(distinct number) >= $least and max(number) - min(number) + 1 <= 2 * count(distinct number)
)
select * from numbered semi join dense using (prefix)
"""

GAPS = """
with spans as (select prefix, min(number) as low, max(number) as high from numbered group by prefix),
wanted as (select prefix, unnest(range(low, high + 1)) as number from spans)
select prefix, number from wanted anti join numbered using (prefix, number)
"""

# Numbers that heals outside the window carry are not missing.
MISSING = """
with elsewhere as (
    select prefix, regexp_extract(substr(heal_id, length(prefix) + 1), '^\\d{1,15}$') as digits
    from heals join (select distinct prefix from gaps) on starts_with(heal_id, prefix)
)
select prefix, count(*), list(number order by number)[:$n]
from gaps anti join (select prefix, digits::bigint as number from elsewhere where digits <> '') using (prefix, number)
group by prefix order by prefix
"""

CYCLES = """
select loop_id, max(cycle) - count(distinct cycle) as n_missing, count(*) - count(distinct cycle) as n_twice
from heals semi join touched using (row)
group by loop_id
having max(cycle) <> count(*) or count(distinct cycle) <> count(*)
order by loop_id
"""

BACK_IN_LOOP = """
with steps as (
    select heal_id, loop_id, ts, lag(ts) over in_loop as earlier_ts, lag(heal_id) over in_loop as earlier
    from heals semi join touched using (row)
    window in_loop as (partition by loop_id order by cycle, ts, heal_id)
)
select heal_id, earlier from steps where ts < earlier_ts - interval 1 second order by heal_id
"""

BACK_IN_IDS = """
with steps as (
    select heal_id, prefix, number, ts, lag(ts) over in_order as earlier_ts, lag(heal_id) over in_order as earlier
    from numbered
    window in_order as (partition by prefix order by number, ts)
),
back as (select heal_id, earlier, prefix, ts < earlier_ts - interval 1 second as is_back from steps where earlier_ts is not null),
ordered as (select prefix from back group by prefix having count(*) filter (is_back) <= greatest(1, $share * count(*)))
select heal_id, earlier from back semi join ordered using (prefix) where is_back order by heal_id
"""

# By loop, since one that is not scored leaves out all of its heals.
HIDDEN = """
with gains as (
    select bool_or(holdout_before is null or holdout_after is null) as is_missing, max(visible_after - visible_before) as gain
    from window_heals where visible_before is not null and visible_after is not null
    group by loop_id
),
line as (select quantile_disc(gain, 2.0 / 3) as gain from gains)
select count(*) filter (is_missing and g.gain > line.gain), count(*) filter (g.gain > line.gain),
       count(*) filter (is_missing and g.gain <= line.gain), count(*) filter (g.gain <= line.gain)
from gains g, line
"""


def ids_missing(look: Look) -> list[Hit] | NotCheckable:
    """Numbers that no heal carries, in ids that are otherwise numbered in a row."""
    _keep_numbered(look)
    if not look.scope.one("select count(*) from numbered")[0]:
        return NotCheckable("the heals of the window are not numbered in a row")
    look.scope.keep("gaps", GAPS)
    if not look.scope.one("select count(*) from gaps")[0]:
        return []
    found = look.query(MISSING, n=NAMED_MAX)
    if sum(n for _, n, _ in found) <= look.n_rejected("heals"):
        return []  # rejected lines are told apart, and may be these
    return [
        Hit(
            f"{prefix}{numbers[0]}", {"n": n, "numbers": numbers, "what": count(n, "id"), "shown": named([f"{prefix}{m}" for m in numbers])}
        )
        for prefix, n, numbers in found
    ]


def _keep_numbered(look: Look) -> None:
    """Keep ``numbered``: the heals whose ids are numbered in a row."""
    look.scope.keep_once("numbered", NUMBERED.format(heals=look.span_heals), least=NUMBERED_MIN)


def lines_rewritten(look: Look) -> list[Hit]:
    """Files in which a later line carries an identity that an earlier one has, with other content."""
    states = look.scope.store.states
    return [
        Hit(log.file, {"n": n, "what": count(n, "line")}, axis=FILE_AXES[log.table]) for log in LOGS if (n := states[log.table].rewritten)
    ]


def lines_rejected(look: Look) -> list[Hit]:
    """Files with lines that break a rule of the format, scores outside [0, 1] among them."""
    rejects = [one for one in look.scope.store.rejects() if not one.reason.startswith("rewritten")]
    hits = []
    for name, axis in [*((log.file, FILE_AXES[log.table]) for log in LOGS), (CERTIFIED_FILE, "A")]:
        mine = [one for one in rejects if one.file.removesuffix(".gz").removesuffix(".zst") == name]
        if mine:
            fault = min(f"{one.path} {one.reason}".strip() for one in mine)  # the same for any order of lines
            hits.append(Hit(name, {"n": len(mine), "what": count(len(mine), "line"), "fault": cut(fault, 120)}, axis=axis))
    return hits


def cycles_missing(look: Look) -> list[Hit]:
    """Loops whose cycles are not 1, 2, 3 …"""
    rows = look.query(CYCLES)
    if not any(twice for _, _, twice in rows) and sum(missing for _, missing, _ in rows) <= look.n_rejected("heals"):
        return []
    return [
        Hit(loop_id, {"missing": missing, "twice": twice, "what": count(missing, "cycle"), "again": count(twice, "cycle")})
        for loop_id, missing, twice in rows
    ]


def times_go_back(look: Look) -> list[Hit]:
    """Heals dated before the one they follow, by cycle or by number."""
    found = dict(look.query(BACK_IN_LOOP))
    _keep_numbered(look)
    found |= dict(look.query(BACK_IN_IDS, share=IN_ORDER))
    return [Hit(heal_id, {"earlier": earlier}) for heal_id, earlier in sorted(found.items())]


def held_out_scores_hidden(look: Look) -> list[Hit]:
    """Held-out scores that are missing where the visible metric gained most."""
    missing, n, others, n_others = look.scope.one(HIDDEN)
    p = fisher_more(missing, n, others, n_others) if n and n_others else 1.0
    return [Hit("window", {"missing": missing, "n": n, "others": others, "n_others": n_others, "p": p})] if p < HIDDEN_P else []
