"""The pages, section by section. A new page is one file in its section's folder and one line here."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One page of the menu: its section, its file below ``pages``, its title, and the question that it answers."""

    section: str
    file: str
    title: str
    question: str
    has_strip: bool = True  # False: the page shows the vector itself


PAGES = [
    Entry("Review", "review/week.py", "Week", "Did these repairs hold?", has_strip=False),
]
