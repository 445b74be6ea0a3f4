"""`python -m seam_core.simulate demo|workspace|bulk FOLDER`: writes a simulated workspace."""

from __future__ import annotations

import argparse
from pathlib import Path

from seam_core.simulate import write_bulk, write_demo, write_workspace


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m seam_core.simulate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="the demo: eight weeks with the opening story in the last one")
    workspace = commands.add_parser("workspace", help="a workspace with the default mix of planted faults")
    workspace.add_argument("--seed", type=int, default=1)
    workspace.add_argument("--heals", type=int, default=240)
    workspace.add_argument("--weeks", type=int, default=8)
    workspace.add_argument("--story", action="store_true", help="end with the demo's story week")
    bulk = commands.add_parser("bulk", help="large logs for benchmarks, no planted faults")
    bulk.add_argument("--heals", type=int, default=100_000)
    bulk.add_argument("--record-bytes", type=int, default=1000)
    bulk.add_argument("--seed", type=int, default=1)
    bulk.add_argument("--days", type=int, default=365)
    for command in (demo, workspace, bulk):
        command.add_argument("folder", type=Path)
    return parser.parse_args()


def main() -> None:
    """Writes what the arguments ask for."""
    arguments = _arguments()
    if arguments.command == "demo":
        write_demo(arguments.folder)
    elif arguments.command == "workspace":
        write_workspace(arguments.folder, seed=arguments.seed, heals=arguments.heals, weeks=arguments.weeks, story=arguments.story)
    else:
        write_bulk(arguments.folder, heals=arguments.heals, record_bytes=arguments.record_bytes, seed=arguments.seed, days=arguments.days)


if __name__ == "__main__":
    main()
