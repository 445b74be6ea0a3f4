"""Real servers, each on a workspace and a port of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


class Server:
    """A server that starts as soon as it is made; what it says goes into a file in `folder`. settings: from its address, the text of its
    server settings.
    """

    def __init__(self, workspace, folder, settings=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address, self._log = f"http://127.0.0.1:{self.port}", folder / f"server-{self.port}.log"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port), "--server.address", "127.0.0.1"]
        environ = {key: value for key, value in os.environ.items() if key != "SEAM_SETTINGS"} | {"SEAM_WORKSPACE": str(workspace)}
        if settings:
            environ["SEAM_SETTINGS"] = str(folder / f"server-{self.port}.toml")
            Path(environ["SEAM_SETTINGS"]).write_text(settings(self.address), encoding="utf-8")
        with self._log.open("wb") as out:
            self._process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=out, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_fault):
        self.kill()

    def wait(self):
        """Until it answers."""
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.address}/healthz", timeout=5).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        pytest.fail(f"the server did not start:\n{self._log.read_text()}")

    def kill(self):
        """End it without a word: it finishes nothing."""
        self._process.kill()
        self._process.wait()

    def end(self):
        """Let it finish what it does."""
        self._process.terminate()
        self._process.wait(20)


@contextmanager
def serving(workspace, folder, settings=None):
    """The address of a fresh server on a workspace; settings as for `Server`."""
    server = Server(workspace, folder, settings)
    try:
        server.wait()
        yield server.address
    finally:
        server.end()
