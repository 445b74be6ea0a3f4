"""Certifying by people who sign in with a real provider on loopback: who may, at which moment, and who decides together.

One server shows all the workspaces, so that each journey has its own.
"""

import re
import sqlite3
import time
from contextlib import closing, contextmanager
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from seam_core.baseline.drafts import Drafts
from seam_core.ledger import Ledger, SignedIn
from tests.browser.conftest import Visit
from tests.browser.people import add_person, sign_in, team_settings
from tests.browser.test_recertify import BROKEN, ask, chosen, click, confirm, give_reason, press, table
from tests.browser.wire import Wire
from tests.seam_core.baselines import add_runs, opened_desk, outcomes, sent, world
from tests.seam_core.workspaces import run
from tests.servers import serving

JOURNEYS = ("certify", "replay", "role", "late", "out", "race", "newer", "two", "veto")
REVIEWERS = ("ana@example.test", "u-dan", "u-eve", "u-late")


@pytest.fixture(scope="module")
def team(provider, tmp_path_factory):
    """A server with a workspace for each journey: its address, the root of the workspaces, and `rule`, which rewrites its settings."""
    folder = tmp_path_factory.mktemp("people")
    for name in JOURNEYS:
        world(folder / "agents" / name, runs=BROKEN)
    with serving(folder / "agents", folder, lambda address: team_settings(provider, address, REVIEWERS)) as address:
        (settings,) = folder.glob("server-*.toml")

        def rule(reviewers=REVIEWERS, approvals=1):
            settings.write_text(team_settings(provider, address, reviewers, approvals))

        yield SimpleNamespace(address=address, root=folder / "agents", rule=rule)


@pytest.fixture
def rule(team):
    """Other reviewers, or another number of approvals, as long as the test runs."""
    yield team.rule
    team.rule()


@pytest.fixture(scope="module")
def browsers():
    """One for each person, who signs in once."""
    found = {}
    yield found
    for browser in found.values():
        browser.close()


@pytest.fixture
def people(team, browsers, chromium):
    """Call it for a new page of somebody on one workspace: people("u-ana", "certify"); anew=True signs them in once more."""
    pages = []

    def make(subject, name, *, anew=False):
        is_new = anew or subject not in browsers
        if is_new:
            if subject in browsers:
                browsers[subject].close()
            browsers[subject] = chromium.new_context()
        seen = Visit(browsers[subject].new_page())
        pages.append(seen.page)
        seen.wire = Wire(seen.page)
        seen.open(f"{team.address}/recertify?workspace={name}", shows="What will be written")
        if is_new:
            sign_in(seen.page, subject)
        return seen

    yield make
    for page in pages:
        page.close()


def rows(team, name):
    return Ledger(team.root / name / "decisions.sqlite").rows()


def signed_in(provider, subject, name):
    return SignedIn(issuer=provider.address, subject=subject, name=name)


def fill(seen, *, reason="looked at each", words="version 2", label="Certify version 2 …"):
    """Everything but the last click."""
    give_reason(seen, reason)
    dialog = ask(seen, label)
    dialog.get_by_role("textbox").fill(words)
    return dialog


def write(seen):
    """The last click; it waits for nothing."""
    seen.page.get_by_role("dialog").get_by_role("button", name="Write", exact=True).click(no_wait_after=True)


def is_running(seen):
    """Wait until the server has begun with what was asked."""
    seen.page.wait_for_selector("[data-testid='stApp'][data-test-script-state='running']")


def wait_until(seen, moment):
    seen.page.wait_for_timeout(1000 * max(0, moment - time.time()))


def second(seen, words, *, reason):
    """As the second person, approve or veto what is proposed."""
    expect(seen.page.get_by_text(re.compile("^Version 2 proposed by Ana .*: it waits for another reviewer"))).to_be_visible()
    expect(seen.page.get_by_text("ana looked")).to_be_visible()
    box = seen.page.get_by_role("textbox", name="Why you approve or veto it")
    box.fill(reason)
    box.press("Tab")
    seen.settle()
    ask(seen, f"{words.capitalize()} …")
    confirm(seen, words)


@contextmanager
def somebody_else_writing(team, name):
    """Whoever writes meanwhile, waits for the ledger, once it was looked at whether they may."""
    with closing(sqlite3.connect(team.root / name / "decisions.sqlite", isolation_level=None)) as con:
        con.execute("begin immediate")
        yield
        con.execute("rollback")


def wrote_nothing(team, name, dialog, sentence):
    """It is said why, what was typed is still there, and the ledger is as it was."""
    expect(dialog.get_by_text(sentence)).to_be_visible()
    expect(dialog.get_by_role("textbox")).to_have_value("version 2")
    assert rows(team, name) == []


def test_a_reviewer_certifies_and_the_same_form_sent_by_a_viewer_writes_nothing(team, provider, people):
    ana, bo, dan = people("u-ana", "certify"), people("u-bo", "replay"), people("u-dan", "replay")
    before = len(ana.wire.sent)
    fill(ana)
    write(ana)
    expect(ana.page.get_by_role("dialog").get_by_text("Version 2 certified by Ana")).to_be_visible()
    assert [row.by for row in rows(team, "certify")] == [signed_in(provider, "u-ana", "Ana")]
    forms = ana.wire.forms(after=before)
    assert len(forms) >= 3  # the reason, the button that asks, the one that writes

    bo.wire.replay(forms, "replay")
    assert rows(team, "replay") == []
    expect(bo.page.get_by_text("4 cases").first).to_be_visible()
    expect(bo.page.get_by_role("button", name="Certify version 2 …")).to_be_disabled()
    expect(
        bo.page.get_by_text(re.compile("You may not certify: neither your subject u-bo nor .* is among the reviewers")).last
    ).to_be_visible()
    dan.wire.replay(forms, "replay")  # from a reviewer it is a decision, so it was not for its form that it was refused
    expect(dan.page.get_by_text("Version 2 certified by Dan").first).to_be_visible()
    assert [row.by for row in rows(team, "replay")] == [signed_in(provider, "u-dan", "Dan")]


def test_whoever_is_no_reviewer_any_more_when_it_is_written_writes_nothing(team, people, rule):
    dan = people("u-dan", "role")
    dialog = fill(dan)
    rule(reviewers=["ana@example.test"])
    write(dan)
    wrote_nothing(team, "role", dialog, "Not written: you may not certify: your subject u-dan is not among the reviewers")


def test_a_sign_in_that_expires_while_it_is_written_writes_nothing(team, provider, people):
    name = "late"
    for seconds in (15, 30, 90):  # a slow machine needs longer to have everything filled in by then
        over = int(time.time()) + seconds
        add_person(provider, "u-late", {"name": "Late", "exp": over})
        late = people("u-late", name, anew=True)
        if time.time() < over - 6:
            break
    dialog = fill(late)
    wait_until(late, over - 1)
    with somebody_else_writing(team, name):
        write(late)
        wait_until(late, over + 0.2)
    refused = "your sign-in has expired; sign in again to decide."
    wrote_nothing(team, name, dialog, re.compile(f"^(Not written|Read only): {refused}"))
    write(late)
    wrote_nothing(team, name, dialog, f"Read only: {refused} Nothing was written.")
    kept = Drafts(team.root / name / "decisions.sqlite").get(signed_in(provider, "u-late", "Late"), "n4")
    assert kept.reason == "looked at each"


def test_signing_out_in_one_tab_ends_what_is_being_written_in_another(team, people):
    one, other = people("u-eve", "out"), people("u-eve", "out")
    dialog = fill(other)
    with somebody_else_writing(team, "out"):
        write(other)
        is_running(other)
        one.page.get_by_role("button", name="Sign out").click()
        one.page.get_by_role("button", name="End session").wait_for()
    wrote_nothing(team, "out", dialog, "Not written: you signed out, in another tab or on another device; sign in again to decide.")


def test_two_reviewers_who_send_at_once_make_one_version_and_one_clear_conflict(team, people):
    both = people("u-ana", "race"), people("u-dan", "race")
    dialogs = [fill(seen) for seen in both]
    with somebody_else_writing(team, "race"):
        for seen in both:
            write(seen)
        for seen in both:
            is_running(seen)
    refused = re.compile("^Not written: (the baseline is version 2 by now|somebody else decided meanwhile)")
    done = re.compile("^Version 2 certified by (Ana|Dan) at")
    for dialog in dialogs:
        expect(dialog.get_by_text(done).or_(dialog.get_by_text(refused))).to_be_visible()
    (row,) = rows(team, "race")
    told = [(dialog.get_by_text(done).count(), dialog.get_by_text(refused).count()) for dialog in dialogs]
    assert (row.kind, told) == ("certification", [(1, 0), (0, 1)] if row.by.subject == "u-ana" else [(0, 1), (1, 0)])


def test_a_safety_case_is_never_one_of_many_and_a_newer_run_blocks_only_what_it_contradicts(team, provider, people):
    ana = people("u-ana", "newer")
    page = ana.page
    click(ana, table(page, below="Cases"), x=17, row=0, shows=page.get_by_role("button", name="Accept 3 ticked"))
    press(ana, "Accept 3 ticked")
    chosen(ana, 3, 0, 1)
    click(ana, table(page, below="Safety"), x=70, row=1, shows=page.get_by_role("button", name="Accept this case"))
    press(ana, "Accept this case")
    expect(page.get_by_text("c0 is a safety case: write why it may change, then accept it. Nothing was changed.")).to_be_visible()
    chosen(ana, 3, 0, 1)
    dialog = fill(ana)
    add_runs(team.root / "newer", run("n5", "nightly", 5.5, outcomes("c0", "c2", "c3")))
    write(ana)
    wrote_nothing(team, "newer", dialog, re.compile(r"^Not written: a newer run \(n5\) has another outcome for 1 accepted case, c1:"))
    page.keyboard.press("Escape")
    expect(page.get_by_text("Another outcome there for 1 of the cases that you accepted: c1.")).to_be_visible()
    ana.settle()
    press(ana, "Leave c1 for later")
    chosen(ana, 2, 0, 2)
    ask(ana)
    confirm(ana)
    expect(page.get_by_role("dialog").get_by_text("Version 2 certified by Ana")).to_be_visible()
    (row,) = rows(team, "newer")
    said = row.decision
    assert (row.by, said.run_id) == (signed_in(provider, "u-ana", "Ana"), "n4")
    assert (said.accepted, said.left, said.safety_reasons) == (["c2", "c3"], ["c0", "c1"], {})


def test_where_two_have_to_agree_one_proposes_and_another_approves_or_vetoes(team, provider, people, rule):
    rule(approvals=2)
    with opened_desk(team.root / "veto", approvals_required=2) as desk:
        desk.certify(sent(desk, reason="ana looked", key="k1"), actor=signed_in(provider, "u-ana", "Ana"))
    ana = people("u-ana", "two")
    fill(ana, reason="ana looked", label="Propose version 2 …")
    write(ana)
    dialog = ana.page.get_by_role("dialog")
    expect(dialog.get_by_text("Another reviewer has to approve it before anything is decided.")).to_be_visible()
    dialog.get_by_role("button", name="Done").click()
    expect(ana.page.get_by_text(re.compile("^Version 2 proposed by Ana .*: another reviewer has to approve it"))).to_be_visible()
    expect(ana.page.get_by_role("button", name="Take it back …")).to_be_visible()
    expect(ana.page.get_by_role("button", name="Approve …")).to_have_count(0)
    dan = people("u-dan", "two")
    second(dan, "approve", reason="so did I")
    expect(dan.page.get_by_role("dialog").get_by_text("Version 2 certified by Dan")).to_be_visible()
    proposal, approval = rows(team, "two")
    assert (proposal.kind, proposal.by.subject, proposal.decision.reason) == ("proposal", "u-ana", "ana looked")
    assert (approval.kind, approval.by.subject, approval.decision.proposal, approval.decision.reason) == (
        "certification",
        "u-dan",
        1,
        "so did I",
    )
    vetoing = people("u-dan", "veto")
    second(vetoing, "veto", reason="not yet")
    expect(vetoing.page.get_by_role("dialog").get_by_text("Proposal in row 1 vetoed by Dan")).to_be_visible()
    vetoing.page.get_by_role("dialog").get_by_role("button", name="Done").click()
    expect(vetoing.page.get_by_text(re.compile("^Version 2 proposed by Ana"))).to_have_count(0)
    assert [(row.kind, row.by.subject) for row in rows(team, "veto")] == [("proposal", "u-ana"), ("veto", "u-dan")]
