"""Grading a class: every submission in a process of its own, a journal to resume from, nothing lost."""

from grader.batch.executor import Executor, grade_class, on_this_machine
from grader.batch.folder import OutFolder, Session

__all__ = ["Executor", "OutFolder", "Session", "grade_class", "on_this_machine"]
