"""Could the log be lying? Rules over the records of one window: one rule is one row of the table in `rules`.

A finding is an inconsistency to be explained, never an accusation, and it changes no score.
"""
