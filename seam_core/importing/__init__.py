"""What other tools wrote, as our records: one module a format, one line each in `formats`.

A format reads files and yields records and what it left out (`format`); `runs` gathers the cases of one run, `reading` opens what may be
huge or hostile, `writing` appends what is new. `command` is ``python -m seam_core import``.
"""
