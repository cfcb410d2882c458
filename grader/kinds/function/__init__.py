"""Submissions of kind ``function``: one function of the host, which a program of ours calls."""
