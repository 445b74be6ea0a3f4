"""certified.json as a copy of the newest version in the ledger: whether it is in step, and putting it so."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from seam_core.baseline.versions import Outcomes, Versions, in_words, read_versions
from seam_core.certified import Certified, read_certified
from seam_core.files import own_file
from seam_core.ledger import Ledger, LedgerError

State = Literal["in step", "stale", "missing", "moved", "the only record", "none", "not checkable"]


@dataclass(frozen=True)
class Copy:
    """What certified.json is beside the ledger, and what there is to say about it."""

    state: State
    sentence: str = ""
    fault: str = ""  # why it could not be written

    @property
    def is_fine(self) -> bool:
        """Whether nothing needs to be done."""
        return not self.sentence and not self.fault


def copy_state(versions: Versions, certified: Certified) -> Copy:
    """certified.json against the versions of the ledger."""
    newest = versions.newest
    if newest is None and versions.fault:
        return Copy("not checkable")  # what is said of the ledger itself says enough
    if newest is None:
        return Copy("none" if certified.outcomes is None else "the only record")
    counts = f"version {newest.number} of the ledger counts"
    if certified.outcomes is None and not certified.rejects:
        return Copy("missing", f"certified.json is missing: {counts}; `baseline repair` writes it")
    if not certified.rejects and certified.outcomes == newest.outcomes:
        return Copy("in step")
    older = [one.number for one in versions.all if one.outcomes == certified.outcomes]
    if older and not certified.rejects:
        return Copy("stale", f"certified.json is stale, it holds version {older[-1]}: {counts}; `baseline repair` brings it in step")
    return Copy("moved", f"moved goalposts: certified.json holds what nobody certified and is not used; {counts}")


def copy_bytes(outcomes: Outcomes) -> bytes:
    """The bytes of certified.json for a baseline."""
    text = json.dumps(in_words(outcomes), separators=(",\n ", ": "))  # as with indent=1, in a tenth of the time
    return f"{{\n {text[1:-1]}\n}}\n".encode("ascii")


def keep_in_step(ledger: Ledger, path: Path, *, replace_moved: bool = False, known: Certified | None = None) -> Copy:
    """Write the newest version of the ledger to certified.json, unless it is there already. Whoever commits later writes later: after each
    writing the ledger is asked again. Content that nobody certified stays, or with `replace_moved` is set aside under another name.
    """
    certified = read_certified(path, known=known)
    state = copy_state(versions := read_versions(ledger), certified)
    while state.state in ("stale", "missing") or (state.state == "moved" and replace_moved):
        assert versions.newest is not None
        try:
            if state.state == "moved":
                set_aside(path)
            write_whole(path, data := copy_bytes(versions.newest.outcomes))
        except OSError as error:
            return Copy(state.state, state.sentence, f"{path}: cannot be written ({error.strerror}); `baseline repair` tries again")
        written = Certified(dict(versions.newest.outcomes), digest=sha256(data).hexdigest())
        state = copy_state(versions := read_versions(ledger, known=versions), read_certified(path, known=written))
    return state


def mend_copy(ledger: Ledger | None, path: Path) -> None:
    """Finish what was interrupted between a certification and its copy. A ledger that cannot be read, or a folder that may not be written,
    is left as it is: the report says so.
    """
    if ledger:
        with suppress(LedgerError):
            keep_in_step(ledger, path)


def set_aside(path: Path) -> Path:
    """Keep what nobody certified beside the file, under the digest of its bytes. What is no file of its own (a link, a folder, a pipe) is
    moved there as it is and not read: a link may lead to what others must not see.  Raises OSError.
    """
    if own_file(path):
        return path.rename(path.with_name(f"{path.stem}.moved-{path.lstat().st_ino:x}{path.suffix}"))
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:  # whatever took its place meanwhile
        data = file.read()
    place = path.with_name(f"{path.stem}.moved-{sha256(data).hexdigest()[:12]}{path.suffix}")
    write_whole(place, data)
    return place


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in its place whole, or leave what was there; on the disk before this returns.  Raises OSError."""
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
