"""How every command of the product ends: its own exit code, one sentence for what a user can mend, a traceback for our faults."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.main import get_command

from seam_core.errors import SeamError
from seam_core.escape import visible
from seam_core.report import FAULT, UNUSABLE

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_PLACE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS)
INTERRUPTED = 130  # exit code of whatever is stopped with Ctrl+C

# Typer's complaints about arguments share a base class that it does not export.
_COMPLAINT: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def new_app() -> typer.Typer:
    """A command line without completion, colours and Typer's own tracebacks."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def run(app: typer.Typer, arguments: Sequence[str], *, program: str) -> int:
    """The exit code of one call: the command's own; 3 with a sentence on stderr for what cannot be used; 4 for a fault of the program."""
    try:
        return int(get_command(app)(list(arguments), prog_name=program, standalone_mode=False) or 0)
    except SeamError as error:
        return refuse(str(error), program=program)
    except _COMPLAINT as error:
        return refuse(str(error.format_message()), program=program)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno in NO_PLACE and error.filename is not None:
            return refuse(f"{error.filename}: cannot be used ({error.strerror})", program=program)
        if error.errno not in FULL:
            traceback.print_exc()
            return FAULT
        return refuse(f"there is no room to write on the disk ({error.strerror}); make some, also for temporary files", program=program)
    except Exception:  # the one place where a fault of the program must become exit code 4 instead of Python's 1
        traceback.print_exc()
        return FAULT


def refuse(sentence: str, *, program: str) -> int:
    """Say on stderr why there is no answer; returns the exit code for it."""
    print(f"{program}: {visible(sentence, length=len(sentence))}", file=sys.stderr)  # noqa: T201
    return UNUSABLE


def progress() -> Callable[[str], None] | None:
    """What shows how far a long command is, on a terminal; None where nobody watches."""
    if not sys.stderr.isatty():
        return None
    return lambda sentence: print(f"\r\x1b[K{sentence}", end="", file=sys.stderr, flush=True)  # noqa: T201


def say(text: str) -> None:
    """Print an answer to stdout, whatever the terminal's encoding, and whether or not anybody still reads."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # noqa: T201  what showed the progress
    try:
        sys.stdout.write(_fitting(text, sys.stdout.encoding or "utf-8"))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone; the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fitting(text: str, encoding: str) -> str:
    """The text with JSON escapes for what the terminal's encoding does not have, or no encoding has (half a surrogate pair)."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(character if character.isascii() else json.dumps(character)[1:-1] for character in text)
    return text
