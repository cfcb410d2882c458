"""Foundations of all packages: text, errors, files, arithmetic. It imports nothing of the grader's."""
