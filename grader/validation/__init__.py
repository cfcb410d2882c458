"""`grader validate`: an assignment proves itself (see `grader.validation.proof`)."""

from __future__ import annotations

from grader.validation.proof import Effort, validate
from grader.validation.records import Report

__all__ = ["Effort", "Report", "validate"]
