"""The rows there are at one moment, for whoever must look before they decide."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from seam_core.ledger.rows import COLUMNS, Row

SELECT = f"select {COLUMNS} from decisions"


@dataclass(frozen=True)
class History:
    """The rows of one ledger as one transaction sees them; without a connection there are none."""

    con: sqlite3.Connection | None
    about: Mapping[str, list[int]] = field(default_factory=dict)  # heal_id → seqs of the rows that name it

    def newest_first(self, *kinds: str) -> Iterator[Row]:
        """Rows of some kinds, or of all, from the newest back."""
        yield from self._rows(f"{SELECT} {of_kinds(kinds)} order by seq desc", kinds)

    def on_heal(self, heal_id: str, *kinds: str) -> Iterator[Row]:
        """Rows of some kinds that name a heal, from the newest back."""
        for seq in reversed(self.about.get(heal_id, [])):
            yield from (row for row in self._rows(f"{SELECT} where seq = ?", (seq,)) if row.kind in kinds)

    def _rows(self, sql: str, binds: tuple[object, ...]) -> Iterator[Row]:
        if self.con is not None:
            yield from (Row(*values) for values in self.con.execute(sql, binds))


def of_kinds(kinds: tuple[str, ...]) -> str:
    """The condition that names some kinds; one that always holds when none is named."""
    return f"where kind in ({', '.join('?' * len(kinds))})" if kinds else "where true"
