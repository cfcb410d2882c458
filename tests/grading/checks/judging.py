"""One item judged by its check alone: without its needs, and without what is kept from messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.grading.checks import check_of

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence, RubricItem


def judge(item: RubricItem, evidence: Evidence) -> CheckResult:
    """The result of the item's check for the evidence."""
    return check_of(item).judge(evidence)
