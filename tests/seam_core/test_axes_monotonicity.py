"""M: did the loop converge, or wander? One loop a row; what each costs is worked out beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam_core import loading, sharing
from seam_core.axes.monotonicity import loop_score
from seam_core.report import report
from seam_core.scope import Scope
from tests.seam_core.workspaces import audited, concat, four, heal, loop, report_on, reports_with, rows_of, write

SAME, NEAR = "abcdefghijklmnopqrst", "#bcdefghijklmnopqrst"  # 2·19/40 = 0.95
AT_THE_LINE = "##cdefghijklmnopqrst"  # 2·18/40 = 0.9, which is not more than 0.90
UP = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


def climbing(*texts, **changes):
    """A loop whose score only rises, with these texts."""
    return {"scores": UP[: len(texts)], "text": list(texts), **changes}


# What the loop is, then: extra dips, returned, idle, at the cap, M. All loops: 1 − 0.4·extra_dips − 0.4·revisits − 0.2·cap, at least 0.
LOOPS = {
    "rises": ({"scores": UP[:4]}, 0, 0, 0, False, 1.0),
    "stays": ({"scores": [0.5] * 4}, 0, 0, 0, False, 1.0),
    "one heal": ({"scores": [0.5]}, 0, 0, 0, False, 1.0),
    "one dip is free": ({"scores": [0.5, 0.4, 0.6]}, 0, 0, 0, False, 1.0),
    "two dips": ({"scores": [0.5, 0.4, 0.6, 0.3]}, 1, 0, 0, False, 0.6),
    "three dips": ({"scores": [0.9, 0.6, 0.3, 0.1]}, 2, 0, 0, False, 0.2),
    "four dips": ({"scores": [0.9, 0.7, 0.5, 0.3, 0.1]}, 3, 0, 0, True, 0.0),
    "five cycles": ({"scores": UP[:5]}, 0, 0, 0, True, 0.8),
    "five cycles, two dips": ({"scores": [0.5, 0.4, 0.6, 0.3, 0.7]}, 1, 0, 0, True, 0.4),
    "0.1 + 0.2 after 0.3 is no dip": ({"scores": [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2]}, 0, 0, 0, False, 1.0),
    "less by a billionth is no dip": ({"scores": [0.3, 0.3 - 9e-10, 0.3, 0.3 - 9e-10]}, 0, 0, 0, False, 1.0),
    "less by two billionths is": ({"scores": [0.3, 0.3 - 2e-9, 0.3, 0.3 - 2e-9]}, 1, 0, 0, False, 0.6),
    "cycle numbers with gaps": ({"scores": [0.5, 0.4, 0.6, 0.3], "cycle": [10, 20, 50, 51]}, 1, 0, 0, False, 0.6),
    "cycle numbers that repeat: time decides": ({"scores": [0.5, 0.4, 0.6, 0.3], "cycle": 1}, 1, 0, 0, False, 0.6),
    "cycle numbers against time": ({"scores": [0.4, 0.3, 0.2, 0.1], "cycle": [4, 3, 2, 1]}, 0, 0, 0, False, 1.0),
    "no cap by cycle numbers": ({"scores": UP[:3], "cycle": [1, 6, 9]}, 0, 0, 0, False, 1.0),
    "returns to the text before last": (climbing(SAME, "x", SAME), 0, 1, 0, False, 0.6),
    "returns nearly": (climbing(SAME, "x", NEAR), 0, 1, 0, False, 0.6),
    "returns at the line of likeness": (climbing(SAME, "x", AT_THE_LINE), 0, 0, 0, False, 1.0),
    "neighbours are no pair": (climbing(SAME, SAME), 0, 0, 0, False, 1.0),
    "an idle cycle": (climbing(SAME, SAME, SAME), 0, 0, 1, False, 0.6),
    "two idle cycles": (climbing(SAME, SAME, SAME, SAME), 0, 0, 3, False, 0.0),
    "idle after a return": (climbing(SAME, "x", SAME, SAME), 0, 1, 1, False, 0.2),
    "five apart": (climbing(SAME, "1", "2", "3", "4", SAME), 0, 1, 0, True, 0.4),
    "six apart": (climbing(SAME, "1", "2", "3", "4", "5", SAME), 0, 0, 0, True, 0.8),
    "empty texts are alike": (climbing("", "x", ""), 0, 1, 0, False, 0.6),
    "no text on one": (climbing(SAME, "x", None), 0, 0, 0, False, 1.0),
    "other target": (climbing(SAME, "x", SAME, target=["prompt", "prompt", "memory"]), 0, 0, 0, False, 1.0),
    "no target": (climbing(SAME, "x", SAME, target=None), 0, 0, 0, False, 1.0),
    "a retry mutates nothing, at the end": (climbing(SAME, "x", SAME, level=[2, 2, 0]), 0, 0, 0, False, 1.0),
    "a retry mutates nothing, at the start": (climbing(SAME, "x", SAME, level=[0, 2, 2]), 0, 0, 0, False, 1.0),
    "a retry between leaves its position": (climbing(SAME, "x", SAME, level=[1, 0, 3]), 0, 1, 0, False, 0.6),
    "same text in another target before: returned, not idle": (
        climbing(SAME, SAME, SAME, target=["prompt", "memory", "prompt"]), 0, 1, 0, False, 0.6,
    ),
    "a blocked heal leaves its position": (
        {"scores": [0.5, 0.1, 0.6, 0.7, 0.8], "text": [SAME, "x", SAME, "y", "z"], "target": ["prompt", "guarded", *["prompt"] * 3]},
        0, 0, 0, False, 1.0,  # without it there is no dip, no fifth cycle, and the two texts are neighbours
    ),
    "everything at once": ({"scores": [0.9, 0.1, 0.8, 0.1, 0.7], "text": [SAME, "x", SAME, "x", SAME]}, 1, 4, 0, True, 0.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    heals = concat(
        loop(name, row[0]["scores"], **{key: value for key, value in row[0].items() if key != "scores"}) for name, row in LOOPS.items()
    )
    protected = [{"id": "p", "kind": "tool_permission", "target": "guarded"}]
    with audited(write(tmp_path_factory.mktemp("loops"), heal_events=heals, protected=protected)) as found:
        yield {"rows": rows_of(found, "loop_rows", "loop_id"), "report": report(found)}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_pays_for_dips_revisits_and_depth(audit, name):
    _, extra_dips, returned, idle, capped, m = LOOPS[name]
    row = audit["rows"][name]
    assert (row["extra_dips"], row["returned"], row["idle"], row["capped"]) == (extra_dips, returned, idle, capped)
    assert loop_score(row["extra_dips"], row["returned"] + row["idle"], capped=row["capped"]) == pytest.approx(m)


def test_the_window_is_the_mean_over_its_loops(audit):
    assert audit["report"]["M"] == round(sum(row[5] for row in LOOPS.values()) / len(LOOPS), 4)
    parts = audit["report"]["monotonicity"]
    assert [parts[key] for key in ("n", "left_out", "extra_dips", "returned", "idle", "capped")] == [
        len(LOOPS), 0, *(sum(row[place] for row in LOOPS.values()) for place in (1, 2, 3, 4)),
    ]  # fmt: skip


@given(dips=st.integers(0, 20), revisits=st.integers(0, 20), capped=st.booleans())
def test_a_loop_scores_in_0_1_and_never_more_for_more_wandering(dips, revisits, capped):
    value = loop_score(dips, revisits, capped=capped)
    assert 0 <= value <= 1
    assert loop_score(dips + 1, revisits, capped=capped) <= value
    assert loop_score(dips, revisits + 1, capped=capped) <= value
    assert loop_score(dips, revisits, capped=True) <= value


# ---- which score the curve is made of

PAIR, OTHER_PAIR = four(0, 0.5, 0.1, 0.2), four(0, 0.5, 0.2, 0.3)
BASIS = {
    "own score": ([PAIR | {"score": 0.5}, OTHER_PAIR | {"score": 0}], "score"),
    "own score missing on one": ([PAIR | {"score": 0.5}, OTHER_PAIR], "holdout"),
    "held out": ([PAIR, OTHER_PAIR], "holdout"),
    "held out missing on one": ([PAIR, OTHER_PAIR | {"holdout_after": None}], "visible"),
    "held out of the loop, said so": ([PAIR, OTHER_PAIR | {"holdout_scope": "loop"}], "visible"),
    "held out of each heal, said so": ([PAIR | {"holdout_scope": "heal"}, OTHER_PAIR | {"holdout_scope": "heal"}], "holdout"),
    "one pair copied onto every heal": ([PAIR, PAIR, PAIR], "visible"),
    "one pair, one heal": ([PAIR], "holdout"),
    "one pair, one heal, of the loop": ([PAIR | {"holdout_scope": "loop"}], "visible"),
    "same after, other before": ([PAIR, PAIR | {"holdout_before": 0.0}], "holdout"),
    "no before at all": ([{"holdout_after": 0.2}, {"holdout_after": 0.2}], "holdout"),
    "visible only": ([{"visible_after": 0.2}, {"visible_after": 0.1}], "visible"),
    "visible missing on one": ([{"visible_after": 0.2}, {}], None),
    "nothing": ([{}, {}], None),
}


def test_the_curve_is_made_of_the_first_score_that_every_cycle_has(tmp_path):
    heals = []
    for name, (rows, _) in BASIS.items():
        heals += [record | row for record, row in zip(loop(name, [None] * len(rows)), rows, strict=True)]
    with audited(write(tmp_path, heal_events=heals)) as found:
        assert {name: row["basis"] for name, row in rows_of(found, "loop_rows", "loop_id").items()} == {
            name: row[1] for name, row in BASIS.items()
        }
        made = report(found)
    used = [basis for _, basis in BASIS.values()]
    assert made["basis"]["cycle_score"] == {"score": 1, "holdout": used.count("holdout"), "visible": used.count("visible")}
    assert (made["monotonicity"]["n"], made["monotonicity"]["left_out"]) == (len(used) - 2, 2)


def test_dips_of_a_copied_pair_are_not_made_up_from_it(tmp_path):
    """The held-out pair says 0.2 throughout; the visible score dips twice."""
    heals = loop("L", [None] * 4, holdout_before=0.1, holdout_after=0.2, visible_before=0.0, visible_after=[0.5, 0.4, 0.5, 0.4])
    assert report_on(write(tmp_path, heal_events=heals))["M"] == 0.6


@pytest.mark.parametrize(
    ("heals", "m", "reason"),
    [
        (loop("a", UP[:3]) + loop("b", [0.5]), 1.0, None),
        (loop("a", [0.9, 0.7, 0.5, 0.3, 0.1]), 0.0, None),
        (loop("a", UP[:2]) + loop("b", [0.9, 0.6, 0.3, 0.1]), 0.6, None),
        (loop("a", [None, 0.5]) + loop("b", [0.5]), 1.0, None),
        ([heal(1)], None, "no loop has a score for every cycle"),
    ],
    ids=["all good", "all bad", "mixed", "missing on one loop", "no score"],
)
def test_monotonicity(tmp_path, heals, m, reason):
    found = report_on(write(tmp_path, heal_events=heals))
    assert (found["M"], found["monotonicity"]["reason"]) == (m, reason)


def test_a_score_at_its_line_does_not_alert(tmp_path):
    """One dip too many: 1 − 0.4 = 0.6."""
    path = write(tmp_path, heal_events=loop("a", [0.5, 0.4, 0.6, 0.3]))
    assert report_on(path)["alerts"] == []
    assert report_on(path, alert_m=0.61)["alerts"] == ["M<0.61"]


def test_a_loop_counts_up_to_the_end_of_the_window_and_from_its_first_heal(tmp_path):
    """Dips on days 1 and 3, another on day 5; the window is day 3 alone."""
    path = write(tmp_path, heal_events=loop("a", [0.5, 0.4, 0.6, 0.3, 0.7, 0.1]))
    found = report_on(path, window="24h", as_of="2026-06-04T12:00:00Z")
    assert (found["counts"]["heals"], found["monotonicity"]["extra_dips"], found["M"]) == (1, 1, 0.6)
    assert report_on(path)["monotonicity"]["extra_dips"] == 2


def test_the_costs_follow_the_settings(tmp_path):
    path = write(tmp_path, heal_events=loop("a", [0.5, 0.4, 0.6, 0.3], text=[SAME, "x", AT_THE_LINE, "y"]))
    rows = {
        0.2: {"free_dips": 0},
        1.0: {"free_dips": 2},
        0.4: {"depth_cap": 4},
        0.0: {"similarity_min": 0.89, "free_dips": 0, "depth_cap": 4},
    }
    assert [found["M"] for found in reports_with(path, *rows.values())] == list(rows)
    likeness = [{"similarity_min": 0.89, "similarity_method": method} for method in ("indel", "difflib")]
    assert [found["M"] for found in reports_with(path, *likeness)] == [0.2, 0.2]


@pytest.mark.parametrize("split_min", [1, 100], ids=["three processes", "one process"])
@pytest.mark.parametrize("tail", [b"", b"\n\n"], ids=["every line a heal", "blank lines"])
def test_other_processes_find_the_same_revisits(tail, split_min, monkeypatch, tmp_path):
    """Very long histories are compared by two processes, each with half of the pairs and the file alone."""
    log = write(tmp_path, heal_events=concat(loop(f"L{n}", UP[:5], text=[SAME, f"{n}", NEAR, SAME, SAME]) for n in range(9)))
    log.write_bytes(log.read_bytes().replace(b"\n", b"\n" + tail))
    with audited(log) as found:
        here = found.scope.rows("revisit_rows"), report(found)
    monkeypatch.setattr(sharing, "APART_MIN", 1)
    monkeypatch.setattr(sharing, "SPLIT_MIN", split_min)
    monkeypatch.setattr(Scope, "edits", None)
    with audited(log) as found:
        assert (found.scope.rows("revisit_rows"), report(found)) == here
    assert len(here[0]) > 9


def test_a_line_that_only_duckdb_reads_is_compared_in_this_process(monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "DIRECT_MIN", 0)
    monkeypatch.setattr(sharing, "APART_MIN", 1)
    log = write(tmp_path, heal_events=[*(heal(n, text="x" * 1000) for n in range(1, 71)), *loop("L", UP[:3], text=[SAME, "x", SAME])])
    log.write_bytes(log.read_bytes().replace(b'"score": 0.3}', b'"score": 0.3, "extra": [1,]}'))
    with audited(log) as found:
        assert [(row["earlier"], row["later"]) for row in found.scope.rows("revisit_rows")] == [(1, 3)]
