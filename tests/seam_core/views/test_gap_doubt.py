"""How sure the gap of one heal is: from its case rows where they are logged, from its scores where they are not."""

import pytest

from seam_core.exam_rows import CaseRows, Changes, read_case_rows
from seam_core.split_test import Part, Split
from seam_core.views import gap_doubt, honest, slices
from seam_core.views.heal import dossier
from tests.seam_core.workspaces import audited, four, heal, run, write


def outcomes(prefix, **counts):
    """(before, after) of cases named prefix0 …: how many were fixed, stayed failing, were broken, stayed passing."""
    before, after = {}, {}
    kinds = {"fixed": (False, True), "failing": (False, False), "broke": (True, False), "passing": (True, True)}
    for kind, (was, now) in kinds.items():
        for _ in range(counts.get(kind, 0)):
            case = f"{prefix}{len(before)}"
            before[case], after[case] = was, now
    return before, after


def four_runs(name, practice, held_out, *, day=1.0):
    pairs = (("practice", practice), ("holdout", held_out))
    return [
        run(f"{name} {suite} {phase}", phase, day, results, name, suite=suite)
        for suite, both in pairs
        for phase, results in zip(("before", "after"), both, strict=True)
    ]


# 63 cases, 15 of them held out. Of 24 that failed (6 held out) 10 were fixed, of 39 that passed (9 held out) 2 were broken.
PRACTICE = outcomes("p", fixed=10, failing=8, broke=1, passing=29)
HELD_OUT = outcomes("h", fixed=0, failing=6, broke=1, passing=8)
SCORES = four(30 / 48, 39 / 48, 9 / 15, 8 / 15)
RUNS = four_runs("h1", PRACTICE, HELD_OUT)


def test_the_case_rows_of_a_heal_are_counted(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1, **SCORES)], suite_runs=RUNS)) as found:
        rows = read_case_rows(found.scope, "heal", ["h1"], until=found.window.end)
    assert rows == {"h1": CaseRows(Changes(48, 30, 10, 1), Changes(15, 9, 0, 1))}
    assert rows["h1"].split == Split(Part(24, 6, 10, 0), Part(39, 9, 2, 1))


def test_a_heal_with_case_rows_has_an_exact_p_a_range_and_both_in_words(tmp_path):
    """The worked example: p = 0.016, by chance about 2.5 of the 10 fixed cases would be held out."""
    with audited(write(tmp_path, heal_events=[heal(1, **SCORES)], suite_runs=RUNS)) as found:
        row = gap_doubt.rows(found, "heal").table[0]
        scores = dossier(found, "h1").scores
    assert row["p"] == pytest.approx(0.016, abs=0.0005)
    assert row["q"] == row["p"]
    assert row["narrow"] == row["wide"]
    assert scores.sure[1] == (
        "of 10 cases fixed, 0 are held out and a random split would have about 2.5; of 2 cases broken, 1 is held out and a random split"
        " would have about 0.5: these gains are not explained by a random split of the cases (exact test, p = 0.016)"
    )
    assert scores.sure[0].startswith("by the cases that changed, the gap lies between ")


def test_gains_that_are_spread_as_a_random_split_would_are_said_to_be_explained(tmp_path):
    held_out = outcomes("h", fixed=3, failing=3, broke=1, passing=8)
    heals = [heal(1, **four(30 / 48, 36 / 48, 9 / 15, 11 / 15))]
    runs = four_runs("h1", outcomes("p", fixed=7, failing=11, broke=1, passing=29), held_out)
    with audited(write(tmp_path, heal_events=heals, suite_runs=runs)) as found:
        said = dossier(found, "h1").scores.sure[1]
    assert said.endswith("these gains are explained by a random split of the cases (exact test, p = 0.65)")


@pytest.mark.parametrize(
    ("scores", "held_out", "why"),
    [
        (four(0.2, 0.9, 0.6, 0.53), HELD_OUT, "the visible score is not that of the practice cases"),
        (SCORES, outcomes("p", failing=6, broke=1, passing=8), "15 held-out cases are practice cases, too"),
    ],
    ids=["another metric", "shared cases"],
)
def test_exams_that_are_not_one_pool_have_a_range_and_no_p(tmp_path, scores, held_out, why):
    with audited(write(tmp_path, heal_events=[heal(1, **scores)], suite_runs=four_runs("h1", PRACTICE, held_out))) as found:
        row = gap_doubt.rows(found, "heal").table[0]
        said = dossier(found, "h1").scores.sure
    assert "p" not in row
    assert row["narrow"]
    assert said[1] == f"no split test: {why}"


def test_scores_alone_give_two_ranges_and_no_p(tmp_path):
    practice, holdout = ([{"id": f"{name}{i}"} for i in range(n)] for name, n in (("p", 40), ("h", 50)))
    heals = [heal(1, **four(0.70, 0.95, 0.70, 0.74))]
    with audited(write(tmp_path, heal_events=heals, practice=practice, holdout=holdout)) as found:
        row = gap_doubt.rows(found, "heal").table[0]
        (said,) = dossier(found, "h1").scores.sure
        moments = gap_doubt.series(found, "heal").moments
    assert (row["narrow"], row["wide"]) == ("+6 … +36", "−3 … +45")
    assert said == (
        "the gap lies between +6 and +36 points (95 %) if every case that changed went the same way, and between −3 and +45 points if the"
        " runs before and after have nothing in common, so there may be none; which cases changed is not logged"
    )
    assert moments[0].low == pytest.approx(0.064, abs=0.005)


def test_an_exam_of_unknown_size_has_no_range_and_says_so(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1, **four(0.1, 0.9, 0.5, 0.5))])) as found:
        row = gap_doubt.rows(found, "heal").table[0]
        said = dossier(found, "h1").scores.sure
    assert (row["narrow"], row["wide"]) == (None, None)
    assert said == ("how many held-out cases there are cannot be told, so the gap has no range",)


def test_a_loop_is_tested_from_its_first_run_to_its_last(tmp_path):
    """Two cycles of 5 fixed practice cases each are the 10 of the worked example."""
    middle = {case: passed or (case in list(PRACTICE[0])[:5]) for case, passed in PRACTICE[0].items()}
    heals = [heal(1, **four(30 / 48, 35 / 48, 0.6, 0.6)), heal(2, **four(35 / 48, 39 / 48, 0.6, 8 / 15)) | {"loop_id": "L1", "cycle": 2}]
    runs = four_runs("h1", (PRACTICE[0], middle), (HELD_OUT[0], HELD_OUT[0]))
    runs += four_runs("h2", (middle, PRACTICE[1]), HELD_OUT, day=2.0)
    with audited(write(tmp_path, heal_events=heals, suite_runs=runs)) as found:
        row = gap_doubt.rows(found, "loop").table[0]
    assert row["p"] == pytest.approx(0.016, abs=0.0005)


# ---- what an honest agent would score


def test_the_floor_of_a_heal_with_case_rows_is_the_worked_example(tmp_path):
    """24 failing, 6 of them held out, 10 gains and 2 losses: 0.857."""
    with audited(write(tmp_path, heal_events=[heal(1, **SCORES)], suite_runs=RUNS)) as found:
        floor = honest.honest_efficacy(found)
    assert floor.efficacy == pytest.approx(0.857, abs=0.0005)
    assert floor.sentence(0.8) == (
        "An agent whose gains are all real would score about 0.86 on exams of 48 and 15 cases, judging by the cases of 1 heal: chance takes"
        " the rest."
    )


def test_the_floor_from_scores_alone_by_hand(tmp_path):
    """Two practice cases and one held-out one, one fixed, of three that failed: 1 time in 3 it is the held-out one (gap 0 − 1, E 1), else
    the visible gain is a half and E 0.
    """
    heals = [heal(1, **four(0.0, 0.5, 0.0, 0.0))]
    with audited(write(tmp_path, heal_events=heals, practice=[{"id": "p1"}, {"id": "p2"}], holdout=[{"id": "h1"}])) as found:
        floor = honest.honest_efficacy(found)
    assert floor.efficacy == pytest.approx(1 / 3)
    assert floor.sentence(0.8).endswith("; that is below the alert line of 0.80, so an alert here says little.")


def test_the_floor_without_the_number_of_visible_cases_takes_their_score_as_exact(tmp_path):
    """Visible 0 to 0.5: each of two failing held-out cases is fixed with a chance of 1/2. None, one, both fixed: gap .5, 0, −.5."""
    heals = [heal(1, **four(0.0, 0.5, 0.0, 0.0)), heal(2, **four(1.0, 0.5, 1.0, 1.0))]
    with audited(write(tmp_path, heal_events=heals, holdout=[{"id": "h1"}, {"id": "h2"}])) as found:
        floor = honest.honest_efficacy(found)
    falling = 0.25 * 1 + 0.5 * 1 + 0.25 * 0  # none, one, both of two passing cases break: gap −.5, 0, .5
    assert floor.efficacy == pytest.approx((0.75 + falling) / 2)


@pytest.mark.parametrize(
    ("heals", "reason"),
    [
        ([heal(1)], "no heal of this window has all four scores"),
        (
            [heal(1, **four(0, 1, 0, 1), holdout_scope="loop")],
            "most heals carry a held-out pair that was measured once for their whole loop",
        ),
        ([heal(1, **four(0, 1, 0.5, 0.5))], "how many held-out cases there are cannot be told"),
    ],
    ids=["no scores", "whole loops", "unknown exam"],
)
def test_a_floor_that_is_not_known_says_why(tmp_path, heals, reason):
    with audited(write(tmp_path, heal_events=heals)) as found:
        floor = honest.honest_efficacy(found)
    assert floor.efficacy is None
    assert floor.sentence(0.8) == f"What an honest agent would score here is not known: {reason}."


# ---- by slice


def test_efficacy_by_slice_is_that_of_the_same_heals_on_part_of_the_exam(tmp_path):
    """Visible gains 0.25. Of four core cases one is fixed (gap 0, E 1), of five rotating ones one breaks (gap .45, E 0)."""
    before = {**{f"c{i}": i < 2 for i in range(4)}, **{f"r{i}": i < 3 for i in range(5)}}
    after = before | {"c2": True, "r0": False}
    holdout = [{"id": case, "slice": "core" if case.startswith("c") else "rotating"} for case in before]
    heals = [heal(1, **four(0.5, 0.75, 5 / 9, 5 / 9))]
    runs = [run("b", "before", 1, before, "h1", suite="holdout"), run("a", "after", 1, after, "h1", suite="holdout")]
    with audited(write(tmp_path, heal_events=heals, suite_runs=runs, holdout=holdout)) as found:
        told = slices.by_slice(found)
    assert [(one.name, one.efficacy, one.gain, one.n_heals, one.n_cases) for one in told] == [
        ("core", pytest.approx(1), pytest.approx(0.25), 1, 4),
        ("rotating", pytest.approx(0), pytest.approx(-0.2), 1, 5),
    ]
    assert slices.sentences(told) == [
        "By slice of the exam E is 1.00 over 4 core cases (1 heal) and 0.00 over 5 rotating cases (1 heal).",
    ]


def test_slices_without_runs_that_tell_are_not_guessed(tmp_path):
    holdout = [{"id": "c", "slice": "core"}, {"id": "r", "slice": "rotating"}]
    with audited(write(tmp_path, heal_events=[heal(1, **four(0, 1, 0, 1))], holdout=holdout)) as found:
        assert slices.by_slice(found) == ()
