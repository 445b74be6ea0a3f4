"""Checking a packet: every digest, and everything that it says was computed, computed anew."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from seam_core import VERSION
from seam_core.packet.making import derived, told
from seam_core.packet.recipe import (
    CERTIFIED,
    FORMAT,
    INPUTS,
    MANIFEST,
    REPORT,
    SEAM,
    InputFile,
    Manifest,
    PacketError,
    differing,
    recomputed,
    sha256,
    versions,
)  # fmt: skip
from seam_core.records import LOGS
from seam_core.words import count, cut, named

MANIFEST_MAX = 16 * 2**20  # bytes
CHUNK = 2**20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NOT_PLAIN = 0x1 | 0x20 | 0x40  # flags of a zip member that is encrypted or patched, which `zipfile` cannot read


@dataclass(frozen=True)
class Verdict:
    """Whether a packet's report came out the same to the byte, in sentences, and the report as it came out."""

    matches: bool
    sentences: tuple[str, ...]
    report: bytes


def verify_packet(path: Path, *, logs: Path | None = None) -> Verdict:
    """Check a packet and compute its report again.

    logs: the folder of the original logs, for a packet that does not carry them; only the bytes that were read then are looked at.
    Raises PacketError when the file is no packet, or a file in it is not the one its manifest names.
    """
    try:
        with zipfile.ZipFile(path) as packed, tempfile.TemporaryDirectory(prefix="seam-packet-") as folder:
            if any(one.compress_type not in METHODS or one.flag_bits & NOT_PLAIN for one in packed.infolist()):
                raise PacketError(f"{path}: is packed in a way that no evidence packet is")
            manifest = _manifest(packed, path)
            for one in manifest.inputs:
                if one.sha256 is not None:
                    _lay_out(packed, one, Path(folder), logs)
            return _compare(packed, manifest, Path(folder))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise PacketError(f"{path}: is no zip file, or a damaged one ({error})") from None
    except OSError as error:
        raise PacketError(f"{path}: cannot be read ({error.strerror or error})") from None


def _manifest(packed: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        if packed.getinfo(MANIFEST).file_size > MANIFEST_MAX:
            raise PacketError(f"{path}: its {MANIFEST} is too long to be one")
        found = msgspec.json.decode(packed.read(MANIFEST), type=Manifest)
    except KeyError:
        raise PacketError(f"{path}: holds no {MANIFEST}, so it is no evidence packet") from None
    except msgspec.DecodeError as error:
        raise PacketError(f"{path}: its {MANIFEST} cannot be understood ({error})") from None
    if found.format != FORMAT:
        raise PacketError(f"{path}: is of the format {cut(found.format)}; this version of SEAM reads {FORMAT}")
    if unknown := set(found.recipe.unreadable) - {CERTIFIED, *(log.table for log in LOGS)}:
        raise PacketError(f"{path}: names a log that there is not ({named(sorted(unknown))})")
    for name in (found.recipe.heals, *(one.member for one in found.inputs)):
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or not place.parts or "\0" in name:
            raise PacketError(f"{path}: names a file outside of itself ({cut(name)})")
    return found


def _lay_out(packed: zipfile.ZipFile, one: InputFile, folder: Path, logs: Path | None) -> None:
    """Copy one input to its place, and check that it is what the manifest says."""
    place = folder / one.member
    place.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with _opened(packed, one, logs) as source, place.open("wb") as file:
        for data in _first(source, one.bytes_used):
            digest.update(data)
            file.write(data)
        if one.in_packet and source.read(1):  # whoever opens the file reads those bytes, too
            raise PacketError(f"{INPUTS}/{one.member} is longer than the {count(one.bytes_used, 'byte')} that were read")
        n_bytes = file.tell()
    if digest.hexdigest() != one.sha256 or n_bytes != one.bytes_used:
        where = "in the packet" if one.in_packet else f"in {logs}"
        raise PacketError(f"{one.member} {where} is not what was read: its first {count(one.bytes_used, 'byte')} have another sha256")


def _opened(packed: zipfile.ZipFile, one: InputFile, logs: Path | None) -> IO[bytes]:
    if one.in_packet:
        try:
            return packed.open(f"{INPUTS}/{one.member}")
        except KeyError:
            raise PacketError(f"{INPUTS}/{one.member} is missing from the packet") from None
    if logs is None:
        raise PacketError(f"the packet does not carry {one.member}: name the folder of the logs with --logs")
    try:
        return (logs / one.member).open("rb")
    except OSError as error:
        raise PacketError(f"{logs / one.member}: cannot be read ({error.strerror})") from None


def _first(source: IO[bytes], n_bytes: int) -> Iterator[bytes]:
    while n_bytes > 0 and (data := source.read(min(CHUNK, n_bytes))):
        n_bytes -= len(data)
        yield data


def _compare(packed: zipfile.ZipFile, manifest: Manifest, folder: Path) -> Verdict:
    made = {}
    with recomputed(folder, manifest.recipe) as found:
        report = found.report()
        for name, chunks in derived(found):
            digest = hashlib.sha256()
            for data in chunks:
                digest.update(data)
            made[name] = digest.hexdigest()
        computed = made | {name: sha256(data) for name, data in told(manifest, found.audit)}
    others = [name for name, digest in computed.items() if name != REPORT and digest != _digest(packed, name)]
    stored = _stored_report(packed, len(report))
    if not others and report == stored and manifest.made != made:
        others = [MANIFEST]
    strangers = _strangers(packed, {MANIFEST, *computed, *(f"{INPUTS}/{one.member}" for one in manifest.inputs if one.in_packet)})
    matches = report == stored and not others and not strangers
    if matches:
        said = [f"match: the report came out the same to the byte, and so did the other {count(len(computed) - 1, 'file')}"]
    else:
        said = [f"no match: {_difference(stored, report)}" if report != stored else "the report came out the same to the byte"]
        said += [f"no match: {named(others)} came out different"] if others else []
        said += [f"no match: beside what the manifest names, the zip holds {named(strangers)}"] if strangers else []
        other_versions = differing(manifest.versions, versions())
        said += [f"other versions: {', '.join(other_versions)}"] if other_versions else []
    return Verdict(matches, (*said, _maker(manifest)), report)


def _maker(manifest: Manifest) -> str:
    """Which version of SEAM made the packet; another one may word README and digest otherwise."""
    here, there = VERSION, manifest.versions.get(SEAM, "unknown")
    return (
        f"made by SEAM {cut(there)}, as this is"
        if there == here
        else f"made by SEAM {cut(there)}; this is {here}, which may word things otherwise"
    )


def _stored_report(packed: zipfile.ZipFile, n_bytes: int) -> bytes:
    """The report in the zip, and of one that is longer than it should be only a little more than that."""
    if REPORT not in packed.namelist():
        return b""
    with packed.open(REPORT) as member:
        return member.read(n_bytes + CHUNK)


def _strangers(packed: zipfile.ZipFile, known: set[str]) -> list[str]:
    """Files that are none of the packet's, or are in it twice: nothing says where they come from."""
    found = Counter(name for name in packed.namelist() if not name.endswith("/"))
    return [name for name, n in found.items() if n > 1 or name not in known]


def _digest(packed: zipfile.ZipFile, name: str) -> str:
    if name not in packed.namelist():
        return ""
    digest = hashlib.sha256()
    with packed.open(name) as member:
        while data := member.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _difference(then: bytes, now: bytes) -> str:
    before, after = (data.decode("utf-8", "replace").splitlines() for data in (then, now))
    for at, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        if old != new:
            return f"line {at} of the report was {cut(old)} and is {cut(new)}"
    return f"the report had {count(len(before), 'line')} and has {len(after):,}"
