"""A workspace in which everything that an agent may name is an attack on the page that shows it."""

from __future__ import annotations

import json
from pathlib import Path

NAMES = [  # the first five, and the rest, are shown on one page each
    "![x](http://evil.test/x.png)",
    "<img src=http://evil.test/y.png onerror=alert(1)>",
    ":red[x] :material/warning: :smile:",
    "$x^2$ and $$y$$",
    "[click](javascript:alert(1)) http://evil.test www.evil.test a@evil.test",
    "**bold** _em_ ~~gone~~ `code` ``more`",
    "# heading\n- list\n| a | b |\n|---|---|",
    "a -> b <- c -- d ~= e >= f right\u202eto left\u200b",
    "x" * 300,
    "<script>document.title='evil'</script>&amp;",
]


def write_hostile(folder: Path, names: list[str]) -> None:
    """Heals that are each found guilty of something, so that their names are shown; one rejected line that quotes its value."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, runs = [], []
    for number, name in enumerate(names):
        ts = f"2026-06-0{1 + number % 7}T10:{number:02d}:00Z"
        heal = {
            "heal_id": f"{number} {name}",
            "ts": ts,
            "loop_id": f"loop {name}",
            "cycle": 1,
            "level": 2,
            "trigger": {"failure_signature": f"sig {name}"},
            "change": {"target": name, "after_text": f"text {name}"},
            "visible_before": 0.1,
            "visible_after": 0.9,
            "holdout_before": 0.5,
            "holdout_after": 0.5,
            "tokens_spent": 700,
            "task_tokens": 100,
            "was_real_failure": False,
        }
        lines.append(heal)
        for phase, outcome in (("before", "pass"), ("after", "fail")):
            run = {"run_id": f"{phase} {name}", "ts": ts, "suite": "surface", "phase": phase, "heal_id": heal["heal_id"]}
            runs.append(run | {"results": {name: outcome}})
    bad = {"heal_id": "bad", "ts": names[0], "loop_id": "l", "cycle": 1, "level": 2, "trigger": {"failure_signature": "s"}}
    _write(folder / "heal_events.jsonl", [*lines, bad])
    _write(folder / "suite_runs.jsonl", runs)
    _write(folder / "surface.jsonl", [{"id": name, "safety": number < 2} for number, name in enumerate(names)])
    _write(folder / "certified.json", dict.fromkeys(names, "pass"))
    blocks = [{"id": f"block {name}", "kind": "tool_permission", "target": name, "text": "not there"} for name in names[3:4]]
    _write(folder / "protected.jsonl", blocks)


def _write(path: Path, rows: object) -> None:
    text = json.dumps(rows) if isinstance(rows, dict) else "".join(json.dumps(row) + "\n" for row in rows)  # type: ignore[attr-defined]
    path.write_text(text, encoding="utf-8")
