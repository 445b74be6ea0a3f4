"""How every command is run and ends: its own exit code, one sentence for what a user can mend, a traceback for our faults."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from click.exceptions import Exit

from seam_core.errors import SeamError
from seam_core.escape import visible
from seam_core.report import FAULT, UNUSABLE

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_PLACE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS)
INTERRUPTED = 130  # exit code of whatever is stopped with Ctrl+C

PATH = click.Path(path_type=Path, readable=False)  # whoever opens it says what is wrong with it


class Group(click.Group):
    """Commands, listed in the order in which they are written."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(self.commands)


def run(command: click.Command, arguments: Sequence[str], *, program: str) -> int:
    """The exit code of one call: the command's own; 3 with a sentence on stderr for what cannot be used; 4 for a fault of the program."""
    try:
        # Its `main` would take an early end of a file for Ctrl+C.
        with command.make_context(program, list(arguments), show_default=True, color=False) as context:
            return int(command.invoke(context))
    except Exit as shown:  # a help
        return shown.exit_code
    except SeamError as error:
        return refuse(str(error), program=program)
    except click.ClickException as error:
        return refuse(error.format_message(), program=program)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno in NO_PLACE and error.filename is not None:
            return refuse(f"{error.filename}: cannot be used ({error.strerror})", program=program)
        if error.errno in FULL:
            return refuse(f"there is no room to write on the disk ({error.strerror}); make some, also for temporary files", program=program)
        return _fault()
    except Exception:  # the one place where a fault of the program must become exit code 4 instead of Python's 1
        return _fault()


def refuse(sentence: str, *, program: str) -> int:
    """Say on stderr why there is no answer; returns the exit code for it."""
    _tell(f"{program}: {visible(sentence, length=len(sentence))}\n")
    return UNUSABLE


def progress() -> Callable[[str], None] | None:
    """What shows how far a long command is, on a terminal; None where nobody watches."""
    if not sys.stderr.isatty():
        return None
    return lambda sentence: _tell(f"\r\x1b[K{sentence}")


def say(text: str) -> None:
    """Print an answer to stdout, whatever the terminal's encoding, and whether or not anybody still reads."""
    if sys.stderr.isatty():
        _tell("\r\x1b[K")  # what showed the progress
    try:
        sys.stdout.write(_fitting(text, sys.stdout.encoding or "utf-8"))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone; the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fault() -> int:
    _tell(traceback.format_exc())
    return FAULT


def _tell(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)  # noqa: T201


def _fitting(text: str, encoding: str) -> str:
    """The text with JSON escapes for what the terminal's encoding does not have, or no encoding has (half a surrogate pair)."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(character if character.isascii() else json.dumps(character)[1:-1] for character in text)
    return text
