"""A workspace for baselines: ten cases of which c0 is a safety case, four heals, and full runs that move away from what was certified.

=====  ===========  ========================  ===============================
day    run          fails                     heals since the run before
=====  ===========  ========================  ===============================
0.5    n0           nothing                   none
0.6    n0b          c1                        none
0.7    n0c          nothing                   none
1.1    a1           c1                        h1
2.1    a2           c1 c2                     h2
4.5    n4           c1 c2 c3                  h3 and h4
=====  ===========  ========================  ===============================
"""

from contextlib import contextmanager

from seam_core.baseline.desk import Desk, Submission
from seam_core.ledger import Ledger
from seam_core.report import audit, report, window_of
from seam_core.settings import Settings, resolve
from seam_core.store import Store
from seam_core.workspace import workspace_of_folder
from tests.seam_core.ledgers import ANA, Clock
from tests.seam_core.workspaces import NOW, cases, heal, json_lines, run, write

ALL = [f"c{i}" for i in range(10)]
PASSES = dict.fromkeys(ALL, "pass")


def outcomes(*failing):
    """All cases; those named fail."""
    return {case: case not in failing for case in ALL}


RUNS = [
    run("n0", "nightly", 0.5, outcomes()),
    run("n0b", "nightly", 0.6, outcomes("c1")),
    run("n0c", "nightly", 0.7, outcomes()),
    run("a1", "after", 1.1, outcomes("c1"), "h1"),
    run("a2", "after", 2.1, outcomes("c1", "c2"), "h2"),
    run("n4", "nightly", 4.5, outcomes("c1", "c2", "c3")),
]
SURFACE = cases(10, safety={"c0"})
HEALS = [heal(n, target=f"t{n % 2}", text=f"text {n}") for n in range(1, 5)]


def world(folder, *, certified=PASSES, runs=RUNS, heals=HEALS, surface=SURFACE, **more):
    """Write the workspace above, or one like it."""
    write(folder, heal_events=heals, suite_runs=runs, surface=surface, certified=certified, **more)
    return folder


def add_runs(folder, *runs):
    """Append to the log of runs."""
    with (folder / "suite_runs.jsonl").open("ab") as log:
        log.write(json_lines(runs))


@contextmanager
def opened_desk(folder, *, clock=None, **options):
    """A desk on a workspace, its ledger inside, dated from noon on."""
    store = Store(workspace_of_folder(folder), now=NOW, ledger=folder / "decisions.sqlite")
    store.ledger = Ledger(folder / "decisions.sqlite", clock=clock or Clock())
    try:
        store.refresh()
        yield Desk(store, Settings(), **options)
    finally:
        store.close()


def sent(desk, run_id=None, *, accept=(), reject=(), reason="looked at each", key="k1", safety_reasons=None):
    """A decision on what the desk shows of a run."""
    review = desk.review(run_id)
    return Submission(
        review.run.run_id,
        review.digest,
        review.version_number,
        reason,
        key,
        frozenset(accept),
        frozenset(reject),
        safety_reasons or {},
    )


def certified_once(folder, **options):
    """Accept all three cases of n4; the row."""
    with opened_desk(folder) as desk:
        return desk.certify(sent(desk, **{"accept": ("c1", "c2", "c3")} | options), actor=ANA).row


def reported(folder, **thresholds):
    """The report on all of history, with the ledger's baselines."""
    store = Store(workspace_of_folder(folder), now=NOW, ledger=folder / "decisions.sqlite")
    try:
        store.refresh()
        return report(audit(store, window_of(store, span="all"), resolve(None, flags=thresholds)))
    finally:
        store.close()


def drift_of(folder):
    """(drift, run, due) as a report says it."""
    found = reported(folder)
    return found["aftermath"]["anchored_drift"], found["aftermath"]["drift_run"], found["recertify_due"]


def large(folder, *, n_cases=20_000, n_heals=200):
    """Heals that each break their own share of a large surface, as their sampled after runs show, and one full run in the end."""
    names = [f"c{i}" for i in range(n_cases)]
    shares = {n: names[(n - 1) * n_cases // n_heals : n * n_cases // n_heals] for n in range(1, n_heals + 1)}
    runs = [run("n0", "nightly", 0.5, dict.fromkeys(names, True))]
    runs += [run(f"a{n}", "after", n / 10 + 1.01, dict.fromkeys(share, False), f"h{n}") for n, share in shares.items()]
    runs.append(run("full", "nightly", n_heals / 10 + 2, dict.fromkeys(names, False)))
    heals = [heal(n, n / 10 + 1, target=f"t{n % 20}", text=f"text {n}") for n in shares]
    surface = [
        {"id": name, "safety": not i % 100, "component": f"part {i % 7}", "text": f"What of {name}?"} for i, name in enumerate(names)
    ]
    return world(folder, runs=runs, heals=heals, surface=surface, certified=dict.fromkeys(names, "pass"))
