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
    Entry("Review", "review/heals.py", "Heals", "Which heals need a person?"),
    Entry("Review", "review/loop.py", "Loop", "Did this loop converge or wander?"),
    Entry("Axes", "axes/signal.py", "Signal", "Was the failure real?"),
    Entry("Axes", "axes/efficacy.py", "Efficacy", "Did held-out tasks gain as much as the metric the loop optimised?"),
    Entry("Axes", "axes/aftermath.py", "Aftermath", "What did the repair break?"),
    Entry("Axes", "axes/monotonicity.py", "Monotonicity", "Did the loops converge?"),
    Entry("Decide", "decide/recertify.py", "Re-certify", "Is this still the agent that was signed off?"),
    Entry("Decide", "decide/gates.py", "Gates and budget", "What was stopped, and what cost too much?"),
    Entry("Trust", "trust/integrity.py", "Integrity", "Could the log be lying?"),
    Entry("Trust", "trust/data.py", "Data", "Was every line read?"),
    Entry("Trust", "trust/settings.py", "Settings", "Which thresholds are in force, and how much hangs on them?"),
]
