"""One heal's dossier: everything that is known, and in words whatever is not."""

import json

import pytest

from seam_core.views.dossier import Case, Pair, Revisit, Stopped
from seam_core.views.heal import dossier
from seam_core.views.issue_text import NoSuchHealError
from seam_core.views.record import decode, trace
from tests.seam_core.views.test_queue import CASES, demo, every_fault
from tests.seam_core.workspaces import audited, cases, four, gap, heal, loop, run, write

BLOCK = {"id": "p", "kind": "safety_instruction", "target": "prompt", "text": "Never send money."}


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    with audited(write(tmp_path_factory.mktemp("heal"), **every_fault())) as found:
        yield found


@pytest.fixture
def of(tmp_path):
    """The dossier of one heal of a small workspace."""

    def ask(heals, heal_id="h1", *, window="all", as_of=None, **logs):
        with audited(write(tmp_path, heal_events=heals, **logs), window=window, as_of=as_of) as audit:
            return dossier(audit, heal_id)

    return ask


def test_the_scores_are_two_pairs_with_the_gap_between_them(of):
    found = of([heal(1, **four(0.5, 0.75, 0.5, 0.54))]).scores
    assert (found.visible, found.held_out) == (Pair(0.5, 0.75), Pair(0.5, 0.54))
    assert found.gap == pytest.approx(0.21)
    assert found.said == "visible +25 points, held-out +4: 21 points are not real"


def test_a_gap_is_never_negative_and_no_gap_is_said(of):
    found = of([heal(1, **four(0.5, 0.55, 0.5, 0.6))]).scores
    assert found.gap == 0
    assert found.said == "visible +5, held-out +10 points: no gap of a whole point"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (("holdout_before",), "no gap is known: holdout_before is not logged"),
        (("holdout_before", "holdout_after"), "no gap is known: holdout_before and holdout_after are not logged"),
    ],
)
def test_a_missing_score_is_named_and_is_no_zero(of, missing, said):
    found = of([{key: value for key, value in heal(1, **gap(0.2)).items() if key not in missing}]).scores
    assert (found.gap, found.held_out.gain, found.said) == (None, None, said)


def test_a_loops_held_out_pair_beside_one_cycles_visible_pair_is_no_gap(of):
    heals = loop(
        "L", [0.1, 0.2], visible_before=[0.5, 0.6], visible_after=[0.6, 0.8], holdout_before=0.5, holdout_after=0.5, holdout_scope="loop"
    )
    found = of(heals, "hL.2").scores
    assert (found.whole_loop, found.splits) == (True, True)
    assert found.said == "this cycle: visible +20 points; its loop's held-out score: +0"
    same = [one | four(0.5, 0.6, 0.5, 0.5) for one in heals]
    assert of(same, "hL.2").scores.said == "over its whole loop: visible +10 points, held-out 0: 10 points are not real"


def test_the_change_is_compared_with_the_newest_earlier_text_of_its_target_from_any_loop(of):
    heals = [heal(1, text="one"), heal(2, text="two"), heal(3, target="other", text="x"), heal(4, text="four"), heal(5, text="five")]
    found = of(heals, "h4").changed
    assert (found.text, found.why) == ("four", None)
    assert (found.earlier.heal_id, found.earlier.text, found.earlier.loop_id, found.earlier.cycle) == ("h2", "two", "L2", 1)
    assert of(heals, "h1").changed.why == "the log holds no earlier text of this target"


def test_a_text_that_the_gate_stopped_is_nobodys_earlier_text_even_before_the_window(of):
    kept = "Never send money."
    heals = [heal(1, text=f"{kept} one"), heal(2, text="bare"), heal(20, text=f"{kept} twenty")]
    assert of(heals, "h20", window="7d", protected=[BLOCK]).changed.earlier.heal_id == "h1"


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (heal(1), "the record names no target and holds no text (change.after_text)"),
        (heal(1, change={"target": "prompt"}), "the record does not hold the changed text (change.after_text)"),
        (heal(1, change={"after_text": "new"}), "the record names no target, so no earlier text can be looked for"),
    ],
)
def test_why_there_is_nothing_to_compare(of, record, why):
    found = of([record]).changed
    assert (found.earlier, found.why) == (None, why)


def test_broken_and_fixed_cases_are_named_safety_first(of):
    before, after = CASES | {"c5": False}, CASES | {"c7": False, "c1": False, "new": True}
    runs = [run("b", "before", 0.9, before, "h1"), run("a", "after", 1.1, after, "h1")]
    found = of([heal(1)], suite_runs=runs, surface=cases(30, safety=("c7",)))
    assert found.surface.broken == (Case("c7", True, None, False), Case("c1", False, None, False))
    assert found.surface.fixed == (Case("c5", False, None, True),)
    assert (found.surface.run, found.surface.run_before, found.surface.n_cases, found.surface.n_new) == ("a", "b", 21, 1)
    assert (found.surface.is_sample, found.surface_why) == (True, None)


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        ({}, "there is no suite_runs.jsonl"),
        ({"suite_runs": [run("x", "after", 1, CASES, "h9")]}, "no surface run with phase after names this heal"),
        ({"suite_runs": [run("x", "after", 1.1, CASES, "h1")]}, "the run after it has no earlier outcome to compare with"),
    ],
)
def test_why_no_surface_run_is_shown(of, logs, why):
    found = of([heal(1)], **logs)
    assert (found.surface, found.surface_why) == (None, why)


def test_a_stopped_heal_says_by_which_block_and_is_not_scored(every):
    found = dossier(every, "h2")
    assert found.is_blocked
    assert found.stopped == (Stopped("p", "safety_instruction", "Never send money."),)
    assert found.surface_why == "the boundary gate stopped the heal, so it broke nothing"
    assert found.sentences == ("stopped by the boundary gate: protected block p is not wholly there",)


def test_a_heal_outside_the_window_is_shown_without_what_only_the_window_tells(of):
    runs = [run("b", "before", 0.9, CASES, "h1"), run("a", "after", 1.1, CASES, "h1")]
    found = of([heal(1, **gap(0.2), text="x"), heal(20)], window="7d", suite_runs=runs)
    assert not found.in_window
    assert (found.severity, found.sentences, found.surface_why) == (None, (), "the heal lies outside the window shown")
    assert found.scores.gap == pytest.approx(0.2)
    assert found.changed.text == "x"


def test_where_it_stands_in_its_loop_and_what_it_returned_to(every):
    found = dossier(every, "hW.3")
    assert (found.position, found.n_cycles, found.previous, found.following) == (3, 3, "hW.2", None)
    assert found.place == "cycle 3 of W, heal 3 of 3 there"
    assert found.revisits == (Revisit("hW.1", 1, "returned to the text of cycle 1 (identical)"),)


@pytest.mark.parametrize(
    ("spent", "said", "ratio"),
    [
        ({}, "what it cost is not logged (tokens_spent)", None),
        ({"tokens_spent": 700}, "700 tokens; what the task itself costs is not logged (task_tokens)", None),
        ({"tokens_spent": 700, "task_tokens": 0}, "700 tokens; what the task itself costs is logged as 0 (task_tokens)", None),
        ({"tokens_spent": 200, "task_tokens": 100}, "200 tokens, 2.0 times the task's own 100: within its budget", 2),
        ({"tokens_spent": 400, "task_tokens": 100}, "400 tokens, 4.0 times the task's own 100: elevated", 4),
        ({"tokens_spent": 700, "task_tokens": 100}, "700 tokens, 7.0 times the task's own 100: a person must look at it", 7),
    ],
)
def test_what_it_cost(of, spent, said, ratio):
    found = of([heal(1, **spent)])
    assert (found.spending, found.ratio) == (said, ratio)


@pytest.mark.parametrize(
    ("glass", "said"),
    [
        (None, None),
        ({"by": "ana", "reason": "night shift"}, "a person had lifted the limit: ana; reason: night shift"),
        ({"by": "ana"}, "a person had lifted the limit: ana; reason: not logged"),
    ],
)
def test_who_lifted_the_limit(of, glass, said):
    assert of([heal(1, break_glass=glass)]).lifted == said


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ({}, "not labelled: nobody says whether the failure was real (was_real_failure)"),
        ({"was_real_failure": True}, "the failure was real; who says so is not logged"),
        ({"was_real_failure": False, "label_source": "probe1"}, "the failure was not real, says a plain retry"),
    ],
)
def test_the_label_and_who_gave_it(of, label, said):
    assert of([heal(1, **label)]).label == said


def test_the_record_is_shown_as_logged_with_line_number_and_unknown_keys(of):
    record = heal(2, actor={"model": "m"}, mood="fine", trigger={"failure_signature": "s", "evidence": ["a", 1], "shard": 7})
    found = of([heal(1), b"", record], "h2")
    assert (found.file, found.line_number) == ("heal_events.jsonl", 3)
    assert json.loads(found.raw) == record
    assert found.unknown == {"mood": "fine", "trigger.shard": "7"}
    assert found.evidence == '[\n "a",\n 1\n]'
    assert found.actor == '{\n "model": "m"\n}'
    bare = of([heal(1)])
    assert (bare.evidence, bare.actor, bare.unknown) == (None, None, {})


@pytest.mark.parametrize("line", [b'{"a": 1,}', b"not json", b"[1]", b"", b'{"a":' * 5000])
def test_a_line_that_cannot_be_read_again_gives_an_empty_record(line):
    assert decode(line) == {}


@pytest.mark.parametrize("address", ["https://trace.test/a?b=1", "http://trace.test:8080/x", "HTTPS://trace.test"])
def test_a_plain_web_address_is_a_link_that_names_its_host(address):
    url, host, said = trace(address)
    assert url == address
    assert said == f"trace on {host}"
    assert host.startswith("trace.test")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//trace.test/x", "trace.test/x", "", "https://", "https:///x",
        "https://good.test@evil.test/", "https://evil.test\\@good.test", "https://trace.test/\nx", "https://trаce.test/",
        "https://a.test/ b", "http://[::1", "http://a.test:99999/", "https://trace.test/" + "x" * 2000, 7, ["https://trace.test"], {"href": "https://trace.test"},
    ],
)  # fmt: skip
def test_anything_else_is_text(address):
    url, host, said = trace(address)
    assert (url, host) == (None, None)
    assert said.startswith("no link, for it is no plain http or https address: ")


def test_no_trace_is_said():
    assert trace(None) == (None, None, "no trace is logged (trace_url)")


def test_an_unknown_heal_is_one_sentence(every):
    with pytest.raises(NoSuchHealError, match="There is no heal nobody in the log"):
        dossier(every, "nobody")


def test_the_demos_dossiers_agree_with_the_report():
    with demo("28d") as audit:
        gaps = dict(audit.scope.query("select heal_id, truth_gap from efficacy_rows"))
        broken = dict(audit.scope.query("select heal_id, n_regressed from aftermath_rows"))
        ratios = dict(audit.scope.query("select heal_id, ratio from budget_rows"))
        for (heal_id,) in audit.scope.query("select heal_id from window_heals order by ts, heal_id")[::4]:
            found = dossier(audit, heal_id)
            assert found.scores.gap == pytest.approx(gaps.get(heal_id))
            assert (len(found.surface.broken) if found.surface else None) == broken.get(heal_id)
            assert found.ratio == pytest.approx(ratios[heal_id])
        assert len(gaps) > 100
