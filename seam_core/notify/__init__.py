"""Telling people outside the dashboard what needs them: what is told, to which hooks, once each.

Hooks come from the server settings alone. A message that cannot be delivered is tried again and shown; it never stands in the way of
scoring or of a decision.
"""
