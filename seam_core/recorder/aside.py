"""Lines that could not be appended: kept in memory and in a file of their own, and tried again before the next line."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

KEPT_MAX = 64 * 2**20  # bytes of lines kept; what comes after that is lost, and said to be


@dataclass
class Aside:
    """The lines that wait for one log, in their order, and the file in which they outlive this process."""

    folder: Path | None = None  # where that file is made; None: the system's folder for temporary files
    lines: list[bytes] = field(default_factory=list)
    file: Path | None = None

    def put(self, line: bytes, *, log: str) -> str:
        """Keep a line; says where it is."""
        if sum(map(len, self.lines)) + len(line) > KEPT_MAX:
            return "lost, since too many lines wait already"
        self.lines.append(line)
        try:
            self._save(line, log)
        except OSError:
            return "kept in memory"
        return f"kept in {self.file}"

    def _save(self, line: bytes, log: str) -> None:
        if self.file is None:
            fd, name = tempfile.mkstemp(prefix=f"seam-aside-{log.removesuffix('.jsonl')}-", suffix=".jsonl", dir=self.folder)
            os.close(fd)
            self.file = Path(name)
        with self.file.open("ab") as kept:
            kept.write(line)
            kept.flush()
            os.fsync(kept.fileno())

    def clear(self) -> None:
        """Forget the lines, which are in their log now."""
        self.lines.clear()
        if self.file is not None:
            self.file.unlink(missing_ok=True)
            self.file = None
