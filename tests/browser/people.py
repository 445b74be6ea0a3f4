"""People who sign in with a provider on loopback, and how they do it."""

import json
import logging
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.request import Request, urlopen

from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import expect

from tests.browser.conftest import SETTLED

PEOPLE = {
    "u-ana": {"name": "Ana", "email": "ana@example.test", "email_verified": True},
    "u-bo": {"name": "Bo **bold**", "email": "bo@example.test", "email_verified": True},
    "u-cy": {"name": "Cy", "email": "ana@example.test"},  # claims an address that nobody has checked
    "u-dan": {"name": "Dan"},
    "u-eve": {"name": "Eve"},
}
SETTINGS = """
reviewers = {reviewers}
approvals_required = {approvals}
[sign_in]
issuer = "{issuer}"
client_id = "seam"
client_secret = "not looked at"
cookie_secret = "0123456789abcdef0123456789abcdef"
redirect_uri = "{address}/oauth2callback"
"""


@contextmanager
def providing():
    """A provider that knows these people, to whom others can be added: its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    people = [User(sub=subject, claims=claims) for subject, claims in PEOPLE.items()]
    with run_server_in_thread(user_claims=people) as server:
        yield SimpleNamespace(address=f"http://localhost:{server.server_port}")


def team_settings(provider, address, reviewers=("ana@example.test",), approvals=1):
    """The text of the server settings of a team."""
    return SETTINGS.format(reviewers=list(reviewers), approvals=approvals, issuer=provider.address, address=address)


def sign_in(page, subject):
    """Sign in from the page that is open; afterwards it is open again."""
    left = page.url
    page.get_by_test_id("stSidebar").get_by_role("button", name="Sign in").click()
    page.get_by_role("textbox", name="sub").fill(subject)
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_text("You decide as").or_(page.get_by_text("your sign-in has expired")).first).to_be_visible()
    page.wait_for_selector(SETTLED)
    assert page.url == left


def add_person(provider, subject, claims):
    """Let the provider know somebody, or something else about them."""
    headers = {"Content-Type": "application/json"}
    asked = Request(f"{provider.address}/users/{subject}", json.dumps(claims).encode(), headers, method="PUT")
    urlopen(asked, timeout=30).close()
