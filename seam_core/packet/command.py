"""``python -m seam_core packet …``: checking a packet that somebody passed on.

Exit codes: 0 the report came out the same to the byte · 1 it did not · 3 the file cannot be checked · 4 a fault of the program.
"""

from __future__ import annotations

from pathlib import Path

import click

from seam_core.commandline import PATH, Group, say
from seam_core.errors import SettingsError
from seam_core.exitcodes import ALERT, OK
from seam_core.packet import verify_packet


@click.group(cls=Group)
def command() -> None:
    """Evidence packets: a report, the rows behind it, and the bytes it was computed from."""


@command.command()
@click.argument("packet", type=PATH, help="the zip file")
@click.option("--logs", type=PATH, help="folder of the original logs, for a packet that does not carry them")
@click.option("--report", type=PATH, help="write the report there as it comes out now")
def verify(*, packet: Path, logs: Path | None, report: Path | None) -> int:
    """Check every digest of a packet, compute its report again, and say whether it is the same to the byte."""
    found = verify_packet(packet, logs=logs)
    if report is not None:
        try:
            report.write_bytes(found.report)
        except OSError as error:
            raise SettingsError(f"--report {report}: cannot be written ({error.strerror})") from None
    for sentence in found.sentences:
        say(f"{sentence}\n")
    return OK if found.matches else ALERT
