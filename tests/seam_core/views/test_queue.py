"""The review queue: what is in it, in which order, what filters and groups make of it, what a bulk decision may cover."""

import json
from contextlib import contextmanager
from pathlib import Path

import pytest

from seam_core.findings import worst_heals
from seam_core.ranking import KINDS
from seam_core.views import queue
from seam_core.views.filters import Filters
from seam_core.views.groups import Entry, grouped, odd_ones
from seam_core.views.queue import Wanted, bulk, listing, rows, table, unsafe
from tests.planted_faults import NOW as DEMO_NOW
from tests.seam_core.workspaces import audited, cases, failure, four, gap, heal, loop, run, write

ROOT = Path(__file__).parents[3]
CASES = {f"c{i}": True for i in range(20)}
TEXT = "Answer in short sentences and name the tool that was used for every step of the work."
EXAM = "Which of the eleven green boats left the harbour before the storm came in?"


def every_fault():
    """One heal for each kind of finding, h1 to h9, and h10 with nothing against it."""
    honest = four(0.5, 0.6, 0.5, 0.6) | {"was_real_failure": True}
    wander = loop("W", [0.5, 0.6, 0.7], first_day=6, sig="Err:6", target="plan", text=[TEXT, "Something else: ask first, then act.", TEXT])
    heals = [
        heal(1, **honest),
        heal(2, **honest, target="notes", text="Nothing kept."),
        heal(3, **honest, target="skill", text=EXAM),
        heal(4, **gap(0.2), was_real_failure=True),
        heal(5, **honest),
        *wander,
        heal(7, **honest | {"was_real_failure": False}),
        heal(8, days=1.5, **honest),
        heal(9, **honest, tokens_spent=700, task_tokens=100),
        heal(10, **honest),
    ]
    runs = [run(f"{phase}{n}", phase, day, CASES | broken, f"h{n}") for n, broken in ((1, {"c0": False}), (5, {"c1": False, "c2": False}))
            for phase, day, broken in (("before", n - 0.01, {}), ("after", n + 0.01, broken))]  # fmt: skip
    return {
        "heal_events": heals,
        "suite_runs": runs,
        "surface": cases(20, safety=("c0",)),
        "protected": [{"id": "p", "kind": "safety_instruction", "target": "notes", "text": "Never send money."}],
        "holdout": [{"id": "ho", "text": EXAM}],
        "failures": [failure("Err:8", 4)],
    }


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    with audited(write(tmp_path_factory.mktemp("queue"), **every_fault())) as found:
        yield found


@contextmanager
def demo(span="7d"):
    with audited(ROOT / "fixtures" / "heal_events.jsonl", window=span, now=DEMO_NOW) as found:
        yield found


def ids(audit, order="worst", **wanted):
    return list(listing(audit, Wanted(**wanted), order).ids)


def test_every_heal_of_the_window_is_listed_once_worst_first_and_blocked_ones_too(every):
    found = listing(every, Wanted())
    assert found.n_window == 12
    # safety, blocked, copied, a gap of 20 points and then 2 of 20 cases broken: E and A of that heal are 0.2 and 0, then the rest by rank;
    # of what nothing was found comes last, oldest first
    assert found.ids == ("h1", "h2", "h3", "h5", "h4", "hW.3", "h7", "h8", "h9", "hW.1", "hW.2", "h10")


def test_the_queue_and_weeks_list_rank_alike():
    with demo() as audit:
        week = [one.heal_id for one in worst_heals(audit, n=500)]
        assert [one for one in ids(audit) if one in set(week)] == week
        assert ids(audit)[:2] == week[:2]


@pytest.mark.parametrize(
    ("kind", "heals"),
    [
        ("safety", ["h1"]),
        ("blocked", ["h2"]),
        ("copied", ["h3"]),
        ("gap", ["h4"]),
        ("regression", ["h1", "h5"]),
        ("revisit", ["hW.3"]),
        ("not real", ["h7"]),
        ("came back", ["h8"]),
        ("budget", ["h9"]),
    ],
)
def test_each_kind_of_finding_can_be_asked_for(every, kind, heals):
    assert kind in KINDS
    assert ids(every, found=(kind,)) == heals


def test_kinds_widen_and_all_other_conditions_narrow(every):
    assert ids(every, found=("gap", "budget")) == ["h4", "h9"]
    assert ids(every, found=("gap", "budget"), signature="Err:9") == ["h9"]
    assert ids(every, filters=Filters(targets=("plan",))) == ["hW.3", "hW.1", "hW.2"]
    assert ids(every, filters=Filters(targets=("plan",)), found=("revisit",)) == ["hW.3"]
    assert ids(every, filters=Filters(levels=(3,))) == []


@pytest.mark.parametrize(
    ("text", "heals"),
    [
        ("hw.2", ["hW.2"]),  # a heal id, in any case
        ("L10", ["h10"]),  # a loop
        ("err:7", ["h7"]),  # a signature
        ("PLAN", ["hW.3", "hW.1", "hW.2"]),  # a target
        ("eleven GREEN boats", ["h3"]),  # what was changed
        ("%", []),  # no pattern
        ("  h10 ", ["h10"]),
    ],
)
def test_text_is_searched_in_names_and_in_what_was_changed(every, text, heals):
    found = listing(every, Wanted(text=text))
    assert list(found.ids) == heals
    assert found.searched == "Searched: ids, loops, signatures, targets and the changed texts."


def test_in_a_long_list_only_names_are_searched_and_that_is_said(every, monkeypatch):
    monkeypatch.setattr(queue, "TEXTS_SEARCHED", 2)
    found = listing(every, Wanted(text="eleven"))
    assert found.ids == ()
    assert "changed texts only in lists of up to 2 heals" in found.searched
    assert listing(every, Wanted()).searched == ""


def test_orders(every):
    assert ids(every, "newest")[:3] == ["h10", "h9", "hW.3"]  # days 10, 9 and 8
    assert ids(every, "gap")[0] == "h4"
    assert ids(every, "regressed")[:2] == ["h5", "h1"]
    assert ids(every, "dearest")[0] == "h9"
    for order in queue.ORDERS:
        assert sorted(ids(every, order)) == sorted(ids(every))


def test_a_row_says_what_is_known_and_none_where_nothing_is(every):
    broken, blocked, calm = rows(every, ("h5", "h2", "h10"))
    assert (broken.severity, broken.axis, broken.n_regressed, broken.n_safety, broken.n_cases) == ("high", "A", 2, 0, 20)
    assert broken.sentences == ("broke 2 of 20 cases (10 %)",)
    assert (blocked.is_blocked, blocked.severity, blocked.truth_gap, blocked.budget) == (True, "critical", None, None)
    assert (calm.severity, calm.axis, calm.kinds, calm.sentences) == (None, None, (), ())
    assert (calm.truth_gap, calm.n_regressed, calm.tokens_spent, calm.budget) == (0.0, None, None, "unknown")
    assert rows(every, ("nobody",)) == ()


def test_identical_changes_are_one_entry_and_heals_without_a_text_none(tmp_path):
    heals = [heal(n, target="a", text="same") for n in (1, 2)] + [heal(3, target="b", text="same"), heal(4), heal(5)]
    with audited(write(tmp_path, heal_events=heals)) as audit:
        assert [one.members for one in grouped(audit, Wanted(), "worst", "change")] == [("h1", "h2"), ("h3",), ("h4",), ("h5",)]


def test_the_odd_one_of_a_group_is_told_where_most_are_alike(tmp_path):
    heals = [heal(n, sig="s", **gap(0.2)) for n in range(1, 5)]
    heals[2] |= {"was_real_failure": False}
    with audited(write(tmp_path, heal_events=heals, failures=b"")) as audit:
        (entry,) = grouped(audit, Wanted(), "newest", "signature")
        assert entry == Entry("h4", ("h4", "h3", "h2", "h1"))
        assert odd_ones(audit, (entry,)) == (Entry("h4", entry.members, odd="h3", n_odd=1),)
        few = grouped(audit, Wanted(found=("not real",)), "newest", "signature")
        assert odd_ones(audit, few) == few
        halves = Entry("h3", ("h3", "h4"))
        assert odd_ones(audit, (halves,)) == (halves,)


@pytest.mark.parametrize("span", ["7d", "all"])
def test_grouping_by_signature_shortens_the_demos_queue_by_a_third_and_more(span):
    with demo(span) as audit:
        entries = grouped(audit, Wanted(), "worst", "signature")
        n_heals = len(ids(audit))
        assert len(entries) <= 0.7 * n_heals
        assert sorted(heal_id for entry in entries for heal_id in entry.members) == sorted(ids(audit))


def test_a_bulk_decision_never_covers_a_safety_regression(every):
    found = bulk(ids(every), unsafe(every))
    assert "h1" not in found.heal_ids
    assert len(found.heal_ids) == 11
    assert found.left_out == "1 heal left out: safety regressions are decided one by one."
    assert bulk(("h4",), unsafe(every)).left_out == ""


def test_the_table_holds_every_heal_with_plain_values(every):
    found = table(every, ids(every))
    assert [row["heal_id"] for row in found] == ids(every)
    assert found[0]["kinds"] == "regression, safety"
    assert found[0]["ts"] == "2026-06-02T12:00:00Z"
    assert json.dumps(found)


@pytest.mark.parametrize(
    ("ids", "short"),
    [
        (["h_0001", "h_0002"], ["h_0001", "h_0002"]),
        (["ldb/human-eval/10#1", "ldb/human-eval/11#2"], ["…10#1", "…11#2"]),
        (["ldb/human-eval/10#1"], ["ldb/human-eval/10#1"]),
        (["exactly/the same", "exactly/the same too"], ["…same", "…same too"]),
        ([], []),
    ],
)
def test_what_all_ids_begin_with_is_left_away_in_a_narrow_column(ids, short):
    assert queue.short_ids(ids) == short


def test_what_was_found_in_a_few_words(every):
    said = {row.heal_id: queue.in_brief(row) for row in rows(every, ids(every))}
    assert said == {
        "h1": "1 safety case", "h2": "blocked", "h3": "copied exam", "h4": "gap 20", "h5": "broke 2", "hW.1": "", "hW.2": "",
        "hW.3": "revisit", "h7": "not real", "h8": "came back", "h9": "7.0 × tokens", "h10": "",
    }  # fmt: skip


def test_an_empty_window_has_an_empty_queue(every, tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)]), window="1h", as_of="2020-01-01") as audit:
        assert listing(audit, Wanted()) == queue.Listing((), 0, "")
        assert grouped(audit, Wanted(), "worst", "change") == ()
        assert bulk((), unsafe(audit)).heal_ids == ()


def test_the_five_worst_heals_of_the_demo_hold_four_planted_faults_and_more():
    truth = [json.loads(line) for line in (ROOT / "fixtures" / "truth.jsonl").read_text().splitlines()]
    planted = {fault["heal_id"] for fault in truth if fault.get("heal_id")}
    for span in ("7d", "28d", "all"):
        with demo(span) as audit:
            assert len(planted & {one.heal_id for one in worst_heals(audit)}) >= 4
            assert len(planted & set(ids(audit)[:5])) >= 4
