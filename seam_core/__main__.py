"""``python -m seam_core COMMAND …``. The report itself is `run_seam.py`.

A command is a Typer app named ``app`` in a module of its own, and one line here. Only the one that is called is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from seam_core.commandline import new_app, run

PROGRAM = "python -m seam_core"
COMMANDS = {
    "baseline": "seam_core.baseline.command",
    "ledger": "seam_core.ledger.command",
    "notify": "seam_core.notify.command",
    "packet": "seam_core.packet.command",
    "signatures": "seam_core.merge_command",
}


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    app = new_app()
    app.callback(help="What goes beside the report.", no_args_is_help=True)(_nothing)
    called = [name for name in COMMANDS if arguments and arguments[0] == name]
    for name in called or COMMANDS:
        app.add_typer(import_module(COMMANDS[name]).app, name=name)
    return run(app, arguments, program=PROGRAM)


def _nothing() -> None:
    """There is nothing to do without a command."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
