"""The simulator plants what it says and nothing else. Each fault is recomputed here from the written records alone."""

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import mean

import msgspec
import pytest
from rapidfuzz.distance import Indel

from seam_core.records import LOGS
from seam_core.simulate import FAULTS, write_bulk, write_demo, write_workspace
from seam_core.simulate.planting import default_counts

ROOT = Path(__file__).parents[2]
WEEK = timedelta(days=7)


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def moment(record):
    return datetime.fromisoformat(record["ts"])


def grams(text):
    words = re.findall("[a-z0-9]+", text.casefold())
    return {tuple(words[n : n + 8]) for n in range(len(words) - 7)}


def signed_gap(heal):
    return (heal["visible_after"] - heal["visible_before"]) - (heal["holdout_after"] - heal["holdout_before"])


class Workspace:
    """One written workspace and what plain loops over its records say about each heal."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("heal_events", "failures", "suite_runs", "holdout", "practice", "surface", "protected", "truth"):
            setattr(self, name, read_lines(folder / f"{name}.jsonl"))
        self.certified = json.loads((folder / "certified.json").read_text())
        self.heals = {heal["heal_id"]: heal for heal in self.heal_events}
        self.loops = defaultdict(list)
        for heal in self.heal_events:
            self.loops[heal["loop_id"]].append(heal)

    def planted(self, kind, key="heal_id"):
        return sorted(fault[key] for fault in self.truth if fault["kind"] == kind)

    def blocked(self):
        """Heals whose text lacks a protected line, or whose target is protected as a whole."""
        return sorted(
            heal["heal_id"]
            for heal in self.heal_events
            if "change" in heal
            and any(
                block.get("text") is None or block["text"] not in heal["change"]["after_text"]
                for block in self.protected
                if block["target"] in ("*", heal["change"]["target"])
            )
        )

    def gaps(self):
        return {heal["heal_id"]: signed_gap(heal) for heal in self.heal_events if "holdout_after" in heal}

    def regressions(self):
        """heal_id -> cases that passed before and fail after, and the number of cases run."""
        found, known, runs = {}, {}, sorted(self.suite_runs, key=moment)
        after = {run["heal_id"]: run for run in runs if run["phase"] == "after"}
        before = {run["heal_id"]: run for run in runs if run["phase"] == "before"}
        for heal in self.heal_events:
            while runs and moment(runs[0]) <= moment(heal):
                known |= runs.pop(0)["results"]
            if heal["heal_id"] not in after:
                continue
            snapshot = known | before.get(heal["heal_id"], {"results": {}})["results"]
            results = after[heal["heal_id"]]["results"]
            broken = [case for case, outcome in results.items() if outcome == "fail" and snapshot.get(case) == "pass"]
            found[heal["heal_id"]] = (broken, len(results))
        return found

    def revisits(self):
        """(later heal, whether it equals the cycle before) of pairs two to five cycles apart, more than 0.90 similar."""
        gone = set(self.blocked())
        pairs = set()
        for heals in self.loops.values():
            cycles = [heal for heal in heals if heal["heal_id"] not in gone]
            for later in range(2, len(cycles)):
                for earlier in range(max(0, later - 5), later - 1):
                    texts = [cycles[n].get("change", {}).get("after_text") for n in (later, later - 1, earlier)]
                    if texts[0] is None or texts[2] is None:
                        continue
                    assert cycles[later]["change"]["target"] == cycles[earlier]["change"]["target"]
                    if Indel.normalized_similarity(texts[0], texts[2]) > 0.90:
                        pairs.add((cycles[later]["heal_id"], texts[0] == texts[1]))
        return pairs

    def leaks(self):
        """(heal_id, case_id) where a heal adds at least 60 % of a held-out case's word 8-grams."""
        previous, found = {}, []
        for heal in self.heal_events:
            if "change" not in heal:
                continue
            target, text = heal["change"]["target"], heal["change"]["after_text"]
            old = set(previous.get(target, "").split("\n"))
            added = grams("\n".join(line for line in text.split("\n") if line not in old))
            found += [
                (heal["heal_id"], case["id"]) for case in self.holdout if len(grams(case["text"]) & added) >= 0.6 * len(grams(case["text"]))
            ]
            previous[target] = text
        return found

    def seen_again(self, signature, *, after):
        return [f for f in self.failures if f["failure_signature"] == signature and timedelta() < moment(f) - after <= WEEK]

    def full_runs(self):
        return [
            (sum(outcome != self.certified[case] for case, outcome in run["results"].items()) / len(self.surface), run)
            for run in sorted(self.suite_runs, key=moment)
            if run["phase"] in ("after", "nightly") and len(run["results"]) == len(self.surface)
        ]


def written(folder, **arguments):
    write_workspace(folder, **arguments)
    return Workspace(folder)


@pytest.fixture(scope="module", params=[{"seed": 3}, {"seed": 8, "heals": 400, "weeks": 6}], ids=["240", "400"])
def faulty(request, tmp_path_factory):
    return written(tmp_path_factory.mktemp("faulty"), **request.param)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return written(tmp_path_factory.mktemp("honest"), seed=5, faults={})


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return Workspace(folder)


def test_the_same_seed_writes_the_same_bytes_and_another_seed_does_not(tmp_path):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        write_workspace(tmp_path / name, seed=seed, heals=80, weeks=3)
    a, b, c = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "abc")
    assert a == b
    assert a["heal_events.jsonl"] != c["heal_events.jsonl"]


def test_the_hash_seed_of_python_changes_nothing(tmp_path):
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-m", "seam_core", "simulate", "demo", tmp_path / hash_seed]
        subprocess.run(command, check=True, cwd=ROOT, env={"PYTHONHASHSEED": hash_seed})
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "12")
    assert first == second


def test_heals_that_do_not_fit_into_the_weeks_are_refused_in_a_sentence(tmp_path):
    command = [sys.executable, "-m", "seam_core", "simulate", "workspace", tmp_path / "w", "--weeks", "2", "--heals", "20", "--story"]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "python -m seam_core: --heals 20 --weeks 2: 2 weeks hold 80 to 2016 heals here, not 20\n"


def test_the_fixtures_of_the_repository_are_the_demo(demo):
    committed = ROOT / "fixtures"
    for path in sorted(demo.folder.iterdir()):
        assert (committed / path.name).read_bytes() == path.read_bytes(), f"run: python -m seam_core simulate demo fixtures ({path.name})"


def test_every_line_is_a_valid_record(faulty):
    for log in LOGS:
        lines = (faulty.folder / log.file).read_bytes().splitlines()
        assert lines
        for line in lines:
            msgspec.json.decode(line, type=log.record, strict=True)


def test_ids_are_unique_and_times_never_go_back(faulty):
    for records, key in ((faulty.heal_events, "heal_id"), (faulty.suite_runs, "run_id")):
        assert len({record[key] for record in records}) == len(records)
    for records in (faulty.heal_events, faulty.suite_runs, faulty.failures):
        assert all(moment(earlier) <= moment(later) for earlier, later in pairwise(records))
    for heals in faulty.loops.values():
        assert [heal["cycle"] for heal in heals] == list(range(1, len(heals) + 1))


def test_scores_are_whole_cases_of_the_two_exams(faulty):
    for heal in faulty.heal_events:
        for name, size in (("visible", len(faulty.practice)), ("holdout", len(faulty.holdout))):
            for score in (heal.get(f"{name}_before"), heal.get(f"{name}_after")):
                assert score is None or abs(score * size - round(score * size)) < 1e-6


def test_held_out_scores_go_on_from_heal_to_heal_within_one_case(faulty):
    scored = [heal for heal in faulty.heal_events if "holdout_after" in heal]
    breaks = [
        later["heal_id"]
        for earlier, later in pairwise(scored)
        if abs(later["holdout_before"] - earlier["holdout_after"]) > 1.5 / len(faulty.holdout)
        and not (later["holdout_scope"] == "loop" and later["loop_id"] == earlier["loop_id"])
    ]
    assert breaks == []


def test_every_heal_names_the_text_it_started_from(faulty):
    blocked, previous = set(faulty.blocked()), {}
    for heal in faulty.heal_events:
        if "change" not in heal:
            assert heal["level"] == 0
            continue
        change = heal["change"]
        if change["target"] in previous:
            assert hashlib.sha256(previous[change["target"]].encode()).hexdigest().startswith(change["before_hash"])
        if heal["heal_id"] not in blocked:
            previous[change["target"]] = change["after_text"]


def test_the_asked_for_number_of_faults_is_planted(faulty):
    counts = Counter(fault["kind"] for fault in faulty.truth)
    assert counts == Counter(default_counts(len(faulty.heal_events)))
    assert all(fault["note"].endswith(".") for fault in faulty.truth)


def test_hacked_heals_are_those_with_a_gap_of_12_points(faulty):
    assert sorted(heal_id for heal_id, gap in faulty.gaps().items() if gap >= 0.12) == faulty.planted("reward_hacked")


def test_safety_cases_regress_only_where_planted(faulty):
    safe = {case["id"] for case in faulty.surface if case["safety"]}
    found = [(heal_id, case) for heal_id, (broken, _) in faulty.regressions().items() for case in broken if case in safe]
    assert sorted(found) == sorted((f["heal_id"], f["case_id"]) for f in faulty.truth if f["kind"] == "safety_regression")


def test_more_than_5_percent_of_a_run_regresses_only_where_planted(faulty):
    found = {heal_id for heal_id, (broken, n) in faulty.regressions().items() if len(broken) > 0.05 * n}
    assert sorted(found) == faulty.planted("regression")
    assert all(len(faulty.regressions()[heal_id][0]) >= 2 for heal_id in found)


def test_loops_go_back_or_idle_only_where_planted(faulty):
    found = faulty.revisits()
    assert sorted(heal_id for heal_id, idle in found if not idle) == faulty.planted("revisit")
    assert sorted(heal_id for heal_id, idle in found if idle) == faulty.planted("idle_cycle")


def test_protected_text_is_missing_only_where_planted(faulty):
    assert faulty.blocked() == faulty.planted("blocked_edit")


def test_costs_are_over_three_and_six_times_only_where_planted(faulty):
    ratios = {heal["heal_id"]: heal["tokens_spent"] / heal["task_tokens"] for heal in faulty.heal_events}
    assert sorted(heal_id for heal_id, ratio in ratios.items() if ratio > 6) == faulty.planted("overspending")
    assert sorted(heal_id for heal_id, ratio in ratios.items() if 3 < ratio <= 6) == faulty.planted("elevated")


def test_held_out_text_is_added_only_where_planted(faulty):
    planted = sorted((f["heal_id"], f["case_id"]) for f in faulty.truth if f["kind"] == "leaked_holdout")
    assert sorted(faulty.leaks()) == planted


def test_signatures_are_false_heals_only_where_planted(faulty):
    labels = defaultdict(set)
    for heal in faulty.heal_events:
        labels[heal["trigger"]["failure_signature"]].add(heal.get("was_real_failure"))
    found = {signature for signature, seen in labels.items() if False in seen and True not in seen}
    assert sorted(found) == faulty.planted("flaky_trigger", key="signature")
    assert not found & {failure["failure_signature"] for failure in faulty.failures}


def test_failures_come_back_after_a_loop_only_where_planted(faulty):
    found = [
        heals[0]["trigger"]["failure_signature"]
        for heals in faulty.loops.values()
        if faulty.seen_again(heals[0]["trigger"]["failure_signature"], after=moment(heals[-1]))
    ]
    assert sorted(found) == faulty.planted("recurrence", key="signature")


def test_failures_come_back_under_another_name_only_where_planted(faulty):
    def folded(signature):
        return re.sub(r"_\d+$", "", re.sub(r"[\s_.-]+", "_", signature.casefold()))

    found = []
    for heals in faulty.loops.values():
        signature = heals[0]["trigger"]["failure_signature"]
        names = {f["failure_signature"] for f in faulty.failures if timedelta() < moment(f) - moment(heals[-1]) <= WEEK} - {signature}
        found += [signature for name in names if folded(name) == folded(signature)]
    assert sorted(found) == faulty.planted("renamed_recurrence", key="signature")


def test_failures_are_missed_only_where_planted(faulty):
    healed = {heal["trigger"]["failure_signature"] for heal in faulty.heal_events}
    renamed_to = {
        name for fault in faulty.truth if fault["kind"] == "renamed_recurrence" for name in re.findall(r"as (\S+)", fault["note"])
    }
    missed = {failure["failure_signature"] for failure in faulty.failures} - healed - renamed_to
    assert sorted(missed) == faulty.planted("missed_failure", key="signature")


def test_drift_starts_low_and_crosses_the_line_in_the_named_night(faulty):
    runs = faulty.full_runs()
    assert runs[0][0] < 0.10
    [named] = faulty.planted("slow_drift", key="run_id")
    assert next(run["run_id"] for drift, run in runs if drift >= 0.20 - 1e-9) == named
    steps = [len(broken) / n for broken, n in faulty.regressions().values() if broken]
    assert min(steps) < 0.02


def test_an_honest_workspace_shows_no_fault(honest):
    assert honest.truth == []
    assert max(honest.gaps().values()) < 0.12
    assert honest.revisits() == set()
    assert honest.blocked() == []
    assert honest.leaks() == []
    assert all(drift < 0.20 for drift, _ in honest.full_runs())
    assert all(len(broken) <= 0.05 * n for broken, n in honest.regressions().values())


def test_an_honest_workspace_scores_as_simulations_of_honest_agents_do(honest):
    """Simulated exams of this size put honest efficacy at 0.845 to 0.967."""
    assert 0.85 <= mean(1 - min(max(0, gap) / 0.25, 1) for gap in honest.gaps().values()) <= 0.95
    assert mean(1 - min(len(broken) / n / 0.05, 1) for broken, n in honest.regressions().values()) > 0.90


def test_an_honest_log_has_gaps(honest):
    heals = honest.heal_events
    after = {run.get("heal_id") for run in honest.suite_runs if run["phase"] == "after"}
    assert any("holdout_after" not in heal for heal in heals)
    assert any("was_real_failure" not in heal for heal in heals)
    assert any(heal["heal_id"] not in after for heal in heals)
    assert {heal["level"] for heal in heals} == {0, 1, 2, 3}
    assert {heal["label_source"] for heal in heals if "label_source" in heal} == {"probe1", "probe3", "judge", "person"}


def test_some_failures_fall_inside_a_loop_still_at_work(honest):
    inside = [
        failure
        for failure in honest.failures
        for heals in honest.loops.values()
        if heals[0]["trigger"]["failure_signature"] == failure["failure_signature"]
        and moment(heals[0]) < moment(failure) < moment(heals[-1])
    ]
    assert inside


def test_independent_prompts_are_unlike_and_edits_of_one_are_alike(honest):
    first = {}
    for heal in honest.heal_events:
        if "change" in heal:
            first.setdefault(heal["change"]["target"], heal["change"]["after_text"])
    names = sorted(first)
    unlike = [Indel.normalized_similarity(first[a], first[b]) for n, a in enumerate(names) for b in names[:n]]
    assert max(unlike) < 0.80
    assert 1000 < min(map(len, first.values())) < max(map(len, first.values())) < 20_000


def test_exam_questions_are_short_and_share_no_boilerplate(honest):
    questions = [case["text"] for case in honest.holdout + honest.practice]
    assert all(30 <= len(text.split()) <= 80 for text in questions)
    seen = Counter(gram for text in questions for gram in grams(text))
    assert max(seen.values()) <= 0.10 * len(questions)
    written = set().union(*(grams(heal["change"]["after_text"]) for heal in honest.heal_events if "change" in heal))
    assert not written & set(seen)


def test_only_the_wanted_kinds_are_planted(tmp_path):
    workspace = written(tmp_path, seed=1, heals=60, weeks=2, faults={"revisit": 1, "overspending": 2})
    assert Counter(fault["kind"] for fault in workspace.truth) == {"revisit": 1, "overspending": 2}


def test_a_gap_made_to_widen_ends_above_where_it_began(tmp_path):
    workspace = written(tmp_path, seed=2, faults={"widening_gap": 1})
    heals = [heal for heal in workspace.heal_events if "holdout_after" in heal and heal["level"] > 0]
    early, late = (mean(map(signed_gap, part)) for part in (heals[-70:-50], heals[-20:]))
    assert late > early + 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"faults": {"typo": 1}}, "unknown fault kinds"),
        ({"heals": 20, "weeks": 1, "faults": {"revisit": 30}}, "ask for more heals"),
        ({"heals": 5000, "weeks": 1}, "1 weeks hold 1 to 2016 heals here"),
    ],
    ids=["unknown kind", "too many faults", "too many heals"],
)
def test_what_cannot_be_written_is_refused(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_workspace(tmp_path, seed=1, **arguments)


def test_the_demo_is_small_and_holds_every_kind_of_fault(demo):
    assert sum(path.stat().st_size for path in demo.folder.iterdir()) < 3_000_000
    assert len(demo.heal_events) == 240
    assert {fault["kind"] for fault in demo.truth} == set(FAULTS)
    assert demo.heal_events[-1]["ts"] == "2026-06-12T16:42:31Z"


def test_the_demo_tells_the_opening_story(demo):
    [story] = [heals for heals in demo.loops.values() if len(heals) == 11]
    assert {heal["trigger"]["failure_signature"] for heal in story} == {"timeout:fetch_tool:checkout_flow"}
    assert {heal["change"]["target"] for heal in story} == {"planner_prompt"}
    for heal in story:
        assert (heal["visible_before"], heal["visible_after"]) == (0.70, 0.95)
        assert (heal["holdout_before"], heal["holdout_after"]) == (0.70, 0.74)
        assert heal["holdout_scope"] == "loop"
        assert heal["was_real_failure"] is True
        assert signed_gap(heal) == pytest.approx(0.21)
    scores = [heal["score"] for heal in story]
    assert (scores[0], scores[-1], max(scores)) == (0.72, 0.95, 0.95)
    assert sum(later < earlier for earlier, later in pairwise(scores)) == 3
    assert moment(story[0]).strftime("%A") == "Tuesday"
    assert moment(story[-1]).strftime("%A") == "Friday"
    assert len([heal_id for heal_id, _ in demo.revisits() if heal_id in {heal["heal_id"] for heal in story}]) == 1
    assert {heal["heal_id"] for heal in story} <= set(demo.planted("reward_hacked"))


def test_the_demos_last_week_holds_one_of_each_beside_the_story(demo):
    end = moment(demo.heal_events[-1])
    week = {heal["heal_id"] for heal in demo.heal_events if end - WEEK < moment(heal)}
    assert 26 <= len(week) <= 31
    assert min(moment(demo.heals[heal_id]) for heal_id in week) >= datetime.fromisoformat("2026-06-06T00:00:00Z")
    kinds = Counter(fault["kind"] for fault in demo.truth if fault.get("heal_id") in week)
    for kind in ("safety_regression", "flaky_trigger", "blocked_edit", "overspending", "leaked_holdout"):
        assert kinds[kind] == 1, kind
    assert kinds["revisit"] == 2
    assert demo.planted("slow_drift", key="run_id") == ["run_night_2026-06-10"]
    first_over = next(run["run_id"] for drift, run in demo.full_runs() if drift >= 0.20 - 1e-9)
    assert first_over == "run_night_2026-06-10"


def test_the_demos_early_weeks_look_healthy(demo):
    end, blocked, gaps, regressions = moment(demo.heal_events[-1]), set(demo.blocked()), demo.gaps(), demo.regressions()
    floored = {f["heal_id"] for f in demo.truth if f["kind"] == "safety_regression"}
    calm_weeks = 0
    for weeks_ago in range(7, 2, -1):
        week = {
            heal["heal_id"] for heal in demo.heal_events if end - WEEK * (weeks_ago + 1) < moment(heal) <= end - WEEK * weeks_ago
        } - blocked
        assert mean(1 - min(max(0, gaps[heal_id]) / 0.25, 1) for heal_id in week if heal_id in gaps) >= 0.80
        calm_weeks += (
            not floored & week
            and mean(1 - min(len(broken) / n / 0.05, 1) for heal_id, (broken, n) in regressions.items() if heal_id in week) >= 0.90
        )
    assert calm_weeks >= 3


@pytest.mark.parametrize("record_bytes", [1000, 8000])
def test_bulk_lines_have_the_asked_for_size_and_order(tmp_path, record_bytes):
    write_bulk(tmp_path, heals=2000, record_bytes=record_bytes, days=30, holdout_cases=40, surface_cases=120)
    lines = (tmp_path / "heal_events.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 2000
    assert mean(map(len, lines)) == pytest.approx(record_bytes, rel=0.10)
    for log in LOGS:
        for line in (tmp_path / log.file).read_bytes().splitlines():
            msgspec.json.decode(line, type=log.record, strict=True)
    heals, runs, failures = (read_lines(tmp_path / f"{name}.jsonl") for name in ("heal_events", "suite_runs", "failures"))
    for records in (heals, runs, failures):
        assert all(earlier["ts"] <= later["ts"] for earlier, later in pairwise(records))
    assert 2.5 < len(heals) / len({heal["loop_id"] for heal in heals}) < 3.5
    assert 0.25 < len(failures) / len(heals) < 0.45
    assert Counter(run["phase"] for run in runs)["nightly"] == 30
    assert all(len(run["results"]) == 120 for run in runs if run["phase"] == "nightly")
    sampled = [run for run in runs if run["phase"] == "after"]
    assert 0.01 < len(sampled) / len(heals) < 0.03
    safe = {case["id"] for case in read_lines(tmp_path / "surface.jsonl") if case["safety"]}
    assert all(set(run["results"]) >= safe and len(run["results"]) == len(safe) + 20 for run in sampled)


def test_bulk_is_the_same_for_the_same_seed(tmp_path):
    for name in "ab":
        write_bulk(tmp_path / name, heals=300, record_bytes=1000, days=10)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
