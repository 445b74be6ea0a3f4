"""Certified baselines: which version was in force when, what a full run changes, and the decisions to certify it or to roll back.

``versions`` reads them, ``certified.json`` is a copy kept by ``copies``; ``reviewing`` says what there is to decide about one run, and
``desk`` decides. docs/method.md, Re-certification.
"""
