"""Grading a class: every submission in a process of its own, a journal to resume from, nothing lost."""

from grader.classroom.batch.executor import Executor, at_once, grade_class, on_this_machine
from grader.classroom.batch.folder import BatchSession, OutFolder

__all__ = ["BatchSession", "Executor", "OutFolder", "at_once", "grade_class", "on_this_machine"]
