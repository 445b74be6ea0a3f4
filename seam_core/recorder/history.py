"""What a log already holds, read by bytes and only as far as it was not read before: its ids, the last number, and the heals of a loop."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from .appending import OpenLog
from .checking import record_in
from .schema import HEALS

LOOPS_KEPT = 256
LOOP_IDS = re.compile(rb'"loop_id"\s*:\s*"((?:[^"\\]|\\.)*)"')


@dataclass
class Place:
    """How far a log was read; another file of that name, or one that shrank, is read from the start."""

    identity: tuple[int, int] = (0, 0)
    offset: int = 0

    def is_lost(self, log: OpenLog) -> bool:
        """Whether what was read is no longer there, so that all of it is read again."""
        if self.identity == log.identity and self.offset <= log.n_bytes:
            return False
        self.identity, self.offset = log.identity, 0
        return True

    def news(self, log: OpenLog) -> Iterator[bytes]:
        """Blocks of whole lines that were not read before."""
        for start, block in log.blocks(self.offset):
            yield block
            self.offset = start + len(block)


@dataclass
class Loop:
    """The heals of one loop, in the order of the log; the earlier of two lines with one heal_id counts."""

    heals: dict[str, dict[str, Any]] = field(default_factory=dict)
    place: Place = field(default_factory=Place)

    def read(self, loop_id: str, log: OpenLog, *, latest: datetime) -> None:
        """Take in the lines that were added since."""
        if self.place.is_lost(log):
            self.heals.clear()
        needles = [b'"%b"' % form for form in _forms(loop_id)]
        for block in self.place.news(log):
            if any(needle in block for needle in needles):
                self._take(loop_id, [line for line in block.split(b"\n") if any(needle in line for needle in needles)], latest)

    def _take(self, loop_id: str, lines: list[bytes], latest: datetime) -> None:
        for line in lines:
            heal = record_in(line, HEALS, latest=latest)
            if heal is not None and heal["loop_id"] == loop_id:
                self.heals.setdefault(heal["heal_id"], heal)


@dataclass
class Ids:
    """Which ids a log carries. Read only once somebody brings ids of their own."""

    key: str
    _place: Place = field(default_factory=Place)
    _seen: set[int] = field(default_factory=set)  # hashes

    def holds(self, given: str, log: OpenLog) -> bool:
        """Whether a line of the log carries that id."""
        if self._place.is_lost(log):
            self._seen.clear()
        ids = re.compile(rb'"%b"\s*:\s*"((?:[^"\\]|\\.)*)"' % self.key.encode())
        for block in self._place.news(log):
            self._seen.update(map(hash, ids.findall(block)))
        return any(hash(form) in self._seen for form in _forms(given))


@dataclass
class History:
    """The greatest number that an id of one beginning carries (``h_0042`` is 42), which loops there are, and those asked about last."""

    key: str  # "heal_id", "run_id"
    beginning: str
    last: int = 0
    ids: Ids = field(init=False)
    _place: Place = field(default_factory=Place)
    _seen: set[int] = field(default_factory=set)  # hashes of loop ids: a new loop is not looked for
    _kept: OrderedDict[str, Loop] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.ids = Ids(self.key)

    def next_id(self, log: OpenLog) -> str:
        """An id that no line of the log carries, one above the greatest."""
        self._read(log)
        return f"{self.beginning}{self.last + 1:04d}"

    def loop(self, loop_id: str, log: OpenLog, *, latest: datetime) -> Loop:
        """One loop as the log has it now."""
        self._read(log)
        found = self._kept.pop(loop_id, None)
        if found is None:
            is_there = any(hash(form) in self._seen for form in _forms(loop_id))
            found = Loop() if is_there else Loop(place=replace(self._place))
        self._kept[loop_id] = found
        if len(self._kept) > LOOPS_KEPT:
            self._kept.popitem(last=False)
        found.read(loop_id, log, latest=latest)
        return found

    def _read(self, log: OpenLog) -> None:
        number = re.compile(rb'"%b"\s*:\s*"%b(\d{1,15})"' % (self.key.encode(), re.escape(self.beginning.encode())))
        if self._place.is_lost(log):
            self.last = 0
            self._seen.clear()
        for block in self._place.news(log):
            self.last = max((self.last, *map(int, number.findall(block))))
            self._seen.update(map(hash, LOOP_IDS.findall(block)))


def _forms(text: str) -> set[bytes]:
    """A text as JSON writers put it between quotes."""
    return {json.dumps(text, ensure_ascii=is_ascii)[1:-1].encode("utf-8", "replace") for is_ascii in (True, False)}
