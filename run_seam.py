"""The command line: ``python run_seam.py --heals heal_events.jsonl --window 7d`` prints the report; its exit code sums it up."""

import gc
import os
import sys

gc.disable()  # a process of a second or two: looking for cycles would be a fifth of it
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy starts a thread per core for linear algebra, of which a report does none

try:
    from seam_core.cli import main
except ImportError as error:  # Python's own exit code 1 would say that an alert fired
    print(f"run_seam.py: {error}; run it with the project's own Python, .venv/bin/python", file=sys.stderr)
    sys.exit(4)

if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # nothing is left to write, and taking a large in-memory database apart takes a third of a second
