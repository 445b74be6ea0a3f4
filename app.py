"""The server: `streamlit run app.py`. The pages' frame is pages/shell.py; here are sign-in, the security headers and /healthz."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = Path(__file__).parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # pages import seam_core and pages.parts from here

from pages.parts.come_back import ComeBack
from seam_core.commandline import refuse
from seam_core.errors import SeamError
from seam_core.settings import read_server_settings
from seam_core.sign_in import streamlit_secrets

_HOST = re.compile(r"[A-Za-z0-9.\-\[\]:]+")

# Streamlit's own page holds an inline script, Plotly and the tables set inline styles; nothing needs eval.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'{sockets}; worker-src 'self' blob:; frame-src 'none'; frame-ancestors 'none'; "
    "base-uri 'self'; form-action 'self'; object-src 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # links carry heal ids
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def content_policy(host: str) -> str:
    """The content security policy for a page asked for at `host`: nothing is loaded from, or sent to, anywhere else."""
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""  # older browsers do not read 'self' as covering these
    return POLICY.format(sockets=sockets)


class SecurityHeaders:
    """ASGI middleware that adds the headers above to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; add the headers on the way out."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = Request(scope).headers.get("host", "")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = content_policy(host)
                headers.update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


async def healthz(_request: Request) -> JSONResponse:
    """Whether the server answers; it says nothing about any workspace."""
    return JSONResponse({"status": "ok"})


def secrets() -> dict[str, Any] | None:
    """What Streamlit's own login needs, from the server settings; None leaves it to .streamlit/secrets.toml, if there is one.

    Settings that cannot be used end the program with a sentence: a server for a team must not start without its sign-in.
    """
    try:
        server = read_server_settings()
        auth = streamlit_secrets(server.sign_in, folder=server.file.parent) if server.file else None
    except SeamError as error:
        sys.exit(refuse(str(error), program="app.py"))
    return {"auth": auth} if auth else None


app = st.App(
    ROOT / "pages" / "shell.py",
    secrets=secrets(),
    routes=[Route("/healthz", healthz)],
    middleware=[Middleware(SecurityHeaders), Middleware(ComeBack)],
)
