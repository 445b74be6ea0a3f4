"""How every command is run and ends: its own exit code, one sentence for what a user can mend, a traceback for our faults."""

from __future__ import annotations

import errno
import json
import os
import select
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import click
from click.exceptions import Exit

from seam_core.errors import SeamError
from seam_core.escape import visible
from seam_core.exitcodes import FAULT, OK, UNUSABLE

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_PLACE = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS)
INTERRUPTED = 130  # exit code of whatever is stopped with Ctrl+C
STOPPED = "Query interrupted"  # what DuckDB raises when that comes while it works

PATH = click.Path(path_type=Path, readable=False)  # whoever opens it says what is wrong with it


class Group(click.Group):
    """Commands, listed in the order in which they are written."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(self.commands)


def run(command: click.Command, arguments: Sequence[str], *, program: str) -> int:
    """The exit code of one call: the command's own; 3 with a sentence on stderr for what cannot be used; 4 for a fault of the program."""
    _replace_closed_streams()
    try:
        # Its `main` would end with 1 when nobody reads the answer, and take an early end of a file for Ctrl+C.
        with command.make_context(program, list(arguments), show_default=True, color=False) as context:
            return int(command.invoke(context))
    except Exit as shown:  # a help
        return shown.exit_code
    except SeamError as error:
        return refuse(str(error), program=program)
    except click.ClickException as error:
        return refuse(error.format_message(), program=program)
    except (KeyboardInterrupt, RuntimeError) as error:
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) or str(error) == STOPPED else _fault()
    except OSError as error:
        if isinstance(error, BrokenPipeError) and _is_unread(sys.stdout):  # of a help; an answer is printed by `say`
            return OK
        if error.errno in NO_PLACE and error.filename is not None:
            return refuse(f"{error.filename}: cannot be used ({error.strerror})", program=program)
        if error.errno in FULL:
            return refuse(f"there is no room to write on the disk ({error.strerror}); make some, also for temporary files", program=program)
        return _fault()
    except Exception:  # the one place where a fault of the program must become exit code 4 instead of Python's 1
        return _fault()
    finally:
        _empty(sys.stdout)


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
        _empty(sys.stdout)


def _fault() -> int:
    _tell(traceback.format_exc())
    return FAULT


def _tell(text: str) -> None:
    """Write to stderr. When that cannot be written, the exit code still tells."""
    try:
        print(text, end="", file=sys.stderr, flush=True)  # noqa: T201
    except OSError:
        _empty(sys.stderr)


def _empty(stream: TextIO) -> None:
    """Flush a stream; what it cannot write goes nowhere, since Python would end the process with a code of its own over it."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_unread(stream: TextIO) -> bool:
    """Whether the reader of a pipe has gone."""
    poll = select.poll()
    poll.register(stream, select.POLLOUT)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _replace_closed_streams() -> None:
    """Lead streams that the caller closed (``2>&-``) nowhere: Python has None for them, and the next file opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115  as long as the process
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003  a positional argument by its making
            setattr(sys, name, stream)


def _fitting(text: str, encoding: str) -> str:
    """The text with JSON escapes for what the terminal's encoding does not have, or no encoding has (half a surrogate pair)."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(character if character.isascii() else json.dumps(character)[1:-1] for character in text)
    return text
