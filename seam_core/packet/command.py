"""``python -m seam_core packet …``: checking a packet that somebody passed on.

Exit codes: 0 the report came out the same to the byte · 1 it did not · 3 the file cannot be checked · 4 a fault of the program.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seam_core.commandline import say
from seam_core.errors import SettingsError
from seam_core.packet import verify_packet
from seam_core.report import ALERT, OK

HELP = "Evidence packets: a report, the rows behind it, and the bytes it was computed from."

app = typer.Typer(help=HELP, no_args_is_help=True)


@app.callback()
def _packet() -> None:
    """Evidence packets: a report, the rows behind it, and the bytes it was computed from."""


@app.command()
def verify(
    packet: Annotated[Path, typer.Argument(help="the zip file", readable=False)],
    logs: Annotated[
        Path | None, typer.Option(help="folder of the original logs, for a packet that does not carry them", readable=False)
    ] = None,
    report: Annotated[Path | None, typer.Option(help="write the report there as it comes out now", readable=False)] = None,
) -> None:
    """Check every digest of a packet, compute its report again, and say whether it is the same to the byte."""
    found = verify_packet(packet, logs=logs)
    if report is not None:
        try:
            report.write_bytes(found.report)
        except OSError as error:
            raise SettingsError(f"--report {report}: cannot be written ({error.strerror})") from None
    for sentence in found.sentences:
        say(f"{sentence}\n")
    raise typer.Exit(OK if found.matches else ALERT)
