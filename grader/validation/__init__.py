"""`grader validate`: an assignment proves itself (see `grader.validation.proof`)."""

from __future__ import annotations

from grader.validation.proof import MISTAKE_SEEDS, SEEDS, Effort, validate
from grader.validation.records import Report

__all__ = ["MISTAKE_SEEDS", "SEEDS", "Effort", "Report", "validate"]
