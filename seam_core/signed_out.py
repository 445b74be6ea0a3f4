"""Which sign-ins were ended. A browser tab keeps the sign-in that it was opened with, so signing out in another one must reach it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from seam_core.authority import Claims

NEVER = float("-inf")
PEOPLE_MAX = 10_000  # remembered at once


@dataclass
class _Person:
    newest: float = NEVER  # `iat` of the newest sign-in that this server has seen
    ended: float = NEVER  # sign-ins up to this one are over


class SignedOut:
    """The sign-outs that one server has seen; all its sessions share one, and any thread may ask.

    Signing out ends every sign-in of that person that this server has seen, on other devices too. Sign-ins are told apart by what the
    provider says of them (`iat`) and never by this machine's clock: the two may differ, and a clock may be set back. Whoever is forgotten
    for want of room may not come back through that: everybody's sign-ins of that time are over then.
    """

    def __init__(self, *, people_max: int = PEOPLE_MAX) -> None:
        self._lock = Lock()
        self._people: OrderedDict[tuple[str, str], _Person] = OrderedDict()
        self._people_max = people_max
        self._all_ended = NEVER

    def has_ended(self, claims: Claims) -> bool:
        """Whether this sign-in is over. Asking notes that it was seen."""
        with self._lock:
            person = self._seen(claims)
            return claims.issued_at <= max(person.ended, self._all_ended)

    def end(self, claims: Claims) -> None:
        """From now on every sign-in of this person that was seen so far is over."""
        with self._lock:
            person = self._seen(claims)
            person.ended = person.newest

    def _seen(self, claims: Claims) -> _Person:
        key = claims.issuer, claims.subject
        person = self._people.setdefault(key, _Person())
        person.newest = max(person.newest, claims.issued_at)
        self._people.move_to_end(key)
        while len(self._people) > self._people_max:
            _, gone = self._people.popitem(last=False)
            self._all_ended = max(self._all_ended, gone.ended)
        return person
