"""Every foreign format: its name and the module that reads it, which holds a `Format` named ``FORMAT``. A new one is one line here."""

from __future__ import annotations

from importlib import import_module

from seam_core.importing.format import Format

FORMATS = {
    "junit": "seam_core.importing.junit",
    "pytest": "seam_core.importing.pytest_folder",
    "swebench": "seam_core.importing.swebench",
    "promptfoo": "seam_core.importing.promptfoo",
    "inspect": "seam_core.importing.inspect_log",
    "langfuse": "seam_core.importing.langfuse",
    "reflexion": "seam_core.importing.reflexion",
    "adas": "seam_core.importing.adas",
    "gepa": "seam_core.importing.gepa",
    "otlp": "seam_core.importing.otlp",
}


def format_named(name: str) -> Format:
    """The format of a name in `FORMATS`."""
    found: Format = import_module(FORMATS[name]).FORMAT
    return found
