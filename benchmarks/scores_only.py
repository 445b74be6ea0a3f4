"""The report without ranges and integrity: what the four axes alone take. Arguments and output are those of `run_seam.py`."""

from __future__ import annotations

import gc
import os
import sys
from array import array
from functools import partial
from importlib import import_module
from types import ModuleType

from seam_core import cli


def without(name: str) -> ModuleType:
    """Import a module as the command line does, while it reads the logs; in place of ranges and integrity it then has nothing."""
    report = import_module(name)
    wording = import_module("seam_core.integrity.wording")
    unscored = import_module("seam_core.doubt").UNSCORED
    nothing = wording.Task(array("q"), [], {}, wording.exam_ids([]))
    report.check = partial(report.check, rules=())
    report.reading_task = lambda scope, gate: nothing
    report.measure_doubt = lambda scope, scores, *others, **options: dict.fromkeys(scores, unscored)
    return report


if __name__ == "__main__":
    gc.disable()  # as run_seam.py does
    cli.import_module = without
    os._exit(cli.main(sys.argv[1:]))
