"""Fixtures shared by the core's tests."""

import sys

import pytest
from hypothesis import settings

from seam_core import loading
from seam_core.cli import main
from tests.seam_core.workspaces import DIRECT_MIN

settings.register_profile("seam", deadline=None)  # a slow or busy machine is no fault
settings.load_profile("seam")


@pytest.fixture(params=DIRECT_MIN)
def either_path(request, monkeypatch):
    """Small files go through blocks, large ones straight into DuckDB: both must tell the same."""
    monkeypatch.setattr(loading, "DIRECT_MIN", DIRECT_MIN[request.param])
    return request.param


class Ran:
    """What a call of the command line gave."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def refused(self):
        """Whether it ended as unusable input must: code 3, one sentence on stderr, nothing on stdout."""
        return self.code == 3 and not self.out and self.err.count("\n") == 1 and self.err.startswith("run_seam.py: ")


@pytest.fixture
def cli(capsys, monkeypatch):
    """Call the command line in this process."""
    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    return caller(main, capsys)


def caller(command, capsys):
    """Calls a command with its arguments in this process and says how it ended."""

    def call(*arguments):
        code = command([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Ran(code, *capsys.readouterr())

    return call
