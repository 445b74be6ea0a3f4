"""The command line: ``python run_seam.py --heals heal_events.jsonl --window 7d`` prints the report; its exit code sums it up."""

import sys

from seam_core.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
