"""The four axes. Each module has one public `score`, which returns the score or None with a reason, and its parts."""
