"""Is a part of the log missing, out of order, or written anew?"""

from __future__ import annotations

import math
from datetime import timedelta

from seam_core.integrity.chance import fisher_more
from seam_core.integrity.look import Look
from seam_core.integrity.rule import Hit, NotCheckable
from seam_core.records import CERTIFIED_FILE, LOGS
from seam_core.words import count, cut, named

NUMBERED_MIN = 5  # ids with one beginning, from which they can be a numbering
IN_ORDER = 0.05  # a numbering is in the order of time when no larger share of its steps goes back
HIDDEN_P = 0.01  # stricter than the usual .05, which one honest log in twenty would miss
NAMED_MAX = 20
STRETCHES_MIN, FAILURES_MIN = 10, 5
UNUSUAL = math.log(100)  # times the mean of the others: one stretch in a hundred is longer by chance, if heals come at random
WORKING = timedelta(hours=1)  # how long before it is logged a heal may have changed the agent
RESTLESS, RESTLESS_MIN = 0.25, 8  # from this share of changes without a heal, and so many runs, the hash covers more than heals change
FILE_AXES = {"heals": "SEAM", "failures": "S", "runs": "A", "holdout": "E", "practice": "E", "surface": "A", "protected": "SEAM"}

# Ids that end in a number, by what stands before it.
NUMBERED = """
with parts as (select row, epoch_us(ts) as us, heal_id, regexp_extract(heal_id, '\\d{{1,15}}$') as digits from {heals})
select row, us, left(heal_id, length(heal_id) - length(digits)) as prefix, digits::bigint as number from parts where digits <> ''
"""

# Where at most half of the numbers between the least and the greatest are missing.
NUMBERINGS = """
select prefix, min(number) as low, max(number) as high, count(distinct number) as n from numbered
group by prefix
having n >= $least and high - low + 1 <= 2 * n
"""

GAPS = """
with wanted as (select prefix, unnest(range(low, high + 1)) as number from numberings where n < high - low + 1)
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

# Distinct cycles are counted only in loops where a bit for each of the first 62 shows that they are not 1, 2, 3 …
CYCLES = """
with touched_heals as not materialized (select loop_id, cycle from {touched_heals}),
odd as (
    select loop_id from touched_heals
    group by loop_id
    having max(cycle) <> count(*) or bit_count(bit_or(1::bigint << least(cycle, 62))) <> count(*)
)
select loop_id, max(cycle) - count(distinct cycle) as n_missing, count(*) - count(distinct cycle) as n_twice
from touched_heals semi join odd using (loop_id)
group by loop_id
having max(cycle) <> count(*) or count(distinct cycle) <> count(*)
order by loop_id
"""

# The loops in which time goes back by more than a second, whichever heals of one cycle and moment come first; then those heals.
BACK_IN_LOOP = """
with touched_heals as not materialized (select heal_id, loop_id, cycle, epoch_us(ts) as us from {touched_heals}),
times as (select loop_id, us, lag(us) over (partition by loop_id order by cycle, us) as earlier_us from touched_heals),
odd as (select distinct loop_id from times where us < earlier_us - 1000000),
steps as (
    select heal_id, us, lag(us) over in_loop as earlier_us, lag(heal_id) over in_loop as earlier
    from touched_heals semi join odd using (loop_id)
    window in_loop as (partition by loop_id order by cycle, us, heal_id)
)
select heal_id, earlier from steps where us < earlier_us - 1000000 order by heal_id
"""

BACK_IN_IDS = """
with steps as (
    select row, prefix, us, lag(us) over in_order as earlier_us, lag(row) over in_order as earlier
    from numbered semi join numberings using (prefix)
    window in_order as (partition by prefix order by number, us)
),
back as (select row, earlier, prefix, us < earlier_us - 1000000 as is_back from steps where earlier_us is not null),
ordered as (select prefix from back group by prefix having count(*) filter (is_back) <= greatest(1, $share * count(*)))
select h.heal_id, e.heal_id
from (from back semi join ordered using (prefix) where is_back) b
join {heals} h on h.row = b.row join {heals} e on e.row = b.earlier
order by h.heal_id
"""

# Runs of the window, and the one before it, without a heal since the run before them: how many there are, and those that saw another agent.
# A heal is dated when it ended, and may have changed the agent a while before; its own before run was made earlier still.
JUMPS = """
with inside as (
    select run_id, ts, phase, heal_id, state_hash from runs
    where state_hash is not null and ts <= (select stop from span) and ts >= coalesce(
        (select max(ts) from runs where state_hash is not null and ts <= (select start from span)), (select start from span)
    )
),
steps as (
    select *, lag(run_id) over in_time as earlier, lag(ts) over in_time as earlier_ts, lag(state_hash) over in_time as earlier_hash,
           case phase when 'before' then ts - interval 1 microsecond else ts + $slack end as reach
    from inside
    window in_time as (order by ts, run_id)
),
changes as (
    select ts as change_ts from heals
    where level >= 1 and ts >= (select min(ts) from inside) and ts <= (select max(reach) from steps)
),
quiet as (
    select s.* from steps s asof left join changes c on s.reach >= c.change_ts
    where s.earlier is not null and s.ts > (select start from span) and coalesce(c.change_ts < s.earlier_ts, true)
        and not (s.phase = 'after' and s.heal_id is not null)
)
select count(*), list(struct_pack(run_id, earlier) order by ts, run_id) filter (state_hash <> earlier_hash) from quiet
"""

# The longest stretch of the window without a heal, up to the next heal of the log or else to the newest failure.
SILENCE = """
with moments as (
    select ts from {heals}
    union all
    select ts
    from (select coalesce((select min(ts) from heals where ts > (select stop from span)), (select max(ts) from failures)) as ts)
    where ts > (select max(ts) from {heals})
),
stretches as (select us, lead(us) over (order by us) - us as length from (select epoch_us(ts) as us from moments)),
longest as (
    select make_timestamptz(arg_max(us, length)) as ts, max(length) as length, sum(length) as total, count(length) as n from stretches
)
select (select max(heal_id) from {heals} h where h.ts = longest.ts), length / 3.6e9, (total - length) / (n - 1) / 3.6e9, n,
       (select count(*) from failures f where f.ts > longest.ts and epoch_us(f.ts) - epoch_us(longest.ts) <= length)
from longest
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
    if not look.scope.one("select count(*) from numberings")[0]:
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
    """Keep ``numbered``, the heals whose ids end in a number, and ``numberings``, those of them that are in a row."""
    look.scope.keep_once("numbered", NUMBERED.format(heals=look.span_heals))
    look.scope.keep_once("numberings", NUMBERINGS, least=NUMBERED_MIN)


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
    rows = look.query(CYCLES.format(touched_heals=look.touched_heals))
    if not any(twice for _, _, twice in rows) and sum(missing for _, missing, _ in rows) <= look.n_rejected("heals"):
        return []
    return [
        Hit(loop_id, {"missing": missing, "twice": twice, "what": count(missing, "cycle"), "again": count(twice, "cycle")})
        for loop_id, missing, twice in rows
    ]


def times_go_back(look: Look) -> list[Hit]:
    """Heals dated before the one they follow, by cycle or by number."""
    found = dict(look.query(BACK_IN_LOOP.format(touched_heals=look.touched_heals)))
    _keep_numbered(look)
    found |= dict(look.query(BACK_IN_IDS.format(heals=look.span_heals), share=IN_ORDER))
    return [Hit(heal_id, {"earlier": earlier}) for heal_id, earlier in sorted(found.items())]


def healing_stopped(look: Look) -> list[Hit] | NotCheckable:
    """A silence of the heal log that is too long for chance, while failures went on."""
    heal_id, hours, usual, n, n_failures = look.scope.one(SILENCE.format(heals=look.span_heals))
    if n < STRETCHES_MIN:
        return NotCheckable(f"fewer than {STRETCHES_MIN} stretches between heals in the window")
    if n_failures < FAILURES_MIN or hours <= UNUSUAL * usual:
        return []
    return [Hit(heal_id, {"hours": hours, "usual": usual, "failures": n_failures, "what": count(n_failures, "failure")})]


def states_jump(look: Look) -> list[Hit] | NotCheckable:
    """Runs that saw another agent than the run before, with no heal in between that may have changed it."""
    n_quiet, jumps = look.scope.one(JUMPS, slack=WORKING)
    if not n_quiet:
        return NotCheckable("no two runs with a state_hash follow each other without a heal in between")
    if n_quiet >= RESTLESS_MIN and len(jumps or ()) > RESTLESS * n_quiet:
        return NotCheckable(f"state_hash changes by itself: {len(jumps)} of {n_quiet} times without a heal")
    return [Hit(one["run_id"], {"earlier": one["earlier"]}) for one in jumps or ()]


def held_out_scores_hidden(look: Look) -> list[Hit]:
    """Held-out scores that are missing where the visible metric gained most."""
    missing, n, others, n_others = look.scope.one(HIDDEN)
    p = fisher_more(missing, n, others, n_others) if n and n_others else 1.0
    return [Hit("window", {"missing": missing, "n": n, "others": others, "n_others": n_others, "p": p})] if p < HIDDEN_P else []
