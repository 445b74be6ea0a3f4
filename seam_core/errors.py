"""What a user can fix, said in one sentence."""

from __future__ import annotations


class SeamError(Exception):
    """Something the user can fix; shown as one message, without a traceback."""


class UnreadableLogError(SeamError):
    """A log cannot be read at all, or holds no record of this format."""


class SettingsError(SeamError):
    """A setting has an unknown name, a wrong type or an impossible value."""


class WindowError(SeamError):
    """A window or an end date cannot be understood."""
