"""What people decide: rows that are only ever added, each linked to the one before, in one SQLite file.

`Ledger` is the only code that writes what people decide. A new kind of decision is one class in ``kinds.py`` and one name in ``KINDS``.
docs/method.md says which bytes a row's sha256 covers.
"""

from seam_core.ledger.actors import Actor, Local, SignedIn, local_actor
from seam_core.ledger.book import Ledger
from seam_core.ledger.chain import Chain
from seam_core.ledger.faults import BrokenChainError, LedgerError
from seam_core.ledger.history import History
from seam_core.ledger.kinds import KINDS, Decision
from seam_core.ledger.looking import Noted, Verified, ledger_file, noted, verify
from seam_core.ledger.rows import Row

__all__ = [
    "KINDS", "Actor", "BrokenChainError", "Chain", "Decision", "History", "Ledger", "LedgerError", "Local", "Noted", "Row", "SignedIn",
    "Verified", "ledger_file", "local_actor", "noted", "verify",
]  # fmt: skip
