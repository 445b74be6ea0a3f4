"""Signing in leads back to the page that was open, and never to another server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route

from pages.parts.come_back import LEFT, ComeBack

SITE, PROVIDER = "http://seam.test", "https://id.test/authorize"


def go_to(address):
    async def answer(_request):
        return RedirectResponse(address, status_code=302)

    return answer


ROUTES = [Route("/auth/login", go_to(PROVIDER)), Route("/auth/logout", go_to("/")), Route("/oauth2callback", go_to("/"))]


@pytest.fixture
def ask():
    """The answer of a server that signs people in; what it redirects to is not followed."""
    app = Starlette(routes=ROUTES, middleware=[Middleware(ComeBack)])

    async def get(path, headers):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=SITE) as client:
            return await client.get(path, headers=headers)

    def call(path, **headers):
        with ThreadPoolExecutor(max_workers=1) as apart:  # a browser of other tests may have a loop running in this thread
            return apart.submit(asyncio.run, get(path, headers)).result()

    return call


@pytest.mark.parametrize("way", ["/auth/login", "/auth/logout"])
def test_the_page_is_kept_on_the_way_out_and_gone_back_to(ask, way):
    away = ask(way, Referer=f"{SITE}/heals?win=7d&heal=h_1")
    assert away.headers["location"] == (PROVIDER if way == "/auth/login" else "/")
    assert away.cookies[LEFT] == quote("/heals?win=7d&heal=h_1", safe="")
    back = ask("/oauth2callback", Cookie=f"{LEFT}={away.cookies[LEFT]}")
    assert back.headers["location"] == "/heals?win=7d&heal=h_1"
    assert f"{LEFT}=; Max-Age=0" in back.headers["set-cookie"]


@pytest.mark.parametrize(
    "referer", ["", "http://evil.test/heals", "http://seam.test:81/heals", "http://[", "/heals", SITE, f"{SITE}//evil.test"]
)
def test_what_is_no_page_of_this_server_is_not_kept(ask, referer):
    assert LEFT not in ask("/auth/login", Referer=referer).cookies


@pytest.mark.parametrize(
    "page", ["", "//evil.test", "/\\evil.test", "https://evil.test", "heals", "/a\r\nSet-Cookie: x=1", "/\tevil", "/é", "/" + "a" * 3000]
)
def test_a_cookie_that_somebody_else_made_leads_to_the_first_page(ask, page):
    back = ask("/oauth2callback", Cookie=f"{LEFT}={quote(page, safe='')}")
    assert back.headers["location"] == "/"
    assert "x" not in back.cookies


def test_other_pages_are_left_alone(ask):
    assert ask("/heals", Referer=f"{SITE}/week", Cookie=f"{LEFT}=%2Fweek").cookies.get(LEFT) is None
