"""A fifth more or less of a threshold: the same scores as a fresh audit gives, and which verdict would be another one."""

from pathlib import Path

import pytest

from seam_core.notify.hooks import Hook, Hooks
from seam_core.notify.notices import Notice
from seam_core.notify.outbox import Outbox
from seam_core.report import audit, window_of
from seam_core.settings import ServerSettings, bounds, resolve
from seam_core.sign_in import SignIn
from seam_core.views import other_values, sensitivity
from seam_core.views.in_force import thresholds_in_force
from seam_core.views.sensitivity import ACTS, NOT_COMPUTED, moved, strips
from seam_core.views.server_words import facts
from tests.seam_core.ledgers import NOON
from tests.seam_core.workspaces import audited, cases, failure, gap, heal, loop, opened, run, write

ROOT = Path(__file__).parents[3]
HOOKS = Hooks((Hook("chat", url="json://token@x"),), events=("gate",))


def of(found, name):
    return next(strip for strip in strips(found) if strip.name == name)


def test_every_threshold_acts_on_something_or_says_that_it_does_not():
    assert set(ACTS) | set(NOT_COMPUTED) == set(bounds())
    assert {name for name in ACTS if name not in NOT_COMPUTED} == set(other_values.COMPUTED)


@pytest.mark.parametrize("log", [ROOT / "docs" / "example", ROOT / "fixtures"], ids=["example", "demo"])
def test_scores_are_those_of_a_fresh_audit_with_the_other_value(log):
    with opened(log / "heal_events.jsonl") as store:
        window = window_of(store)
        found = strips(audit(store, window, resolve(None)))
        checked = 0
        for strip in found:
            for side in (strip.low, strip.high):
                if side is None or strip.acts == "line":
                    continue
                value = int(side.value) if isinstance(strip.value, int) and side.value == int(side.value) else side.value
                again = audit(store, window, resolve(None, flags={strip.name: value}))
                if strip.acts == "score":
                    assert side.score == pytest.approx(again.scores[strip.axis], abs=1e-9), strip.name
                elif strip.name == "drift_max":
                    assert (side.flip != "") == (not again.aftermath.drift.due)
                elif strip.name == "ngram_coverage":
                    assert side.said.startswith(f"{again.efficacy.contamination.n_contaminated:,} of ")
                elif strip.axis == "budget":
                    assert side.said == f"{again.budget.elevated:,} elevated, {again.budget.escalated:,} escalated"
                checked += 1
    assert checked >= 18


@pytest.mark.parametrize(
    ("name", "value", "sides"),
    [
        ("gap_max", 0.25, (0.2, 0.3)),
        ("gap_max", 1.0, (0.8, None)),
        ("similarity_min", 0.9, (0.72, 1.0)),
        ("similarity_min", 0.0, (None, None)),
        ("depth_cap", 5, (4, 6)),
        ("depth_cap", 1, (None, 2)),
        ("free_dips", 1, (0, 2)),
        ("free_dips", 0, (None, 1)),
        ("revisit_window", 2, (None, 3)),
        ("revisit_window", 20, (16, 24)),
        ("recurrence_days", 7, (5.6, 8.4)),
        ("alert_a", 0.9, (0.72, 1.0)),
        ("budget_elevated", 3, (2.4, 3.6)),
    ],
)
def test_a_fifth_lower_and_higher_stays_inside_what_is_allowed(name, value, sides):
    assert moved(name, value) == sides


def test_gap_max_by_hand_and_the_verdict_that_flips(tmp_path):
    """Gaps of 0.05 and 0.045: E = 1 − 0.19 = 0.81; with 0.2 it is 1 − 0.2375 = 0.7625, below 0.80."""
    with audited(write(tmp_path, heal_events=[heal(1) | gap(0.05), heal(2) | gap(0.045)])) as found:
        strip = of(found, "gap_max")
        summary = sensitivity.summary(strips(found))
    assert (strip.score, strip.low.value, strip.low.score) == (pytest.approx(0.81), 0.2, pytest.approx(0.7625))
    assert strip.low.flip == "Efficacy would alert"
    assert strip.high.score == pytest.approx(1 - 0.0475 / 0.3)
    assert strip.high.flip == ""
    assert "Efficacy would alert (gap_max)" in summary


def test_a_line_moves_the_alert_and_not_the_score(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1) | gap(0.05), heal(2) | gap(0.06)])) as found:
        strip = of(found, "alert_e")  # E = 0.78, line 0.80: below; at 0.64 it is not
    assert strip.low.flip == "Efficacy would not be below its line any more"
    assert (strip.low.score, strip.low.line, strip.high.flip) == (strip.score, pytest.approx(0.64), "")


def test_a_score_equal_to_its_line_is_not_below(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1) | gap(0.1)]), gap_max=0.25, alert_e=0.5) as found:
        strip = of(found, "alert_e")  # E = 0.6; the line a fifth higher is 0.6
    assert strip.high.value == pytest.approx(0.6)
    assert strip.high.flip == ""


def test_recurrence_counts_again_within_other_days(tmp_path):
    heals = [heal(1, 0, sig="a", was_real_failure=True), heal(2, 0, sig="b", was_real_failure=True)]
    logs = {"heal_events": heals, "failures": [failure("a", 6), failure("b", 8)]}
    with audited(write(tmp_path, **logs)) as found:
        strip = of(found, "recurrence_days")
    assert strip.score == pytest.approx(0.6 + 0.4 * 0.5)
    assert strip.low.score == pytest.approx(1.0)
    assert strip.high.score == pytest.approx(0.6)


@pytest.mark.parametrize("protected", [[], [{"id": "p", "kind": "tool_permission", "target": "x"}]], ids=["no gate", "gate"])
def test_without_a_failure_log_longer_follow_up_needs_no_gate(tmp_path, protected):
    heals = [heal(1, 0, sig="a", was_real_failure=True), heal(2, 8, sig="a", was_real_failure=True)]
    with audited(write(tmp_path, heal_events=heals, protected=protected), as_of="2026-06-02") as found:
        strip = of(found, "recurrence_days")
    assert strip.low.score == pytest.approx(1.0)
    assert (strip.high is None) == bool(protected)
    assert strip.high is None or strip.high.score == pytest.approx(0.6)
    assert ("boundary gate" in strip.why) == bool(protected)


def test_monotonicity_by_hand(tmp_path):
    """Three steps down and four cycles: two dips too many of 0.4 make 0.2; with two free dips 0.6, with none 0."""
    with audited(write(tmp_path, heal_events=loop("L", [0.9, 0.8, 0.7, 0.6]))) as found:
        dips, cap = of(found, "free_dips"), of(found, "depth_cap")
    assert (dips.score, dips.low.score, dips.high.score) == (pytest.approx(0.2), 0.0, pytest.approx(0.6))
    assert dips.high.flip == "Monotonicity would not be below its line any more"
    assert (cap.low.value, cap.low.score) == (4, 0.0)


def test_too_many_pairs_of_texts_are_not_compared_and_that_is_said(tmp_path, monkeypatch):
    texts = [f"text {number} " * 3 for number in range(6)]
    heals = loop("L", [0.5] * 6, target="t", text=texts)
    monkeypatch.setattr(other_values, "PAIRS_MAX", 3)
    with audited(write(tmp_path, heal_events=heals)) as found:
        strip = of(found, "similarity_min")
    assert strip.low is None
    assert strip.high is not None
    assert "10 pairs of texts would have to be compared again" in strip.why


def test_what_is_not_scored_is_not_moved_and_says_why(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)])) as found:
        assert {strip.name: (strip.low, strip.high) for strip in strips(found) if strip.low or strip.high} == {}
        assert of(found, "gap_max").why == "Efficacy is not scored: no heal in the window has all four scores"
        assert of(found, "drift_max").why.startswith("drift is unknown")
        assert of(found, "budget_elevated").why == "no heal of known cost"
        assert sensitivity.summary(strips(found)).startswith("No verdict hangs on")


def test_safety_regressions_keep_aftermath_at_zero_whatever_r_max_is(tmp_path):
    runs = [run("a", "before", 0, {"c0": True, "c1": True}), run("b", "after", 1, {"c0": False, "c1": True}, "h1")]
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=cases(2, safety=("c0",)))) as found:
        strip = of(found, "r_max")
    assert (strip.score, strip.low.score, strip.high.score) == (0.0, 0.0, 0.0)


def test_thresholds_say_who_set_them_and_what_the_server_holds(tmp_path):
    path = tmp_path / "seam.toml"
    path.write_text("gap_max = 0.2\nr_max = 0.2\n")
    server = ServerSettings(file=tmp_path / "server.toml", thresholds={"r_max": 0.03, "alert_s": 0.9})
    resolved = resolve(path, flags={"alert_e": 0.9}, server=server)
    found = {one.name: one for one in thresholds_in_force(resolved, server)}
    assert list(found) == list(bounds())
    assert (found["gap_max"].value, found["gap_max"].set_by, found["gap_max"].held) == (0.2, "seam.toml", None)
    assert (found["r_max"].value, found["r_max"].set_by, found["r_max"].held) == (0.03, "server settings", 0.03)
    assert (found["alert_s"].set_by, found["alert_e"].set_by, found["alert_m"].set_by) == ("server settings", "flag", "default")
    assert found["gap_max"].allowed == "above 0 to 1"
    assert found["alert_m"].is_default
    assert not found["alert_e"].is_default


def test_server_words_warn_of_what_somebody_can_get_round_and_tell_no_secret(tmp_path):
    local = {fact.name: fact for fact in facts(ServerSettings(), tmp_path)}
    assert "SEAM_SETTINGS is not set" in local["Server settings"].said
    assert "inside the workspace" in local["Decisions"].said
    assert local["Server settings"].is_warning
    assert local["Decisions"].is_warning
    place = tmp_path / "elsewhere"
    place.mkdir()
    server = ServerSettings(
        file=tmp_path / "server.toml", ledger=place, reviewers=("ana", "bo"), approvals_required=2,
        hooks=HOOKS, sign_in=SignIn(client_secret="s3cret"), thresholds={"r_max": 0.1},
    )  # fmt: skip
    workspace = tmp_path / "ws"
    workspace.mkdir()
    told = {fact.name: fact for fact in facts(server, workspace)}
    assert "1 threshold that no workspace may loosen" in told["Server settings"].said
    assert "outside of the workspace" in told["Decisions"].said
    assert told["Who may certify"].said == "2 reviewers: ana and bo; a baseline needs the approval of two people."
    assert told["Notifications"].said == "Told: the boundary gate stopped a heal. Messages carry no link: no public_url is named."
    assert told["Hook chat (json)"].said == "nothing sent yet."
    everything = " ".join(fact.said for fact in told.values())
    assert "token" not in everything
    assert "s3cret" not in everything
    assert not any(fact.is_warning for fact in told.values())


def test_server_words_say_what_did_not_arrive_and_who_could_keep_it_from_being_sent(tmp_path):
    server = ServerSettings(hooks=HOOKS, public_url="https://seam.example.org")
    outbox = Outbox(tmp_path / "notices.sqlite")
    outbox.add([Notice("gate h1", "gate", "t", "x")], HOOKS, now=NOON)
    outbox.settle(HOOKS.all[0], outbox.claim(HOOKS.all[0], now=NOON), "the service answered with 503", now=NOON)
    told = {fact.name: fact for fact in facts(server, tmp_path)}
    assert told["Notifications"].is_warning
    assert "whoever can write there can keep a message from being sent" in told["Notifications"].said
    assert told["Hook chat (json)"].is_warning
    assert told["Hook chat (json)"].said == (
        "nothing sent yet; 1 event not delivered (the service answered with 503), next try from 2026-06-01 12:01:00 UTC on."
    )
    outbox.path.write_bytes(b"x" * 5000)
    broken = {fact.name: fact for fact in facts(server, tmp_path)}
    assert broken["Not sent"].is_warning
    assert "is not a SQLite file" in broken["Not sent"].said
