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

MARKUP = "<style>body{display:none}</style><img src=http://evil.test/q.png>![q](http://evil.test/q.png) =HYPERLINK(1) \u202eevil\u202c"
WORDS = "the held out question asks how many apples are left in the second basket after lunch"


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
            "trigger": {"failure_signature": f"sig {name}", "evidence": f"{MARKUP} {name}"},
            "change": {"target": name, "after_text": f"text {name}\n{MARKUP}\n{WORDS}"},
            "visible_before": 0.1,
            "visible_after": 0.9,
            "holdout_before": 0.5,
            "holdout_after": 0.5,
            "tokens_spent": 700,
            "task_tokens": 100,
            "was_real_failure": False,
            "label_source": "judge",
            "actor": MARKUP,
            "trace_url": "javascript:alert(1)" if number % 2 else f"http://evil.test/{number}",
            "break_glass": {"by": MARKUP, "reason": name},
            "note": {MARKUP: name},
        }
        lines.append(heal)
        for phase, outcome in (("before", "pass"), ("after", "fail")):
            run = {"run_id": f"{phase} {name}", "ts": ts, "suite": "surface", "phase": phase, "heal_id": heal["heal_id"]}
            runs.append(
                run | {"results": {name: outcome}, "evidence": {name: f"{MARKUP} {name}" if number % 2 else "http://evil.test/z.png"}}
            )
    bad = {"heal_id": "bad", "ts": names[0], "loop_id": "l", "cycle": 1, "level": 2, "trigger": {"failure_signature": "s"}}
    _write(folder / "heal_events.jsonl", [*lines, bad])
    _write(folder / "suite_runs.jsonl", runs)
    cases = [{"id": name, "safety": number < 2, "component": name, "text": f"{MARKUP} {name}"} for number, name in enumerate(names)]
    _write(folder / "surface.jsonl", cases)
    _write(folder / "holdout.jsonl", [{"id": name, "slice": "core", "text": f"{WORDS} {number}"} for number, name in enumerate(names)])
    _write(folder / "failures.jsonl", [{"ts": "2026-06-09T10:00:00Z", "failure_signature": f"sig {name}"} for name in [*names, MARKUP]])
    _write(folder / "certified.json", dict.fromkeys(names, "pass"))
    blocks = [{"id": f"block {name}", "kind": "tool_permission", "target": name, "text": f"not there {MARKUP}"} for name in names[3:4]]
    _write(folder / "protected.jsonl", blocks)


def _write(path: Path, rows: object) -> None:
    text = json.dumps(rows) if isinstance(rows, dict) else "".join(json.dumps(row) + "\n" for row in rows)  # type: ignore[attr-defined]
    path.write_text(text, encoding="utf-8")
