"""The table of how often ranges hold the truth, simulated again."""

import re
from pathlib import Path

import pytest

from tests.interval_coverage import LOOPS, SIGNAL_WORLDS, SIGNATURES, WORLDS, mean_coverage, signal_coverage

METHOD = (Path(__file__).parents[2] / "docs" / "method.md").read_text(encoding="utf-8")


def printed(world):
    row = re.search(rf"^\| {re.escape(world)} \| (.+) \|$", METHOD, re.MULTILINE)
    return [float(cell) for cell in row.group(1).split(" | ")]


def test_a_nominal_95_percent_range_holds_the_truth_of_a_strong_loop_effect():
    """300 windows of eight loops: at least .95 less three standard errors of .0126."""
    assert mean_coverage("E, loops differ much", 8, repeats=300, seed=2) >= 0.91


@pytest.mark.soak
@pytest.mark.parametrize("world", WORLDS)
def test_the_table_of_means_is_what_comes_out_with_other_seeds(world):
    assert printed(world) == pytest.approx([mean_coverage(world, n, seed=2) for n in LOOPS], abs=0.02)


@pytest.mark.soak
@pytest.mark.parametrize("world", SIGNAL_WORLDS)
def test_the_table_of_signal_is_what_comes_out_with_other_seeds(world):
    assert printed(world) == pytest.approx([signal_coverage(world, n, seed=2) for n in SIGNATURES], abs=0.05)
