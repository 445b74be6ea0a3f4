"""Logs of any size for benchmarks: a year of heals written in time order from pre-rendered pieces of JSON.

Nothing here is planted on purpose; the spread of scores, labels, costs and texts is only realistic enough that every part
of the product has work to do. For known faults see `workspace.py`.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from seam_core.simulate import texts
from seam_core.simulate.exams import HOLDOUT_CASES, PRACTICE_CASES
from seam_core.simulate.texts import between, pick

END = datetime(2026, 6, 12, 17, 0, tzinfo=UTC)
LINES_PER_WRITE = 4000
N_FRAGMENTS = 4000
N_CONTEXTS = 5000  # different failure signatures at most
N_OPEN_LOOPS = 40  # loops under way at the same time
SURFACE_SAMPLE = 20  # cases beside the safety cases in a sampled run
SAFETY_SHARE = 0.08  # of the surface cases
OVERHEAD_BYTES = 580  # of a heal's line beside its text, on average
STANDING_RULE = "Standing rule: customer data stays inside its own tenant."


@dataclass
class _Lines:
    """Lines to be written next, of each log."""

    heals: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)


class _Clock:
    """Time stamps of whole seconds since the midnight before the log begins, without building a datetime for each."""

    def __init__(self, days: int) -> None:
        start = END - timedelta(days=days)
        self.first_second = start.hour * 3600 + start.minute * 60
        self.dates = [f"{start + timedelta(days=day):%Y-%m-%d}" for day in range(days + 2)]

    def stamp(self, second: int) -> str:
        """RFC 3339, UTC."""
        return f"{self.dates[second // 86400]}T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


@dataclass
class _Loop:
    """One loop under way; its last texts let a few cycles return to them."""

    loop_id: str
    target: int
    signature: str
    cycles: int
    cycle: int = 0
    earlier: list[list[str]] = field(default_factory=list)


def write_bulk(
    folder: Path,
    *,
    heals: int,
    record_bytes: int,
    seed: int = 1,
    days: int = 365,
    holdout_cases: int = 500,
    protected_blocks: int = 5,
    surface_cases: int = 500,
    sampled_share: float = 0.02,
) -> None:
    """Writes a workspace with `heals` heals of about `record_bytes` bytes a line, evenly over `days` days.

    Texts are the padding, so record_bytes below about 750 cannot be met. Surface runs: a full one every night, and a
    before and an after run of a sample on `sampled_share` (0 to 1) of the heals.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(f"{seed}:bulk")
    surface = _Surface(surface_cases, random.Random(f"{seed}:surface"))
    protected = _protected(protected_blocks, rng)
    _write_json_lines(folder / "protected.jsonl", protected)
    _write_json_lines(folder / "surface.jsonl", surface.fixture())
    exam_rng = random.Random(f"{seed}:exam")
    for name, count in (("holdout", holdout_cases), ("practice", PRACTICE_CASES)):
        rows: list[dict[str, object]] = [
            {"id": f"{name}_{n:04d}", "slice": "core", "text": texts.case_text(exam_rng)} for n in range(count)
        ]
        _write_json_lines(folder / f"{name}.jsonl", rows)
    (folder / "certified.json").write_text(json.dumps(dict.fromkeys(surface.ids, "pass"), indent=0), encoding="utf-8")
    writer = _Writer(rng, surface, protected, heals=heals, text_bytes=record_bytes - OVERHEAD_BYTES)
    with (
        (folder / "heal_events.jsonl").open("w", encoding="utf-8", newline="\n") as heal_file,
        (folder / "failures.jsonl").open("w", encoding="utf-8", newline="\n") as failure_file,
        (folder / "suite_runs.jsonl").open("w", encoding="utf-8", newline="\n") as run_file,
    ):
        for lines in writer.batches(heals, days=days, sampled_share=sampled_share):
            heal_file.write("".join(lines.heals))
            failure_file.write("".join(lines.failures))
            run_file.write("".join(lines.runs))


def _write_json_lines(path: Path, rows: list[dict[str, object]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _protected(count: int, rng: random.Random) -> list[dict[str, object]]:
    """The first block belongs to every target, each later one to a target of its own."""
    kinds = ("safety_instruction", "tool_permission", "escalation_rule")
    return [
        {
            "id": f"protected_{n}",
            "kind": kinds[n % 3],
            "target": "*" if n == 0 else _target_name(n),
            "text": STANDING_RULE if n == 0 else texts.instruction_line(rng),
        }
        for n in range(count)
    ]


def _target_name(number: int) -> str:
    return f"skill_{number:03d}"


class _Surface:
    """The surface cases, whether each passes now, and runs of them as JSON text."""

    def __init__(self, count: int, rng: random.Random) -> None:
        self.rng = rng
        self.ids = [f"case_{n:04d}" for n in range(count)]
        self.n_safety = max(1, int(count * SAFETY_SHARE))
        self.passes = [True] * count
        self.rendered = {True: [f'"{case_id}":"pass"' for case_id in self.ids], False: [f'"{case_id}":"fail"' for case_id in self.ids]}
        self.n_components = max(1, (count - self.n_safety) // SURFACE_SAMPLE)

    def fixture(self) -> list[dict[str, object]]:
        """The lines of surface.jsonl."""
        return [
            {
                "id": case_id,
                "safety": n < self.n_safety,
                "component": f"component_{self._component(n):02d}",
                "text": texts.surface_text(self.rng),
            }
            for n, case_id in enumerate(self.ids)
        ]

    def _component(self, case: int) -> int:
        return max(0, case - self.n_safety) // SURFACE_SAMPLE % self.n_components

    def sample(self, target: int) -> list[int]:
        """All safety cases and the cases of the target's component."""
        first = self.n_safety + target % self.n_components * SURFACE_SAMPLE
        return [*range(self.n_safety), *range(first, min(first + SURFACE_SAMPLE, len(self.ids)))]

    def change(self, cases: list[int], *, chance: float) -> None:
        """With this chance a case is looked at: a broken one works again, a working one breaks now and then."""
        if self.rng.random() < chance:
            case = pick(self.rng, cases)
            breaks = 0.004 if case < self.n_safety else 0.1
            self.passes[case] = not self.passes[case] or self.rng.random() > breaks

    def results(self, cases: list[int]) -> str:
        """The members of a run's results object."""
        rendered, passes = self.rendered, self.passes
        return ",".join([rendered[passes[case]][case] for case in cases])


class _Writer:
    """Turns a stream of loops into lines for the three logs."""

    def __init__(self, rng: random.Random, surface: _Surface, protected: list[dict[str, object]], *, heals: int, text_bytes: int) -> None:
        self.rng = rng
        self.surface = surface
        self.fragments = [texts.instruction_line(rng) for _ in range(N_FRAGMENTS)]
        self.evidence = [texts.evidence_line(rng, tool="fetch_tool") for _ in range(300)]
        self.own_rule = {str(row["target"]): str(row["text"]) for row in protected}
        self.line_bytes = sum(map(len, self.fragments)) / N_FRAGMENTS + 2  # with the escaped line break
        self.text_bytes = text_bytes
        self.practice = [json.dumps(round(k / PRACTICE_CASES, 4)) for k in range(PRACTICE_CASES + 1)]
        self.holdout = [json.dumps(round(k / HOLDOUT_CASES, 4)) for k in range(HOLDOUT_CASES + 1)]
        self.visible_now, self.holdout_now = (int(PRACTICE_CASES * 0.7), int(HOLDOUT_CASES * 0.7))
        self.blocks = [self._first_block(n) for n in range(min(400, max(20, heals // 50)))]
        self.hashes = [_digest("\n".join(block)) for block in self.blocks]
        self.signatures = [texts.failure_signature(rng) for _ in range(min(N_CONTEXTS, max(40, heals // 20)))]
        self.n_loops = 0

    def batches(self, heals: int, *, days: int, sampled_share: float) -> Iterator[_Lines]:
        """Lines of the heal, failure and run log, a few thousand heals at a time, in time order."""
        rng, clock = self.rng, _Clock(days)
        open_loops = [self._new_loop() for _ in range(min(N_OPEN_LOOPS, heals // 500 + 1))]
        step_s, next_night, lines = days * 86400 / heals, 1, _Lines()
        for number in range(1, heals + 1):
            second = clock.first_second + int((number - 0.9 * rng.random()) * step_s)
            while second >= next_night * 86400:
                lines.runs.append(self._nightly(clock.dates[next_night]))
                next_night += 1
            slot = int(rng.random() * len(open_loops))
            loop, ts, heal_id = open_loops[slot], clock.stamp(second), f"h_{number:07d}"
            if loop.cycle == 0 and rng.random() < 0.9:
                lines.failures.append(_failure(ts, loop.signature))
            loop.cycle += 1
            if rng.random() < sampled_share:
                cases = self.surface.sample(loop.target)
                lines.runs.append(self._run(heal_id, ts, "before", cases))
                self.surface.change(cases, chance=0.5)
                lines.runs.append(self._run(heal_id, clock.stamp(second + 1), "after", cases))
            lines.heals.append(self._heal(heal_id, ts, loop))
            if loop.cycle >= loop.cycles:
                open_loops[slot] = self._new_loop()
                if rng.random() < 0.1:
                    lines.failures.append(_failure(ts, pick(rng, self.signatures)))
            if len(lines.heals) == LINES_PER_WRITE:
                yield lines
                lines = _Lines()
        yield lines

    def _first_block(self, target: int) -> list[str]:
        """The first text of a target: its protected lines, then fragments."""
        fixed = [rule for rule in (self.own_rule.get("*"), self.own_rule.get(_target_name(target))) if rule]
        wanted = (self.text_bytes * (0.6 + 0.8 * self.rng.random()) - sum(map(len, fixed))) / self.line_bytes
        n_lines = max(2, int(wanted + self.rng.random()))
        return fixed + [pick(self.rng, self.fragments) for _ in range(n_lines)]

    def _new_loop(self) -> _Loop:
        self.n_loops += 1
        cycles = pick(self.rng, (1, 1, 2, 2, 3, 3, 4, 4, 5, 5))
        target = int(self.rng.random() * len(self.blocks))
        return _Loop(f"loop_{self.n_loops:06d}", target, pick(self.rng, self.signatures), cycles)

    def _edited(self, loop: _Loop) -> list[str]:
        """The target's next text: about a third of its lines replaced; now and then a return or no change."""
        rng, block = self.rng, self.blocks[loop.target]
        chance = rng.random()
        if chance < 0.03 and len(loop.earlier) >= 2:
            return loop.earlier[-2]
        if chance < 0.05:
            return block
        if chance < 0.051:
            return block[1:]  # drops the standing rule, which the boundary gate blocks
        block, fragments = block[:], self.fragments
        first = 2 if len(block) > 3 else len(block) - 1
        for _ in range(max(1, (len(block) - first) * 2 // 5)):
            block[first + int(rng.random() * (len(block) - first))] = fragments[int(rng.random() * N_FRAGMENTS)]
        return block

    def _heal(self, heal_id: str, ts: str, loop: _Loop) -> str:
        rng = self.rng
        before_hash = self.hashes[loop.target]
        block = self._edited(loop)
        text = "\n".join(block)
        escaped = text.replace("\n", "\\n")  # the lines hold nothing else that JSON escapes
        loop.earlier.append(block)
        if block[0] == self.blocks[loop.target][0]:  # else blocked, so the target keeps its text
            self.blocks[loop.target] = block
            self.hashes[loop.target] = _digest(text)
        v0, h0 = self.visible_now, self.holdout_now
        gain = (0.72 - h0 / HOLDOUT_CASES) * 0.2 + 0.12 * (rng.random() - 0.5)
        wobble = 0.1 * (rng.random() - 0.5) + (0.2 if rng.random() < 0.04 else 0.0)
        pull = (h0 / HOLDOUT_CASES - v0 / PRACTICE_CASES) * 0.3
        h1 = min(HOLDOUT_CASES, max(0, round(h0 + gain * HOLDOUT_CASES)))
        v1 = min(PRACTICE_CASES, max(0, round(v0 + (gain + wobble + pull) * PRACTICE_CASES)))
        self.visible_now, self.holdout_now = v1, h1
        task_tokens = between(rng, 7000, 15000)
        spent = int(task_tokens * (0.5 + 2.4 * rng.random() + (4 * rng.random() if rng.random() < 0.05 else 0)))
        label = "true" if rng.random() < 0.9 else "false"
        scored = rng.random()
        holdout = f'"holdout_before":{self.holdout[h0]},"holdout_after":{self.holdout[h1]},' if scored < 0.95 else ""
        labelled = f',"was_real_failure":{label},"label_source":"probe1"' if scored > 0.05 else ""
        return (
            f'{{"heal_id":"{heal_id}","ts":"{ts}","loop_id":"{loop.loop_id}","cycle":{loop.cycle},"level":2,'
            f'"trigger":{{"failure_signature":"{loop.signature}","evidence":"{pick(rng, self.evidence)}"}},'
            f'"change":{{"target":"{_target_name(loop.target)}","before_hash":"{before_hash}",'
            f'"after_text":"{escaped}"}},'
            f'"visible_before":{self.practice[v0]},"visible_after":{self.practice[v1]},{holdout}'
            f'"holdout_scope":"heal","tokens_spent":{spent},"task_tokens":{task_tokens}{labelled},'
            f'"actor":"healer@2.3","trace_url":"https://traces.example/{heal_id}"}}\n'
        )

    def _run(self, heal_id: str, ts: str, phase: str, cases: list[int]) -> str:
        return (
            f'{{"run_id":"{phase}_{heal_id}","ts":"{ts}","suite":"surface","phase":"{phase}","heal_id":"{heal_id}",'
            f'"grader_hash":"4b1d0c6e","results":{{{self.surface.results(cases)}}}}}\n'
        )

    def _nightly(self, date: str) -> str:
        cases = list(range(len(self.surface.ids)))
        self.surface.change(cases, chance=0.5)
        return (
            f'{{"run_id":"night_{date}","ts":"{date}T00:00:00Z","suite":"surface","phase":"nightly","night":"{date}",'
            f'"grader_hash":"4b1d0c6e","results":{{{self.surface.results(cases)}}}}}\n'
        )


def _failure(ts: str, signature: str) -> str:
    return f'{{"ts":"{ts}","failure_signature":"{signature}","source":"monitor"}}\n'


def _digest(text: str) -> str:
    """First 16 hex digits of the text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
