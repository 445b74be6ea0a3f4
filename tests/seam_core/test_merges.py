"""Merged signatures: who said that two names are one failure, what comes of it together, and Signal with the merges."""

import json
import threading

import pytest

from seam_core.__main__ import main
from seam_core.cli import main as report_main
from seam_core.ledger import Ledger, LedgerError, local_actor, verify
from seam_core.ledger.kinds import MERGED_MAX
from seam_core.merges import MergeError, Merges, merged_for_report, merges_of, say_same, score_merged, take_back
from seam_core.views import signal_merges
from tests.reference.scorer import score
from tests.seam_core.conftest import caller
from tests.seam_core.ledgers import ANA, BEN, files_in, forge, new_ledger, opened_by_force
from tests.seam_core.test_sign_in import GOOD, toml
from tests.seam_core.workspaces import audited, failure, heal, json_lines, write


@pytest.fixture
def ledger(tmp_path):
    return new_ledger(tmp_path)


def same(ledger, *names, actor=ANA, **more):
    return say_same(ledger, names, actor=actor, **more)


def different(ledger, *names, actor=ANA):
    return say_same(ledger, names, actor=actor, verdict="different")


def groups(ledger):
    return merges_of(ledger).groups


# ---- saying, changing, taking back


def test_a_merge_keeps_who_said_it_when_of_what_and_why_it_was_suggested(ledger):
    row = same(ledger, "t:x:feed", "t:x:feed-2", why_suggested="the same words, some with a number", comment="  a counter\n")
    (said,) = merges_of(ledger).said
    assert (said.seq, said.verdict, said.signatures, said.why_suggested, said.comment, said.actor, said.ts) == (
        1, "same", ("t:x:feed", "t:x:feed-2"), "the same words, some with a number", "a counter", ANA, "2026-06-01T12:00:00.000000Z",
    )  # fmt: skip
    assert (row.kind, row.decision.normaliser_version) == ("signature_merge", 1)
    assert verify(ledger.path).holds


def test_the_first_name_stands_for_all(ledger):
    same(ledger, "b", "a", "c")
    assert merges_of(ledger).names == {"a": "b", "b": "b", "c": "b"}


def test_merges_that_share_a_name_are_one_group(ledger):
    same(ledger, "a", "b")
    same(ledger, "c", "d")
    same(ledger, "d", "b", actor=BEN)
    assert groups(ledger) == (("c", "d", "a", "b"),)


def test_saying_the_same_again_adds_no_row_in_whatever_order(ledger):
    first = same(ledger, "a", "b", "c")
    assert same(ledger, "c", "a", "b", "a") == first
    assert [row.seq for row in ledger.rows()] == [1]


def test_after_another_word_on_two_of_them_the_same_is_said_anew(ledger):
    same(ledger, "a", "b", "c")
    different(ledger, "a", "b")
    assert groups(ledger) == (("a", "c"),)
    same(ledger, "a", "b", "c")
    assert groups(ledger) == (("a", "b", "c"),)


def test_two_threads_that_say_the_same_at_once_are_one_row(ledger):
    threads = [threading.Thread(target=lambda: same(Ledger(ledger.path), "a", "b")) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.rows()) == 1


def test_what_was_taken_back_is_as_if_it_had_not_been_said(ledger):
    different(ledger, "a", "b")
    row = same(ledger, "a", "b")
    back = take_back(ledger, row.seq, actor=ANA)
    assert (back.kind, back.decision.merge) == ("signature_merge_taken_back", 2)
    assert groups(ledger) == ()
    assert merges_of(ledger).is_settled("a", "b")  # they are different again, as was said before
    assert take_back(ledger, row.seq, actor=ANA) == back


def test_after_it_was_taken_back_the_same_can_be_said_again(ledger):
    row = same(ledger, "a", "b")
    take_back(ledger, row.seq, actor=ANA)
    assert same(ledger, "a", "b").seq == 3
    assert groups(ledger) == (("a", "b"),)


@pytest.mark.parametrize(("seq", "actor"), [(1, BEN), (2, ANA), (7, ANA), (-1, ANA)])
def test_only_a_word_of_ones_own_is_taken_back(ledger, seq, actor):
    same(ledger, "a", "b")
    different(ledger, "c", "d", actor=BEN)
    with pytest.raises(MergeError, match="no word of yours"):
        take_back(ledger, seq, actor=actor)
    assert len(ledger.rows()) == 2


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (["a"], {}, "two different signatures"),
        (["a", "a"], {}, "two different signatures"),
        (["a", ""], {}, "no signature is called that"),
        (["a", "\ud800"], {}, "half of a surrogate pair"),
        ([str(n) for n in range(MERGED_MAX + 1)], {}, "these are 51; decide on fewer at a time"),
        (["a", "b"], {"verdict": "perhaps"}, "'perhaps' is no verdict"),
        (["a", "b"], {"comment": "x" * 2001}, "2,001 characters; 2,000 are kept"),
    ],
)
def test_what_cannot_be_said_is_refused_before_a_file_is_made(ledger, names, options, words):
    with pytest.raises(MergeError, match=words):
        same(ledger, *names, **options)
    assert not ledger.path.exists()


def test_nothing_is_added_to_a_chain_that_does_not_hold(ledger):
    same(ledger, "a", "b")
    with opened_by_force(ledger.path) as con:
        con.execute("update decisions set body = replace(body, '\"b\"', '\"x\"')")
    with pytest.raises(LedgerError, match="row 1"):
        same(Ledger(ledger.path), "a", "c")


# ---- what people say together


def test_two_people_who_differ_leave_the_names_apart_and_it_shows(ledger):
    same(ledger, "a", "b")
    row = different(ledger, "a", "b", actor=BEN)
    said = merges_of(ledger)
    assert (said.groups, said.disputed) == ((), {1})
    take_back(ledger, row.seq, actor=BEN)
    assert (groups(ledger), merges_of(ledger).disputed) == ((("a", "b"),), set())


def test_a_chain_of_merges_does_not_join_what_somebody_keeps_apart(ledger):
    different(ledger, "a", "c", actor=BEN)
    same(ledger, "a", "b")
    same(ledger, "b", "c")
    said = merges_of(ledger)
    assert said.groups == (("a", "b"),)
    assert said.disputed == {3}


def test_of_one_person_the_latest_word_counts_for_each_pair(ledger):
    different(ledger, "a", "b", "c")
    same(ledger, "a", "b")
    said = merges_of(ledger)
    assert said.groups == (("a", "b"),)
    assert said.apart == {"a": {"c"}, "b": {"c"}, "c": {"a", "b"}}
    assert [said.is_settled(*pair) for pair in (("a", "b"), ("b", "c"), ("a", "d"))] == [True, True, False]


def test_two_thousand_words_on_one_signature_are_read_in_no_time(ledger):
    """Every word shares a name with every other: what is compared must not grow with the square of all pairs."""
    from seam_core.merges import Merge

    said = tuple(Merge(n, "same", ("a", *(f"b{n}.{k}" for k in range(9))), "", "", ANA, "") for n in range(1, 2001))
    (group,) = Merges(said).groups
    assert len(group) == 1 + 9 * 2000


def test_what_people_said_is_listed_with_what_came_of_it(ledger):
    same(ledger, "a", "b")
    different(ledger, "c", "d", actor=BEN)
    same(ledger, "e", "f")
    different(ledger, "e", "f", actor=BEN)
    different(ledger, "a", "b")
    listed = signal_merges.list_said(merges_of(ledger))
    assert [(row["seq"], row["verdict"], row["state"], row["who"]) for row in listed] == [
        (5, "several failures", "kept apart", "ana"),
        (4, "several failures", "kept apart", "Ben"),
        (3, "one failure", "people differ: not merged", "ana"),
        (2, "several failures", "kept apart", "Ben"),
        (1, "one failure", "overtaken by a later word", "ana"),
    ]


# ---- S_merged


def real(number, days, sig, *, label=True, **more):
    return heal(number, days, sig=sig, was_real_failure=label, **more)


# As logged: four signatures healed, all real, none back, and one missed inside the window: F1 = 8/9, S = 0.6 · 8/9 + 0.4 = 0.9333.
# Merged: two failures, both real, both back, none missed: F1 = 1, recurrence 2/2, S = 0.6.
FEED, FEED2, FEED3, JOB, JOB2, JOB3 = "t:x:feed", "t:x:feed-2", "t:x:feed-3", "t:x:job", "t:x:Job", "t:x:JOB"
SPLIT = [real(1, 0, FEED), real(2, 1, FEED2), real(3, 2, JOB), real(4, 3, JOB2)]
BACK = [failure(FEED3, 3), failure(JOB3, 4), failure(FEED2, 20)]


def test_the_same_heals_under_merged_names(tmp_path, ledger):
    same(ledger, FEED, FEED2, FEED3)
    same(ledger, JOB, JOB2, JOB3)
    with audited(write(tmp_path / "log", heal_events=SPLIT, failures=BACK)) as found:
        merged = score_merged(found.scope, merges_of(ledger))
        together = signal_merges.compare(found, merges_of(ledger))
    assert found.signal.score == pytest.approx(0.6 * 8 / 9 + 0.4)
    assert (merged.signal.score, merged.n_names, merged.n_failures) == (pytest.approx(0.6), 6, 2)
    assert (merged.signal.tp, merged.signal.fn, merged.signal.n_signatures, merged.signal.recurrence) == (2, 0, 2, 1.0)
    assert together.sentence == "S as logged: 0.93. S with 6 names merged into 2 failures: 0.60; it stands beside S and never replaces it."
    assert [(row["healed_as"], row["back_as"], row["days"], row["heal"]) for row in together.found] == [
        (FEED2, FEED3, 2.0, "h2"),
        (JOB2, JOB3, 1.0, "h4"),
    ]


def test_merging_never_changes_s_nor_its_rows(tmp_path, ledger):
    same(ledger, FEED, FEED2, FEED3)
    with audited(write(tmp_path / "log", heal_events=SPLIT, failures=BACK)) as found:
        rows = found.scope.rows("signal_rows"), found.scope.rows("missed_rows")
        score_merged(found.scope, merges_of(ledger))
        assert (found.scope.rows("signal_rows"), found.scope.rows("missed_rows")) == rows


def test_a_recurrence_that_s_finds_by_itself_is_not_said_to_need_merging(tmp_path, ledger):
    same(ledger, FEED, FEED2)
    heals = [real(1, 0, FEED), real(2, 1, FEED2)]
    with audited(write(tmp_path / "log", heal_events=heals, failures=[failure(FEED, 3)])) as found:
        assert signal_merges.compare(found, merges_of(ledger)).found == ()


def test_without_a_failure_log_another_loop_heals_it_again_under_another_name(tmp_path, ledger):
    same(ledger, FEED, FEED2)
    heals = [real(1, 0, FEED), real(2, 3, FEED2), real(3, 3, "other")]
    with audited(write(tmp_path / "log", heal_events=heals)) as found:
        merged = score_merged(found.scope, merges_of(ledger))
        together = signal_merges.compare(found, merges_of(ledger))
    assert found.signal.score == 1.0
    assert merged.signal.score == pytest.approx(0.6 + 0.4 * (1 - 1 / 2))
    assert [(row["healed_as"], row["back_as"], row["days"]) for row in together.found] == [(FEED, FEED2, 3.0)]


@pytest.mark.parametrize("has_log", [True, False])
def test_s_merged_is_s_of_the_same_log_written_under_the_merged_names(tmp_path, ledger, has_log):
    """The plain-loop reference scores a second log in which the names are replaced."""
    same(ledger, "E0", "E1", "E2")
    same(ledger, "E5", "E6")
    names = merges_of(ledger).names
    heals = [real(n, n % 11, f"E{n % 8}", label=n % 5 > 0, loop_id=f"L{n % 6}", cycle=n) for n in range(1, 60)]
    failures = [failure(f"E{n % 9}", n / 2) for n in range(40)] if has_log else None
    renamed = [one | {"trigger": {"failure_signature": names.get(sig := one["trigger"]["failure_signature"], sig)}} for one in heals]
    logs = {"failures": failures} if has_log else {}
    other = {
        "failures": [one | {"failure_signature": names.get(one["failure_signature"], one["failure_signature"])} for one in failures or ()]
    }
    path = write(tmp_path / "merged", heal_events=renamed, **(other if has_log else {}))
    expected = score(path.parent, window="6d", as_of="2026-06-09T12:00:00Z")["signal"]
    with audited(write(tmp_path / "log", heal_events=heals, **logs), window="6d", as_of="2026-06-09T12:00:00Z") as found:
        merged = score_merged(found.scope, merges_of(ledger)).signal
    for key in ("score", "precision", "recall", "f1", "recurrence", "recurrence_after_loop", "tp", "fp", "fn"):
        assert getattr(merged, key) == pytest.approx(expected[key], abs=1e-4), key


# ---- in the report, on the command line


@pytest.fixture
def agent(tmp_path):
    folder = tmp_path / "agent"
    write(folder, heal_events=SPLIT, failures=BACK)
    return folder


@pytest.fixture
def seam(capsys, monkeypatch):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    return caller(main, capsys)


def printed(capsys, monkeypatch, agent, *more):
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    ran = caller(report_main, capsys)("--heals", agent / "heal_events.jsonl", "--window", "all", "--now", "2026-09-01", *more)
    return json.loads(ran.out)


def test_the_report_carries_s_merged_only_where_people_merged(agent, capsys, monkeypatch):
    before = printed(capsys, monkeypatch, agent)
    assert not [key for key in before if "merged" in key]
    row = same(Ledger(agent / "decisions.sqlite"), FEED, FEED2, FEED3)
    after = printed(capsys, monkeypatch, agent)
    assert (after["S"], after["S_merged"]) == (0.9333, 0.8667)  # merged none is missed and one of three is back: 0.6 + 0.4 · 2/3
    assert (after["signal_merged"]["names"], after["signal_merged"]["failures"]) == (3, 1)
    assert {key: after[key] for key in before if key != "ledger"} == {key: before[key] for key in before if key != "ledger"}
    take_back(Ledger(agent / "decisions.sqlite"), row.seq, actor=ANA)
    assert "S_merged" not in printed(capsys, monkeypatch, agent)


def test_a_packet_computes_s_merged_again_from_its_own_copy_of_the_decisions(agent, seam, capsys, monkeypatch):
    same(Ledger(agent / "decisions.sqlite"), FEED, FEED2, FEED3)
    zipped = agent.parent / "evidence.zip"
    shown = printed(capsys, monkeypatch, agent, "--packet", zipped)
    ran = seam("packet", "verify", zipped, "--report", agent.parent / "again.json")
    assert (ran.code, json.loads((agent.parent / "again.json").read_text())) == (0, shown)


def test_merges_of_a_ledger_that_does_not_hold_are_not_believed(agent):
    ledger = Ledger(agent / "decisions.sqlite")
    same(ledger, FEED, FEED2)
    with opened_by_force(ledger.path) as con:
        forge(con, 1, prev_sha256="1" * 64)
    with audited(agent / "heal_events.jsonl") as found:
        assert merged_for_report(found.scope, ledger.path) is None
        assert merged_for_report(found.scope, agent / "nothing.sqlite") is None


def test_suggestions_are_listed_decided_and_taken_back_on_the_command_line(agent, seam):
    before = files_in(agent)
    listed = json.loads(seam("signatures", "list", "--workspace", agent).out)
    assert [(one["signature"], one["others"], one["came_back_under_another_name"]) for one in listed["suggested"]] == [
        (JOB3, [JOB2, JOB], 1),
        (FEED, [FEED2, FEED3], 1),
    ]
    assert files_in(agent) == before  # listing writes nothing
    ran = seam("signatures", "same", "--workspace", agent, "--signature", JOB3, "--signature", "mistyped")
    assert (ran.code, ran.out) == (3, "")
    assert "no heal and no failure carries 'mistyped'" in ran.err
    assert files_in(agent) == before
    ran = seam("signatures", "same", "--workspace", agent, "--signature", JOB3, "--signature", JOB2, "--signature", JOB)
    assert (ran.code, json.loads(ran.out)["seq"]) == (0, 1)
    ran = seam("signatures", "different", "--workspace", agent, "--signature", FEED, "--signature", FEED3)
    assert json.loads(ran.out)["seq"] == 2
    found = json.loads(seam("signatures", "list", "--workspace", agent).out)
    assert (found["S"], found["S_merged"]) == (0.9333, pytest.approx(0.6 * 6 / 7 + 0.4 * 2 / 3, abs=1e-4))
    assert [(one["signature"], one["others"]) for one in found["suggested"]] == [(FEED, [FEED2])]
    assert [(one["seq"], one["verdict"], one["state"]) for one in found["said"]] == [
        (2, "several failures", "kept apart"),
        (1, "one failure", "merged"),
    ]
    assert seam("signatures", "take-back", "--workspace", agent, "--row", 1).code == 0
    assert "S_merged" not in json.loads(seam("signatures", "list", "--workspace", agent).out)
    assert seam("ledger", "verify", "--workspace", agent).code == 0
    kinds = [json.loads(line)["kind"] for line in seam("ledger", "export", "--workspace", agent).out.splitlines()]
    assert kinds == ["signature_merge", "signature_merge", "signature_merge_taken_back"]


def test_where_people_sign_in_the_command_line_writes_nothing(agent, seam, monkeypatch, tmp_path):
    settings = tmp_path / "server.toml"
    settings.write_text(toml(GOOD))
    monkeypatch.setenv("SEAM_SETTINGS", str(settings))
    ran = seam("signatures", "same", "--workspace", agent, "--signature", "a", "--signature", "b")
    assert (ran.code, (agent / "decisions.sqlite").exists()) == (3, False)
    assert "sign in" in ran.err


def test_the_user_of_the_machine_is_who_said_it(agent, seam):
    seam("signatures", "same", "--workspace", agent, "--signature", JOB, "--signature", JOB2, "--comment", "one job")
    (said,) = merges_of(Ledger(agent / "decisions.sqlite")).said
    assert (said.actor, said.comment) == (local_actor(), "one job")


def test_a_workspace_without_a_heal_is_one_sentence(tmp_path, seam):
    (tmp_path / "heal_events.jsonl").write_bytes(json_lines([]))
    ran = seam("signatures", "list", "--workspace", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.count("\n") == 1
