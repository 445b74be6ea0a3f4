"""One case over all runs: what changed with a heal, and what changed by itself."""

import pytest

from seam_core import loading
from seam_core.views import case_history
from seam_core.views.case_history import NoSuchCaseError, noise_sentences, own_noise
from seam_core.views.case_history import case_history as history_of
from seam_core.views.case_runs import find_run, outputs
from tests.seam_core.views.surface_logs import ROOT, write_small
from tests.seam_core.workspaces import audited, heal, run, write
from tests.seam_core.workspaces import cases as surface


@pytest.fixture
def small(tmp_path):
    return write_small(tmp_path)


@pytest.fixture(scope="module")
def demo_audit():
    """All of the demo's history."""
    with audited(ROOT / "fixtures" / "heal_events.jsonl") as found:
        yield found


def test_a_cases_history_tells_changes_from_noise(small):
    with audited(small) as found:
        history = history_of(found, "c1")
        seen = [(one.run_id, one.passed, one.has_changed, one.is_quiet) for one in history.seen]
        assert seen == [
            ("night", True, False, False),
            ("b1", True, False, True),
            ("a1", False, True, False),
            ("b2", False, False, True),
            ("a2", True, True, False),
        ]
        assert history.certified is True
        assert history.sentences() == [
            "Passed in 3 of 5 runs that had it; it changed twice.",
            "Steady: none of 2 pairs of runs with no heal between them differs.",
        ]
        assert history_of(found, "c0").is_safety
        stranger = history_of(found, "x")
        assert (stranger.is_known, stranger.certified, len(stranger.seen)) == (False, None, 1)
        with pytest.raises(NoSuchCaseError, match="There is no case zz"):
            history_of(found, "zz")


def test_a_control_or_rescore_run_is_held_against_the_newest_of_the_same_state(tmp_path):
    runs = [
        run("n1", "nightly", 0.1, {"c0": True}) | {"state_hash": "s1"},
        run("a1", "after", 1.1, {"c0": False}, "h1") | {"state_hash": "s2"},
        run("control", "control", 1.2, {"c0": False}) | {"state_hash": "s1"},
        run("rescore", "rescore", 1.3, {"c0": True}) | {"state_hash": "s2"},
    ]
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=surface(1))) as found:
        history = history_of(found, "c0")
        assert [(one.run_id, one.compared_with) for one in history.seen[2:]] == [("control", "n1"), ("rescore", "a1")]
        assert (history.noise.n_pairs, history.noise.n_flips) == (2, 2)
        assert history.sentences()[1] == "It flips by itself: 2 of 2 pairs of runs with no heal between them differ."


def test_runs_of_one_moment_stand_around_their_heal(tmp_path):
    runs = [run("x-after", "after", 1, {"c0": False}, "h1"), run("y-before", "before", 1, {"c0": True}, "h1")]
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=surface(1))) as found:
        history = history_of(found, "c0")
        assert [(one.run_id, one.is_quiet) for one in history.seen] == [("y-before", False), ("x-after", False)]
        assert history.noise.words == "unknown"


def test_a_state_that_changed_without_a_heal_is_not_quiet(tmp_path):
    runs = [run(f"n{at}", "nightly", at / 10, {"c0": at == 1}) | {"state_hash": f"s{at}"} for at in (1, 2)]
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=surface(1))) as found:
        assert history_of(found, "c0").noise.n_pairs == 0


def test_a_long_log_is_cut_and_says_since_when(small, monkeypatch):
    monkeypatch.setattr(case_history, "OUTCOMES_READ", 5)
    with audited(small) as found:
        history = history_of(found, "c1")
        assert [one.run_id for one in history.seen] == ["b2", "a2"]
        assert history.sentences()[-1] == "Older runs than 2026-06-03 09:36 UTC were not looked at."


def test_lines_that_only_duckdb_reads_are_read_too(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "DIRECT_MIN", 0)
    monkeypatch.setattr(loading, "EDGE_BYTES", 10)  # DuckDB is trusted with a file whose beginning looks right
    odd = b'{"run_id":"odd","ts":"2026-06-01T13:00:00Z","suite":"surface","phase":"nightly","results":{"c0":"pass"},"extra":NaN}'
    log = write(tmp_path, heal_events=[heal(1)], suite_runs=[odd, run("r", "nightly", 0.9, {"c0": False, "c1": True})], surface=surface(3))
    with audited(log) as found:
        assert find_run(found, "odd").n_cases == 1
        assert [one.passed for one in history_of(found, "c0").seen] == [True, False]
        assert outputs(found, ("odd",), "c0")["odd"].kind == "none"


def test_noise_of_several_cases_is_that_of_each(demo_audit):
    names = tuple(f"case_{n:02d}" for n in range(1, 20))
    together = own_noise(demo_audit, names)
    assert together == {name: history_of(demo_audit, name).noise for name in names}
    assert any(noise.n_flips for noise in together.values())


def test_noise_of_what_broke_in_words():
    noise = case_history.Noise
    assert noise_sentences([]) == []
    assert noise_sentences([noise(0, 0)]) == ["How often what broke flips by itself is unknown: no two runs with no heal between them."]
    assert noise_sentences([noise(9, 0)]) == ["With no heal between, the case that broke never flips: 0 of 9 pairs of runs."]
    assert noise_sentences([noise(9, 1)]) == ["With no heal between, the case that broke flips, too: 1 of 9 pairs of runs."]
    assert noise_sentences([noise(9, 1), noise(9, 0)]) == [
        "With no heal between, 1 of 2 cases that broke flips, too: 1 of 18 pairs of runs."
    ]
    assert noise_sentences([noise(9, 0)] * 2) == ["With no heal between, none of 2 cases that broke flips: 0 of 18 pairs of runs."]


def test_a_chart_of_many_runs_keeps_every_change(small):
    with audited(small) as found:
        history = history_of(found, "c1")
        assert history.drawn(5) == history.seen
        assert [one.run_id for one in history.drawn(2)] == ["night", "a2"]
        assert [one.run_id for one in history.drawn(4)] == ["night", "a1", "b2", "a2"]
