"""Back to the page from which somebody went to sign in, or out; Streamlit leads everybody to the first one."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

AWAY = ("/auth/login", "/auth/logout")  # Streamlit's own addresses, below whatever the server's base path is
BACK = "/oauth2callback"
LEFT = "seam_page_left"  # the cookie
LEFT_FOR_S = 600  # as long as somebody may take to sign in
_OWN_PAGE = re.compile(r"/(?![/\\])[!-~]{0,2000}")  # a path; two slashes would begin another server's address


class ComeBack:
    """ASGI middleware that keeps the page in a cookie on the way to the provider. Only a path of this server is ever gone back to."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; note the page on the way out, use the note on the way back."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.endswith((*AWAY, BACK)):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        is_back = path.endswith(BACK)
        page = unquote(request.cookies.get(LEFT, "")) if is_back else _page_left(request)

        async def send_with_page(message: Message) -> None:
            if message["type"] == "http.response.start" and _OWN_PAGE.fullmatch(page):
                headers = MutableHeaders(scope=message)
                if is_back and _OWN_PAGE.fullmatch(headers.get("location", "")):
                    headers["location"] = page
                kept = "; Max-Age=0" if is_back else f"{quote(page, safe='')}; Max-Age={LEFT_FOR_S}"
                headers.append("set-cookie", f"{LEFT}={kept}; Path=/; HttpOnly; SameSite=Lax")
            await send(message)

        await self.app(scope, receive, send_with_page)


def _page_left(request: Request) -> str:
    """Path and query of the page from which somebody goes to the provider; "" when it is not one of this server's."""
    try:
        left = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return ""
    own = left.netloc == request.headers.get("host")
    return (left.path + (f"?{left.query}" if left.query else "")) if own else ""
