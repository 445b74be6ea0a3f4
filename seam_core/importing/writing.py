"""Putting imported records into a workspace: each checked by the rules that the reader has, and only what is not there yet.

A record is already there when a line of the same identity says the same; where it was imported from, and a time that was assumed, are not
compared. All new lines of a log are appended in one go behind a lock, and taken back when the disk is full.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import msgspec

from seam_core.errors import SeamError
from seam_core.files import find_log, own_file
from seam_core.importing.format import Found, Item, Left
from seam_core.judge import judge, latest_time
from seam_core.lines import BOM, LINE_MAX, Block, LogFile, pieces
from seam_core.records import Log
from seam_core.workspace import fixtures_of

ORIGIN = "imported_from"
COPY_BYTES = 2**20


class WriteError(SeamError):
    """A log of the workspace cannot be appended to; nothing was written to it."""


@dataclass
class Written:
    """What became of the records of one log."""

    file: str
    new: int = 0
    there: int = 0
    refused: int = 0


@dataclass
class _Batch:
    """The records of one log that were read: their lines in a temporary file and, in the same order, identity → digest."""

    log: Log
    written: Written
    lines: IO[bytes] = field(default_factory=lambda: tempfile.TemporaryFile(prefix="seam-"))  # noqa: SIM115  closed by `write`
    digests: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def write(
    folder: Path, found: Iterable[Found], *, now: datetime, tell: Callable[[str], None] | None = None
) -> tuple[list[Written], list[Left]]:
    """Append to the logs of a workspace what is not there yet; returns what became of each log's records, and what was left out.

    now: the clock; a time more than a day later is refused, as the reader does.  Raises WriteError before anything is written to a log.
    """
    batches: dict[str, _Batch] = {}
    left: list[Left] = []
    try:
        for n, one in enumerate(found, start=1):
            if isinstance(one, Left):
                left.append(one)
                continue
            if one.log.table not in batches:
                batches[one.log.table] = _Batch(one.log, written=Written(one.log.file))
            batch = batches[one.log.table]
            if fault := _take(batch, one, now):
                batch.written.refused += 1
                left.append(Left(one.file, str(one.record.get(one.log.key or "", "")), fault))
            if tell and n % 1000 == 0:
                tell(f"{n:,} records read")
        # An empty log says something else than none. And all paths are looked at before one is written to.
        paths = {table: _path(folder, batch.log) for table, batch in batches.items() if batch.digests}
        for table, path in paths.items():
            left += _append(path, batches[table])
    finally:
        for batch in batches.values():
            batch.lines.close()
    return [batch.written for batch in batches.values()], left


def _take(batch: _Batch, one: Item, now: datetime) -> str | None:
    """Keep one record for writing; returns why it cannot be one."""
    line = json.dumps(one.record, allow_nan=True).encode("ascii")  # a NaN is found by the judge, with its place
    if len(line) >= LINE_MAX:  # its newline counts, too
        return f"is longer than {LINE_MAX >> 20} MB"
    wrong = judge(line, batch.log, latest=latest_time(now))
    if wrong:
        return " ".join(part for part in wrong if part)
    key, digest = _identity(batch.log, one.record)
    known = batch.digests.setdefault(key, digest)
    if key in batch.files:
        if known == digest:
            batch.written.there += 1
            return None
        return f"stands twice in what was read, with other content (also in {batch.files[key]})"
    batch.files[key] = one.file
    batch.lines.write(line + b"\n")
    return None


def _identity(log: Log, record: dict[str, Any]) -> tuple[str, str]:
    """What identifies a record in its log, and a digest of what it says."""
    assumed = ("ts",) if record.get("ts_assumed") is True else ()
    said = {key: value for key, value in record.items() if key != ORIGIN and key not in assumed and value is not None}
    digest = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return str(record[log.key]) if log.key else digest, digest


def _path(folder: Path, log: Log) -> Path:
    """The file that records of a log are appended to.  Raises WriteError when that must not be.

    Whoever may write in the folder must not send our lines elsewhere, nor let us wait at a pipe.
    """
    place = fixtures_of(folder) if log.fixture else folder
    path = place / log.file
    if place != folder and place.is_symlink():
        raise WriteError(f"{place}: is a link; records are imported into a folder of the workspace only")
    packed = find_log(place, log.file)
    if packed is not None and packed != path:
        raise WriteError(f"{packed}: is packed and cannot be appended to; unpack it first")
    try:
        wrong = own_file(path)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror})") from None
    if wrong not in ("", "none"):
        raise WriteError(f"{path}: is {wrong}; records are imported into a plain file only")
    return path


def _append(path: Path, batch: _Batch) -> list[Left]:
    """Append the lines of a batch that are not in the workspace's log yet; returns those that are there with other content."""
    left: list[Left] = []
    with _locked(path) as descriptor:
        there = _there(path, descriptor, batch)
        new = tempfile.TemporaryFile(prefix="seam-")  # noqa: SIM115  closed below
        with new:
            batch.lines.seek(0)
            for line, (key, digest) in zip(batch.lines, batch.digests.items(), strict=True):
                if key not in there:
                    new.write(line)
                    batch.written.new += 1
                elif digest in there[key]:
                    batch.written.there += 1
                else:
                    batch.written.refused += 1
                    left.append(
                        Left(batch.files[key], key, f"is in {batch.log.file} already, with other content; a log is never rewritten")
                    )
            if batch.written.new:
                _append_bytes(path, descriptor, new)
    return left


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The log opened for appending, alone among those that lock it.  Raises WriteError, also when it was exchanged meanwhile."""
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags, 0o644)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise WriteError(f"{path}: is no regular file; records are imported into a plain file only")
        with suppress(ImportError):  # where there are no such locks, whoever appends at the same moment may still interleave whole lines
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _there(path: Path, descriptor: int, batch: _Batch) -> dict[str, set[str]]:
    """Identity → digests of the lines of the log that stand for a record of the batch."""
    found: dict[str, set[str]] = {}
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as handle:
        log = LogFile(path, handle, (0, 0), os.fstat(descriptor).st_size)
        for block in log.blocks(0, log.n_bytes):
            for _, line in pieces(block) if isinstance(block, Block) else ():
                record = _record_in(line, batch)
                if record is not None:
                    identity, digest = _identity(batch.log, record)
                    if identity in batch.digests:
                        found.setdefault(identity, set()).add(digest)
    return found


def _record_in(line: bytes, batch: _Batch) -> dict[str, Any] | None:
    """The record of a line that may stand for one of the batch. Most do not, and are not read whole; bad ones are the reader's to list."""
    key = batch.log.key
    try:
        if key is not None and b"\\" not in line:
            identity = bytes(msgspec.json.decode(line.removeprefix(BOM), type=dict[str, msgspec.Raw])[key])
            if identity[1:-1].decode() not in batch.digests:
                return None
        record = json.loads(line.decode("utf-8-sig"))
    except (msgspec.DecodeError, KeyError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and (key is None or key in record) else None


def _append_bytes(path: Path, descriptor: int, new: IO[bytes]) -> None:
    """Append all bytes of a file and wait for the disk; what was written is taken back when not all of it can be."""
    before = os.fstat(descriptor).st_size
    is_torn = before > 0 and os.pread(descriptor, 1, before - 1) != b"\n"  # somebody's last line has no end: begin a fresh one
    written = 0
    try:
        if is_torn:
            written += os.write(descriptor, b"\n")
        new.seek(0)
        while data := new.read(COPY_BYTES):
            while data:
                n = os.write(descriptor, data)
                written, data = written + n, data[n:]
        os.fsync(descriptor)
    except OSError as error:
        if os.fstat(descriptor).st_size == before + written:  # nobody else has appended meanwhile
            with suppress(OSError):
                os.ftruncate(descriptor, before)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise WriteError(f"{path}: cannot be written ({error.strerror})") from None
