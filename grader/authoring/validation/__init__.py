"""`grader validate`: an assignment proves itself (see `grader.authoring.validation.proof`)."""

from __future__ import annotations

from grader.authoring.validation.mistakes import mistake_sources
from grader.authoring.validation.proof import Effort, validate
from grader.authoring.validation.records import Report

__all__ = ["Effort", "Report", "mistake_sources", "validate"]
