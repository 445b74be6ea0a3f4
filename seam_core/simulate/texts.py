"""Plain-English texts for simulated logs: instruction lines, whole blocks, exam questions, failure signatures.

Every function draws only from the `random.Random` it is given, and only through `random()`, whose sequence for a seed is the
same on every supported Python version.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from seam_core.simulate import words
from seam_core.words import capital

T = TypeVar("T")


def pick(rng: random.Random, items: Sequence[T]) -> T:
    """One item, each equally likely."""
    return items[int(rng.random() * len(items))]


def between(rng: random.Random, low: int, high: int) -> int:
    """A whole number in low..high, both included."""
    return low + int(rng.random() * (high - low + 1))


def several(rng: random.Random, items: Sequence[T], count: int) -> list[T]:
    """`count` different items in random order."""
    left = list(items)
    return [left.pop(int(rng.random() * len(left))) for _ in range(count)]


def _fill(rng: random.Random, phrase: str) -> str:
    """The phrase with its slots ({n}, {service}, {tool}, {team}) filled."""
    if "{" not in phrase:
        return phrase
    return phrase.format(
        n=between(rng, 2, 30),
        m=between(rng, 31, 97),
        service=pick(rng, words.SERVICES),
        tool=pick(rng, words.TOOLS),
        team=pick(rng, words.TEAMS),
    )


LINE_SHAPES = (
    "- When {situation}, {action}; {reason}.",
    "- {Action}. If {situation}, {action2}.",
    "- Prefer {thing} over {thing2} as long as {situation}, since {reason}.",
    "- Never {forbidden} unless {exception}; {action} instead.",
    "- If {situation} and {situation2}, {action}.",
    "- {Reason}, so {action} and {action2}.",
    "- {Metric} above {n}: {action}, then {action2}.",
    "- With {service} and {service2} both involved, {action}; {reason}.",
    "- {Team} own the decision once {situation}. Until then {action}.",
    "- Do not {forbidden} while {situation}; {reason}.",
    "- Use {tool} for {thing}, {tool2} for {thing2}. {Action} in between.",
    "- Example: {situation}. Good answer: {action}. Poor answer: {forbidden}.",
)


def instruction_line(rng: random.Random) -> str:
    """One instruction to an agent, 60 to 250 characters, ASCII, without quotes or backslashes."""
    parts = {
        name: _fill(rng, pick(rng, phrases))
        for name, phrases in (
            ("situation", words.SITUATIONS),
            ("situation2", words.SITUATIONS),
            ("action", words.ACTIONS),
            ("action2", words.ACTIONS),
            ("reason", words.REASONS),
            ("thing", words.THINGS),
            ("thing2", words.THINGS),
            ("forbidden", words.FORBIDDEN),
            ("exception", words.EXCEPTIONS),
            ("metric", words.METRICS),
            ("service", words.SERVICES),
            ("service2", words.SERVICES),
            ("team", words.TEAMS),
            ("tool", words.TOOLS),
            ("tool2", words.TOOLS),
            ("n", ("5", "8", "12", "20", "35", "60 s", "2 per hour")),
        )
    }
    capitals = {name.capitalize(): capital(parts[name]) for name in ("action", "reason", "metric", "team")}
    return pick(rng, LINE_SHAPES).format(**parts, **capitals)


def instruction_block(rng: random.Random, *, size: int, title: str, protected: Sequence[str] = ()) -> list[str]:
    """Lines of a prompt, skill or shared memory of about `size` characters, each protected text one line of its own."""
    lines = [f"# {title}", *protected]
    length = sum(len(line) + 1 for line in lines)
    until_heading = 0
    while length < size:
        if until_heading == 0:
            line = f"## {pick(rng, words.HEADINGS)}"
            until_heading = between(rng, 4, 8)
        else:
            line = instruction_line(rng)
            until_heading -= 1
        lines.append(line)
        length += len(line) + 1
    return lines


CASE_SHAPES = (
    "{name} from {place} reports {sight}. So far {name} has {tried} and {tried2}, without luck. {wish}? {wish2}.",
    "Since {day} {place} sees {sight}; {other} {tried}, then {tried2}. {wish}, please, and add: {wish2}.",
    "On {day}, {place} wrote in: there is {sight}, later also {sight2}. {other} {tried}. {wish}?",
    "{other} {tried} on behalf of {place} because of {sight}. Now {name} finds {sight2}. {wish}. {wish2}.",
    "Picture {place}: {sight}. {name} {tried}, {other} {tried2}, and by {day} nothing had moved. {wish}?",
    "{sight2}, says {name}; {sight}, says {other}. Both work at {place} and both {tried}. {wish}; {wish2}.",
)


def case_text(rng: random.Random) -> str:
    """One exam question of 30 to 80 words."""
    numbers = {"k": between(rng, 101, 9899), "m": between(rng, 11, 98), "j": between(rng, 2, 10)}
    name, other, friend = several(rng, words.PEOPLE, 3)
    parts = {"name": name, "other": other, "friend": friend, "day": pick(rng, words.DAYS)}
    sights, tries, wishes = (several(rng, words.SIGHTS, 2), several(rng, words.TRIED, 2), several(rng, words.WISHES, 2))
    slots = ("sight", "sight2", "tried", "tried2", "wish", "wish2")
    filled = {}
    for slot, phrase in zip(slots, (*sights, *tries, *wishes), strict=True):
        numbers["k"] += between(rng, 1, 60)
        filled[slot] = phrase.format(**parts, **numbers)
    parts |= filled | {"place": pick(rng, words.PLACES)}
    text = capital(pick(rng, CASE_SHAPES).format(**parts))
    n_words = len(text.split())
    return text if 30 <= n_words <= 80 else case_text(rng)


def surface_text(rng: random.Random) -> str:
    """What one regression case checks, in one sentence."""
    situation, action = (_fill(rng, pick(rng, words.SITUATIONS)), _fill(rng, pick(rng, words.ACTIONS)))
    return f"Given that {situation}, the agent must {action}."


def failure_signature(rng: random.Random) -> str:
    """errortype:tool:context, for example timeout:fetch_tool:checkout_flow."""
    context = f"{pick(rng, words.AREAS)}_{pick(rng, words.STEPS)}"
    return f"{pick(rng, words.ERROR_TYPES)}:{pick(rng, words.TOOLS)}:{context}"


def evidence_line(rng: random.Random, *, tool: str) -> str:
    """One line of evidence for a failure of `tool`."""
    return pick(rng, words.EVIDENCE).format(n=between(rng, 2, 9), m=between(rng, 10, 95), tool=tool)


def rote_line(rng: random.Random) -> str:
    """An instruction that solves one known test by heart instead of teaching anything."""
    area, step = pick(rng, words.AREAS), pick(rng, words.STEPS)
    number, answer = between(rng, 100, 999), between(rng, 10, 99)
    return f"- For the {area} {step} ticket about {number} reply {answer} straight away, no lookup."


def failed_output(rng: random.Random, *, expected: str) -> str:
    """Evidence of a failed case in one line."""
    return f"expected: {expected} got: the agent went on to {_fill(rng, pick(rng, words.FORBIDDEN))}"
