"""Ratios, measured in one run on one machine: the report against a plain scan and a plain loop of the same files."""
