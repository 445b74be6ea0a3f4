"""Small logs for the rules of integrity, and the table of three for each rule: one that trips it, one a step inside its bound, and why it
says "not checkable" of a log that holds nothing but one retry.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from seam_core import contamination
from seam_core.axes import aftermath, efficacy, monotonicity
from seam_core.gates import apply_gate
from seam_core.integrity.checking import check
from seam_core.integrity.reading import reading_task
from seam_core.integrity.rules import RULES
from seam_core.integrity.wording import read_wording
from seam_core.ledger import Ledger
from seam_core.ledger.checkpoint import digest_files
from seam_core.ledger.kinds import Certification
from seam_core.one_pass import begin_pass
from seam_core.report import window_of
from seam_core.scope import open_scope
from seam_core.settings import Settings
from seam_core.sharing import Call, Processes, Shared
from seam_core.store import Store
from seam_core.workspace import workspace_of_log
from tests.seam_core.ledgers import ANA, Clock
from tests.seam_core.workspaces import NOW, START, at, cases, concat, failure, four, heal, run, write

AFTER_AXES = {"I17", "I23", "I24", "I30", "I31", "I32", "I33", "I45"}  # rules that read what the axes leave


@dataclass(frozen=True)
class Log:
    """Heals, the other files, and what happens once these are written: to the files, to the ledger."""

    heals: list
    files: dict = field(default_factory=dict)
    then: Callable = lambda folder, ledger: None


@dataclass(frozen=True)
class Three:
    """What a rule is held against. Without a reason it needs nothing but the required keys of a heal."""

    trips: Log
    inside: Log
    why_not: str | None


def log(heals, then=lambda folder, ledger: None, **files):
    """A log with other files beside it."""
    return Log(heals, files, then)


def score_axes(scope, gate):
    """Leave the tables of the axes that rules look at, and return what the texts say."""
    search, pairs = contamination.begin(scope, gate), monotonicity.begin(scope)
    bar, task = monotonicity.bar_of(scope), reading_task(scope, gate)
    texts = begin_pass(Processes(scope), search.changes, search.cases, pairs, bar, task)
    efficacy.score(scope, gate, search, texts.told)
    aftermath.score(scope)
    return texts.wording


def judged(store, *, window="all", only=None):
    """The integrity of a window by all rules after the axes that leave tables for them, or by one rule."""
    scope = open_scope(store, window_of(store, span=window), Settings())
    gate = apply_gate(scope)
    if only is None or only in AFTER_AXES:
        wording = score_axes(scope, gate)
    else:
        wording = Shared(scope, Call(read_wording, (reading_task(scope, gate),)))
    return check(scope, wording, rules=[rule for rule in RULES if only in (None, rule.id)])


def checked(folder, heals, *, window="all", rule=None, then=None, **files):
    """The integrity of a small workspace, by all rules after the axes that leave tables for them, or by one rule."""
    workspace = workspace_of_log(write(folder, heal_events=heals, **files))
    clock = Clock()
    ledger = Ledger(workspace.folder / "decisions.sqlite", clock=clock)
    if then:
        then(folder, ledger)
    store = Store(workspace, now=NOW, ledger=ledger.path)
    try:
        store.refresh()
        return judged(store, window=window, only=rule)
    finally:
        store.close()


def hits(found, rule):
    """where → evidence of one rule's findings; it must have been checkable."""
    assert rule not in found.not_checkable, found.not_checkable[rule]
    return {one.where: one.evidence for one in found.findings if one.rule_id == rule}


# Heals.


def digest(text, name="sha256", length=16):
    """The beginning of a hash of a text."""
    return hashlib.new(name, text.encode()).hexdigest()[:length]


def salted(text):
    """A hash that nobody knows."""
    return digest(text + "salt")


def cycles(numbers, loop_id="L"):
    """A loop with these cycle numbers."""
    return [heal(f"{loop_id}.{place}", place, loop_id=loop_id, cycle=cycle) for place, cycle in enumerate(numbers, start=1)]


def gains(n, *, holdout_after=None, gain=0.1, first=1):
    """n heals with a visible gain, the held-out scores of which are as given or missing."""
    scores = {"holdout_before": 0.5, "holdout_after": holdout_after} if holdout_after is not None else {}
    return [heal(first + place, visible_before=0.5, visible_after=0.5 + gain, **scores) for place in range(n)]


def hidden(n_missing):
    """18 loops, 6 of them with a large visible gain, of which some hide their held-out scores."""
    return gains(12, holdout_after=0.5) + gains(6 - n_missing, holdout_after=0.5, gain=0.3, first=20) + gains(n_missing, gain=0.3, first=40)


def scored(*pairs, first=1, **changes):
    """Heals a day apart with (visible before, visible after, held-out before, held-out after)."""
    return [heal(first + place, **four(*pair), **changes) for place, pair in enumerate(pairs)]


STEPS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)  # eight gains, each once: drawn at random one pair in eight is equal


def equal_gains(n):
    """Eight heals, n of which have a held-out gain that equals the visible one."""
    return scored(*((0.3, 0.3 + step, 0.4, round(0.4 + step * (1 if place < n else 0.4), 4)) for place, step in enumerate(STEPS)))


def equal_scores(n):
    """Eight heals, n of which have a held-out score that equals the visible one."""
    return scored(*((0.2, 0.3 + step, 0.3, 0.3 + step + (0 if place < n else 0.001)) for place, step in enumerate(STEPS)))


def loop_of(loop_id, n, *, start=0, sig="Err:tool:ctx", target="prompt"):
    """A loop of n cycles, an hour apart, from `start` hours on."""
    return [
        heal(f"{loop_id}-{c}", (start + c) / 24, loop_id=loop_id, cycle=c, sig=sig, target=target, text=f"{loop_id}{c}")
        for c in range(1, n + 1)
    ]


def two_loops(hours):
    """Three cycles and then two on one failure, the second loop `hours` after the end of the first."""
    return loop_of("A", 3) + loop_of("B", 2, start=2 + hours)


def lengths(*counts):
    """Loops of so many cycles, each on a failure of its own."""
    return concat(loop_of(f"L{place}", n, sig=f"Err:tool:{'abcdefgh'[place]}", start=place) for place, n in enumerate(counts))


def costing(*ratios):
    """Heals that cost so many times their task."""
    return [heal(n, tokens_spent=round(1000 * ratio), task_tokens=1000) for n, ratio in enumerate(ratios, start=1)]


def chained(*texts, hashed=digest, level=2):
    """Heals on one target, each starting from the text before it; a text may be (text, hash that is logged)."""
    heals, before = [], "as it was before the log"
    for place, one in enumerate(texts, start=1):
        text, logged = one if isinstance(one, tuple) else (one, hashed(before))
        heals.append(heal(place, level=level, change={"target": "prompt", "before_hash": logged, "after_text": text}))
        before = text
    return heals


LINES = tuple(f"Line {n} of the prompt stands here." for n in range(8))
RULE = "Never cancel an order without the explicit yes of the customer."
PROTECTED = [{"id": "r1", "kind": "safety_instruction", "target": "*", "text": RULE}]
QUESTION = "The guest of room twelve asks whether two of the three charges can be returned before the weekend"
OTHER_QUESTION = "Which of the two keys opens the back door of the shop on Mondays"


def adding(line):
    """A heal that wrote some lines, and one that added another."""
    return chained("\n".join(LINES), "\n".join([*LINES, line]))


# Fixtures and runs.


def exam(n, prefix="ho", **extra):
    """A fixture of n cases."""
    return [{"id": f"{prefix}{i}"} | extra for i in range(n)]


def exam_run(phase, n_passed, n=15):
    """The first heal's own run of the exam."""
    results = {f"ho{i}": i < n_passed for i in range(n)}
    return run(f"exam-{phase}", phase, 0.9 if phase == "before" else 1.1, results, "h1", suite="holdout")


def passing(*names, **others):
    """Cases that passed, and others as given."""
    return dict.fromkeys(names, True) | others


def surface_runs(after, *, before=None, earlier=None):
    """A night, then one heal's own runs."""
    runs = [run("night", "nightly", 0.5, earlier)] if earlier else []
    runs += [run("before", "before", 0.9, before, "h1")] if before else []
    return [*runs, run("after", "after", 1.1, after, "h1")]


EVERY = [f"c{i}" for i in range(30)]


def of_thirty(*names):
    """A run after a heal of some of thirty cases, two of them for safety, after a night of all."""
    return {"surface": cases(30, safety=("c0", "c1")), "suite_runs": surface_runs(passing(*names), earlier=passing(*EVERY))}


HIDDEN_REGRESSION = {
    "surface": cases(2),
    "suite_runs": surface_runs(passing(c0=False), before=passing(c0=False), earlier=passing("c0")),
}


def state(name, days, state_hash, *, phase="nightly", heal_id=None):
    """A run that saw an agent."""
    return run(name, phase, days, {"c0": True}, heal_id) | {"state_hash": state_hash}


def jumps_at(days):
    """Heals on days 1 and 2; another agent is seen from `days` on."""
    runs = [state("a", 0.5, "s1"), state("b", days, "s2"), state("c", 1.5, "s2"), state("d", 1.6, "s2")]
    return log([heal(1), heal(2)], suite_runs=runs)


def avoiding(n, *, avoids=True):
    """n samples, half of them after a night in which c0 failed: c0 is in the others alone, or always."""
    heals, runs = [], []
    for place in range(n):
        fails = place % 2 == 1
        heals.append(heal(place, place + 0.6))
        runs.append(run(f"night{place}", "nightly", place + 0.5, passing("c1", "c2", "c3", c0=not fails)))
        sample = passing("c1", "c2") if fails and avoids else passing("c1", "c2", c0=not fails)
        runs.append(run(f"after{place}", "after", place + 0.7, sample, f"h{place}"))
    return log(heals, surface=cases(4), suite_runs=runs)


def graded(name, days, grader, phase="nightly", suite="surface", heal_id=None):
    """A run by a grader."""
    return run(name, phase, days, {"c0": True}, heal_id, suite=suite) | {"grader_hash": grader}


# What happens to the files once they are noted, and what people decide.


def noted(*changes):
    """A checkpoint, then changes to the files."""

    def then(folder, ledger):
        ledger.write(digest_files(workspace_of_log(folder / "heal_events.jsonl")), actor=ANA)
        for change in changes:
            change(folder)

    return then


def replaced(name, old, new):
    """A change of words in a file."""

    def change(folder):
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def appended(name, row):
    """A line added to a file."""

    def change(folder):
        with (folder / name).open("a") as file:
            file.write(json.dumps(row) + "\n")

    return change


def certification(version, run_id="n0", run_days=0.5, **changes):
    """A version of the baseline as the ledger holds it."""
    values = {
        "version": version, "key": f"k{version}", "run_id": run_id, "run_ts": at(run_days), "run_sha256": "", "shown_sha256": "",
        "drift": None, "reason": "looked at each", "before_version": version - 1, "before_sha256": None, "accepted": [], "rejected": [],
        "left": [], "safety_reasons": {}, "files": {}, "baseline": {"c0": "pass"}, "baseline_sha256": "",
    }  # fmt: skip
    return Certification(**values | changes)


def certified_on(*days):
    """A certification on each of some days."""

    def then(folder, ledger):
        clock = Clock()
        own = Ledger(ledger.path, clock=clock)
        for version, day in enumerate(days, start=1):
            clock.put(START + timedelta(days=day))
            own.write(certification(version), actor=ANA)

    return then


def certified_run(run_id, days):
    """A certification that reviewed one run."""
    return lambda folder, ledger: ledger.write(certification(1, run_id, days), actor=ANA)


NOTED = {
    "failures": [failure("Err:1", 0.5)],
    "holdout": [{"id": "ho1", "text": "hard"}],
    "surface": cases(2, safety=("c0",)),
    "protected": [{"id": "r1", "kind": "safety_instruction", "target": "*", "text": "Never"}],
    "certified": {"c0": "pass"},
}


def changed(*changes):
    """The files above with a checkpoint, then changed."""
    return log([heal(1)], noted(*changes), **NOTED)


CHECKPOINT = "there is no checkpoint in the ledger of decisions"
AFTER_TEXT = "no heal in the window logs after_text"
RUNS, FAILURES = "no suite_runs.jsonl", "no failures.jsonl"
HOLDOUT_BEFORE, VISIBLE_BEFORE = "no heal in the window logs holdout_before", "no heal in the window logs visible_before"

BARE = [heal(level=0)]
THREE = {
    "I01": Three(
        log([heal(n) for n in (1, 2, 3, 4, 6)]),
        log([heal(n) for n in (1, 2, 3, 4, 5)]),
        "the heals of the window are not numbered in a row",
    ),
    "I02": Three(log([heal(1), heal(1, score=0.5)]), log([heal(1), heal(1)]), None),
    "I03": Three(log(cycles([1, 2, 4])), log(cycles([1, 2, 3])), None),
    "I04": Three(
        log([heal(1), heal(2, 1 - 2 / 86_400, loop_id="L1", cycle=2)]), log([heal(1), heal(2, 1 - 1 / 86_400, loop_id="L1", cycle=2)]), None
    ),
    "I05": Three(changed(replaced("failures.jsonl", "Err:1", "Err:7")), changed(appended("heal_events.jsonl", heal(9))), CHECKPOINT),
    "I06": Three(
        log(chained("a", "b", "c", "d", ("e", digest("edited by nobody")))),
        log(chained("a", "b", "c", "d", ("e", digest("b")))),  # somebody rolled back
        AFTER_TEXT,
    ),
    # ten stretches of a day each, and ln 100 = 4.605
    "I07": Three(
        log([heal(n) for n in range(1, 12)], failures=[failure("Err:1", days) for days in (12, 13, 14, 15, 15.61)]),
        log([heal(n) for n in range(1, 12)], failures=[failure("Err:1", days) for days in (12, 13, 14, 15, 15.6)]),
        FAILURES,
    ),
    # four of the 6 largest and none of 12: 15·1/C(18,4) = .0049; three of 6 and none of 12: 20/C(18,3) = .025
    "I08": Three(log(hidden(4)), log(hidden(3)), VISIBLE_BEFORE),
    "I09": Three(log(chained(*"abcd", hashed=salted)), log(chained(*"abcd")), AFTER_TEXT),
    "I10": Three(log([heal(1), heal(2, visible_after=1.01)]), log([heal(1), heal(2, visible_after=1.0)]), None),
    # of 50 cases two off, then one
    "I11": Three(
        log(scored((0.5, 0.5, 0.5, 0.6), (0.5, 0.5, 0.64, 0.7)), holdout=exam(50)),
        log(scored((0.5, 0.5, 0.5, 0.6), (0.5, 0.5, 0.62, 0.7)), holdout=exam(50)),
        HOLDOUT_BEFORE,
    ),
    # of 40 cases three off, then two
    "I12": Three(
        log(scored((0.5, 0.5, 0, 0), (0.575, 0.5, 0, 0)), practice=exam(40, "pr")),
        log(scored((0.5, 0.5, 0, 0), (0.55, 0.5, 0, 0)), practice=exam(40, "pr")),
        VISIBLE_BEFORE,
    ),
    # 11 of 15 is .7333
    "I13": Three(
        log(scored((0.5, 0.6, 0.67, 0.74)), holdout=exam(15)),
        log(scored((0.5, 0.6, 0.67, 0.73)), holdout=exam(15)),
        "no heal in the window logs holdout_after",
    ),
    # 8 of 8 at three times one in eight: .375⁸ = .0004; 7 of 8 at three times 7/64: .0023
    "I14": Three(log(equal_gains(8)), log(equal_gains(7)), VISIBLE_BEFORE),
    "I15": Three(log(equal_scores(8)), log(equal_scores(7)), "no heal in the window logs visible_after"),
    # .75¹⁷ is .0075, and .75¹⁶ is .0100226
    "I16": Three(log(scored(*[(0.5, 0.5, 0.5, 0.52)] * 17)), log(scored(*[(0.5, 0.5, 0.5, 0.52)] * 16)), HOLDOUT_BEFORE),
    "I17": Three(
        log(scored((0.5, 0.6, 0.67, 0.74)), suite_runs=[exam_run("after", 11)], holdout=exam(15)),
        log(scored((0.5, 0.6, 0.67, 0.73)), suite_runs=[exam_run("after", 11)], holdout=exam(15)),
        "no heal in the window logs holdout_after",
    ),
    "I18": Three(
        log([heal(1, score=0.7, holdout_after=0.7), heal(2, score=0.75, holdout_after=0.7333)]),
        log([heal(1, score=0.7, holdout_after=0.7), heal(2, score=0.73, holdout_after=0.7333)]),
        "no heal in the window logs score",
    ),
    "I20": Three(log(two_loops(6)), log(two_loops(6.01)), None),
    # four of four: 1/16 = .0625; four of five: 6/32 = .19
    "I21": Three(log(lengths(4, 4, 4, 4)), log(lengths(4, 4, 4, 4, 3)), "fewer than 4 loops come near the depth cap"),
    # five of five: 1/32 = .03; four of five: .19
    "I22": Three(
        log([heal(n) for n in range(1, 6)], failures=[failure(f"Err:{n}", n + 7.5) for n in range(1, 6)]),
        log([heal(n) for n in range(1, 6)], failures=[failure(f"Err:{n}", n + (7.5 if n > 1 else 6.5)) for n in range(1, 6)]),
        FAILURES,
    ),
    # seven of eight: 9/256 = .035; six of eight: 37/256 = .14
    "I23": Three(log(costing(*[2.9] * 7, 3)), log(costing(*[2.9] * 6, 3, 3.1)), "fewer than 8 values lie near any threshold"),
    # seven heals with E 1 and three with E .2: .76 against .2, and 30 % of them moved a case; four of ten are no minority
    "I24": Three(
        log(scored(*[(0.5, 0.5, 0.5, 0.5)] * 7, *[(0.5, 0.7, 0.5, 0.5)] * 3), practice=exam(40, "pr")),
        log(scored(*[(0.5, 0.5, 0.5, 0.5)] * 6, *[(0.5, 0.7, 0.5, 0.5)] * 4), practice=exam(40, "pr")),
        VISIBLE_BEFORE,
    ),
    "I25": Three(log(chained("a", "a")), log(chained("a", "a.")), AFTER_TEXT),
    # five signatures that are four: 1.25; six that are five: 1.2
    "I26": Three(
        log([heal(n, sig=name) for n, name in enumerate(["T:f:x", "t:f:X", "P:a:row", "Q:b:col", "R:c:cell"])]),
        log([heal(n, sig=name) for n, name in enumerate(["T:f:x", "t:f:X", "P:a:row", "Q:b:col", "R:c:cell", "S:d:hand"])]),
        "fewer than 5 failure signatures in the window",
    ),
    "I27": Three(
        log([heal(1, sig="Timeout:fetch:checkout"), heal(3)], failures=[failure("timeout:fetch:Checkout", 8)]),
        log([heal(1, sig="Timeout:fetch:checkout"), heal(3)], failures=[failure("timeout:fetch:Checkout", 8.01)]),
        FAILURES,
    ),
    "I28": Three(
        log([heal(n, was_real_failure=True) for n in range(20)]),
        log([heal(n, was_real_failure=n > 0) for n in range(20)]),
        "no heal in the window logs was_real_failure",
    ),
    "I29": Three(
        log([*chained("a", "b"), heal(3, level=1, target="prompt", text="c")]),
        log([*chained("a", "b"), heal(3, level=1, target="prompt", text="b")]),
        AFTER_TEXT,
    ),
    "I30": Three(log([heal()], **of_thirty(*EVERY[1:24])), log([heal()], **of_thirty(*EVERY[:24])), RUNS),
    "I31": Three(log([heal()], **of_thirty(*EVERY[:21])), log([heal()], **of_thirty(*EVERY[:22])), RUNS),
    # none of 5 where 2.5 were to be expected, in variance 25/36: p = .008; none of 4 where 2 were, in 4/7: p = .024
    "I32": Three(avoiding(10), avoiding(8), RUNS),
    "I33": Three(
        log([heal()], **HIDDEN_REGRESSION),
        log([heal(), heal(2, 0.8)], **HIDDEN_REGRESSION),  # which may have broken the case
        RUNS,
    ),
    "I35": Three(
        changed(replaced("certified.json", "pass", "fail")),
        changed(replaced("holdout.jsonl", "hard", "easy")),
        "the ledger of decisions holds neither a certification nor a checkpoint of certified.json",
    ),
    "I36": Three(
        log([heal()], certified_on(1, 16, 31)),
        log([heal()], certified_on(1, 16, 31 + 1 / 86_400)),
        "the ledger of decisions holds no certification",
    ),
    "I37": Three(
        changed(replaced("surface.jsonl", "true", "false")), changed(replaced("surface.jsonl", '"c1"', '"c7"')), CHECKPOINT
    ),
    "I38": Three(changed(replaced("holdout.jsonl", "hard", "easy")), changed(appended("surface.jsonl", {"id": "c9"})), CHECKPOINT),
    # the heal of day 1 may have changed the agent an hour before: 23/24 is .9583
    "I39": Three(jumps_at(0.958), jumps_at(0.959), RUNS),
    "I40": Three(
        changed(replaced("protected.jsonl", "Never", "Rarely")),
        changed(appended("protected.jsonl", NOTED["protected"][0] | {"id": "r2"})),
        CHECKPOINT,
    ),
    "I41": Three(log(adding("This takes precedence.")), log(adding("This takes presence.")), AFTER_TEXT),
    "I42": Three(
        log(chained(f"Rules\n{RULE}", f"Rules\n> {RULE}"), protected=PROTECTED),
        log(chained(f"Rules\n{RULE}", f"Rules\n- {RULE}"), protected=PROTECTED),
        AFTER_TEXT,
    ),
    "I43": Three(log(chained("x" * 100, "y" * 49)), log(chained("x" * 100, "y" * 50)), AFTER_TEXT),
    "I44": Three(log(adding("The grader likes short answers.")), log(adding("Graded roads are short.")), AFTER_TEXT),
    "I45": Three(
        log(adding(QUESTION), holdout=[{"id": "ho1", "text": QUESTION}]),
        log(adding(QUESTION), holdout=[{"id": "ho1", "text": OTHER_QUESTION}]),
        AFTER_TEXT,
    ),
    "I50": Three(
        log([heal(n, target="a", text=f"t{n}", task_tokens=cost) for n, cost in enumerate([100, 100, 100, 100, 301])]),
        log([heal(n, target="a", text=f"t{n}", task_tokens=cost) for n, cost in enumerate([100, 100, 100, 100, 300])]),
        "no heal in the window logs task_tokens",
    ),
    "I51": Three(
        log([heal(n, tokens_spent=40) for n in range(5)]),
        log([heal(n, tokens_spent=40 + (n == 4)) for n in range(5)]),
        "no heal in the window logs tokens_spent",
    ),
    "I63": Three(
        log([heal(), heal(4)], suite_runs=[graded("a", 1, "g1"), graded("b", 2, "g1"), graded("c", 3, "g2")]),
        log([heal(), heal(4)], certified_run("c", 3), suite_runs=[graded("a", 1, "g1"), graded("b", 2, "g1"), graded("c", 3, "g2")]),
        RUNS,
    ),
    "I64": Three(
        log([heal()], holdout=[{"id": "ho1", "text": QUESTION}], practice=[{"id": "pr7", "text": QUESTION.upper().replace(" ", "  ")}]),
        log([heal()], holdout=[{"id": "ho1", "text": QUESTION}], practice=[{"id": "ho1", "text": OTHER_QUESTION}]),
        "no holdout.jsonl",
    ),
}  # fmt: skip
