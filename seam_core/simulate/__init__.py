"""A workspace with planted, known faults, at any size, from a seed: for the demo, the tests and the benchmarks.

A plan of loops is drawn up (`plan`), faults and the demo's story change it (`faults`, `planting`, `story`), and playing it in time
order (`play`, with `blocks` for texts, `exams` for scores and `surface` for regression runs) gives the records that
`workspace` writes. `bulk` writes large logs without planted faults.
"""

from seam_core.simulate.bulk import write_bulk
from seam_core.simulate.faults import FAULTS, Fault
from seam_core.simulate.workspace import write_demo, write_workspace

__all__ = ["FAULTS", "Fault", "write_bulk", "write_demo", "write_workspace"]
