"""The members of a zip file, one at a time and never more than so many bytes: what is packed may unfold without end.

Python's own `zipfile` reads zstd from version 3.14 on only, and new Inspect logs are packed with it.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

from seam_core.importing.format import SourceError
from seam_core.importing.reading import WHOLE_MAX, open_source

TOTAL_MAX = 16 * 2**30  # of all members together, unpacked
MEMBERS_MAX = 1_000_000
ZSTD = 93
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
ENCRYPTED = 0x1
CHUNK = 2**16


class Archive:
    """An opened zip file.  Raises SourceError when it is none, when it is damaged, or when it would unpack to more than is allowed."""

    def __init__(self, path: Path) -> None:
        self.file = open_source(path)
        self.unpacked = 0
        try:
            self.zip = zipfile.ZipFile(self.file)
        except (zipfile.BadZipFile, ValueError, OSError, RuntimeError, NotImplementedError) as error:
            self.file.close()
            raise SourceError(f"is a damaged or half-written zip file ({error})") from None
        self.members = {member.filename: member for member in self.zip.infolist()}
        if len(self.members) > MEMBERS_MAX:
            raise SourceError(f"holds more than {MEMBERS_MAX:,} files")

    def read(self, name: str) -> bytes:
        """The bytes of one member."""
        member = self.members[name]
        if member.flag_bits & ENCRYPTED:
            raise SourceError(f"{name} in it is encrypted")
        limit = min(WHOLE_MAX, TOTAL_MAX - self.unpacked)
        try:
            if member.compress_type == ZSTD:
                data = _unpack_zstd(self.file, member, limit + 1)
            else:
                with self.zip.open(member) as packed:
                    data = packed.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, struct.error) as error:
            raise SourceError(f"{name} in it is damaged ({error})") from None
        except NotImplementedError:
            raise SourceError(f"{name} in it is packed in a way that is not known here (method {member.compress_type})") from None
        if len(data) > limit:
            raise SourceError(
                f"{name} in it unpacks to more than is read of one log ({WHOLE_MAX >> 20} MB a file, {TOTAL_MAX >> 30} GB in all)"
            )
        self.unpacked += len(data)
        return data

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.zip.close()
        self.file.close()


def _unpack_zstd(file: IO[bytes], member: zipfile.ZipInfo, limit: int) -> bytes:
    """At most `limit` bytes of a member packed with zstd.  Raises ValueError."""
    import zstandard

    file.seek(member.header_offset)
    header = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    if header[0] != b"PK\x03\x04":
        raise ValueError("its local header is missing")
    file.seek(header[-2] + header[-1], 1)  # the name and the extra fields
    left = member.compress_size
    unpacker = zstandard.ZstdDecompressor().decompressobj()
    found = bytearray()
    try:
        while left > 0 and len(found) < limit and (data := file.read(min(CHUNK // 16, left))):
            left -= len(data)
            while data:
                found += unpacker.decompress(data)
                data, unpacker = (unpacker.unused_data, zstandard.ZstdDecompressor().decompressobj()) if unpacker.eof else (b"", unpacker)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(found) < limit and zlib.crc32(found) != member.CRC:
        raise ValueError("its checksum is wrong")
    return bytes(found[:limit])
