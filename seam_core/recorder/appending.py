"""One line of a log appended whole, with many processes writing to one file and any of them killed at any moment.

Every write opens the log anew, takes its lock, and adds its bytes in one go: a log that was moved, replaced or deleted meanwhile is
noticed, and a lock is never shared with a forked process. What a killed writer left of a line is ended first, so that nothing is joined
to it; the reader lists it as a line that is not JSON.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Sync = Literal["disk", "system"]
BLOCK_BYTES = 2**20
PAUSE_S = 0.0005  # between two tries for the lock, and a twentieth of the time waited so far
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
FAR_BYTE = 2**31 - 2  # on Windows a locked byte cannot be read, so one is locked that is never written


class AppendError(Exception):
    """Why a line could not be appended, in one sentence without the file's name."""


class NotSyncedError(AppendError):
    """The line is in the log, and whether it would outlive a power cut is not known."""


@dataclass(frozen=True)
class OpenLog:
    """A log that is open, and locked against other recorders."""

    fd: int

    @property
    def n_bytes(self) -> int:
        """Its size now."""
        return os.fstat(self.fd).st_size

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        found = os.fstat(self.fd)
        return found.st_dev, found.st_ino

    def read(self, start: int, n_bytes: int) -> bytes:
        """The bytes [start, start + n_bytes); fewer at the end of the file."""
        os.lseek(self.fd, start, os.SEEK_SET)
        found = b""
        while len(found) < n_bytes and (more := os.read(self.fd, n_bytes - len(found))):
            found += more
        return found

    def blocks(self, start: int) -> Iterator[tuple[int, bytes]]:
        """(offset, bytes) of the whole lines from `start` on, some at a time."""
        stop, size = self.n_bytes, BLOCK_BYTES
        while start < stop:
            data = self.read(start, min(size, stop - start))
            cut = data.rfind(b"\n") + 1
            if cut:
                yield start, data[:cut]
                start, size = start + cut, BLOCK_BYTES
            elif len(data) < size:
                return  # a half-written last line
            else:
                size *= 2

    def end_last_line(self) -> None:
        """End what a killed writer left of a line. It may be a whole record, which then counts."""
        if (n_bytes := self.n_bytes) and self.read(n_bytes - 1, 1) != b"\n":
            os.write(self.fd, b"\n")

    def append(self, data: bytes, *, sync: Sync) -> None:
        """Add whole lines at the end.  Raises OSError with the log as it was, as far as that can be."""
        self.end_last_line()
        start, written = self.n_bytes, 0
        try:
            while written < len(data):
                written += os.write(self.fd, data[written:])
        except OSError:
            self._take_back(start, written)
            raise
        if sync == "disk":
            try:
                os.fsync(self.fd)
            except OSError as error:
                raise NotSyncedError(f"written, but not brought to the disk ({error.strerror})") from None

    def _take_back(self, start: int, written: int) -> None:
        """Cut off the part of a line that found room, if nobody has written behind it; the next line starts anew in any case."""
        if written and self.n_bytes == start + written:
            with suppress(OSError):
                os.ftruncate(self.fd, start)


@contextmanager
def readable(path: Path) -> Iterator[OpenLog]:
    """The log, for looking at it without a lock.  Raises OSError."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        yield OpenLog(fd)
    finally:
        os.close(fd)


@contextmanager
def opened(path: Path, *, wait_s: float, sync: Sync = "system") -> Iterator[OpenLog]:
    """The log, locked; made when it is not there.  Raises OSError, and AppendError when another process does not give it back in time."""
    stop = time.monotonic() + wait_s
    while True:
        is_new = not path.exists()
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        _held.add(fd)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise AppendError("it is no plain file; what a pipe or a device takes is in no log")
            _lock(fd, stop)
            if not path.exists() or (found.st_dev, found.st_ino) != _identity(path):
                continue  # it was moved away while the lock was waited for
            if is_new and sync == "disk":
                _sync_folder(path.parent)
            yield OpenLog(fd)
            return
        finally:
            _give_back(fd)


_held: set[int] = set()  # open logs of this process


def _give_back(fd: int) -> None:
    """Unlock and close; closing alone would leave the log locked by a child that was forked meanwhile."""
    _held.discard(fd)
    if fcntl:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def _close_inherited() -> None:
    """In a forked child: let go of the parent's locks, which would otherwise outlive the parent."""
    for fd in _held:
        os.close(fd)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _lock(fd: int, stop: float) -> None:
    started = time.monotonic()
    while not _try_lock(fd):
        if (now := time.monotonic()) > stop:
            raise AppendError("another process has locked the log and does not give it back")
        time.sleep(min(PAUSE_S + (now - started) / 20, 0.05))


def _try_lock_posix(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in NO_LOCKS:
            raise AppendError("its file system cannot lock files; put the logs on a local disk") from None
        raise
    return True


def _try_lock_windows(fd: int) -> bool:
    import msvcrt

    windows: Any = msvcrt
    os.lseek(fd, FAR_BYTE, os.SEEK_SET)
    try:
        windows.locking(fd, windows.LK_NBLCK, 1)
    except OSError:
        return False
    return True


_try_lock: Callable[[int], bool] = _try_lock_posix if fcntl else _try_lock_windows


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file outlive a power cut, where folders can be synced."""
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
