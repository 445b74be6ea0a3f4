"""Integrity: findings with what proves them, what could not be checked and why; withheld numbers are struck through wherever they stand."""

import json

from seam_core.views.integrity import Opens, overview
from tests.pages.states import ROOT
from tests.pages.test_pages_alone import opened, said
from tests.seam_core.workspaces import audited, heal, write

PAGE = ROOT / "pages" / "trust" / "integrity.py"
EVIL = "<script>alert(1)</script> ![x](http://evil.test/x.png)"


def texts(app):
    return " ".join(one.value for one in (*app.main.text, *app.main.markdown, *app.main.caption)).replace("\\", "")


def leak(folder):
    """A held-out case among the practice cases: critical for E."""
    case = json.loads((folder / "holdout.jsonl").read_text().splitlines()[0])
    with (folder / "practice.jsonl").open("a") as file:
        file.write(json.dumps(case | {"id": EVIL}) + "\n")


def test_findings_stand_with_what_proves_them_and_the_rest_with_why_it_is_not_checkable(demo, monkeypatch):
    app = opened(PAGE, demo, monkeypatch)
    assert not app.exception
    assert "Held-out case ho_038 stands in what heals added (100% of its word sequences)." in texts(app)
    assert "coverage: 1" in app.main.code[0].value
    assert "H_0" not in texts(app)  # an id at the beginning of a sentence stays as it was logged
    assert [header.value for header in app.main.header] == ["Findings", "Not checkable", "Checked and clean", "What no rule can catch"]
    unchecked, clean = (frame.value for frame in app.main.dataframe)
    why = dict(zip(unchecked["rule"], unchecked["why"], strict=True))
    assert why["I05"] == "there is no checkpoint in the ledger of decisions"
    assert "I01" in set(clean["rule"])
    assert not said(app)


def test_every_finding_opens_the_records_that_prove_it(demo):
    with audited(demo / "heal_events.jsonl", window="all") as found:
        shown = {one.finding.rule_id: one for one in overview(found).findings}
    assert all(one.opens for one in shown.values())
    assert shown["I45"].opens[0].kind == "case"
    assert {one.kind for one in shown["I45"].opens} == {"case", "heal"}


def test_a_finding_about_a_file_or_the_whole_window_opens_that_file_or_its_axis(tmp_path):
    """A rewritten heal is about the heal log; twenty heals that are all called real are about the window, and so about Signal."""
    heals = [heal(number, was_real_failure=True) for number in range(1, 31)]
    with audited(write(tmp_path, heal_events=[*heals, heal(1, was_real_failure=False)])) as found:
        shown = {one.finding.rule_id: one.opens for one in overview(found).findings}
    assert shown["I02"] == (Opens("file", "heal_events.jsonl"),)
    assert shown["I28"] == (Opens("axis", "S"),)


def test_a_withheld_axis_says_so_and_its_number_is_struck_through(desk, monkeypatch):
    leak(desk)
    app = opened(PAGE, desk, monkeypatch)
    assert "Efficacy (I64) is withheld" in said(app)
    week = opened(ROOT / "pages" / "review" / "week.py", desk, monkeypatch)
    assert "Efficacy (I64) is withheld" in said(week)
    metrics = {one.label: one.value for one in week.main.metric}
    assert metrics["E Efficacy"].startswith("~~")
    assert metrics["S Signal"][0].isdigit()
    efficacy = opened(ROOT / "pages" / "axes" / "efficacy.py", desk, monkeypatch)
    assert "**Per heal: the score E** ~~0." in texts(efficacy)
    assert "Withheld by I64. 95 % range" in texts(efficacy)


def test_a_log_that_is_clean_says_that_nothing_was_found(one_good, monkeypatch):
    app = opened(PAGE, one_good, monkeypatch)
    assert "rejected (for one," in texts(app)  # its bad lines are a finding
    good = (one_good / "heal_events.jsonl").read_bytes().splitlines()[-1]
    (one_good / "heal_events.jsonl").write_bytes(good + b"\n")
    app = opened(PAGE, one_good, monkeypatch)
    assert "None: no rule that could be checked finds a contradiction in these records." in texts(app)
