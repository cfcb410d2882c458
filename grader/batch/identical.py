"""Submissions that are the same text under the same name, of which one is graded for all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Grade, Submission
    from grader.plan import Plan


def grouped(plan: Plan, submissions: Iterable[Submission]) -> list[list[Submission]]:
    """The submissions, those together that get one grade: none if questions are drawn or time counts."""
    is_shared = kind_of(plan.assignment).compiles and plan.backend.is_deterministic
    groups: dict[object, list[Submission]] = {}
    for submission in submissions:
        content = (submission.file, submission.source, submission.headers, submission.problem)
        groups.setdefault(content if is_shared else submission.id, []).append(submission)
    return list(groups.values())


def attributed(grade: Grade, submission: Submission) -> Grade:
    """The grade of an identical submission as that of this one."""
    return replace(
        grade,
        submission_id=submission.id,
        submission_digest=submission.digest,
        hand_in=submission.hand_in,
    )
