"""Every rule of integrity against its three logs: the table in integrity_logs.py."""

import pytest

from seam_core.integrity.rules import RULES
from tests.seam_core.integrity_logs import BARE, THREE, checked


def test_every_rule_has_its_three_logs():
    assert list(THREE) == [rule.id for rule in RULES]
    assert [rule.id for rule in RULES if rule.needs and THREE[rule.id].why_not is None] == []


@pytest.mark.parametrize("rule", THREE)
def test_a_rule_finds_what_trips_it_and_nothing_a_step_inside_its_bound(tmp_path, rule):
    trips, inside = THREE[rule].trips, THREE[rule].inside
    tripped = checked(tmp_path / "trips", trips.heals, then=trips.then, rule=rule, **trips.files)
    assert set(tripped.found) == {rule}, tripped.not_checkable
    clean = checked(tmp_path / "inside", inside.heals, then=inside.then, rule=rule, **inside.files)
    assert clean.clean == (rule,), (clean.findings, clean.not_checkable)


def test_a_rule_without_its_inputs_says_that_it_cannot_be_checked_and_why(tmp_path):
    found = checked(tmp_path, BARE)
    assert dict(found.not_checkable) == {rule: three.why_not for rule, three in THREE.items() if three.why_not}
    assert set(found.clean) == {rule for rule, three in THREE.items() if not three.why_not}
    assert not found.findings
