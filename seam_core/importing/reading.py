"""Opening what another tool wrote: it may be missing, huge, damaged, deeply nested or made to hurt. Each refusal is one sentence."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from seam_core.errors import UnreadableLogError
from seam_core.files import stat_log
from seam_core.importing.format import SourceError
from seam_core.judge import describe, whole_number

WHOLE_MAX = 256 * 2**20  # of a file that has to be read as one JSON value
LINE_MAX = 64 * 2**20
DEEP = 60  # deeper values are kept as the JSON text of their type alone


def open_source(path: Path) -> BufferedReader:
    """A file opened for reading.  Raises SourceError when it is missing, a folder, a pipe, or not to be read."""
    try:
        stat_log(path, may_leave=True)
        return path.open("rb")
    except UnreadableLogError as error:
        raise SourceError(str(error).removeprefix(f"{path}: ").removesuffix("; name the log inside it")) from None
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})") from None
    except ValueError:
        raise SourceError("no such file") from None  # a NUL in the name


def digest_of(path: Path) -> str:
    """sha256 of a file's bytes: what identifies it when nothing inside does."""
    with open_source(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_whole(path: Path) -> bytes:
    """All bytes of a file that can only be understood whole."""
    with open_source(path) as file:
        data = file.read(WHOLE_MAX + 1)
    if len(data) > WHOLE_MAX:
        raise SourceError(f"is larger than {WHOLE_MAX >> 20} MB, which is as much as is read at once; export it in parts")
    return data


def read_json(path: Path) -> Any:
    """The JSON value of a whole file. NaN and Infinity come as they are, since tools write them; whole numbers of any length, too."""
    return parse(read_whole(path))


def parse(data: bytes) -> Any:
    """The JSON value of some bytes.  Raises SourceError."""
    try:
        return json.loads(data, parse_int=whole_number)
    except UnicodeDecodeError as error:
        raise SourceError(f"is not text: byte {error.start + 1} is {data[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        if not data.strip():
            raise SourceError("is empty") from None
        raise SourceError(f"is not JSON, or only half of it: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise SourceError("is nested too deeply to be read") from None


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(line number, JSON value) of each line that is not blank; a line that cannot be read comes as the SourceError that says why."""
    with open_source(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE_MAX + 1), b""), start=1):
            if len(line) > LINE_MAX:
                raise SourceError(f"line {number} is longer than {LINE_MAX >> 20} MB")
            if not line.strip():
                continue
            try:
                yield number, parse(line)
            except SourceError as error:
                yield number, error


def an_object(value: Any, what: str) -> dict[str, Any]:
    """The value, which has to be an object.  Raises SourceError."""
    if not isinstance(value, dict):
        raise SourceError(f"{what} must be an object, found {describe(value)}")
    return value


def a_list(value: Any, what: str) -> list[Any]:
    """The value, which has to be a list.  Raises SourceError."""
    if not isinstance(value, list):
        raise SourceError(f"{what} must be a list, found {describe(value)}")
    return value


def number_in(value: Any) -> float | None:
    """A finite JSON number; None for everything else, true and false included."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e300 and math.isfinite(value) else None


def text_in(value: Any) -> str | None:
    """A text that is not blank, or a whole number as text; None for everything else."""
    if isinstance(value, str):
        return value if value.strip() else None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def kept(value: Any, depth: int = DEEP) -> Any:
    """A foreign value as a record can carry it: what JSON has no number for becomes its name, half surrogate pairs a question mark."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        is_plain = abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value) and abs(value) < 1e300
        return value if is_plain else str(value)
    if depth == 0:
        return describe(value)
    if isinstance(value, dict):
        return {str(kept(str(key))): kept(inner, depth - 1) for key, inner in value.items()}
    return [kept(inner, depth - 1) for inner in value] if isinstance(value, (list, tuple)) else str(value)
