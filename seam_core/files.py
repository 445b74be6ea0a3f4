"""Finding and opening the files of logs, packed ones unpacked; every refusal is one sentence."""

from __future__ import annotations

import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal

from seam_core.errors import UnreadableLogError
from seam_core.lines import LogFile

SERVER_VARIABLE = "SEAM_SETTINGS"  # names the server settings, which are no audited agent's
UNPACKED_MAX = 64 * 2**30  # a compressed log may not fill the disk
SUFFIXES = ("", ".gz", ".zst")


def find_log(folder: Path, name: str) -> Path | None:
    """The log `name` in `folder`, plain or packed as .gz or .zst; None when there is none.  Two of them are an error."""
    found = [folder / (name + suffix) for suffix in SUFFIXES if is_there(folder / (name + suffix))]
    if len(found) > 1:
        raise UnreadableLogError(f"{folder}: {' and '.join(path.name for path in found)} are both there; keep one of them")
    return found[0] if found else None


def is_there(path: Path) -> bool:
    """Whether there is something of that name, be it a broken link.  Raises UnreadableLogError when that cannot be told."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    return True


def own_file(path: Path) -> Literal["", "none", "a folder", "a link", "no regular file"]:
    """What is wrong with a file that SEAM itself keeps, beside logs that others write: "" when it is a file, "none" when there is none.

    Whoever may write in the folder must not send our writes elsewhere, nor let us wait at a pipe.  Raises OSError when it cannot be told.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return "none"
    if stat.S_ISREG(mode):
        return ""
    return "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "no regular file"


def is_readable(path: Path) -> bool:
    """Whether there is a regular file that may be read here."""
    try:
        stat_log(path)
    except UnreadableLogError:
        return False
    return True


def stat_log(path: Path, *, may_leave: bool = False) -> os.stat_result:
    """The file's stat.  Raises UnreadableLogError with a sentence when it is missing, a folder or no regular file.

    A server that has settings of its own may read more than the agent whose folder this is: there a link that leads out of the folder is
    refused, unless it `may_leave`.
    """
    try:
        found = path.stat()
        leaves = not may_leave and os.environ.get(SERVER_VARIABLE) and not path.resolve().is_relative_to(path.parent.resolve())
    except FileNotFoundError:
        raise UnreadableLogError(f"{path}: no such file") from None
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    if leaves:
        raise UnreadableLogError(f"{path}: is a link out of its folder, which a server with settings of its own does not follow")
    if stat.S_ISDIR(found.st_mode):
        raise UnreadableLogError(f"{path}: is a folder, not a file; name the log inside it")
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableLogError(f"{path}: is not a regular file")
    return found


def open_log(path: Path) -> LogFile:
    """Open a log for reading by offset; a packed one is unpacked into an unnamed temporary file first.

    Raises UnreadableLogError with a sentence.
    """
    found = stat_log(path)
    try:
        handle: IO[bytes] = path.open("rb", buffering=0)
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    log = LogFile(path, handle, (found.st_dev, found.st_ino), found.st_size, (found.st_size, found.st_mtime_ns))
    if path.suffix in (".gz", ".zst"):
        log.handle = _unpack(handle, log)
        handle.close()
        log.n_bytes = os.fstat(log.handle.fileno()).st_size
    return log


def _unpack(packed: IO[bytes], log: LogFile) -> IO[bytes]:
    plain: IO[bytes] = tempfile.TemporaryFile(prefix="seam-")  # noqa: SIM115  lives as long as the log
    written = 0
    try:
        for data in _gunzip(packed) if log.path.suffix == ".gz" else _unzstd(packed):
            written += plain.write(data)
            if written > UNPACKED_MAX:
                log.notes.append(f"{log.path.name} unpacks to more than {UNPACKED_MAX >> 30} GB; only so much was read")
                break
    except (zlib.error, _zstd_error()) as error:
        log.notes.append(
            f"{log.path.name} is damaged or cut off after {written:,} unpacked bytes ({error}); what came before was read"
            if written
            else f"{log.path.name} is not packed as its name says, or cut off at the start ({error})"
        )
    plain.flush()
    return plain


def _gunzip(packed: IO[bytes]) -> Iterator[bytes]:
    unpacker: Any = None
    while data := packed.read(2**20):
        while data:
            unpacker = unpacker or zlib.decompressobj(wbits=31)
            yield unpacker.decompress(data, 2**22)
            data = unpacker.unconsumed_tail
            if unpacker.eof:  # another member may follow, or padding
                data, unpacker = unpacker.unused_data.lstrip(b"\0"), None
    if unpacker:
        raise zlib.error("the end is missing")


def _unzstd(packed: IO[bytes]) -> Iterator[bytes]:
    import zstandard

    unpacker: Any = None
    while data := packed.read(2**14):  # a little at a time, since a frame may unpack to many times its size
        while data:
            unpacker = unpacker or zstandard.ZstdDecompressor().decompressobj()
            yield unpacker.decompress(data)
            data, unpacker = (unpacker.unused_data, None) if unpacker.eof else (b"", unpacker)
    if unpacker:
        raise zstandard.ZstdError("the end is missing")


def _zstd_error() -> type[Exception]:
    import zstandard

    error: Any = zstandard.ZstdError
    return error if isinstance(error, type) else RuntimeError
