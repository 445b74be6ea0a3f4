"""Canonical JSON: the one text that stands for a value.

It is what Python's ``json.dumps(value, sort_keys=True, separators=(",", ":"))`` gives: keys sorted by code point, no white space, and ASCII
only, so that no encoding, terminal or NUL byte can change it. NaN and infinity do not exist.
"""

from __future__ import annotations

import json
from typing import Any


def canonical(value: Any) -> str:
    """The canonical JSON of a value.  Raises ValueError for NaN and infinity, TypeError for what is no JSON."""
    text = _dump(value)
    if "\\ud" in text:  # two halves of a surrogate pair that stood apart are one character once they are read again
        text = _dump(json.loads(text))
    return text


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
