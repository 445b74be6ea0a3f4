"""How a command ends: what its exit code says."""

from __future__ import annotations

OK = 0  # quiet
ALERT = 1  # an alert fired, or something was found
STOP = 2  # a gate block, a due re-certification or a withheld axis
UNUSABLE = 3  # unusable arguments, or no valid heal
FAULT = 4  # of the program
