"""Which tamperings the rules of integrity find: over a few logs here, over many in the long run."""

import pytest

from seam_core.simulate.tampering import TAMPERINGS
from tests.tampering import BEGIN, PAGE, measure

# kind → the rule that must find it, and the lowest share that may be shipped
FLOORS = {
    "drop bad heals": ("I01", 0.95),
    "drop bad heals and renumber": ("I06", 0.8),
    "held-out gain := visible gain": ("I13", 0.95),
    "held-out := visible": ("I13", 0.95),
    "invented held-out scores": ("I13", 0.95),
    "split signatures": ("I26", 0.95),
    "cut loops and re-open": ("I20", 0.9),
    "pad with idle heals": ("I25", 0.95),
    "leave safety cases out": ("I30", 0.95),
    "drop failing cases": ("I31", 0.95),
    "rewrite snapshots": ("I33", 0.9),
    "backdate one heal": ("I04", 0.95),
    "a score of 1.02": ("I10", 1.0),
    "label everything real": ("I28", 0.95),
    "add an override line": ("I41", 0.95),
    "edit a target, unlogged": ("I06", 0.5),
}
A_FEW, MANY = range(1, 11), range(101, 301)
CAUGHT = 0.9  # of the logs, by whatever rule


def hold(seeds, **options):
    caught, honest = measure(seeds, **options)
    assert set(FLOORS) == set(TAMPERINGS)
    for kind, (rule, floor) in FLOORS.items():
        tally = caught[kind]
        assert tally.n, kind
        assert tally.rules[rule] / tally.n >= floor, (kind, rule)
    assert honest.n_caught <= max(1, 0.05 * honest.n), honest.rules
    return caught


def test_a_few_honest_logs_are_clean_and_each_tampering_of_them_is_found():
    hold(A_FEW, only={kind: rule for kind, (rule, _) in FLOORS.items()})


@pytest.mark.soak
def test_of_many_logs_nearly_all_tamperings_are_found_and_honest_ones_are_clean():
    assert {kind: tally.share for kind, tally in hold(MANY).items() if tally.share < CAUGHT} == {}


def test_the_page_names_every_tampering():
    measured = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2]
    assert [kind for kind in TAMPERINGS if f"| {kind} |" not in measured] == []
