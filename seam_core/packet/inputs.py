"""What a report was computed from: each file's bytes as far as they were read, taken while the agent may go on writing."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path

from seam_core.errors import UnreadableLogError
from seam_core.files import is_readable
from seam_core.ledger import LedgerError, Noted, noted
from seam_core.ledger import file as ledger_file
from seam_core.logstate import LogState
from seam_core.records import CERTIFIED_FILE
from seam_core.store import Store
from seam_core.views.files import PACKED, how_read
from seam_core.workspace import FIXTURES_FOLDER

CHUNK = 2**20


@dataclass(frozen=True)
class Source:
    """One file: where it lies, which bytes of it count, and its place among the packet's inputs."""

    member: str  # as it is named among the inputs
    path: Path
    table: str  # "" for what is no log
    n_bytes: int  # of the file as it lies there, from its start
    n_read: int  # the same, unpacked
    how: str  # how it was read, in words
    error: str = ""  # why it could not be read; then there are no bytes
    fd: int = -1

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, a MB at a time.  Raises UnreadableLogError when some are gone."""
        at = 0
        while at < self.n_bytes:
            data = os.pread(self.fd, min(CHUNK, self.n_bytes - at), at)
            if not data:
                raise UnreadableLogError(f"{self.path}: was shortened while it was being copied; try again")
            at += len(data)
            yield data

    def copy_to(self, folder: Path) -> str:
        """Copy it to its place below a folder; the sha256 of what was copied."""
        digest = hashlib.sha256()
        place = folder / self.member
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            for data in self.chunks():
                digest.update(data)
                file.write(data)
        return digest.hexdigest()

    def sha256(self) -> str:
        """The sha256 of its bytes."""
        digest = hashlib.sha256()
        for data in self.chunks():
            digest.update(data)
        return digest.hexdigest()


@dataclass
class Snapshot(AbstractContextManager["Snapshot"]):
    """Every file of a store, held open: what is appended or replaced from now on is not in it."""

    sources: list[Source] = field(default_factory=list)

    @property
    def n_read(self) -> int:
        """Bytes that a recomputation reads, unpacked."""
        return sum(source.n_read for source in self.sources)

    def __exit__(self, *exception: object) -> None:
        for source in self.sources:
            if source.fd >= 0:
                os.close(source.fd)


def take_snapshot(store: Store) -> Snapshot:
    """The files of a store as far as it has read them.  Raises UnreadableLogError when a packed log was replaced meanwhile."""
    workspace = store.workspace
    below = "" if workspace.fixtures == workspace.folder else f"{FIXTURES_FOLDER}/"
    found = Snapshot()
    try:
        with store.lock:
            for state in store.states.values():
                if source := _log(state, below if state.log.fixture else "", workspace.fixtures if state.log.fixture else workspace.folder):
                    found.sources.append(source)
        for path, prefix in ((workspace.fixtures / CERTIFIED_FILE, below), (workspace.settings_file, "")):
            if is_readable(path):
                found.sources.append(_whole(path, f"{prefix}{path.name}"))
    except BaseException:
        found.__exit__()
        raise
    return found


def _log(state: LogState, prefix: str, folder: Path) -> Source | None:
    file = state.file
    if file is None:
        path = folder / state.log.file
        return Source(f"{prefix}{state.log.file}", path, state.log.table, 0, 0, "not read", state.error) if state.error else None
    member = f"{prefix}{file.path.name}"
    if file.path.suffix not in PACKED:
        fd = os.dup(file.handle.fileno())
        return Source(member, file.path, state.log.table, file.n_bytes, file.n_bytes, how_read(state), fd=fd)
    try:
        fd = os.open(file.path, os.O_RDONLY)
    except OSError as error:
        raise UnreadableLogError(f"{file.path}: cannot be read ({error.strerror})") from None
    stat = os.fstat(fd)
    if (stat.st_size, stat.st_mtime_ns) != file.packed_stat:
        os.close(fd)
        raise UnreadableLogError(f"{file.path}: was changed while it was being read; read it again")
    return Source(member, file.path, state.log.table, stat.st_size, file.n_bytes, how_read(state), fd=fd)


def _whole(path: Path, member: str) -> Source:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise UnreadableLogError(f"{path}: cannot be read ({error.strerror})") from None
    n_bytes = os.fstat(fd).st_size
    return Source(member, path, "", n_bytes, n_bytes, "whole", fd=fd)


def copy_ledger(path: Path, place: Path) -> Noted:
    """Copy the decisions as they are at one moment, if there are any; what a report says of the copy, or why there is none."""
    try:
        with ledger_file.reading(path) as con:
            if con is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(place)) as copy:
                    con.backup(copy)
    except LedgerError as error:
        return Noted(head=None, rows=None, fault=str(error))
    return noted(place)
