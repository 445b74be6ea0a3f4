"""What the workspaces of these tests hold."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The largest real log, where a folder of real workspaces is there: SEAM_REAL_LOGS=folder.
REAL_LOGS = os.environ.get("SEAM_REAL_LOGS")
REAL = next(Path(REAL_LOGS).glob("**/ldb-humaneval-starcoder"), None) if REAL_LOGS else None
HEAL = {
    "heal_id": "h_1",
    "ts": "2026-06-09T14:22:31Z",
    "loop_id": "loop_1",
    "cycle": 1,
    "level": 2,
    "trigger": {"failure_signature": "a:b:c"},
}

# Every way in which a line of the heal log can be wrong.
BAD_LINES = [
    b"not json",
    b"[1, 2]",
    b"{}",
    b'{"heal_id": "x", "heal_id": "y"}',
    b'{"heal_id": "\xff"}',
    json.dumps(HEAL | {"heal_id": "nan", "visible_after": float("nan")}).encode(),
    *(
        json.dumps(HEAL | wrong).encode()
        for wrong in (
            {"heal_id": ""},
            {"ts": "2026-06-09"},
            {"ts": "1999-06-09T14:22:31Z"},
            {"ts": "2999-06-09T14:22:31Z"},
            {"ts": "2026-02-30T14:22:31Z"},
            {"cycle": 1.5},
            {"cycle": 0},
            {"level": 9},
            {"visible_before": "0.5"},
            {"visible_before": True},
            {"visible_before": 1.5},
            {"trigger": "timeout"},
            {"change": []},
            {"holdout_scope": "week"},
        )
    ),
]
