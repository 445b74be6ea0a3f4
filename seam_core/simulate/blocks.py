"""The text of every target, and the ways in which a heal rewrites it."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from seam_core.simulate import texts
from seam_core.simulate.plan import HealPlan, LoopPlan, Target
from seam_core.simulate.texts import between, pick

REWRITTEN_SHARE = 0.35  # of a block's characters, so that a text two cycles on is well below 0.90 similar
LONG_BLOCK = 4000  # characters; from here on a return may carry one new line and still be over 0.95 similar


@dataclass(frozen=True)
class Edit:
    """What one heal did to its target."""

    before_hash: str
    after_text: str


class Blocks:
    """Present lines of every target. Protected lines stand in each block as they are, one a line."""

    def __init__(self, targets: list[Target], protected: dict[str, list[str]], rng: random.Random) -> None:
        self.rng = rng
        self.size = {target.name: target.size for target in targets}
        self.protected = {target.name: protected.get("*", []) + protected.get(target.name, []) for target in targets}
        self.lines = {
            target.name: texts.instruction_block(rng, size=target.size, title=target.title, protected=self.protected[target.name])
            for target in targets
        }
        self.pasted: dict[str, tuple[str, ...]] = {}
        self.digests = {name: digest(lines) for name, lines in self.lines.items()}
        self.history: dict[str, list[list[str]]] = {}  # a loop's texts, cycle by cycle

    def edit(self, loop: LoopPlan, heal: HealPlan) -> Edit | None:
        """What the heal writes; None for a plain retry. A blocked heal leaves the target as it was."""
        history = self.history.setdefault(loop.loop_id, [])
        name = loop.target.name
        if heal.edit == "retry":
            history.append([])
            return None
        lines = self._edited(name, heal, history)
        history.append(lines)
        edit = Edit(self.digests[name], "\n".join(lines))
        if not heal.blocked:
            self.lines[name], self.digests[name] = lines, digest(lines)
            self.pasted[name] = heal.pasted
        return edit

    def state_hash(self) -> str:
        """One hash over all present texts."""
        return digest([f"{name} {self.digests[name]}" for name in sorted(self.digests)])

    def _edited(self, name: str, heal: HealPlan, history: list[list[str]]) -> list[str]:
        if heal.edit == "same":
            return self.lines[name]
        if heal.edit == "return":
            lines = history[-heal.returns_to][:]
            if sum(map(len, lines)) > LONG_BLOCK and self.rng.random() < 0.5:
                lines.append(texts.instruction_line(self.rng))
            return lines
        lines = [line for line in self.lines[name] if line not in self.pasted.get(name, ())]
        if heal.edit == "drop_rule":
            lines.remove(self.protected[name][-1])
        if heal.edit == "bend_rule":
            rule = self.protected[name][-1]
            lines[lines.index(rule)] = bent(rule)
        if heal.edit == "rewrite":
            self._rewrite(lines, name)
        else:
            self._change_lines(lines, name)
        for line in heal.pasted:
            lines.insert(self._free_place(lines), line)
        return lines

    def _editable(self, lines: list[str], name: str) -> list[int]:
        """Positions of the instructions; headings and protected lines stay."""
        fixed = set(self.protected[name])
        return [n for n, line in enumerate(lines) if line.startswith("- ") and line not in fixed]

    def _free_place(self, lines: list[str]) -> int:
        """A position after the title and the protected lines."""
        return between(self.rng, min(4, len(lines)), len(lines))

    def _change_lines(self, lines: list[str], name: str) -> None:
        """A small edit: one to three lines reworded, one or two added, and some removed where the block grew."""
        for position in texts.several(self.rng, self._editable(lines, name), between(self.rng, 1, 3)):
            lines[position] = texts.instruction_line(self.rng)
        for _ in range(between(self.rng, 1, 2)):
            lines.insert(self._free_place(lines), texts.instruction_line(self.rng))
        self._trim(lines, name)

    def _rewrite(self, lines: list[str], name: str) -> None:
        """A large edit: REWRITTEN_SHARE of the block's characters become new lines."""
        editable = self._editable(lines, name)
        left = REWRITTEN_SHARE * sum(map(len, lines))
        for position in texts.several(self.rng, editable, len(editable)):
            if left <= 0:
                break
            left -= len(lines[position])
            lines[position] = texts.instruction_line(self.rng)
        self._trim(lines, name)

    def _trim(self, lines: list[str], name: str) -> None:
        while sum(map(len, lines)) > 1.1 * self.size[name]:
            del lines[pick(self.rng, self._editable(lines, name))]


def digest(lines: list[str]) -> str:
    """First 16 hex digits of the SHA-256 of the lines joined by line breaks."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def bent(rule: str) -> str:
    """The rule with its meaning softened in a few words."""
    for hard, soft in ((" never ", " rarely "), ("Never ", "Try not to "), (" at once", " when convenient"), (" only ", " ")):
        if hard in rule:
            return rule.replace(hard, soft, 1)
    raise ValueError(f"no way known to soften the rule {rule!r}: give it a word like never, only or at once")
