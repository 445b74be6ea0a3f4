"""What the gate stopped, what became of protected texts, which blocks protect nothing; what heals cost and who lifted a limit."""

import pytest

from seam_core.views import budget, gates
from seam_core.views.filters import Filters
from tests.seam_core.workspaces import audited, heal, write

ALL = Filters()
RULE = "Never place an order without the customer's explicit yes."


def block(name="p", target="prompt", **changes):
    return {"id": name, "kind": "safety_instruction", "target": target} | changes


def found_in(tmp_path, heals, blocks):
    return audited(write(tmp_path, heal_events=heals, protected=blocks))


def test_stopped_heals_come_newest_first_with_every_block_that_they_break(tmp_path):
    heals = [
        heal(1, target="prompt", text="nothing"),
        heal(2, target="prompt", text=f"first. {RULE} last"),
        heal(3, target="tools", text="whatever"),
        heal(4, target="prompt", text="nothing again"),
    ]
    blocks = [block("a", text=RULE), block("b", "*", text="keep"), block("c", "tools")]
    with found_in(tmp_path, heals, blocks) as found:
        rows = gates.stopped(found, ALL)
        assert [(one.heal_id, one.blocks, one.is_whole_target) for one in rows] == [
            ("h4", ("a", "b"), False),
            ("h3", ("b", "c"), True),
            ("h2", ("b",), False),
            ("h1", ("a", "b"), False),
        ]
        assert [one.heal_id for one in gates.stopped(found, Filters(targets=("tools",)))] == ["h3"]
        assert gates.stopped(found, Filters(levels=(0,))) == ()


@pytest.mark.parametrize(
    ("text", "passage", "said"),
    [
        (f"First. {RULE.replace('explicit', 'tacit')} Last.", RULE.replace("explicit", "tacit"), "8 of its 9 words are left"),
        (f"First. {RULE.upper()} Last.", RULE.upper(), "only capital and small letters differ"),
        ("Place orders quickly, and ask nobody.", None, "is gone"),
        ("x", None, "is gone"),
        ("", None, "emptied"),
        ("  \n", None, "emptied"),
        ("ab " * 100_000, None, "too long to look"),
    ],
    ids=["one word", "case", "gone", "short", "empty", "blank", "long"],
)
def test_what_became_of_a_block_is_told_in_a_sentence(tmp_path, text, passage, said):
    with found_in(tmp_path, [heal(1, target="prompt", text=text)], [block(text=RULE)]) as found:
        (one,) = gates.broken(found, "h1")
    assert one.passage == passage
    assert said in one.sentence


def test_a_block_without_spaces_between_its_words_is_found_by_its_characters():
    rule = "没有客户明确同意的情况下绝不下订单或取消订单"
    changed = rule.replace("绝不", "可以")
    assert gates.closest_passage(rule, f"前言 {changed} 结尾") == changed


def test_a_target_protected_as_a_whole_has_no_passage(tmp_path):
    with found_in(tmp_path, [heal(1, target="prompt")], [block(), block("q", "*")]) as found:
        assert [(one.text, one.passage, one.sentence.split(" is")[0]) for one in gates.broken(found, "h1")] == [
            (None, None, "this target"),
            (None, None, "every target"),
        ]
        assert gates.broken(found, "nobody") == ()


def test_blocks_that_protect_nothing_say_why(tmp_path):
    heals = [heal(1, target="prompt", text=RULE), heal(2, target="prompt"), heal(3)]
    blocks = [
        block("a", text=RULE),
        block("blank", text=" \n"),
        block("typo", "promt", text="x"),
        block("other", "nowhere"),
        block("*", "*", text=RULE),
    ]
    with found_in(tmp_path, heals, blocks) as found:
        rows = {one.block_id: one for one in gates.blocks(found)}
    assert {name: (one.n_heals, one.n_blind, one.n_stopped) for name, one in rows.items()} == {
        "a": (2, 1, 0),
        "blank": (2, 1, 0),
        "typo": (0, 0, 0),
        "other": (0, 0, 0),
        "*": (3, 2, 0),
    }
    assert rows["a"].fault == rows["*"].fault == ""
    assert "its text is empty" in rows["blank"].fault
    assert rows["typo"].fault.endswith("did you mean prompt?")
    assert rows["other"].fault == "no heal in the log names this target"


@pytest.mark.parametrize(
    ("safety", "said"), [([], "this workspace has none"), ([{"id": "c", "safety": True}, {"id": "d"}], "1 of 2 cases")]
)
def test_what_the_gate_cannot_see_is_said_with_what_this_workspace_leaves_open(tmp_path, safety, said):
    heals = [heal(1, target="prompt"), heal(2, target="prompt", text=RULE)]
    with audited(write(tmp_path, heal_events=heals, protected=[block(text=RULE)], surface=safety)) as found:
        sentences = gates.cannot_see(found, gates.blocks(found))
    assert "made void by a sentence beside it" in sentences[0]
    assert said in sentences[1]
    assert "1 such heal" in sentences[2]


def spent(number, tokens, task, **changes):
    return heal(number, tokens_spent=tokens, task_tokens=task, **changes)


HEALS = [
    spent(1, 10, 10),
    spent(2, 30, 10),
    spent(3, 31, 10),
    spent(4, 60, 10, break_glass={"by": "ana", "reason": "=paid for it"}),
    spent(5, 61, 10, target="tools"),
    spent(6, 0, 10),
    spent(7, 10, 0),
    spent(8, 10, None),
    spent(9, None, 10),
    spent(10, None, None, break_glass={}),
    spent(11, 9_000_000, 1),
]


def test_ratios_are_counted_by_tenths_of_a_decade_and_by_verdict(tmp_path):
    with audited(write(tmp_path, heal_events=HEALS)) as found:
        ratios = budget.ratios(found, ALL)
        assert budget.in_words(ratios, found).startswith(
            "2 heals went over 6 times the task's own tokens, where a person has to look; 2 heals over 3"
        )
    assert (ratios.n, ratios.n_known, ratios.n_free, ratios.elevated, ratios.escalated, ratios.n_lifted) == (11, 7, 1, 2, 2, 2)
    assert ratios.median == pytest.approx(3.1)
    assert [(round(bar.low, 3), bar.normal, bar.elevated, bar.escalated, bar.is_open) for bar in ratios.bars] == [
        (1.0, 1, 0, 0, False),
        (2.512, 1, 1, 0, False),
        (5.012, 0, 1, 1, False),
        (794.328, 0, 0, 1, True),
    ]
    assert dict(ratios.unknown) == {
        "neither tokens_spent nor task_tokens is logged": 1,
        "tokens_spent is not logged": 1,
        "task_tokens is not logged": 1,
        "task_tokens is 0, and nothing can be divided by it": 1,
    }


def test_heals_over_a_limit_come_dearest_first_with_who_lifted_it_and_why(tmp_path):
    with audited(write(tmp_path, heal_events=HEALS)) as found:
        assert [(one.heal_id, one.verdict, one.by, one.reason) for one in budget.over(found, ALL)] == [
            ("h11", "escalated", "", ""),
            ("h5", "escalated", "", ""),
            ("h4", "elevated", "ana", "=paid for it"),
            ("h3", "elevated", "", ""),
        ]
        assert [one.heal_id for one in budget.over(found, Filters(targets=("tools",)))] == ["h5"]
        assert [(one.heal_id, one.by, one.reason) for one in budget.lifted(found, ALL)] == [
            ("h4", "ana", "=paid for it"),
            ("h10", "nobody named", "no reason given"),
        ]
        assert [one.heal_id for one in budget.unknown(found, ALL)] == ["h7", "h8", "h9", "h10"]


def test_nothing_known_is_said_and_not_zero(tmp_path):
    with audited(write(tmp_path, heal_events=[heal(1)])) as found:
        ratios = budget.ratios(found, ALL)
        assert (ratios.median, ratios.largest, ratios.bars) == (None, None, ())
        assert budget.in_words(ratios, found) == "The cost of none of 1 heal is known."
