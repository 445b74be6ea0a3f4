"""The certified baseline as the workspace carries it: case → pass or fail."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seam_core.judge import Reject


@dataclass(frozen=True)
class Certified:
    """The outcomes that were signed off, and what could not be read. `outcomes` is None when there is no baseline."""

    outcomes: dict[str, bool] | None = None
    rejects: tuple[Reject, ...] = field(default=())
    digest: str = ""


def read_certified(path: Path) -> Certified:
    """The baseline in ``certified.json``; entries that are neither pass nor fail are listed, the rest is used."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Certified()
    except OSError as error:
        return Certified(rejects=(Reject(path.name, 1, "", f"cannot be read ({error.strerror})"),))
    digest = hashlib.sha256(data).hexdigest()
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        return Certified(rejects=(Reject(path.name, getattr(error, "lineno", 1), "", "not JSON: no baseline was read"),), digest=digest)
    if not isinstance(value, dict):
        return Certified(rejects=(Reject(path.name, 1, "", "must be an object of case_id → pass or fail"),), digest=digest)
    return _checked(path.name, value, digest)


def _checked(name: str, value: dict[str, Any], digest: str) -> Certified:
    outcomes = {case: outcome == "pass" for case, outcome in value.items() if outcome in ("pass", "fail")}
    bad = [case for case in value if case not in outcomes]
    rejects = tuple(Reject(name, 1, case, f"must be pass or fail, found {json.dumps(value[case])[:40]}") for case in bad)
    return Certified(outcomes, rejects, digest)
