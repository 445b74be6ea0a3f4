"""``python -m seam_core COMMAND …``: every command of the product. `run_seam.py` is `report` alone.

A command is a click command or group named ``command`` in a module of its own, and one line here. Only the one that is called is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

PROGRAM = "python -m seam_core"

try:
    import click

    from seam_core.commandline import run
except ImportError as error:  # Python's own exit code 1 would say that something was found
    print(f"{PROGRAM}: {error}; run it with the project's own Python, .venv/bin/python", file=sys.stderr)
    sys.exit(4)

COMMANDS = {
    "baseline": "seam_core.baseline.command",
    "doctor": "seam_core.doctor",
    "import": "seam_core.importing.command",
    "init": "seam_core.starting",
    "ledger": "seam_core.ledger.command",
    "notify": "seam_core.notify.command",
    "packet": "seam_core.packet.command",
    "report": "seam_core.cli",
    "simulate": "seam_core.simulate.command",
    "signatures": "seam_core.merge_command",
}


class _Commands(click.Group):
    """The commands, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        return import_module(COMMANDS[cmd_name]).command if cmd_name in COMMANDS else None


@click.group(cls=_Commands)
def seam() -> None:
    """Was the repair real? Every command of SEAM."""


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    return run(seam, arguments, program=PROGRAM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
