"""The report without ranges and integrity: what the four axes alone take. Arguments and output are those of `run_seam.py`."""

from __future__ import annotations

import gc
import os
import sys
from array import array
from functools import partial

from seam_core import report
from seam_core.cli import main
from seam_core.doubt import UNSCORED
from seam_core.integrity.checking import check
from seam_core.integrity.wording import Task, exam_ids

NO_TEXTS = Task(array("q"), [], {}, exam_ids([]))

report.check = partial(check, rules=())
report.reading_task = lambda scope, gate: NO_TEXTS
report.measure_doubt = lambda scope, scores, *others, **options: dict.fromkeys(scores, UNSCORED)

if __name__ == "__main__":
    gc.disable()  # as run_seam.py does
    os._exit(main(sys.argv[1:]))
