"""Reviews: who said what about a heal, on which evidence, and Signal with people's verdicts in place of labels."""

import gzip
import json
import random
import threading
from hashlib import sha256

import pytest

from seam_core import reviews
from seam_core.evidence import Evidence, evidence
from seam_core.files import find_log
from seam_core.ledger import Ledger, LedgerError, SignedIn, verify
from seam_core.reviews import (
    Disagreement,
    Progress,
    ReviewError,
    assign,
    clear_review,
    last_of,
    latest_assignments,
    latest_reviews,
    progress,
    record_review,
    reopened,
    score_reviewed,
    spoken,
    standing,
    undo_last,
)
from tests.reference.random_workspace import write_random_workspace
from tests.seam_core.ledgers import ANA, BEN, files_in, new_ledger, opened_by_force
from tests.seam_core.workspaces import NOW, audited, failure, heal, json_lines, opened, run, write

SEEN = Evidence("r" * 64, "o" * 64, 2)
CEM = SignedIn("https://login.example", "u-18", "Ben")  # called like BEN, and somebody else


@pytest.fixture
def ledger(tmp_path):
    return new_ledger(tmp_path)


def say(ledger, heal_id, verdict, *, actor=ANA, comment="", seen=SEEN):
    return record_review(ledger, heal_id, verdict, evidence=seen, actor=actor, comment=comment)


def verdicts(ledger):
    """heal_id → actor → verdict."""
    return {heal_id: {key: said.verdict for key, said in by.items()} for heal_id, by in latest_reviews(ledger).items()}


def kinds(ledger):
    return [row.kind for row in ledger.rows()]


# ---- saying, changing, clearing


def test_a_review_keeps_who_said_what_when_and_on_which_evidence(ledger):
    row = say(ledger, "h1", "not_real", comment="  a plain retry passes\n")
    said = latest_reviews(ledger)["h1"]["local:ana"]
    assert (said.verdict, said.comment, said.evidence, said.actor, said.ts, said.seq) == (
        "not_real", "a plain retry passes", SEEN, ANA, "2026-06-01T12:00:00.000000Z", 1,
    )  # fmt: skip
    assert (row.seq, row.decision.evidence_sha256) == (1, SEEN.sha256)


def test_the_latest_row_of_one_person_on_one_heal_counts(ledger):
    for heal_id, verdict, actor in [("h1", "real", ANA), ("h1", "skip", BEN), ("h2", "real", ANA), ("h1", "not_real", ANA)]:
        say(ledger, heal_id, verdict, actor=actor)
    assert verdicts(ledger) == {"h1": {"local:ana": "not_real", BEN.key: "skip"}, "h2": {"local:ana": "real"}}


def test_a_person_who_took_another_name_is_the_same_person_and_a_namesake_is_not(ledger):
    say(ledger, "h1", "real", actor=BEN)
    say(ledger, "h1", "not_real", actor=SignedIn(BEN.issuer, BEN.subject, "Benjamin"))
    say(ledger, "h1", "skip", actor=CEM)
    assert verdicts(ledger) == {"h1": {BEN.key: "not_real", CEM.key: "skip"}}
    assert latest_reviews(ledger)["h1"][BEN.key].actor.name == "Benjamin"


def test_the_same_verdict_pressed_twice_is_one_row(ledger):
    first = say(ledger, "h1", "real", comment="yes")
    assert say(ledger, "h1", "real", comment="yes") == first
    assert kinds(ledger) == ["review"]


@pytest.mark.parametrize(
    "again",
    [
        {"verdict": "not_real"},
        {"comment": "more"},
        {"seen": Evidence("r" * 64, "p" * 64, 3)},
        {"actor": BEN},
        {"heal_id": "h2"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_differs_is_another_row(ledger, again):
    say(ledger, "h1", "real")
    assert say(ledger, **({"heal_id": "h1", "verdict": "real"} | again)).seq == 2


def test_the_same_verdict_after_another_one_is_said_anew(ledger):
    for verdict in ("real", "not_real", "real"):
        say(ledger, "h1", verdict)
    assert kinds(ledger) == ["review"] * 3


def test_the_same_verdict_from_two_threads_at_once_is_one_row(ledger):
    threads = [threading.Thread(target=lambda: say(Ledger(ledger.path), "h1", "real")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kinds(ledger) == ["review"]


def test_clearing_is_a_row_of_its_own_and_leaves_other_people_alone(ledger):
    say(ledger, "h1", "real")
    say(ledger, "h1", "not_real", actor=BEN)
    row = clear_review(ledger, "h1", actor=ANA)
    assert verdicts(ledger) == {"h1": {BEN.key: "not_real"}}
    assert clear_review(ledger, "h1", actor=ANA) == row
    assert kinds(ledger) == ["review", "review", "review_cleared"]
    clear_review(ledger, "h1", actor=BEN)
    assert verdicts(ledger) == {}
    say(ledger, "h1", "real")
    assert verdicts(ledger) == {"h1": {"local:ana": "real"}}


def test_there_is_nothing_to_clear_where_one_said_nothing(ledger, tmp_path):
    with pytest.raises(ReviewError, match="h1: there is no review of yours to clear"):
        clear_review(ledger, "h1", actor=ANA)
    assert list(tmp_path.iterdir()) == []
    say(ledger, "h1", "real", actor=BEN)
    with pytest.raises(ReviewError, match="no review of yours"):
        clear_review(ledger, "h1", actor=ANA)


@pytest.mark.parametrize(
    ("heal_id", "verdict", "comment", "sentence"),
    [
        ("h1", "maybe", "", "'maybe' is no verdict; it must be one of real, not_real, skip"),
        ("h1", "real", "x" * 2001, "the comment has 2,001 characters; 2,000 are kept, so shorten it"),
        ("h\ud800", "real", "", "no heal is called that"),
    ],
)
def test_what_is_no_review_is_refused_in_a_sentence_and_nothing_is_made(ledger, tmp_path, heal_id, verdict, comment, sentence):
    with pytest.raises(ReviewError, match=sentence):
        say(ledger, heal_id, verdict, comment=comment)
    assert list(tmp_path.iterdir()) == []


def test_a_comment_of_the_greatest_length_is_kept_whole(ledger):
    say(ledger, "h1", "real", comment="é" * 2000)
    assert latest_reviews(ledger)["h1"]["local:ana"].comment == "é" * 2000


@pytest.mark.parametrize("heal_id", ["", "h 1", "h\0", "ünï\u202e", "\U0001f600", '"}', "h'; drop table decisions; --", "x" * 10_000])
def test_heals_of_any_name_can_be_reviewed_cleared_and_told_apart(ledger, heal_id):
    say(ledger, heal_id, "real")
    say(ledger, heal_id + "x", "skip")
    say(ledger, heal_id, "real")
    clear_review(ledger, heal_id, actor=ANA)
    assert verdicts(ledger) == {heal_id + "x": {"local:ana": "skip"}}
    assert kinds(ledger) == ["review", "review", "review_cleared"]


# ---- undoing


def test_undoing_puts_back_what_was_said_before(ledger):
    say(ledger, "h1", "real", comment="first")
    say(ledger, "h1", "not_real", comment="second")
    row = undo_last(ledger, actor=ANA)
    said = latest_reviews(ledger)["h1"]["local:ana"]
    assert (said.verdict, said.comment, row.decision.undoes) == ("real", "first", 2)


def test_undoing_goes_back_one_step_each_time_and_across_heals(ledger):
    say(ledger, "h1", "real")
    say(ledger, "h2", "skip")
    say(ledger, "h1", "not_real")
    clear_review(ledger, "h2", actor=ANA)
    expected = [
        {"h1": {"local:ana": "not_real"}, "h2": {"local:ana": "skip"}},  # the clearing of h2 is undone,
        {"h1": {"local:ana": "real"}, "h2": {"local:ana": "skip"}},  # the change of h1,
        {"h1": {"local:ana": "real"}},  # the first word on h2,
        {},  # and the first on h1
    ]
    found = []
    for _ in expected:
        undo_last(ledger, actor=ANA)
        found.append(verdicts(ledger))
    assert found == expected
    with pytest.raises(ReviewError, match="there is no review of yours to undo"):
        undo_last(ledger, actor=ANA)
    assert verify(ledger.path).chain.rows == 8


def test_what_is_said_after_an_undoing_is_undone_first(ledger):
    say(ledger, "h1", "real")
    undo_last(ledger, actor=ANA)
    say(ledger, "h1", "not_real")
    assert last_of(ledger, ANA).seq == 3
    undo_last(ledger, actor=ANA)
    assert (verdicts(ledger), last_of(ledger, ANA)) == ({}, None)


def test_everybody_undoes_their_own(ledger):
    say(ledger, "h1", "real")
    say(ledger, "h1", "not_real", actor=BEN)
    undo_last(ledger, actor=ANA)
    assert verdicts(ledger) == {"h1": {BEN.key: "not_real"}}


def test_a_button_that_promised_to_undo_one_row_undoes_that_row_once(ledger):
    say(ledger, "h1", "real")
    say(ledger, "h2", "real")
    target = last_of(ledger, ANA)
    row = undo_last(ledger, actor=ANA, of=target.seq)
    assert undo_last(ledger, actor=ANA, of=target.seq) == row
    assert verdicts(ledger) == {"h1": {"local:ana": "real"}}
    say(ledger, "h3", "real")
    with pytest.raises(ReviewError, match="row 1 is not your last review"):
        undo_last(ledger, actor=ANA, of=1)
    assert verdicts(ledger).keys() == {"h1", "h3"}


def test_there_is_nothing_to_undo_in_a_ledger_without_a_file(ledger, tmp_path):
    assert last_of(ledger, ANA) is None
    with pytest.raises(ReviewError, match="there is no review of yours to undo"):
        undo_last(ledger, actor=ANA)
    assert list(tmp_path.iterdir()) == []


# ---- handing over


def test_a_heal_is_handed_to_somebody_and_back(ledger):
    row = assign(ledger, "h1", to=" payments team ", actor=ANA, note="the retry is theirs")
    found = latest_assignments(ledger)["h1"]
    assert (found.to, found.note, found.actor, found.seq) == ("payments team", "the retry is theirs", ANA, row.seq)
    assert assign(ledger, "h1", to="payments team", actor=ANA, note="the retry is theirs") == row
    assign(ledger, "h1", to="Ben", actor=BEN)
    assert latest_assignments(ledger)["h1"].to == "Ben"
    assign(ledger, "h1", to=None, actor=ANA)
    assign(ledger, "h1", to=None, actor=ANA)
    assert latest_assignments(ledger) == {}
    assert kinds(ledger) == ["assignment"] * 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"to": "  "}, "name the person or the team"),
        ({"to": "x" * 201}, "the name has 201 characters; 200 are kept"),
        ({"to": "Ben", "note": "x" * 2001}, "the note has 2,001 characters"),
        ({"to": None}, "h1: is handed to nobody"),
    ],
)
def test_what_is_no_hand_over_is_refused_in_a_sentence(ledger, tmp_path, options, sentence):
    with pytest.raises(ReviewError, match=sentence):
        assign(ledger, "h1", actor=ANA, **options)
    assert list(tmp_path.iterdir()) == []


# ---- reading on


class Counting(Ledger):
    """A ledger that counts the rows it hands out."""

    n_rows = 0

    def rows(self, *kinds, after=0):
        found = super().rows(*kinds, after=after)
        self.n_rows += len(found)
        return found


def test_reading_on_gives_what_reading_all_gives_and_reads_only_what_was_added(tmp_path):
    ledger, choose, known = Counting(tmp_path / "decisions.sqlite"), random.Random(5), None
    for step in range(60):
        heal_id, actor = choose.choice(["h1", "h2", "h3"]), choose.choice([ANA, BEN])
        act = choose.choice(["say", "say", "clear", "hand", "back"])
        try:
            if act == "say":
                say(ledger, heal_id, choose.choice(reviews.VERDICTS), actor=actor, comment=str(step))
            elif act == "clear":
                clear_review(ledger, heal_id, actor=actor)
            else:
                assign(ledger, heal_id, to=str(step) if act == "hand" else None, actor=actor)
        except ReviewError:
            continue  # nothing to clear or to hand back
        if choose.random() < 0.5:
            before, known = known, spoken(ledger, known)
            assert known == spoken(ledger)
            assert list(known.latest) == list(spoken(ledger).latest)
            if before:
                named = {row.decision.heal_id for row in ledger.rows(after=before.seq)}
                assert all(known.latest[one] is before.latest[one] for one in before.latest.keys() - named)
    known, ledger.n_rows = spoken(ledger, known), 0
    assert spoken(ledger, known) is known
    assert ledger.n_rows == 1  # the last one, to see that it is still there


def test_a_ledger_that_was_replaced_is_read_from_its_beginning(tmp_path, ledger):
    say(ledger, "h1", "real")
    say(ledger, "h2", "real")
    known = spoken(ledger)
    (tmp_path / "other").mkdir()
    other = new_ledger(tmp_path / "other")
    for heal_id in ("h3", "h4", "h5"):
        say(other, heal_id, "skip")
    other.path.replace(ledger.path)
    assert set(spoken(ledger, known).latest) == {"h3", "h4", "h5"}
    ledger.path.unlink()
    assert spoken(ledger, known) == spoken(ledger)
    assert spoken(ledger, known).latest == {}


# ---- what people say together


@pytest.mark.parametrize(
    ("said", "together"),
    [
        ([], None),
        (["real"], "real"),
        (["not_real", "not_real"], "not_real"),
        (["real", "not_real"], "disputed"),
        (["skip"], "skip"),
        (["skip", "skip"], "skip"),
        (["skip", "real"], "real"),
        (["real", "skip", "not_real"], "disputed"),
    ],
)
def test_what_people_say_together(ledger, said, together):
    for verdict, actor in zip(said, (ANA, BEN, CEM), strict=False):
        say(ledger, "h1", verdict, actor=actor)
    assert standing(latest_reviews(ledger).get("h1", {})) == together


def test_progress_counts_heals_for_everybody_and_for_one_person(ledger):
    for heal_id, verdict, actor in [
        ("h1", "real", ANA), ("h1", "not_real", BEN), ("h2", "real", ANA), ("h3", "skip", BEN), ("h4", "not_real", BEN),
        ("old", "real", ANA),
    ]:  # fmt: skip
        say(ledger, heal_id, verdict, actor=actor)
    latest, heals = latest_reviews(ledger), ["h1", "h2", "h3", "h4", "h5"]
    everybody = progress(latest, heals)
    assert (everybody, everybody.open) == (Progress(n=5, reviewed=4, real=1, not_real=1, skipped=1, disputed=1), 1)
    assert progress(latest, heals, actor=ANA) == Progress(n=5, reviewed=2, real=2, not_real=0, skipped=0, disputed=0)
    assert progress(latest, []) == Progress(0, 0, 0, 0, 0, 0)


# ---- evidence

HEALS = [heal(n, text=f"text {n}", was_real_failure=n % 2 == 0, extra={"b": 1, "a": [n, 0.70]}) for n in range(1, 5)]
RUNS = [
    run("r1b", "before", 0.9, {"c0": True, "c1": True}, "h1"),
    run("r1a", "after", 1.1, {"c0": True, "c1": False}, "h1"),
    run("r2a", "after", 2.1, {"c0": True}, "h2"),
    run("night", "nightly", 3, {"c0": False}),
]
IDS = ["h1", "h2", "h3", "h4"]


def seen(folder, ids=IDS):
    """heal_id → digest, as a store that is opened anew finds it."""
    with opened(find_log(folder, "heal_events.jsonl")) as store:
        return {heal_id: found.sha256 for heal_id, found in evidence(store, ids).items()}


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "agent"
    write(folder, heal_events=HEALS, suite_runs=RUNS, failures=[failure("Err:1", 1)])
    return folder


def append(folder, name, *rows):
    with (folder / f"{name}.jsonl").open("ab") as log:
        log.write(json_lines(rows))


def test_every_heal_has_evidence_of_its_own_and_an_unknown_one_has_none(workspace):
    found = seen(workspace, [*IDS, "h1", "h9", "h\ud800"])
    assert list(found) == IDS
    assert len(set(found.values())) == 4
    assert seen(workspace, []) == {}


def test_evidence_by_hand(workspace):
    def digest(value):
        return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    runs = [
        '["r1a","surface","after",{"c0":"pass","c1":"fail"}]',
        '["r1b","surface","before",{"c0":"pass","c1":"pass"}]',
    ]
    with opened(workspace / "heal_events.jsonl") as store:
        found = evidence(store, ["h1", "h3"])
    assert found["h1"] == Evidence(digest(HEALS[0]), digest(runs), 2)
    assert found["h1"].sha256 == digest([digest(HEALS[0]), digest(runs)])
    assert found["h3"] == Evidence(digest(HEALS[2]), digest([]), 0)


def shuffle(folder):
    for name in ("heal_events", "suite_runs"):
        path = folder / f"{name}.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        random.Random(3).shuffle(lines)
        path.write_bytes(b"".join(lines))


def pack(folder):
    for name in ("heal_events", "suite_runs"):
        path = folder / f"{name}.jsonl"
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def write_differently(folder):
    """The same JSON with keys in another order, spaces, a byte order mark and Windows' line ends."""
    for name, rows in (("heal_events", HEALS), ("suite_runs", RUNS)):
        lines = [json.dumps(dict(reversed(row.items())), indent=None, separators=(" , ", " : ")) for row in rows]
        (folder / f"{name}.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")


UNCHANGED = {
    "nothing": lambda folder: None,
    "other heals": lambda folder: append(folder, "heal_events", heal(5), heal(6)),
    "other runs": lambda folder: append(
        folder, "suite_runs", run("r5", "after", 5, {"c0": False}, "h5"), run("n2", "nightly", 6, {"c0": True})
    ),
    "other failures": lambda folder: append(folder, "failures", failure("Err:2", 3)),
    "bad lines": lambda folder: append(folder, "heal_events", "{", '{"heal_id": "h1"}'),
    "the same lines again": lambda folder: (append(folder, "heal_events", *HEALS), append(folder, "suite_runs", *RUNS)),
    "a later line under the same name, which does not count": lambda folder: append(folder, "heal_events", heal(1, text="other")),
    "shuffled lines": shuffle,
    "packed logs": pack,
    "other words for the same JSON": write_differently,
}


@pytest.mark.parametrize("change", UNCHANGED.values(), ids=UNCHANGED)
def test_evidence_stays_the_same_when_its_heal_does(workspace, change, either_path):
    before = seen(workspace)
    change(workspace)
    assert seen(workspace) == before


def rewrite(folder, name, rows):
    (folder / f"{name}.jsonl").write_bytes(json_lines(rows))


REWRITTEN, ADDED = "its record was rewritten", "1 run of its own was added"
CHANGES = {
    "an unknown key": ("heal_events", [HEALS[0] | {"extra": 2}, *HEALS[1:]], REWRITTEN),
    "the label": ("heal_events", [HEALS[0] | {"was_real_failure": True}, *HEALS[1:]], REWRITTEN),
    "the text": ("heal_events", [heal(1, text="text 1!"), *HEALS[1:]], REWRITTEN),
    "the record is gone": ("heal_events", HEALS[1:], "its record is no longer in heal_events.jsonl"),
    "another run": ("suite_runs", [*RUNS, run("r1c", "rescore", 9, {"c0": True}, "h1")], ADDED),
    "a run that was not its own": ("suite_runs", [*RUNS[:3], RUNS[3] | {"heal_id": "h1"}], ADDED),
    "a run less": ("suite_runs", RUNS[1:], "1 run of its own was taken away"),
    "no run left": ("suite_runs", RUNS[2:], "2 runs of its own were taken away"),
    "an outcome": (
        "suite_runs",
        [run("r1b", "before", 0.9, {"c0": True, "c1": False}, "h1"), *RUNS[1:]],
        "the outcomes of its own runs changed",
    ),
    "a phase": (
        "suite_runs",
        [run("r1b", "after", 0.9, {"c0": True, "c1": True}, "h1"), *RUNS[1:]],
        "the outcomes of its own runs changed",
    ),
}


@pytest.mark.parametrize(("name", "rows", "reason"), CHANGES.values(), ids=CHANGES)
def test_a_review_is_open_again_when_its_evidence_changed_and_says_why(workspace, ledger, name, rows, reason):
    with opened(workspace / "heal_events.jsonl") as store:
        shown = evidence(store, IDS)
    for heal_id in IDS:
        say(ledger, heal_id, "real", seen=shown[heal_id])
    say(ledger, "h1", "skip", actor=BEN, seen=shown["h1"])
    rewrite(workspace, name, rows)
    with opened(workspace / "heal_events.jsonl") as store:
        again = reopened(store, latest_reviews(ledger))
        now = evidence(store, ["h1"]).get("h1")
        assert again == {"h1": {"local:ana": reason, BEN.key: reason}}
        if now:  # whoever looks again and says so has decided on what is there now
            say(ledger, "h1", "real", seen=now)
            assert reopened(store, latest_reviews(ledger)) == {"h1": {BEN.key: reason}}


def test_what_else_a_run_says_is_no_evidence(workspace, ledger):
    before = seen(workspace)
    rewrite(workspace, "suite_runs", [row | {"state_hash": "s", "evidence": {"c0": "text"}} for row in RUNS])
    assert seen(workspace) == before


def test_two_reasons_are_both_said(workspace, ledger):
    with opened(workspace / "heal_events.jsonl") as store:
        say(ledger, "h1", "real", seen=evidence(store, ["h1"])["h1"])
    rewrite(workspace, "heal_events", [HEALS[0] | {"extra": 2}, *HEALS[1:]])
    rewrite(workspace, "suite_runs", [*RUNS, run("r1c", "rescore", 9, {"c0": True}, "h1")])
    with opened(workspace / "heal_events.jsonl") as store:
        assert reopened(store, latest_reviews(ledger)) == {"h1": {"local:ana": f"{REWRITTEN} and {ADDED}"}}


def test_a_run_that_is_appended_is_seen_by_a_store_that_is_open(workspace, ledger):
    with opened(workspace / "heal_events.jsonl") as store:
        say(ledger, "h3", "real", seen=evidence(store, ["h3"])["h3"])
        assert reopened(store, latest_reviews(ledger)) == {}
        append(workspace, "suite_runs", run("r3", "after", 4, {"c0": True}, "h3"))
        store.refresh(now=NOW)
        assert reopened(store, latest_reviews(ledger)) == {"h3": {"local:ana": ADDED}}


def test_lines_that_only_duckdb_reads_have_evidence_as_they_were_written(tmp_path, either_path):
    odd = json.dumps(heal(1))[:-1] + ', "deep": ' + "[" * 3000 + "]" * 3000 + "}"
    write(tmp_path, heal_events=[heal(2), odd], suite_runs=RUNS)
    before = seen(tmp_path)
    assert before.keys() == {"h1", "h2"}
    assert seen(tmp_path) == before


def test_looking_at_evidence_writes_nothing(workspace):
    before = files_in(workspace)
    seen(workspace)
    assert files_in(workspace) == before


# ---- S_reviewed


def test_agreeing_verdicts_replace_labels_and_the_logged_label_stays(tmp_path, ledger):
    """Two signatures, both labelled real; people say that one is not. precision = recall = 1/2, F1 = 0.5 and nothing came back."""
    path = write(
        tmp_path / "agent", heal_events=[heal(1, was_real_failure=True), heal(2, was_real_failure=True)], failures=[failure("Err:9", 1.5)]
    )
    say(ledger, "h2", "not_real")
    say(ledger, "h2", "not_real", actor=BEN)
    say(ledger, "elsewhere", "real")
    with audited(path) as found:
        logged, rows = found.signal, found.scope.rows("signal_rows")
        said = score_reviewed(found.scope, latest_reviews(ledger))
        # as logged: precision 2/2, recall 2/3, F1 = 0.8; reviewed: precision 1/2, recall 1/2, F1 = 0.5
        assert (round(logged.score, 9), logged.tp, logged.fp) == (0.88, 2, 0)
        assert (round(said.signal.score, 9), said.signal.tp, said.signal.fp, said.n_judged, said.disagreements) == (0.7, 1, 1, 1, ())
        assert (found.signal, found.scope.rows("signal_rows")) == (logged, rows)
        assert [row["is_real"] for row in found.scope.rows("signal_reviewed_rows")] == [True, False]


def test_a_verdict_labels_what_the_log_left_open(tmp_path, ledger):
    path = write(tmp_path / "agent", heal_events=[heal(1)], failures=[])
    say(ledger, "h1", "real")
    with audited(path) as found:
        assert found.signal.score is None
        assert score_reviewed(found.scope, latest_reviews(ledger)).signal.score == 1.0


def test_disagreeing_verdicts_count_as_unlabelled_and_are_listed(tmp_path, ledger):
    path = write(tmp_path / "agent", heal_events=[heal(1, was_real_failure=True), heal(2, was_real_failure=False)], failures=[])
    for verdict, actor in (("real", ANA), ("not_real", BEN), ("skip", CEM)):
        say(ledger, "h2", verdict, actor=actor)
    with audited(path) as found:
        said = score_reviewed(found.scope, latest_reviews(ledger))
    assert (said.signal.n, said.signal.left_out, said.signal.score, said.n_judged) == (1, 1, 1.0, 0)
    assert said.disagreements == (Disagreement("h2", {"local:ana": "real", BEN.key: "not_real"}),)


def test_only_disagreements_leave_nothing_labelled(tmp_path, ledger):
    path = write(tmp_path / "agent", heal_events=[heal(1, was_real_failure=True)], failures=[])
    say(ledger, "h1", "real")
    say(ledger, "h1", "not_real", actor=BEN)
    with audited(path) as found:
        said = score_reviewed(found.scope, latest_reviews(ledger))
    assert (said.signal.score, said.signal.reason) == (None, "no heal in the window says whether its failure was real")


def test_whoever_skips_or_takes_back_has_no_say(tmp_path, ledger):
    path = write(tmp_path / "agent", heal_events=[heal(1, was_real_failure=True), heal(2, was_real_failure=True)], failures=[])
    say(ledger, "h1", "skip")
    say(ledger, "h2", "not_real")
    clear_review(ledger, "h2", actor=ANA)
    with audited(path) as found:
        said = score_reviewed(found.scope, latest_reviews(ledger))
        assert (said.signal, said.n_judged) == (found.signal, 0)
        assert score_reviewed(found.scope, {}).signal == found.signal


def test_disputes_outside_the_window_are_not_listed(tmp_path, ledger):
    path = write(tmp_path / "agent", heal_events=[heal(1, was_real_failure=True), heal(20, was_real_failure=True)], failures=[])
    say(ledger, "h1", "real")
    say(ledger, "h1", "not_real", actor=BEN)
    with audited(path, window="7d") as found:
        said = score_reviewed(found.scope, latest_reviews(ledger))
        assert (said.disagreements, said.signal) == ((), found.signal)


def test_a_verdict_that_is_open_again_counts_until_its_author_speaks(workspace, ledger):
    """Else an agent could void a verdict by logging one more run."""
    with opened(workspace / "heal_events.jsonl") as store:
        say(ledger, "h1", "real", seen=evidence(store, ["h1"])["h1"])
    append(workspace, "suite_runs", run("r1c", "rescore", 9, {"c0": True}, "h1"))
    with audited(workspace / "heal_events.jsonl") as found:
        assert reopened(found.scope.store, latest_reviews(ledger)) == {"h1": {"local:ana": ADDED}}
        assert score_reviewed(found.scope, latest_reviews(ledger)).n_judged == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("span", ["7d", "all"])
def test_signal_with_verdicts_is_signal_of_a_log_that_carries_them(seed, span, tmp_path, ledger):
    """The same window scored twice: with verdicts beside the labels, and with a log in which they stand for the labels."""
    folder = tmp_path / "agent"
    folder.mkdir()
    write_random_workspace(folder, seed, heals=60)
    choose = random.Random(seed)
    with audited(folder / "heal_events.jsonl", window=span) as found:
        ids = [heal_id for (heal_id,) in found.scope.query("select heal_id from heals order by heal_id")]
        said = {heal_id: choose.choice(["real", "not_real", "skip", "both"]) for heal_id in ids if choose.random() < 0.6}
        for heal_id, verdict in said.items():
            say(ledger, heal_id, "real" if verdict == "both" else verdict)
            if verdict == "both":
                say(ledger, heal_id, "not_real", actor=BEN)
        reviewed = score_reviewed(found.scope, latest_reviews(ledger)).signal
        rows = found.scope.query("select row, heal_id from heals order by row")
        lines = list(found.scope.store.lines("heals", [row for row, _ in rows]))
    labels = {"real": True, "not_real": False, "both": None}
    relabelled = []
    for (_, heal_id), line in zip(rows, lines, strict=True):
        record = json.loads(line.decode("utf-8-sig"))
        relabelled.append(record | ({"was_real_failure": labels[said[heal_id]]} if said.get(heal_id, "skip") != "skip" else {}))
    for path in folder.glob("heal_events.jsonl*"):
        path.unlink()
    write(folder, heal_events=relabelled)
    with audited(folder / "heal_events.jsonl", window=span) as found:
        assert reviewed == found.signal


# ---- a page cannot go wrong between


def test_a_broken_chain_refuses_every_decision_and_reading_goes_on(ledger):
    say(ledger, "h1", "real")
    say(ledger, "h2", "real")
    with opened_by_force(ledger.path) as con:
        con.execute("update decisions set ts = '2026-06-02T00:00:00.000000Z' where seq = 1")
    for act in (
        lambda: say(ledger, "h3", "real"),
        lambda: clear_review(ledger, "h1", actor=ANA),
        lambda: undo_last(ledger, actor=ANA),
        lambda: assign(ledger, "h1", to="x", actor=ANA),
    ):
        with pytest.raises(LedgerError, match="row 1 was changed"):
            act()
    assert set(latest_reviews(ledger)) == {"h1", "h2"}
    assert reviews.VERDICTS == ("real", "not_real", "skip")
