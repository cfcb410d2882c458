"""Reading grades, with the evidence that they were decided on, back from the ``OUT/`` folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.reports import record_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.batch.folder import OutFolder
    from grader.model import Evidence, Grade


def load_grades(out: OutFolder, ids: Iterable[str]) -> list[Grade]:
    """The stored grades of these submissions; raises UsageError naming a file that is none."""
    return [record_json.load(out.record(name), str(out.record_path(name)), name) for name in ids]


def is_whole(out: OutFolder, submission: str) -> bool:
    """Whether a stored grade can be read; what a power cut damaged is graded again."""
    try:
        load_grades(out, [submission])
    except UsageError:
        return False
    return True


def evidence_of(out: OutFolder, grade: Grade) -> Evidence:
    """What a stored grade was decided on; raises UsageError where its record holds nothing of it."""
    if grade.evidence is None:
        path = out.record_path(grade.submission_id)
        raise UsageError(f"{path} holds no evidence; grade the submission again")
    return grade.evidence
