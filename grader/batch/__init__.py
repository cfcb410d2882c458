"""Grading a class: every submission in a process of its own, a journal to resume from, nothing lost."""

from grader.batch.executor import grade_class
from grader.batch.folder import OutFolder, Session

__all__ = ["OutFolder", "Session", "grade_class"]
