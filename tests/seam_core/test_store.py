"""The store: appended bytes only, rows that know their line, a version that moves when a report could, one digest for any order."""

import json
import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seam_core import lines, loading
from seam_core import offsets as offsets_module
from seam_core import texts as texts_module
from seam_core.files import open_log
from seam_core.lines import LogFile
from seam_core.offsets import LazyOffsets
from seam_core.texts import Edit, Remembered
from tests.seam_core.workspaces import DIRECT_MIN, as_line, cases, failure, heal, json_lines, kept, opened, rejected, run, texts_of, write


def append(path, *rows, end=b"\n"):
    with path.open("ab") as log:
        log.write(b"\n".join(map(as_line, rows)) + end)


@pytest.fixture
def reads(monkeypatch):
    """(start, bytes) of every read of a log."""
    seen = []
    read = LogFile.read

    def counted(self, start, n_bytes):
        data = read(self, start, n_bytes)
        seen.append((start, len(data)))
        return data

    monkeypatch.setattr(LogFile, "read", counted)
    return seen


# ---- reading what was appended, and nothing else


def test_a_refresh_without_a_change_reads_nothing(either_path, tmp_path, reads):
    path = write(tmp_path, heal_events=[heal(number) for number in range(100)], failures=[failure("E", 1)])
    with opened(path) as store:
        reads.clear()
        refreshed = store.refresh()
        assert (reads, refreshed.added["heals"], refreshed.notes, refreshed.changed) == ([], 0, (), False)


def test_a_refresh_reads_the_appended_bytes_and_a_fingerprint_of_the_rest(either_path, tmp_path, reads):
    """4 MB are there; 10 lines are appended. The fingerprint may read 64 kB at either end and sixteen samples of 4 kB, twice.

    A file that DuckDB read by itself has its lines counted once, at the first append.
    """
    path = write(tmp_path, heal_events=[heal(number, 1, text="x" * 4000) for number in range(999)])
    fingerprint = 2 * 64 * 1024 + 16 * 4096
    with opened(path) as store:
        append(path, heal(999, 1))
        store.refresh()
        n_before = path.stat().st_size
        append(path, *(heal(number, 1, text="y" * 4000) for number in range(1000, 1010)))
        n_new = path.stat().st_size - n_before
        reads.clear()
        assert store.refresh().added["heals"] == 10
        below = sum(n_bytes for start, n_bytes in reads if start < n_before)
        above = sum(n_bytes for start, n_bytes in reads if start >= n_before)
        assert below <= 2 * fingerprint
        assert above <= 5 * n_new
        assert below + above < n_before / 5


def test_only_the_log_that_grew_is_read(tmp_path, reads):
    path = write(tmp_path, heal_events=[heal(1)], failures=[failure("E", 1)], surface=cases(3))
    with opened(path) as store:
        reads.clear()
        append(tmp_path / "failures.jsonl", failure("E", 2))
        assert store.refresh().added == {"heals": 0, "failures": 1, "runs": 0, "holdout": 0, "practice": 0, "surface": 0, "protected": 0}
        assert max(start for start, _ in reads) <= (tmp_path / "failures.jsonl").stat().st_size


def test_a_repeat_or_a_rewrite_is_noticed_when_it_is_appended_later(either_path, tmp_path):
    path = write(tmp_path, heal_events=[heal(1), heal(2)])
    with opened(path) as store:
        append(path, heal(1), heal(2, score=1))
        store.refresh()
        append(path, heal(3), heal(1))
        store.refresh()
        assert kept(store) == [(1, "h1"), (2, "h2"), (5, "h3")]
        assert store.counts()["repeated"] == 2
        assert rejected(store) == [(4, "heal_id", "rewritten: line 2 already has this heal_id")]


# ---- the version


@pytest.mark.parametrize(
    ("file", "appended", "moves"),
    [
        ("heal_events.jsonl", b"", False),
        ("heal_events.jsonl", b"\n \r\n", False),
        ("heal_events.jsonl", as_line(heal(2)) + b"\n", True),
        ("heal_events.jsonl", as_line(heal(1)) + b"\n", True),
        ("heal_events.jsonl", b"not a heal\n", True),
        ("heal_events.jsonl", b'{"half', True),
        ("failures.jsonl", b"", True),
        ("failures.jsonl", as_line(failure("E", 1)) + b"\n", True),
        ("suite_runs.jsonl", as_line(run("r", "after", 1, {})) + b"\n", True),
        ("surface.jsonl", as_line({"id": "c"}) + b"\n", True),
        ("certified.json", b'{"c": "pass"}', True),
        ("certified.json", b"[", True),
        ("notes.txt", b"hello", False),
    ],
    ids=["nothing", "blank lines", "a heal", "a repeat", "a bad line", "half a line", "an empty log", "a failure", "a run", "a case",
         "a baseline", "a broken baseline", "another file"],
)  # fmt: skip
def test_the_version_moves_when_a_report_could_and_only_then(tmp_path, file, appended, moves):
    path = write(tmp_path, heal_events=[heal(1)])
    with opened(path) as store:
        assert store.version == 1
        with (tmp_path / file).open("ab") as log:
            log.write(appended)
        refreshed = store.refresh()
        assert (refreshed.changed, store.version) == (moves, 1 + moves)
        assert store.refresh().changed is False
        assert store.version == 1 + moves


def test_the_version_moves_when_the_last_line_turns_out_to_be_another(tmp_path):
    """First a whole heal without a newline, then more on the same line: the heal is taken back, and no row is added."""
    path = write(tmp_path, heal_events=json_lines([heal(1)]) + as_line(heal(2)))
    with opened(path) as store:
        assert kept(store) == [(1, "h1"), (2, "h2")]
        append(path, b" and more")
        refreshed = store.refresh()
        assert (refreshed.added["heals"], refreshed.changed, store.version) == (0, True, 2)
        assert kept(store) == [(1, "h1")]


def test_a_half_line_that_grows_does_not_move_the_version(tmp_path):
    path = write(tmp_path, heal_events=json_lines([heal(1)]) + b'{"heal')
    with opened(path) as store:
        append(path, b"_id", end=b"")
        assert store.refresh().changed is False


# ---- rows, lines and texts


def test_texts_and_lines_follow_the_rows_asked_for_in_any_order(either_path, tmp_path):
    """Two thousand heals in shuffled order, then more appended; asked for backwards, twice, and by far jumps."""
    heals = [heal(number, 1, text=f"text {number} " + "x" * (number % 3000)) for number in range(2000)]
    rng = random.Random(3)
    rng.shuffle(heals)
    path = write(tmp_path, heal_events=heals)
    with opened(path) as store:
        later = [heal(number, 1, text=f"text {number}") for number in range(2000, 2010)]
        append(path, *later)
        store.refresh()
        written = [record["change"]["after_text"] for record in heals + later]
        rows = [row for (row,) in store.cursor().execute("select row from heals order by row").fetchall()]
        for asked in (rows[::-1], rows[-3:], [*rows[:2], rows[-1], rows[1000], rows[1000]], rng.sample(rows, 500)):
            assert texts_of(store, asked) == [written[row] for row in asked]
            assert [json.loads(line)["change"]["after_text"] for line in store.lines("heals", asked)] == [written[row] for row in asked]
        assert store.line_number("heals", rows[1234]) == 1235
        assert store.line_number("heals", rows[2009]) == 2010


def test_a_row_of_a_bad_file_names_its_physical_line(either_path, tmp_path):
    rows = ["", heal(1), "junk", "", heal(2), "{}", heal(3)]
    path = write(tmp_path, heal_events=rows)
    with opened(path) as store:
        append(path, b"", b"\r", heal(4), "junk", heal(5))
        store.refresh()
        assert kept(store) == [(2, "h1"), (5, "h2"), (7, "h3"), (10, "h4"), (12, "h5")]
        assert [row[0] for row in rejected(store)] == [3, 6, 11]
        rows = [row for (row,) in store.cursor().execute("select row from heals order by row").fetchall()]
        assert [json.loads(line)["heal_id"] for line in store.lines("heals", rows)] == ["h1", "h2", "h3", "h4", "h5"]


def test_a_heal_log_whose_only_line_had_no_newline_at_first_keeps_its_lines(either_path, tmp_path):
    path = write(tmp_path, heal_events=as_line(heal(1)))
    with opened(path) as store:
        assert kept(store) == [(1, "h1")]
        append(path, b"", heal(2), "", heal(3))
        store.refresh()
        assert kept(store) == [(1, "h1"), (2, "h2"), (4, "h3")]


BLANKS = st.sampled_from([b"", b"\r", b" ", b"\t \r"])
WRITTEN = st.lists(
    st.tuples(st.lists(BLANKS, max_size=2), st.integers(0, 60), st.sampled_from([b"", b"\r", b"  "]), st.booleans()),
    min_size=1,
    max_size=25,
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(written=WRITTEN, bom=st.booleans(), newline=st.booleans(), way=st.sampled_from(sorted(DIRECT_MIN)), appended=WRITTEN)
def test_every_row_stands_on_the_line_it_was_written_on(tmp_path_factory, written, bom, newline, way, appended):
    """Blank lines, CRLF, spaces and bad lines anywhere; small blocks, so that a file of a few kB has many of them."""
    data, at_line, number = (b"\xef\xbb\xbf" if bom else b""), {}, 0
    parts = []
    for part in (written, appended):
        for blanks, size, end, is_bad in part:
            data += b"".join(blank + b"\n" for blank in blanks)
            number += 1 + len(blanks)
            name = f"h{number}"
            data += (b"junk" if is_bad else as_line(heal(number, 1, text=name + "x" * size))) + end + b"\n"
            if not is_bad:
                at_line[name] = number
        parts.append(data)
        data = b""
    folder = tmp_path_factory.mktemp("written")
    path = write(folder, heal_events=parts[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "DIRECT_MIN", DIRECT_MIN[way])
        patch.setattr(lines, "RUN_BYTES", 300)
        patch.setattr(offsets_module, "RUN_BYTES", 300)
        patch.setattr(lines, "RUN_GAP", 200)
        with opened(path) as store:
            with path.open("ab") as log:
                log.write(parts[1] if newline else parts[1][:-1])
            store.refresh()
            rows = store.cursor().execute("select row, heal_id from heals order by row desc").fetchall()
            assert {name: store.line_number("heals", row) for row, name in rows} == at_line
            assert [text.rstrip("x") for text in texts_of(store, [row for row, _ in rows])] == [name for _, name in rows]
            assert [
                json.loads(line.removeprefix(b"\xef\xbb\xbf"))["heal_id"] for line in store.lines("heals", [row for row, _ in rows])
            ] == [name for _, name in rows]
            in_order = rows[::-1]
            texts = texts_of(store, [row for row, _ in in_order])  # neighbours in one go
            assert [text.rstrip("x") for text in texts] == [name for _, name in in_order]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=60),
    blanks=st.lists(st.tuples(st.integers(0, 60), BLANKS), max_size=3),
    bom=st.booleans(),
    braces=st.booleans(),
    asked=st.lists(st.integers(0, 59), min_size=1, max_size=8),
)
def test_lazy_offsets_find_the_line_of_any_row_in_any_order(tmp_path_factory, sizes, blanks, bom, braces, asked):
    """The check of identities says yes to everything here: blank lines are noticed by themselves."""
    rows = [(b"{" if braces else b"") + str(place % 10).encode() * size for place, size in enumerate(sizes)]
    physical = [(row, place) for place, row in enumerate(rows)]
    for place, blank in blanks:
        physical.insert(min(place, len(physical)), (blank, None))
    path = tmp_path_factory.mktemp("lazy") / "rows.jsonl"
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + b"".join(line + b"\n" for line, _ in physical))
    expected = {place: number for number, (_, place) in enumerate(physical, start=1) if place is not None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offsets_module, "RUN_BYTES", 64)
        file = open_log(path)
        offsets = LazyOffsets(file, file.n_bytes, len(rows), lambda row, line: True)
        for row in asked:
            if row < len(rows):
                assert file.line_at(offsets[row]).removeprefix(b"\xef\xbb\xbf") == rows[row]
                assert file.line_number(offsets[row]) == expected[row]
        for first in (asked[0], 0):
            assert list(offsets.since(first)) == [offsets[row] for row in range(first, len(rows))]
        file.close()


def test_refused_lines_that_make_a_heal_of_another_one_do_not_lend_it_their_name(tmp_path):
    """Read in one go, lines 2 to 4 are one heal whose text is "theirs", and as many heals stand there as are asked for."""
    path = write(tmp_path, heal_events=[heal(number, 1, text=f"text {number}") for number in range(3)])
    first, second, third = path.read_bytes().splitlines()
    around = b'{"heal_id": "h9", "change": {"after_text": "theirs"}, "inner":'
    path.write_bytes(b"\n".join([first, around, second, b"}", third, b""]))
    with opened(path) as store:
        assert texts_of(store, range(3)) == ["text 0", "text 1", "text 2"]


def test_remembered_texts_are_read_once_while_there_is_room(monkeypatch):
    monkeypatch.setattr(texts_module, "TEXTS_KEPT", 60)
    monkeypatch.setattr(texts_module, "TEXTS_AT_ONCE", 2)
    read = []

    def edits_of(rows):
        for row in rows:
            read.append(row)
            yield Edit(after_text=None if row == 1 else f"{row:010}")

    edits = Remembered(edits_of)
    for rows in ([0, 1, 2], [2, 0, 1, 2], [3, 4, 5, 6, 7, 8], [0, 8, 7]):
        assert [edit.after_text for edit in edits(rows)] == [None if row == 1 else f"{row:010}" for row in rows]
    assert read == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]  # six of ten characters have room


def test_a_text_whose_file_was_written_over_meanwhile_is_an_error_and_not_another_text(either_path, tmp_path):
    path = write(tmp_path, heal_events=[heal(1, text="one"), heal(2, text="two")])
    with opened(path) as store:
        path.write_bytes(b"x" * path.stat().st_size)
        with pytest.raises(Exception, match="was changed while it was being read"):
            texts_of(store, [0])


# ---- digest, logs, notes


def test_the_digest_does_not_depend_on_the_order_of_lines_but_on_what_they_say(tmp_path):
    rows = [heal(number, text=f"text {number}", score=number / 10) for number in range(10)]
    runs = [run(f"r{number}", "nightly", number, {"c0": True, "c1": False}) for number in range(5)]

    def digest(name, heals, suite_runs, **more):
        with opened(write(tmp_path / name, heal_events=heals, suite_runs=suite_runs, **more)) as store:
            return store.digest()

    base = digest("base", rows, runs)
    assert digest("backwards", rows[::-1], runs[::-1]) == base
    assert digest("blank lines and a repeat", [*rows, "", rows[3]], runs) == base
    others = [
        digest("one less", rows[:-1], runs),
        digest("another score", [rows[0] | {"score": 0.99}, *rows[1:]], runs),
        digest("another text", [rows[0] | {"change": {"target": "prompt", "after_text": "text X"}}, *rows[1:]], runs),
        digest("another outcome", rows, [run("r0", "nightly", 0, {"c0": False, "c1": False}), *runs[1:]]),
        digest("a case more", rows, [run("r0", "nightly", 0, {"c0": True, "c1": False, "c2": True}), *runs[1:]]),
        digest("a failure log", rows, runs, failures=[failure("E", 1)]),
        digest("a baseline", rows, runs, certified={"c0": "pass"}),
    ]
    assert len({base, *others}) == 1 + len(others)


def test_an_empty_log_is_a_log_and_a_missing_one_is_not(tmp_path):
    with opened(write(tmp_path, heal_events=[heal(1)], failures=b"")) as store:
        assert [table for table in store.states if store.has(table)] == ["heals", "failures"]


def test_fixtures_come_from_one_folder_chosen_whole(tmp_path):
    """A fixtures folder beside the log is used, unless it is a workspace of its own."""
    path = write(tmp_path, heal_events=[heal(1)], surface=cases(1), holdout=[{"id": "q"}])
    write(tmp_path / "fixtures", surface=cases(3))
    with opened(path) as store:
        assert (store.workspace.fixtures_label, len(kept(store, "surface")), store.has("holdout")) == ("fixtures", 3, False)
    write(tmp_path / "fixtures", heal_events=[heal(9)])
    with opened(path) as store:
        assert (store.workspace.fixtures_label, len(kept(store, "surface")), store.has("holdout")) == (".", 1, True)


def test_notes_name_what_could_not_be_read(tmp_path):
    path = write(tmp_path, heal_events=[heal(1)])
    (tmp_path / "failures.jsonl.gz").write_bytes(b"not packed")
    with opened(path) as store:
        (note,) = store.notes()
        assert note.startswith("failures.jsonl.gz is not packed as its name says")
        (tmp_path / "failures.jsonl.gz").unlink()
        assert store.refresh().notes == ("failures.jsonl is gone",)
        assert store.notes() == []


def test_cursors_keep_to_themselves_and_tell_time_in_utc(tmp_path):
    with opened(write(tmp_path, heal_events=[heal(1)])) as store:
        one, other = store.cursor(), store.cursor()
        one.execute("create temp table mine as select 1")
        with pytest.raises(Exception, match="mine"):
            other.execute("from mine")
        assert other.execute("select ts::varchar from heals").fetchall() == [("2026-06-02 12:00:00+00",)]


MESSY = [
    heal(1), heal(2, text="a\nb"), heal(3, score=0.5), heal(1), heal(2, text="other"), heal(1, cycle=2),
    b"junk", b"", b"\r", b"[1]", b'{"x": NaN}', {"heal_id": "h7"}, heal(8, ts="2026-06-01T10:00:00"),
    as_line(heal(4)) + b"\r", b"\xef\xbb\xbf" + as_line(heal(5)), as_line(heal(6))[:-1] + b", }", as_line(heal(9)) * 2,
]  # fmt: skip


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.sampled_from(range(len(MESSY))), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 2500), max_size=4),
    newline=st.booleans(),
    way=st.sampled_from(sorted(DIRECT_MIN)),
)
def test_a_log_read_in_any_steps_gives_what_one_load_gives(tmp_path_factory, rows, cuts, newline, way):
    """Cut anywhere, in the middle of lines too, with a refresh at each cut."""
    data = json_lines([MESSY[row] for row in rows])
    data = data if newline else data[:-1]

    def outcome(store):
        return kept(store), rejected(store), store.counts(), store.digest()

    folder = tmp_path_factory.mktemp("steps")
    path = write(folder, heal_events=b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "DIRECT_MIN", DIRECT_MIN[way])
        with opened(path) as store:
            places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
            for start, stop in pairwise(places):
                with path.open("ab") as log:
                    log.write(data[start:stop])
                store.refresh()
            with opened(path) as fresh:
                assert outcome(store) == outcome(fresh)
