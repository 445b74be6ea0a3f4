"""Which planted faults the report names: the floors reached, and the page that shows them."""

import pytest

from tests.planted_faults import NAMED_BY, PAGE, measure, page

# kind → lowest recall and precision that may be shipped
FLOORS = dict.fromkeys(NAMED_BY, (1.0, 1.0)) | {
    "reward_hacked": (1.0, 0.30),
    "reward_hacked (half)": (1.0, 1.0),
    "recurrence": (1.0, 0.95),
    "missed_failure": (1.0, 0.65),
}


@pytest.fixture(scope="module")
def measured():
    return measure()


@pytest.mark.parametrize("kind", NAMED_BY)
def test_planted_faults_are_named(kind, measured):
    planted, hit, n_named = measured[kind]
    recall, precision = FLOORS[kind]
    assert planted > 0
    assert hit / planted >= recall
    assert n_named == 0 or hit / n_named >= precision


def test_the_page_shows_what_was_measured(measured):
    assert PAGE.read_text(encoding="utf-8") == page(measured)
