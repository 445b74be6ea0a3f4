"""A folder that brings an agent back: each target's text as it was after one heal, and a manifest with digests.

What the log does not hold cannot be restored, and the manifest says so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from seam_core.baseline.copies import write_whole
from seam_core.baseline.faults import BaselineError
from seam_core.scope import Scope
from seam_core.words import cut, is_text

FORMAT = "seam-rollback/1"
MANIFEST = "manifest.json"

HEAL = "select ts, heal_id, row in (select row from blocked) from heals where heal_id = $heal_id"

# Targets that heals changed after the chosen one; each with the newest heal on it up to the chosen one.
TARGETS = """
with working as (select * from heals where row not in (select row from blocked)),
chosen as (select ts, heal_id from heals where heal_id = $heal_id),
later as (
    select distinct target from working
    where target is not null and (ts, heal_id) > (select (ts, heal_id) from chosen)
),
kept as (
    select target, arg_max(row, (ts, heal_id)) as row from working
    where target in (from later) and (ts, heal_id) <= (select (ts, heal_id) from chosen)
    group by target
)
select l.target, k.row, h.heal_id from later l left join kept k using (target) left join heals h using (row) order by l.target
"""


@dataclass(frozen=True)
class Restored:
    """One target and the file that holds its text."""

    target: str
    file: str
    sha256: str
    n_bytes: int
    heal_id: str  # the heal that wrote it


@dataclass(frozen=True)
class Lost:
    """One target whose text the log does not hold."""

    target: str
    reason: str


@dataclass(frozen=True)
class Bundle:
    """What goes into a folder: texts by file name, and the manifest."""

    restored: tuple[Restored, ...]
    not_restored: tuple[Lost, ...]
    texts: dict[str, bytes]
    manifest: bytes

    @property
    def sha256(self) -> str:
        """Digest of the manifest, which has those of all files."""
        return sha256(self.manifest).hexdigest()


def rollback_folder(workspace: Path, key: str) -> Path:
    """Where a bundle goes when nobody names another place."""
    return workspace / "rollbacks" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def plan_bundle(scope: Scope, *, heal_id: str, run_id: str, version: int) -> Bundle:
    """The texts to go back to.  Raises BaselineError for a heal that there is not, or that the boundary gate stopped."""
    with scope.store.lock:
        found = scope.query(HEAL, heal_id=heal_id) if is_text(heal_id) else []
        if not found:
            raise BaselineError(f"there is no heal {cut(heal_id)} in the log to roll back to")
        if found[0][2]:
            raise BaselineError(f"heal {cut(heal_id)} was stopped by the boundary gate and never took effect; roll back to another one")
        rows = scope.query(TARGETS, heal_id=heal_id)
        texts = dict(
            zip([row for _, row, _ in rows if row is not None], scope.texts(row for _, row, _ in rows if row is not None), strict=True)
        )
    restored: list[Restored] = []
    lost: list[Lost] = []
    files: dict[str, bytes] = {}
    for at, (target, row, writer) in enumerate(rows, start=1):
        text = texts.get(row)
        if row is None:
            lost.append(Lost(target, "no heal up to the chosen one wrote it, so the log does not hold its text"))
        elif text is None:
            lost.append(Lost(target, f"heal {writer} wrote it last and logged no text"))
        else:
            data = text.encode("utf-8", "surrogatepass")
            name = f"{at:03d}-{re.sub(r'[^A-Za-z0-9._-]+', '-', target).strip('.-')[:60] or 'target'}.txt"
            files[name] = data
            restored.append(Restored(target, name, sha256(data).hexdigest(), len(data), writer))
    manifest = {
        "format": FORMAT,
        "heal_id": heal_id,
        "reviewed_run": run_id,
        "baseline_version": version,
        "restored": [asdict(one) for one in restored],
        "not_restored": [asdict(one) for one in lost],
    }
    return Bundle(tuple(restored), tuple(lost), files, (json.dumps(manifest, indent=2) + "\n").encode("ascii"))


def write_bundle(bundle: Bundle, place: Path) -> None:
    """Write the folder whole, or nothing of it.  Raises BaselineError when it is there already or cannot be written."""
    try:
        if os.path.lexists(place):
            raise BaselineError(f"{place}: is there already; name another folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=place.parent))
        try:
            for name, data in (*bundle.texts.items(), (MANIFEST, bundle.manifest)):
                write_whole(unfinished / name, data)
            unfinished.chmod(0o755)
            unfinished.rename(place)
        finally:
            with suppress(OSError):
                shutil.rmtree(unfinished)
    except OSError as error:
        raise BaselineError(f"{place}: the bundle cannot be written ({error.strerror}); nothing was decided") from None


def remove_bundle(place: Path) -> None:
    """Take a bundle away whose decision was refused."""
    with suppress(OSError):
        shutil.rmtree(place)
