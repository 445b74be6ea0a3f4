"""The ledger: rows are only added, each linked to the one before, and whatever was changed is named by its number."""

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam_core.ledger import (
    BrokenChainError,
    Chain,
    Ledger,
    LedgerError,
    Local,
    SignedIn,
    book,
    file,
    ledger_file,
    local_actor,
    noted,
    verify,
)
from seam_core.ledger.canonical import canonical
from seam_core.ledger.kinds import KINDS, ReviewDecision
from seam_core.settings import ServerSettings
from tests.seam_core.ledgers import (
    ANA,
    AS_NOBODY,
    BEN,
    NOON,
    ROOT,
    Clock,
    files_in,
    filled,
    forge,
    handed,
    in_child,
    new_ledger,
    open_to_all,
    opened_by_force,
    started,
)

ZEROS = "0" * 64


def shas(path):
    return [row.sha256 for row in Ledger(path).rows()]


# ---- what a row is


def test_the_bytes_of_a_row_are_the_documented_ones(tmp_path):
    """Every text is written out here, as docs/method.md describes it."""
    row = new_ledger(tmp_path).write(handed(1, note='é "x"\n'), actor=ANA)
    actor, body = '{"from":"local","name":"ana"}', '{"heal_id":"h1","note":"\\u00e9 \\"x\\"\\n","to":"payments"}'
    assert (row.seq, row.ts, row.actor, row.kind, row.body) == (1, "2026-06-01T12:00:00.000000Z", actor, "assignment", body)
    hashed = (
        '[1,"2026-06-01T12:00:00.000000Z","{\\"from\\":\\"local\\",\\"name\\":\\"ana\\"}","assignment",'
        '"{\\"heal_id\\":\\"h1\\",\\"note\\":\\"\\\\u00e9 \\\\\\"x\\\\\\"\\\\n\\",\\"to\\":\\"payments\\"}","' + ZEROS + '"]'
    )
    assert (row.prev_sha256, row.sha256) == (ZEROS, sha256(hashed.encode()).hexdigest())


def documented_check():
    """The Python of docs/method.md, which knows nothing of SEAM."""
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    return re.search(r"^## What people decide\n.*?^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]


def test_a_third_party_verifies_the_file_with_the_ten_documented_lines_of_python(tmp_path):
    path = filled(tmp_path, 7).path
    script = documented_check()
    assert len(script.strip().splitlines()) <= 10
    assert "seam" not in script

    def check():
        return subprocess.run([sys.executable, "-I", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert check().stdout == f"the chain holds; its head is {verify(path).chain.head}\n"
    with opened_by_force(path) as con:
        con.execute("update decisions set body = replace(body, 'h4', 'h5') where seq = 4")
    assert "row 4 was changed" in check().stderr
    with opened_by_force(path) as con:
        con.execute("delete from decisions where seq = 3")
    assert "row 4 does not follow on the one before" in check().stderr


def test_each_row_names_the_one_before(tmp_path):
    rows = filled(tmp_path, 3).rows()
    assert [row.seq for row in rows] == [1, 2, 3]
    assert [row.prev_sha256 for row in rows] == [ZEROS, rows[0].sha256, rows[1].sha256]


def test_what_was_decided_and_by_whom_can_be_read_back(tmp_path):
    ledger = new_ledger(tmp_path)
    row = ledger.write(handed(3, to="checkout team"), actor=BEN)
    assert (row.decision, row.by) == (handed(3, to="checkout team"), BEN)
    assert ledger.rows() == [row]
    assert (ledger.rows("review"), ledger.rows("assignment"), ledger.rows(after=1)) == ([], [row], [])


def test_a_person_is_known_by_who_vouches_for_them_and_not_by_their_name():
    assert ANA.key == "local:ana"
    assert BEN.key == SignedIn("https://login.example", "u-17", "Benjamin").key == "oidc:https://login.example u-17"
    assert SignedIn("local:ana", "", "").key != Local("ana").key


def test_the_local_actor_is_the_account_and_not_the_environment(monkeypatch):
    monkeypatch.setenv("LOGNAME", "the boss")
    monkeypatch.setenv("USER", "the boss")
    assert local_actor().name != "the boss"


def test_kinds_are_told_apart_by_their_names():
    assert len({kind.kind for kind in KINDS}) == len(KINDS) == 10


def add_by_force(path, *, kind="assignment", actor='{"from":"local","name":"eve"}', body="{}"):
    """Add a row that follows on the last one, whatever it says."""
    last = Ledger(path).rows()[-1]
    fields = [last.seq + 1, last.ts, actor, kind, body, last.sha256]
    digest = sha256(json.dumps(fields, separators=(",", ":")).encode()).hexdigest()
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("insert into decisions values (?, ?, ?, ?, ?, ?, ?)", (*fields, digest))


def test_a_kind_of_a_later_version_can_be_verified_and_not_read(tmp_path):
    path = filled(tmp_path, 1).path
    add_by_force(path, kind="pardon")
    assert verify(path).holds
    with pytest.raises(LedgerError, match="row 2 is of the kind 'pardon', which this version does not know"):
        _ = Ledger(path).rows()[1].decision


NO_DECISIONS = {
    "a body that is no JSON": ({"body": "{"}, "row 2 is no assignment as SEAM writes it"),
    "a body that is no object": ({"body": "[]"}, "row 2 is no assignment as SEAM writes it"),
    "a body that lacks a key": ({"body": "{}"}, "row 2 is no assignment as SEAM writes it"),
    "a heal that is a number": ({"body": '{"heal_id":7,"note":"","to":"x"}'}, "row 2 is no assignment as SEAM writes it"),
    "a verdict that is none": ({"kind": "review", "body": '{"heal_id":"h","verdict":"maybe"}'}, "row 2 is no review as SEAM writes it"),
    "an actor that is no object": ({"actor": "eve"}, "row 2 names nobody as SEAM does"),
    "an actor from nowhere": ({"actor": '{"from":"above"}'}, "row 2 names nobody as SEAM does"),
    "an issuer with a blank": ({"actor": '{"from":"oidc","issuer":"a b","name":"","subject":"c"}'}, "row 2 names nobody as SEAM does"),
    "a body nested without end": ({"body": '{"a":' * 100_000}, "row 2 is no assignment as SEAM writes it"),
}


@pytest.mark.parametrize(("row", "reason"), NO_DECISIONS.values(), ids=NO_DECISIONS)
def test_a_row_that_follows_on_and_is_no_decision_does_not_hold(row, reason, tmp_path):
    path = filled(tmp_path, 1).path
    add_by_force(path, **row)
    chain = verify(path).chain
    assert (chain.holds, chain.seq, chain.rows) == (False, 2, 1)
    assert chain.reason.startswith(reason)
    with pytest.raises(BrokenChainError, match=reason):
        Ledger(path).write(handed(1), actor=ANA)


def test_an_issuer_holds_no_blank_or_two_people_could_share_a_key():
    for issuer in ("a b", " a", "", "a\n"):
        with pytest.raises(ValueError, match="an issuer is a URL"):
            SignedIn(issuer, "c", "")


def test_a_decision_that_breaks_its_own_rules_is_not_written(tmp_path):
    ledger = filled(tmp_path, 1)
    with pytest.raises(LedgerError, match=r"this is no assignment.*nothing was written"):
        ledger.write(handed(2, to="x" * 201), actor=ANA)
    assert verify(ledger.path).chain.rows == 1


# ---- canonical JSON

odd_text = st.text(st.characters(exclude_categories=()) | st.sampled_from("\0\ud83d\ude00\ufeff\u2028\u202e\U0001f600\U0010ffff"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | odd_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd_text, inner, max_size=4),
)


@given(values)
def test_canonical_json_stands_for_itself(value):
    text = canonical(value)
    assert text.isascii()
    assert canonical(json.loads(text)) == text


@given(st.dictionaries(odd_text, st.integers(), max_size=6))
def test_canonical_json_does_not_depend_on_the_order_of_keys(value):
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ("ü\0\u2028", '"\\u00fc\\u0000\\u2028"'),
        ("\ud800", '"\\ud800"'),
        ("\ud83d\ude00", '"\\ud83d\\ude00"'),
        ({"\U0001f600": 1, "\uffff": 2}, '{"\\uffff":2,"\\ud83d\\ude00":1}'),
        ({"\ud83d\ude00": 1, "\uffff": 2}, '{"\\uffff":2,"\\ud83d\\ude00":1}'),
        (0.1, "0.1"),
    ],
)
def test_canonical_json_by_hand(value, text):
    assert canonical(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_is_no_json_has_no_canonical_text(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical(value)


@pytest.fixture(scope="module")
def open_book(tmp_path_factory):
    return Ledger(tmp_path_factory.mktemp("texts") / "decisions.sqlite")


@given(odd_text)
def test_any_comment_comes_back_from_the_file_as_it_was_said(open_book, comment):
    whole = comment.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")[:2000]  # two halves that meet are one character
    said = ReviewDecision(heal_id="h", verdict="real", comment=whole, evidence_sha256="", record_sha256="", runs_sha256="", n_runs=0)
    row = open_book.write(said, actor=Local(whole))
    kept = Ledger(open_book.path).rows(after=row.seq - 1)[0]
    assert (kept, kept.decision.comment, kept.by.name) == (row, whole, whole)
    assert open_book.chain().holds


# ---- reading


def test_looking_creates_no_file(tmp_path):
    ledger = new_ledger(tmp_path)
    assert (ledger.chain(), ledger.rows(), ledger.copy(), noted(ledger.path)) == (Chain(), [], b"", {"head": None, "rows": 0})
    assert verify(ledger.path).holds
    assert list(tmp_path.iterdir()) == []


def test_looking_changes_no_byte_and_leaves_no_file_behind(tmp_path):
    ledger = filled(tmp_path, 3)
    before = files_in(tmp_path)
    ledger.chain(), ledger.rows(), ledger.copy(), noted(ledger.path), verify(ledger.path, head=ZEROS)
    assert files_in(tmp_path) == before
    assert list(before) == ["decisions.sqlite"]


LOOK = f"""
import sys
from pathlib import Path
from seam_core.ledger import Ledger, LedgerError, Local
from seam_core.ledger.kinds import Assignment
{AS_NOBODY}
ledger = Ledger(Path(sys.argv[1]))
try:
    print(ledger.chain().rows)
    if sys.argv[2:]:
        ledger.write(Assignment(heal_id="h", to="t", note=""), actor=Local("nobody"))
except LedgerError as error:
    print(error)
"""


def test_a_folder_that_may_not_be_written_can_be_read_and_refuses_decisions_in_a_sentence(tmp_path):
    path = filled(tmp_path, 2).path
    open_to_all(tmp_path)
    tmp_path.chmod(0o555)
    before = files_in(tmp_path)
    rows, refusal = in_child(LOOK, path, "write").stdout.splitlines()
    assert (rows, refusal) == ("2", f"{path}: the file or its folder may not be written; nothing was written")
    path.chmod(0o666)  # the file may, the folder may not: there is no place for the journal
    assert in_child(LOOK, path, "write").stdout.splitlines() == [rows, refusal]
    tmp_path.chmod(0o755)
    assert files_in(tmp_path) == before


def test_the_first_decision_in_a_folder_that_may_not_be_written_is_refused_in_a_sentence(tmp_path):
    open_to_all(tmp_path)
    tmp_path.chmod(0o555)
    path = tmp_path / "decisions.sqlite"
    assert in_child(LOOK, path, "write").stdout.splitlines() == [
        "0",
        f"{path}: its folder may not be written; nothing was written",
    ]


def test_a_file_that_may_not_be_read_is_said(tmp_path):
    path = filled(tmp_path, 2).path
    open_to_all(tmp_path)
    path.chmod(0o600)
    expected = f"{path}: cannot be read (no permission)" if os.getuid() == 0 else None
    if expected is None:
        path.chmod(0)
        expected = f"{path}: cannot be read (no permission)"
    assert in_child(LOOK, path).stdout.strip() == expected


def test_a_folder_that_may_not_be_entered_is_said(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    path = filled(inner, 2).path
    open_to_all(tmp_path)
    inner.chmod(0)
    said = in_child(LOOK, path).stdout.strip()
    inner.chmod(0o755)
    assert said == f"{path}: cannot be read (Permission denied)"


def make_folder(path):
    path.mkdir()


def make_link(path):
    path.symlink_to(filled(path.parent / "elsewhere").path)


def make_pipe(path):
    os.mkfifo(path)


def make_text(path):
    path.write_text("this is a text, long enough to be looked at as if it were a database file of some kind" * 20)


def make_cut(path):
    filled(path.parent, 40)
    os.truncate(path, 9000)


def make_garbage(path):
    filled(path.parent, 40)
    with path.open("r+b") as spoiled:
        spoiled.seek(4096)
        spoiled.write(b"\xff" * 8192)


def make_other(path):
    with closing(sqlite3.connect(path)) as con:
        con.execute("create table recipes (name text)")


def make_later(path):
    filled(path.parent)
    with closing(sqlite3.connect(path)) as con:
        con.execute("pragma user_version = 2")


BAD_FILES = [
    (make_folder, "is a folder"),
    (make_link, "is a link; name the file that it stands for"),
    (make_pipe, "is no regular file"),
    (make_text, "is not a SQLite file"),
    (make_cut, "is damaged"),
    (make_garbage, "is damaged"),
    (make_other, "is another program's SQLite file"),
    (make_later, "was written by a later version of SEAM \\(format 2; this one knows 1\\)"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD_FILES, ids=lambda value: getattr(value, "__name__", None))
def test_a_file_that_is_no_ledger_gets_one_sentence_and_is_left_as_it_is(make, sentence, tmp_path):
    path = tmp_path / "decisions.sqlite"
    (tmp_path / "elsewhere").mkdir()
    make(path)
    before = {} if make is make_pipe else files_in(tmp_path)
    for act in (lambda: Ledger(path).chain(), lambda: verify(path), lambda: Ledger(path).write(handed(1), actor=ANA)):
        with pytest.raises(LedgerError, match=sentence) as raised:
            act()
        assert str(raised.value).startswith(f"{path}: ")
        assert "\n" not in str(raised.value)
    assert before == ({} if make is make_pipe else files_in(tmp_path))


def test_a_folder_that_is_not_there_is_said_and_not_taken_for_an_empty_ledger(tmp_path):
    path = tmp_path / "unmounted" / "decisions.sqlite"
    for act in (lambda: Ledger(path).chain(), lambda: Ledger(path).write(handed(1), actor=ANA)):
        with pytest.raises(LedgerError, match="there is no such folder as"):
            act()
    assert noted(path)["rows"] is None
    assert "no such folder" in noted(path)["fault"]


def test_an_empty_file_is_a_ledger_without_decisions(tmp_path):
    """A process may be killed between making the file and its first row."""
    ledger = new_ledger(tmp_path)
    ledger.path.touch()
    assert (ledger.chain(), ledger.rows()) == (Chain(), [])
    assert ledger.write(handed(1), actor=ANA).seq == 1


def test_names_with_odd_characters_are_files_like_others(tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9 ?mode=rw&x#%41")
    folder.mkdir()
    assert verify(filled(folder, 2).path).chain.rows == 2
    assert [path.name for path in folder.iterdir()] == ["decisions.sqlite"]


def test_a_copy_is_a_ledger_of_its_own(tmp_path):
    ledger = filled(tmp_path, 3)
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(ledger.copy())
    assert verify(copy).chain == ledger.chain()


# ---- where the ledger is


def test_the_ledger_lies_in_the_workspace_or_where_the_server_says(tmp_path):
    agent = tmp_path / "agent"
    (tmp_path / "ledgers").mkdir()
    agent.mkdir()
    settings = tmp_path / "etc" / "seam.toml"
    assert ledger_file(agent, ServerSettings()) == agent / "decisions.sqlite"
    assert ledger_file(agent, ServerSettings(settings, ledger=tmp_path / "d.sqlite")) == tmp_path / "d.sqlite"
    assert ledger_file(agent, ServerSettings(settings, ledger=tmp_path / "ledgers")) == tmp_path / "ledgers" / "agent.sqlite"
    (tmp_path / "etc").mkdir()
    assert ledger_file(agent, ServerSettings(settings, ledger=type(agent)("d.sqlite"))) == tmp_path / "etc" / "d.sqlite"


# ---- what the file refuses, and what is found when it is forced


@pytest.mark.parametrize(
    "sql",
    [
        "update decisions set body = '{}' where seq = 2",
        "update decisions set seq = 9 where seq = 2",
        "delete from decisions where seq = 5",
        "delete from decisions",
        "insert or replace into decisions select 2, ts, actor, kind, '{}', prev_sha256, sha256 from decisions where seq = 2",
        "replace into decisions select seq, ts, actor, kind, '{}', prev_sha256, sha256 from decisions where seq = 5",
        "insert into decisions select 7, ts, actor, kind, body, sha256, sha256 from decisions where seq = 5",
        "insert into decisions select 6, ts, actor, kind, body, prev_sha256, sha256 from decisions where seq = 5",
        "insert into decisions select 0, ts, actor, kind, body, sha256, sha256 from decisions where seq = 5",
    ],
)
def test_the_file_itself_refuses_to_change_delete_or_insert_between(sql, tmp_path):
    path = filled(tmp_path).path
    before = Ledger(path).rows()
    with closing(sqlite3.connect(path)) as con, pytest.raises(sqlite3.IntegrityError, match="a decision is"), con:
        con.execute(sql)
    assert Ledger(path).rows() == before
    assert verify(path).holds


N = 5
COLUMNS = {
    "ts": "2026-06-01T12:00:00.500000Z",
    "actor": '{"from":"local","name":"eve"}',
    "kind": "review",
    "body": '{"heal_id":"h9","note":"","to":"payments"}',
    "sha256": "f" * 64,
}


@pytest.mark.parametrize("seq", range(1, N + 1))
@pytest.mark.parametrize("column", COLUMNS)
def test_every_edited_row_is_named(column, seq, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute(f"update decisions set {column} = ? where seq = ?", (COLUMNS[column], seq))
    chain = verify(path).chain
    assert (chain.seq, chain.reason) == (seq, f"row {seq} was changed: its sha256 is not that of what it says")
    assert (chain.holds, chain.rows, chain.head) == (False, seq - 1, shas(path)[seq - 2] if seq > 1 else None)


@pytest.mark.parametrize("seq", range(1, N + 1))
def test_every_row_with_another_row_before_it_is_named(seq, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute("update decisions set prev_sha256 = ? where seq = ?", ("a" * 64, seq))
    before = f"row {seq - 1}" if seq > 1 else "the beginning"
    chain = verify(path).chain
    assert (chain.seq, chain.reason) == (seq, f"row {seq} was changed: its prev_sha256 is not the sha256 of {before}")


@pytest.mark.parametrize("seq", range(1, N + 1))
def test_every_removed_row_is_named_the_last_one_too(seq, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute("delete from decisions where seq = ?", (seq,))
    chain = verify(path).chain
    told = f"row {seq} is missing" if seq < N else f"row {N} is missing: numbers up to {N} were given out"
    assert (chain.seq, chain.reason) == (seq, told)


def test_a_ledger_that_was_emptied_is_no_empty_ledger(tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute("delete from decisions")
    assert (verify(path).chain.seq, verify(path).chain.reason) == (1, "row 1 is missing: numbers up to 5 were given out")


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in range(1, N + 1) for b in range(a + 1, N + 1)])
def test_of_two_rows_that_changed_places_the_first_is_named(first, second, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        for old, new in ((first, 99), (second, first), (99, second)):
            con.execute("update decisions set seq = ? where seq = ?", (new, old))
        con.execute("update sqlite_sequence set seq = ?", (N,))
    assert verify(path).chain.seq == first


@pytest.mark.parametrize("seq", range(1, N))
def test_a_row_that_was_replaced_by_one_that_holds_in_itself_is_named(seq, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        forge(con, seq, body='{"heal_id":"h9","note":"","to":null}')
    chain = verify(path).chain
    assert (chain.seq, chain.reason) == (seq, f"row {seq} was replaced: row {seq + 1} was written after another one")


@pytest.mark.parametrize("seq", range(1, N - 1))
def test_a_row_that_holds_in_itself_and_follows_on_nothing_is_named(seq, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        forge(con, seq, prev_sha256="a" * 64)
    chain = verify(path).chain
    before = f"row {seq - 1}" if seq > 1 else "the beginning"
    assert (chain.seq, chain.reason) == (seq, f"row {seq} was replaced: it does not follow on {before}")


@pytest.mark.parametrize("number", [0, -3])
def test_a_row_numbered_before_the_first_is_named(number, tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute(f"insert into decisions select {number}, ts, actor, kind, body, prev_sha256, sha256 from decisions where seq = 1")
    assert (verify(path).chain.seq, verify(path).chain.reason) == (number, f"row {number} is not numbered from 1")


def test_a_gap_is_named_even_when_the_row_after_it_was_made_to_fit(tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute("delete from decisions where seq = 3")
        forge(con, 4, prev_sha256=shas(path)[1])
    assert (verify(path).chain.seq, verify(path).chain.reason) == (3, "row 3 is missing")


def test_a_row_dated_before_the_one_before_it_is_named(tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        forge(con, N, ts="2026-06-01T11:00:00.000000Z")
    assert (verify(path).chain.seq, verify(path).chain.reason) == (N, "row 5 is dated before row 4")


def test_bytes_that_are_no_text_are_a_changed_row(tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute("update decisions set body = cast(x'ff00fe' as text) where seq = 2")
    assert verify(path).chain.seq == 2


@pytest.mark.parametrize("name", file.GUARDS)
def test_a_trigger_that_is_gone_is_made_evident_though_no_row_was_touched(name, tmp_path):
    path = filled(tmp_path, N).path
    with closing(sqlite3.connect(path)) as con:
        con.execute(f"drop trigger {name}")
    chain = verify(path).chain
    assert (chain.holds, chain.seq, chain.rows, chain.guard) == (False, None, N, f"the trigger {name} is missing")
    assert f"the trigger {name} is missing" in chain.sentence


@pytest.mark.parametrize(
    ("sql", "guard"),
    [
        ("create trigger helpful after insert on decisions begin select 1; end", "helpful was added to the file"),
        ("create view decisions_too as select 1", "decisions_too was added to the file"),
        ("alter table decisions add column note text", "decisions is not as SEAM makes it"),
        ("update sqlite_sequence set seq = 2", "the count of numbers given out was changed"),
        ("delete from sqlite_sequence", "the count of numbers given out was changed"),
    ],
)
def test_whatever_else_was_done_to_the_file_is_made_evident(sql, guard, tmp_path):
    path = filled(tmp_path, N).path
    with closing(sqlite3.connect(path)) as con, con:
        con.execute(sql)
    assert (verify(path).chain.holds, verify(path).chain.guard) == (False, guard)
    with pytest.raises(BrokenChainError):
        Ledger(path).write(handed(9), actor=ANA)


@pytest.mark.parametrize("sql", ["drop table decisions", "alter table decisions rename to old", "alter table decisions rename body to b"])
def test_a_table_that_is_gone_is_said(sql, tmp_path):
    path = filled(tmp_path, N).path
    with closing(sqlite3.connect(path)) as con:
        con.execute(sql)
    for act in (lambda: verify(path), lambda: Ledger(path).rows(), lambda: Ledger(path).write(handed(1), actor=ANA)):
        with pytest.raises(LedgerError, match="has lost its table of decisions"):
            act()


def test_a_row_that_was_changed_is_named_beside_a_trigger_that_is_gone(tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path, again=False) as con:
        con.execute("update decisions set body = '{}' where seq = 4")
    chain = verify(path).chain
    assert (chain.seq, chain.guard) == (4, "the trigger decisions_are_never_updated is missing")


def test_a_chain_made_wholly_anew_is_caught_by_the_head_that_was_noted(tmp_path):
    path = filled(tmp_path, N).path
    heads = shas(path)
    with opened_by_force(path) as con:
        prev = forge(con, 3, body='{"heal_id":"h9","note":"","to":null}')
        for seq in (4, 5):
            prev = forge(con, seq, prev_sha256=prev)
    assert verify(path).holds
    assert [verify(path, head=head).head_seq for head in heads] == [1, 2, None, None, None]
    assert [verify(path, head=head).holds for head in heads] == [True, True, False, False, False]


def test_rows_cut_off_at_the_end_with_all_traces_are_caught_by_the_head_that_was_noted(tmp_path):
    path = filled(tmp_path, N).path
    head = noted(path)
    assert head == {"head": shas(path)[-1], "rows": N}
    with opened_by_force(path) as con:
        con.execute("delete from decisions where seq = 5")
        con.execute("update sqlite_sequence set seq = 4")
    assert verify(path).holds
    assert not verify(path, head=head["head"]).holds


def test_a_noted_head_is_still_found_when_rows_were_added(tmp_path):
    ledger = filled(tmp_path, 3)
    head = noted(ledger.path)["head"]
    ledger.write(handed(9), actor=ANA)
    assert (verify(ledger.path, head=head).holds, verify(ledger.path, head=head).head_seq) == (True, 3)


# ---- a broken chain stops writing


def test_a_broken_chain_refuses_writing_until_a_person_has_looked(tmp_path):
    path = filled(tmp_path, N).path
    with opened_by_force(path) as con:
        con.execute("update decisions set body = '{}' where seq = 2")
    before = files_in(tmp_path)
    with pytest.raises(BrokenChainError, match=r"row 2 was changed.*Nothing more is written until a person has looked"):
        Ledger(path).write(handed(9), actor=ANA)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("again", [True, False], ids=["triggers put back", "triggers left away"])
def test_an_edit_under_a_running_process_is_noticed_before_its_next_write(again, tmp_path):
    ledger = filled(tmp_path, N)
    ledger.write(handed(6), actor=ANA)
    with opened_by_force(ledger.path, again=again) as con:
        con.execute("update decisions set body = '{}' where seq = 2")
    with pytest.raises(BrokenChainError, match="row 2 was changed"):
        ledger.write(handed(7), actor=ANA)
    assert ledger.chain().seq == 2


def test_an_edit_hidden_behind_a_row_that_was_added_is_noticed_too(tmp_path):
    ledger = filled(tmp_path, N)
    ledger.chain()
    with opened_by_force(ledger.path) as con:
        con.execute("update decisions set body = '{}' where seq = 2")
    with closing(sqlite3.connect(ledger.path)) as con, con:
        con.execute("insert into decisions select 6, ts, actor, kind, body, sha256, sha256 from decisions where seq = 5")
        con.execute("select 1")
    assert ledger.chain().seq == 2


def test_bytes_changed_past_sqlite_are_noticed_before_the_next_write(tmp_path):
    ledger = filled(tmp_path, N)
    ledger.chain()
    time.sleep(0.02)  # a file system's clock may tick in hundredths
    data = ledger.path.read_bytes()
    ledger.path.write_bytes(data.replace(b'"heal_id":"h2"', b'"heal_id":"h7"'))
    with pytest.raises(BrokenChainError, match="row 2 was changed"):
        ledger.write(handed(7), actor=ANA)


def test_another_ledger_put_in_its_place_is_followed_from_its_beginning(tmp_path):
    (tmp_path / "other").mkdir()
    ledger, other = filled(tmp_path, 3), filled(tmp_path / "other", 2)
    ledger.chain()
    other.path.replace(ledger.path)
    assert ledger.chain().rows == 2
    assert ledger.write(handed(9), actor=ANA).seq == 3


def test_a_ledger_that_was_taken_away_is_one_without_decisions(tmp_path):
    ledger = filled(tmp_path, 3)
    ledger.chain()
    ledger.path.unlink()
    assert ledger.chain() == Chain()
    assert ledger.write(handed(1), actor=ANA).seq == 1


# ---- what a look costs


@pytest.fixture
def followed(monkeypatch):
    """How many rows each look followed."""
    looks = []

    def counting(rows, start, *, seen):
        looks.append(0)

        def one_by_one():
            for row in rows:
                looks[-1] += 1
                yield row

        return book_follow(one_by_one(), start, seen=seen)

    book_follow = book.follow
    monkeypatch.setattr(book, "follow", counting)
    return looks


def test_the_chain_is_followed_whole_once_and_then_only_what_was_added(tmp_path, followed):
    path = filled(tmp_path, N).path
    del followed[:]
    ours, theirs = Ledger(path), Ledger(path)
    ours.write(handed(6), actor=ANA)
    ours.write(handed(7), actor=ANA)
    assert followed == [5, 0]
    theirs.write(handed(8), actor=BEN)
    ours.write(handed(9), actor=ANA)
    ours.chain()
    assert followed == [5, 0, 7, 1, 0]


def test_asking_about_one_heal_reads_its_rows_alone(tmp_path):
    ledger = new_ledger(tmp_path)
    for number in (1, 2, 1, 3, 1):
        ledger.write(handed(number, note=str(len(ledger.rows()))), actor=ANA)
    assert ledger.ask(lambda history: [row.seq for row in history.on_heal("h1", "assignment")]) == [5, 3, 1]
    assert ledger.ask(lambda history: [row.seq for row in history.on_heal("h1", "review")]) == []
    assert ledger.ask(lambda history: [row.seq for row in history.newest_first()]) == [5, 4, 3, 2, 1]
    assert new_ledger(tmp_path / "..").ask(lambda history: list(history.newest_first())) == []


# ---- one decision, one transaction


def test_what_says_so_already_is_given_back_and_nothing_is_written(tmp_path):
    ledger = filled(tmp_path, 2)
    before = files_in(tmp_path)
    first = ledger.rows()[0]
    assert ledger.write(handed(1), actor=ANA, unless=lambda history: first) == first
    assert files_in(tmp_path) == before


def test_whoever_refuses_leaves_nothing_behind(tmp_path):
    def refuse(history):
        raise LedgerError("not like that")

    for folder in (tmp_path / "none", tmp_path / "some"):
        folder.mkdir()
    ledger = filled(tmp_path / "some", 2)
    before = files_in(tmp_path / "some")
    for one in (new_ledger(tmp_path / "none"), ledger):
        with pytest.raises(LedgerError, match="not like that"):
            one.write(handed(3), actor=ANA, unless=refuse)
    assert files_in(tmp_path / "some") == before
    assert list((tmp_path / "none").iterdir()) == []


def write_and_stop(path):
    with file.writing(path) as con:
        con.execute("insert into decisions select 3, ts, actor, kind, body, sha256, sha256 from decisions where seq = 2")
        raise KeyboardInterrupt


def test_a_script_that_is_stopped_in_the_middle_leaves_nothing_behind(tmp_path):
    """A page's run may be ended by an exception that is no Exception."""
    ledger = filled(tmp_path, 2)
    with pytest.raises(KeyboardInterrupt):
        write_and_stop(ledger.path)
    assert verify(ledger.path).chain.rows == 2
    assert ledger.write(handed(3), actor=ANA).seq == 3


def test_a_clock_that_was_set_back_loses_nothing_and_is_told(tmp_path):
    clock = Clock()
    ledger = Ledger(tmp_path / "decisions.sqlite", clock=clock)
    first = ledger.write(handed(1), actor=ANA)
    clock.put(NOON - timedelta(hours=2))
    behind = ledger.write(handed(2), actor=ANA)
    clock.put(NOON + timedelta(hours=1))
    after = ledger.write(handed(3), actor=ANA)
    assert [first.ts, behind.ts, after.ts] == ["2026-06-01T12:00:00.000000Z"] * 2 + ["2026-06-01T13:00:00.000000Z"]
    assert (behind.decision.clock, first.decision.clock, after.decision.clock) == (
        "2026-06-01T10:00:00.000000Z", msgspec.UNSET, msgspec.UNSET,
    )  # fmt: skip
    assert behind.note == (
        "the clock said 2026-06-01T10:00:00.000000Z, before the decision ahead of this one; "
        "it is dated 2026-06-01T12:00:00.000000Z like that one. Set the clock right"
    )
    assert (first.note, after.note) == (None, None)
    assert verify(ledger.path).holds


def test_a_ledger_locked_for_too_long_is_said_and_the_next_try_succeeds(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "LOCK_S", 0.1)
    ledger = filled(tmp_path, 2)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("begin exclusive")
        for act in (ledger.chain, lambda: ledger.write(handed(3), actor=ANA)):
            with pytest.raises(LedgerError, match="another program has kept it locked for too long; nothing was written, try again"):
                act()
        other.execute("rollback")
    assert ledger.write(handed(3), actor=ANA).seq == 3


def test_a_reader_that_does_not_let_go_stops_a_write_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "LOCK_S", 0.1)
    ledger = filled(tmp_path, 2)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("begin")
        other.execute("select count(*) from decisions").fetchone()
        with pytest.raises(LedgerError, match="locked for too long"):
            ledger.write(handed(3), actor=ANA)
    assert [row.seq for row in ledger.rows()] == [1, 2]
    assert ledger.write(handed(3), actor=ANA).seq == 3


def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path, monkeypatch):
    ledger = filled(tmp_path, 2)
    connect = file._connect

    def on_a_full_disk(path, mode):
        con = connect(path, mode)
        con.execute("pragma max_page_count = 1")  # no more pages than there are
        return con

    monkeypatch.setattr(file, "_connect", on_a_full_disk)
    with pytest.raises(LedgerError, match="the disk is full; nothing was written"):
        ledger.write(handed(3, note="x" * 2000), actor=ANA), ledger.write(handed(4, note="x" * 2000), actor=ANA)
    monkeypatch.undo()
    assert verify(ledger.path).holds
    assert files_in(tmp_path).keys() == {"decisions.sqlite"}
    assert ledger.write(handed(5), actor=ANA).seq == len(ledger.rows())


LIMITED = """
import resource, signal, sys
from pathlib import Path
from seam_core.ledger import Ledger, LedgerError, Local
from seam_core.ledger.kinds import Assignment
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
ledger = Ledger(Path(sys.argv[1]))
try:
    for number in range(1000):
        print(ledger.write(Assignment(heal_id=str(number), to="t", note="x" * 1900), actor=Local("a")).sha256, flush=True)
except LedgerError as error:
    print(error)
"""


def test_a_file_that_may_grow_no_more_keeps_every_row_that_was_acknowledged(tmp_path):
    path = filled(tmp_path, 1).path
    *acknowledged, sentence = in_child(LIMITED, path).stdout.splitlines()
    assert acknowledged
    assert sentence.startswith(f"{path}: the disk ")
    assert sentence.endswith("; nothing was written")
    assert shas(path)[1:] == acknowledged
    assert verify(path).holds


# ---- processes that write at once, and processes that are killed

TEN_THREADS = """
import sys, threading
from pathlib import Path
from seam_core.ledger import Ledger, Local
from seam_core.ledger.kinds import Assignment
shared = Ledger(Path(sys.argv[1]))

def write(thread):
    ledger = shared if thread % 2 else Ledger(shared.path)
    for number in range(5):
        ledger.write(Assignment(heal_id=f"{sys.argv[2]}.{thread}.{number}", to="t", note=""), actor=Local(sys.argv[2]))

threads = [threading.Thread(target=write, args=(thread,)) for thread in range(10)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_two_processes_of_ten_threads_lose_nothing_and_the_chain_stays_whole(tmp_path):
    path = tmp_path / "decisions.sqlite"
    writers = [started(TEN_THREADS, path, name) for name in ("a", "b")]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    expected = {f"{name}.{thread}.{number}" for name in "ab" for thread in range(10) for number in range(5)}
    rows = Ledger(path).rows()
    assert ({row.decision.heal_id for row in rows}, len(rows)) == (expected, 100)
    assert verify(path).chain.rows == 100


def test_threads_that_look_while_others_write_see_whole_rows_only(tmp_path):
    ledger = filled(tmp_path, 1)
    seen, faults = [], []

    def look():
        while len(seen) < 200:
            chain = Ledger(ledger.path).chain() if len(seen) % 2 else ledger.chain()
            seen.append(chain.rows)
            faults.extend([] if chain.holds else [chain.sentence])

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(2, 42):
        ledger.write(handed(number), actor=ANA)
    for thread in threads:
        thread.join()
    assert faults == []
    assert ledger.chain().rows == 41


WRITER = """
import itertools, os, sys
from pathlib import Path
from seam_core.ledger import Ledger, Local
from seam_core.ledger.kinds import Assignment
ledger = Ledger(Path(sys.argv[1]))
for number in itertools.count():
    row = ledger.write(Assignment(heal_id=f"{os.getpid()}.{number}", to="t", note="x" * (number * 97 % 1900)), actor=Local("writer"))
    os.write(1, f"{row.sha256}\\n".encode())
"""


def kill_at_random(path, times, seed):
    """Kill a writer `times` times; every acknowledged row must be there, and nothing but whole rows."""
    moments = random.Random(seed)
    acknowledged = []
    for _ in range(times):
        writer = started(WRITER, path)
        lines = [writer.stdout.readline()]
        time.sleep(moments.random() * 0.04)
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.read().splitlines()
        writer.wait()
        acknowledged += [line.strip() for line in lines if len(line.strip()) == 64]
        found = shas(path)
        assert set(acknowledged) <= set(found)
        assert verify(path).holds
    assert len(found) <= len(acknowledged) + times  # at most one a time that was written and not yet acknowledged
    return acknowledged


def test_a_writer_killed_at_any_moment_leaves_a_whole_ledger(tmp_path):
    assert len(kill_at_random(tmp_path / "decisions.sqlite", 20, seed=1)) >= 20


@pytest.mark.soak
def test_a_writer_killed_two_hundred_times_leaves_a_whole_ledger(tmp_path):
    assert len(kill_at_random(tmp_path / "decisions.sqlite", 200, seed=2)) >= 200


KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from seam_core.ledger import Ledger, Local, file
from seam_core.ledger.kinds import Assignment
ledger = Ledger(Path(sys.argv[1]))
with file.writing(ledger.path) as con:
    con.execute("pragma cache_size = 1")  # makes SQLite write pages into the file long before the commit
    for number in range(300):
        chain = ledger._look(con)
        row = ledger._next_row(chain, Assignment(heal_id=str(number), to="t", note="x" * 1900), Local("killed"))
        con.execute("insert into decisions values (?, ?, ?, ?, ?, ?, ?)", row.values)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def interrupted(tmp_path):
    """A ledger of three rows and the journal of a write that was killed in the middle."""
    path = filled(tmp_path, 3).path
    size = path.stat().st_size
    assert in_child(KILLED_IN_THE_MIDDLE, path).returncode == -signal.SIGKILL
    assert path.stat().st_size > size
    assert (tmp_path / "decisions.sqlite-journal").stat().st_size > 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as con, pytest.raises(sqlite3.OperationalError):
        con.execute("select count(*) from decisions").fetchone()  # what SQLite says to a reader
    return path


def test_a_reader_sees_the_last_whole_state_after_a_kill_and_mends_nothing(interrupted):
    before = files_in(interrupted.parent)
    ledger = Ledger(interrupted)
    assert (ledger.chain().holds, ledger.chain().rows, len(ledger.rows()), noted(interrupted)["rows"]) == (True, 3, 3, 3)
    assert len(ledger.copy()) < interrupted.stat().st_size
    assert files_in(interrupted.parent) == before


def test_a_reader_without_any_right_to_write_sees_it_too(interrupted):
    open_to_all(interrupted.parent)
    (interrupted.parent / "decisions.sqlite-journal").chmod(0o644)
    interrupted.parent.chmod(0o555)
    assert in_child(LOOK, interrupted).stdout.strip() == "3"
    interrupted.parent.chmod(0o755)


def test_the_next_writer_undoes_what_was_interrupted(interrupted):
    assert Ledger(interrupted).write(handed(4), actor=ANA).seq == 4
    assert verify(interrupted).chain.rows == 4
    assert list(files_in(interrupted.parent)) == ["decisions.sqlite"]


def test_a_journal_that_another_program_just_applied_is_not_waited_for(interrupted, monkeypatch):
    """Between the refusal and the copy somebody else may have mended the file."""

    def mended_meanwhile(path, folder):
        Ledger(path).write(handed(4), actor=ANA)
        return False

    monkeypatch.setattr(file, "_is_copied_with_journal", mended_meanwhile)
    assert len(Ledger(interrupted).rows()) == 4


def test_a_journal_that_keeps_changing_is_said(interrupted, monkeypatch):
    monkeypatch.setattr(file, "_is_copied_with_journal", lambda path, folder: False)
    with pytest.raises(LedgerError, match="a write was interrupted and is not undone yet"):
        Ledger(interrupted).chain()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files under /proc")
def test_no_file_is_left_open(tmp_path):
    ledger = filled(tmp_path, 2)
    for act in (ledger.chain, ledger.rows, ledger.copy, lambda: ledger.write(handed(9), actor=ANA)):
        act()
    left = [one.resolve() for one in Path("/proc/self/fd").iterdir()]
    assert not [path for path in left if "decisions" in path.name]
