"""Signing in with a real OpenID Connect provider on loopback: who decides, who may certify, and when that is over."""

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from seam_core.ledger import Ledger, SignedIn
from tests.browser.conftest import SETTLED, axe_findings
from tests.browser.people import add_person, sign_in, team_settings
from tests.seam_core.workspaces import heal, write
from tests.servers import serving

PAGE = "/heals?win=all&order=oldest"


@pytest.fixture(scope="module")
def team(provider, tmp_path_factory):
    """A server on which people sign in: its address, the ledger, and its issuer."""
    folder = tmp_path_factory.mktemp("team")
    write(folder / "agent", heal_events=[heal(number) for number in range(1, 13)])
    with serving(folder / "agent", folder, lambda address: team_settings(provider, address)) as address:
        yield SimpleNamespace(address=address, ledger=Ledger(folder / "agent" / "decisions.sqlite"), issuer=provider.address)


def says_you_are(page, sentence):
    expect(page.get_by_test_id("stSidebar").get_by_text("You decide as")).to_have_text(sentence)


def skip(page):
    """The button that decides least."""
    return page.get_by_role("button", name="Skip Shortcut S")


def decide(page, sentence):
    """Skip the heal that is shown; what the page says to that."""
    skip(page).click()
    expect(page.get_by_text(sentence).first).to_be_visible()
    page.wait_for_selector(SETTLED)


def test_a_reviewer_and_a_viewer_sign_in_and_the_ledger_keeps_issuer_and_subject(team, visit):
    before = len(team.ledger.rows("review"))
    ana, bo = (visit(alone=True).open(team.address + PAGE, shows="Read only: sign in to decide.") for _ in range(2))
    assert axe_findings(ana.page) == []
    sign_in(ana.page, "u-ana")
    sign_in(bo.page, "u-bo")
    says_you_are(ana.page, "You decide as Ana (reviewer).")
    says_you_are(bo.page, "You decide as Bo **bold** (may review heals, may not certify).")
    assert axe_findings(bo.page) == []
    decide(ana.page, "Your last: h1 skipped.")
    decide(bo.page, "Your last: h1 skipped.")
    written = [row.by for row in team.ledger.rows("review")[before:]]
    assert written == [SignedIn(issuer=team.issuer, subject="u-ana", name="Ana"), SignedIn(team.issuer, "u-bo", "Bo **bold**")]
    assert ten_at_once(team.address, [one.page.context.cookies() for one in (ana, bo)]) == [{"Ana"}, {"Bo **bold**"}]


def test_signing_out_in_one_tab_ends_the_other_and_an_unchecked_address_makes_no_reviewer(team, visit):
    before = len(team.ledger.rows())
    first = visit(alone=True).open(team.address + PAGE, shows="Read only: sign in to decide.").page
    sign_in(first, "u-cy")
    says_you_are(first, "You decide as Cy (may review heals, may not certify).")
    second = first.context.new_page()
    second.goto(team.address + PAGE)
    says_you_are(second, "You decide as Cy (may review heals, may not certify).")
    second.wait_for_selector(SETTLED)
    first.get_by_role("button", name="Sign out").click()
    first.get_by_role("button", name="End session").click()
    expect(first.get_by_text("Read only: sign in to decide.").first).to_be_visible()
    assert urlsplit(first.url).path == "/heals"
    decide(second, "Not written: you signed out, in another tab or on another device; sign in again to decide.")
    assert skip(second).is_disabled()
    assert len(team.ledger.rows()) == before
    sign_in(second, "u-cy")
    decide(second, "Your last: h1 skipped.")
    assert len(team.ledger.rows()) == before + 1


def test_a_sign_in_that_expires_while_the_page_is_open_decides_nothing(team, provider, visit):
    before = len(team.ledger.rows())
    for seconds in (6, 15, 40):  # a slow machine needs longer to have the page open in time
        page = visit(alone=True).open(team.address + PAGE, shows="Read only: sign in to decide.").page
        over = time.time() + seconds
        add_person(provider, "u-late", {"name": "Late", "exp": int(over)})
        sign_in(page, "u-late")
        if skip(page).is_enabled():
            break
    page.wait_for_timeout(max(0, over - time.time()) * 1000 + 100)
    decide(page, "Not written: your sign-in has expired; sign in again to decide.")
    assert len(team.ledger.rows()) == before


# ---- ten sessions at once, without the browser


def ten_at_once(address, jars):
    """For each jar of cookies, the names that five sessions with it read on two runs each, all ten running at the same time."""
    with ThreadPoolExecutor(10) as pool:
        asked = [(at, pool.submit(names_read, address, jar)) for _ in range(5) for at, jar in enumerate(jars)]
        found = [set() for _ in jars]
        for at, names in asked:
            found[at] |= names.result()
    return found


def names_read(address, jar):
    cookies = {one["name"]: one["value"] for one in jar}
    port = urlsplit(address).port
    asked = BackMsg()
    asked.rerun_script.page_name = "heals"
    asked.rerun_script.query_string = "win=all"
    asked.rerun_script.context_info.url = f"{address}/heals"
    names = set()
    with connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        origin=address,
        subprotocols=["streamlit", cookies["_streamlit_xsrf"]],
        additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())},
        max_size=None,
    ) as socket:
        for _ in range(2):
            socket.send(asked.SerializeToString())
            while True:
                message = ForwardMsg.FromString(socket.recv(timeout=60))
                said = message.delta.new_element.markdown.body
                if said.startswith("You decide as"):
                    names.add(said.split("`")[1])
                if message.WhichOneof("type") == "script_finished":
                    break
    return names
