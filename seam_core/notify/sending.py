"""Sending one message to one hook, in a process of its own: with a time limit, a small environment, and without a shell.

A URL is handed to ``python -m seam_core.notify.by_url`` through its standard input, so that it stands in no list of processes and
nothing that a service's library does can hold up or disturb the server.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from seam_core.notify.hooks import PLACES, Hook
from seam_core.notify.notices import Message

LIMIT_S = 30.0
ROOT = Path(__file__).resolve().parents[2]  # where that process finds the package
BY_URL = (sys.executable, "-m", "seam_core.notify.by_url")
REFUSED = "was not taken"
_PLACE = re.compile(r"\{(" + "|".join(PLACES) + r")\}")

# What a program needs to run at all and to find its way to the network; no secret of the server's among it.
PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
)  # fmt: skip


def send(hook: Hook, message: Message, *, limit_s: float = LIMIT_S) -> str:
    """Why the hook did not take the message, without any secret; empty when it did. Takes at most `limit_s` seconds."""
    said = {"workspace": message.workspace, "title": message.title, "text": message.text, "link": message.link}
    try:
        if hook.url:
            code, answer = _run(BY_URL, {"url": hook.url} | said, cwd=ROOT, limit_s=limit_s, answers=True)
            return (answer or REFUSED) if code else ""
        command = [_filled(part, said) for part in hook.command]
        code, _ = _run(command, said | {"events": [asdict(one) for one in message.notices]}, cwd=Path("/"), limit_s=limit_s)
    except subprocess.TimeoutExpired:
        return f"took longer than {limit_s:g} seconds"
    except OSError as error:
        return f"cannot be started ({error.strerror})"
    return _ended(code) if code else ""


def _filled(part: str, said: Mapping[str, str]) -> str:
    """An argument with {title} and the like in it; what is put in is not looked at again."""
    return _PLACE.sub(lambda found: said[found[1]], part)


def _ended(code: int) -> str:
    return f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"


def _run(command: Sequence[str], said: Mapping[str, object], *, cwd: Path, limit_s: float, answers: bool = False) -> tuple[int, str]:
    """Exit code of a program that gets `said` as JSON, and its first line when it `answers`. What it says on standard error goes to the
    server's own. Raises OSError when it cannot be started, TimeoutExpired when it had to be ended.
    """
    environ = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    output = subprocess.PIPE if answers else subprocess.DEVNULL
    with subprocess.Popen(  # noqa: S603  a list of arguments from the server settings, or our own module
        command, cwd=cwd, env=environ, stdin=subprocess.PIPE, stdout=output, start_new_session=True
    ) as process:
        try:
            answer, _ = process.communicate(json.dumps(said).encode("ascii") + b"\n", timeout=limit_s)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # and all that it started
            raise
    return process.returncode, (answer or b"").decode("ascii", "replace").partition("\n")[0]
