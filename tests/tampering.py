"""How much tampering do the rules of integrity find, and how often do they speak of an honest log?

`python -m tests.tampering` writes the table in docs/tampering.md, in about half an hour; tests hold its floors, over a few logs and in the
long run over many.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from seam_core.integrity.checking import Integrity
from seam_core.simulate import write_workspace
from seam_core.simulate.tampering import TAMPERINGS, tamper
from seam_core.store import Store
from seam_core.workspace import workspace_of_log
from tests.seam_core.integrity_logs import judged

NOW = datetime(2026, 6, 13, tzinfo=UTC)
HEALS, WEEKS = 60, 3
# An honest log is not one of a good agent: these show in it, and are told as they were.
FAULTS = {"flaky_trigger": 3, "reward_hacked": 2, "regression": 2, "safety_regression": 2}
SEEDS = range(1, 201)
NO_RULE: Mapping[str, str] = {}
PAGE = Path(__file__).parent.parent / "docs" / "tampering.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"


@dataclass
class Tally:
    """What was found over some logs."""

    n: int = 0
    n_caught: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """How often it was caught."""
        return self.n_caught / self.n

    def add(self, rules: Iterable[str]) -> None:
        """One more log, and the rules that spoke of it."""
        found = list(rules)
        self.n += 1
        self.n_caught += bool(found)
        self.rules.update(found)


def integrity_of(folder: Path, *, only: str | None = None) -> Integrity:
    """Every rule, or one, on all of a workspace's history."""
    store = Store(workspace_of_log(folder / "heal_events.jsonl"), now=NOW)
    try:
        store.refresh()
        return judged(store, only=only)
    finally:
        store.close()


def measure(
    seeds: Iterable[int], kinds: Iterable[str] = TAMPERINGS, *, only: Mapping[str, str] = NO_RULE
) -> tuple[dict[str, Tally], Tally]:
    """Kind → what was found of it, and what was found of severity high or critical in honest logs.

    only: kind → the one rule that is tried on it, which takes a third of the time.
    """
    caught, honest = {kind: Tally() for kind in kinds}, Tally()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root) / "honest"
            write_workspace(folder, seed=seed, heals=HEALS, weeks=WEEKS, faults=FAULTS)
            before = integrity_of(folder)
            honest.add({one.rule_id for one in before.findings if one.severity in ("critical", "high")})
            for kind, tally in caught.items():
                changed = Path(root) / "tampered"
                shutil.copytree(folder, changed)
                if tamper(changed, kind, seed=seed):
                    tally.add(_new(before.found, integrity_of(changed, only=only.get(kind)).found))
                shutil.rmtree(changed)
    return caught, honest


def _new(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """The rules that find more than they found in the honest log."""
    return [rule for rule, n in after.items() if n > before.get(rule, 0)]


def table(caught: Mapping[str, Tally], honest: Tally) -> str:
    """What was measured, as Markdown."""
    rows = ["| tampering | logs | caught | by |", "|---|---|---|---|"]
    for kind, tally in caught.items():
        by = ", ".join(f"{rule} {n / tally.n:.2f}" for rule, n in tally.rules.most_common(4))
        rows.append(f"| {kind} | {tally.n} | {tally.share:.2f} | {by or '–'} |")
    spoke = ", ".join(f"{rule} {n}" for rule, n in honest.rules.most_common()) or "none"
    return "\n".join([*rows, "", f"Of {honest.n} honest logs, {honest.n_caught} carry a finding of severity high or critical ({spoke})."])


def main() -> None:
    """Measure, and write the table into its page."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table(*measure(SEEDS))}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
