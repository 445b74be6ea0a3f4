"""Making a packet: copy the bytes that were read, compute the report from the copy, write both."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import msgspec

from seam_core.baseline.versions import read_versions
from seam_core.errors import UnreadableLogError
from seam_core.ledger import Ledger
from seam_core.ledger.looking import FILE as LEDGER
from seam_core.markdown import to_markdown
from seam_core.packet import readme
from seam_core.packet.inputs import Snapshot, Source, copy_ledger, take_snapshot
from seam_core.packet.recipe import (
    DIGEST,
    FORMAT,
    INPUTS,
    MANIFEST,
    REPORT,
    SETTINGS,
    Computed,
    InputFile,
    Manifest,
    Recipe,
    recomputed,
    stamp,
    versions,
)  # fmt: skip
from seam_core.packet.rows import csv_files
from seam_core.report import Audit
from seam_core.settings import ServerSettings
from seam_core.views.files import PACKED
from seam_core.views.in_force import thresholds_in_force
from seam_core.words import count

LOGS_MAX = 250_000_000  # bytes, unpacked: with more to read, a packet for a browser carries digests in place of the logs
SERVER_FILE = "server.toml"
MOMENT = (1980, 1, 1, 0, 0, 0)  # every member carries the same time, so that the same input gives the same bytes

Tell = Callable[[str, float], None]  # what is being done, and how far all of it is, in [0, 1]


@dataclass(frozen=True)
class Asked:
    """What a report was asked for, besides the logs: the window as it was written (7d, all), the clock, and every setting."""

    span: str
    now: datetime
    server: ServerSettings = field(default_factory=ServerSettings)
    flags: Mapping[str, Any] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    ledger: Path | None = None  # the decisions whose head the report names


@dataclass(frozen=True)
class Made:
    """What was written: whether the logs are in it, whether its report is the one that was shown, and both in words."""

    has_logs: bool
    is_as_shown: bool
    note: str


def make_packet(out: IO[bytes], audit: Audit, asked: Asked, *, logs_max: int | None = LOGS_MAX, tell: Tell | None = None) -> Made:
    """Write the packet of an audit to a binary file that can seek; the same bytes for the same logs, decisions and wishes.

    logs_max: how many bytes of logs, unpacked, it may carry; None for any number. Raises UnreadableLogError when a file was changed
    while it was being copied.
    """
    tell = tell or (lambda sentence, share: None)
    with (
        take_snapshot(audit.scope.store) as snapshot,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed,
        tempfile.TemporaryDirectory(prefix="seam-packet-") as folder,
    ):
        maker = _Maker(audit, asked, snapshot, _Writer(packed), Path(folder), tell)
        return maker.with_logs() if logs_max is None or snapshot.n_read <= logs_max else maker.without_logs(logs_max)


class _Maker:
    """One packet in the making."""

    def __init__(self, audit: Audit, asked: Asked, snapshot: Snapshot, writer: _Writer, folder: Path, tell: Tell) -> None:
        self._audit = audit
        self._sources = snapshot.sources
        self._n_read = snapshot.n_read
        self._writer = writer
        self._folder = folder
        self._tell = tell
        store = audit.scope.store
        ledger = asked.ledger or (store.ledger.path if store.ledger and store.versions else None)  # whose baselines were used
        self._decisions = folder / LEDGER
        self._noted = copy_ledger(ledger, self._decisions) if ledger else None
        self._asked = asked
        self._recipe = self._make_recipe()

    def with_logs(self) -> Made:
        """Copy what was read, compute the report from the copy, write both."""
        shown = Computed(self._audit, self._asked.server, self._noted, self._decisions).report()
        inputs = []
        for at, source in enumerate(self._sources):
            self._tell(f"copying {source.path.name}", 0.1 * at / len(self._sources))
            inputs.append(_described(source, source.copy_to(self._folder) if source.fd >= 0 else None, in_packet=source.fd >= 0))
        self._tell("computing the report from the copy", 0.1)
        with recomputed(self._folder, self._recipe) as again:
            report = again.report()
            self._write_derived(again)
            note = "The report was computed from the files in this packet, and so can be computed again."
            if report != shown:
                note += (
                    " It differs from the one that was on the screen: between reading the logs and making the packet something was added,"
                    " or a line that was ahead of the clock then is not any more."
                )
            self._finish(note, inputs, again.audit)
        return Made(has_logs=True, is_as_shown=report == shown, note=note)

    def without_logs(self, logs_max: int) -> Made:
        """Write what was computed, and the digests of what it was computed from."""
        if self._audit.scope.store.digest() != self._audit.digest or self._is_decided_since():
            raise UnreadableLogError("New lines or decisions came since this window was scored; make the packet again.")
        note = (
            f"The logs are not in this packet: they hold {_size(self._n_read)}, and it carries at most {_size(logs_max)}."
            " It has their digests; keep the logs, which must not lose a byte that was read."
        )
        self._write_derived(Computed(self._audit, self._asked.server, self._noted, self._decisions))
        inputs = []
        for at, source in enumerate(self._sources):
            self._tell(f"reading {source.path.name} for its digest", 0.6 + 0.4 * at / len(self._sources))
            inputs.append(_described(source, source.sha256() if source.fd >= 0 else None, in_packet=False))
        self._finish(note, inputs, self._audit)
        return Made(has_logs=False, is_as_shown=True, note=note)

    def _is_decided_since(self) -> bool:
        """Whether the copy of the ledger holds other baselines than those that the audit was computed with."""
        place = self._decisions
        return place.exists() and read_versions(Ledger(place)).head != self._audit.scope.store.versions.head

    def _write_derived(self, computed: Computed) -> None:
        for at, (name, chunks) in enumerate(derived(computed)):
            self._tell(f"writing {name}", min(0.6, 0.2 + 0.02 * at))
            self._writer.made[name] = self._writer.add(name, chunks)

    def _finish(self, note: str, inputs: list[InputFile], audit: Audit) -> None:
        """Write the inputs that are in it, the manifest, and what a person reads."""
        files = sorted(path for path in self._folder.rglob("*") if path.is_file())
        if (self._folder / LEDGER) in files:
            where = str(self._asked.ledger)
            digest, n_bytes = _sha256(self._folder / LEDGER), (self._folder / LEDGER).stat().st_size
            inputs.append(InputFile(LEDGER, where, n_bytes, n_bytes, digest, "copied at one moment", in_packet=True))
        for at, path in enumerate(files):
            self._tell(f"packing {path.name}", 0.6 + 0.4 * at / len(files))
            self._writer.add(f"{INPUTS}/{path.relative_to(self._folder).as_posix()}", _chunks(path), is_packed=path.suffix in PACKED)
        manifest = Manifest(FORMAT, versions(), self._recipe, note, inputs, self._writer.made)
        self._writer.add(MANIFEST, [_json(msgspec.to_builtins(manifest))])
        for name, data in told(manifest, audit):
            self._writer.add(name, [data])

    def _make_recipe(self) -> Recipe:
        workspace, asked = self._audit.scope.store.workspace, self._asked
        return Recipe(
            heals=workspace.heals.name,
            window=asked.span,
            as_of=stamp(self._audit.window.end),
            now=stamp(asked.now.astimezone(UTC)),
            fixtures_label=workspace.fixtures_label,
            fixtures_apart=workspace.fixtures != workspace.folder,
            require=asked.require,
            flags=dict(asked.flags),
            server_thresholds=dict(asked.server.thresholds),
            unreadable={source.table: source.error for source in self._sources if source.error},
            has_ledger=self._noted is not None,
            ledger_fault=self._noted.get("fault", "") if self._noted else "",
        )


class _Writer:
    """Writes members of a zip one after the other, and remembers the digests of what was computed."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self.made: dict[str, str] = {}
        self._packed = packed

    def add(self, name: str, chunks: Iterable[bytes], *, is_packed: bool = False) -> str:
        """Write one member; returns its sha256."""
        entry = zipfile.ZipInfo(name, MOMENT)
        entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        entry.create_system = 3
        digest = hashlib.sha256()
        with self._packed.open(entry, "w", force_zip64=True) as member:
            for data in chunks:
                digest.update(data)
                member.write(data)
        return digest.hexdigest()


def derived(computed: Computed) -> Iterator[tuple[str, Iterable[bytes]]]:
    """(member, chunks) of everything in a packet that is computed from its inputs."""
    audit = computed.audit
    yield REPORT, [computed.report()]
    yield DIGEST, [to_markdown(audit).encode("utf-8", "backslashreplace")]
    yield SETTINGS, [_json([asdict(one) for one in thresholds_in_force(audit.resolved, computed.server)])]
    yield from csv_files(audit)


def told(manifest: Manifest, audit: Audit) -> Iterator[tuple[str, bytes]]:
    """(member, bytes) of everything in a packet that says anew what its manifest holds."""
    if manifest.recipe.server_thresholds:
        yield f"{INPUTS}/{SERVER_FILE}", readme.server_toml(manifest.recipe).encode()
    yield "requirements.txt", readme.requirements(manifest).encode()
    yield "README.md", readme.readme(manifest, audit).encode("utf-8", "backslashreplace")


def _described(source: Source, digest: str | None, *, in_packet: bool) -> InputFile:
    return InputFile(source.member, str(source.path), source.n_bytes, source.n_read, digest, source.how, in_packet, source.error)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    for data in _chunks(path):
        digest.update(data)
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(2**20):
            yield data


def _json(value: Any) -> bytes:
    """JSON in ASCII, since a path may hold bytes that are no text."""
    return (json.dumps(value, indent=2) + "\n").encode()


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 1e6 else count(n_bytes, "byte")
