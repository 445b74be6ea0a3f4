"""Who decides: the operating system's user, or somebody who signed in."""

from __future__ import annotations

import getpass
import os

import msgspec


class Local(msgspec.Struct, frozen=True, tag="local", tag_field="from"):
    """The user of the operating system, where nobody signs in."""

    name: str

    @property
    def key(self) -> str:
        """What tells this person from others."""
        return f"local:{self.name}"


class SignedIn(msgspec.Struct, frozen=True, tag="oidc", tag_field="from"):
    """Somebody whom an OpenID Connect provider vouches for. The name is for display; issuer and subject are who it is."""

    issuer: str
    subject: str
    name: str

    def __post_init__(self) -> None:
        """An issuer is a URL; a blank in it would let two people share a key."""
        if self.issuer.split() != [self.issuer]:
            raise ValueError(f"an issuer is a URL, found {self.issuer!r}")

    @property
    def key(self) -> str:
        """What tells this person from others, whatever they are called today."""
        return f"oidc:{self.issuer} {self.subject}"


Actor = Local | SignedIn


def local_actor() -> Local:
    """The operating system's user. The account counts and not the environment, which anybody may set."""
    try:
        import pwd
    except ImportError:  # not a POSIX system
        return Local(getpass.getuser())
    try:
        return Local(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:  # a container's user without an entry
        return Local(f"uid-{os.getuid()}")
