"""`speedup`: how much faster than a baseline, which only a GPU can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks.cases import NOTHING
from grader.model import CheckResult, Verdict

if TYPE_CHECKING:
    from grader.model import Evidence, RubricItem


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Skip where nothing was timed: an emulator's time says nothing about a GPU's."""
    message = f"needs a GPU: the {evidence.backend} backend times nothing"
    return CheckResult(item, Verdict.SKIP, NOTHING, message)
