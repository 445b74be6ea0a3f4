"""The certified baseline as the workspace carries it: case → pass or fail."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from seam_core.errors import UnreadableLogError
from seam_core.files import is_there, stat_log
from seam_core.judge import JSONObject, describe, whole_number
from seam_core.records import CERTIFIED_FILE
from seam_core.rejected import Reject

OUTCOMES = ("pass", "fail")


@dataclass(frozen=True)
class Certified:
    """The outcomes that were signed off, and what could not be read. `outcomes` is None when there is no baseline."""

    outcomes: dict[str, bool] | None = None
    rejects: tuple[Reject, ...] = field(default=())
    digest: str = ""  # none when no byte was read

    @property
    def fault(self) -> str:
        """Why a file that is there could not be read at all; "" when it was, or there is none."""
        return "" if self.digest or not self.rejects else self.rejects[0].reason


def read_certified(path: Path, *, known: Certified | None = None) -> Certified:
    """The baseline in ``certified.json``; entries that are neither pass nor fail, or stand twice, are listed, the rest is used.

    known: what it held before, which is returned when its bytes are the same.
    """
    try:
        if not is_there(path):
            return Certified()
        stat_log(path)
        data = path.read_bytes()
    except UnreadableLogError as error:
        return unread(str(error).removeprefix(f"{path}: "))
    except OSError as error:
        return unread(f"cannot be read ({error.strerror})")
    digest = hashlib.sha256(data).hexdigest()
    if known and known.digest == digest:
        return known
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=JSONObject.of, parse_int=whole_number)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        return Certified(rejects=(Reject(path.name, getattr(error, "lineno", 1), "", "not JSON: no baseline was read"),), digest=digest)
    if not isinstance(value, JSONObject):
        return Certified(rejects=(Reject(path.name, 1, "", "must be an object of case_id → pass or fail"),), digest=digest)
    faults = {} if _is_plain(value) else {case: fault for case in value if (fault := _fault(value, case))}
    outcomes = {case: outcome == "pass" for case, outcome in value.items() if case not in faults}
    return Certified(outcomes, tuple(Reject(path.name, 1, _shown(case), fault) for case, fault in faults.items()), digest)


def _is_plain(value: JSONObject) -> bool:
    """Whether nothing can be wrong with any entry, asked of all at once."""
    if value.twice or not all(outcome in OUTCOMES for outcome in value.values()):
        return False
    cases = "".join(value)
    return _shown(cases) == cases


def unread(why: str) -> Certified:
    """What stands for a file that is there and of which no byte could be read."""
    return Certified(rejects=(Reject(CERTIFIED_FILE, 1, "", why),))


def _fault(value: JSONObject, case: str) -> str | None:
    if case in value.twice:
        return "stands twice in one object"
    if _shown(case) != case:
        return "not Unicode: half of a surrogate pair"
    return None if value[case] in OUTCOMES else f"must be pass or fail, found {describe(value[case])}"


def _shown(case: str) -> str:
    return case.encode("utf-8", "backslashreplace").decode()
