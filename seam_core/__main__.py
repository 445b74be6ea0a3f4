"""``python -m seam_core COMMAND …``: every command of the product. `run_seam.py` is `report` alone.

A command is a Typer app named ``app`` in a module of its own, or a function ``command`` with its ``HELP``, and one line here. Only the one
that is called is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

PROGRAM = "python -m seam_core"

try:
    from seam_core.commandline import new_app, run
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


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    app = new_app()
    app.callback(help="Was the repair real? Every command of SEAM.", no_args_is_help=True)(_nothing)
    called = [name for name in COMMANDS if arguments and arguments[0] == name]
    for name in called or COMMANDS:
        module = import_module(COMMANDS[name])
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, help=module.HELP)(module.command)
    return run(app, arguments, program=PROGRAM)


def _nothing() -> None:
    """There is nothing to do without a command."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
