"""Reading grades, and the evidence that they were decided on, back from the ``OUT/`` folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.reports import evidence_json, stored_grade

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.batch.folder import OutFolder
    from grader.model import Evidence, Grade


def load_grades(out: OutFolder, ids: Iterable[str]) -> list[Grade]:
    """The stored grades of these submissions; raises UsageError naming a file that is none."""
    return [stored_grade.load(out.stored(name), f"{out.path}/grades/{name}/grade.json") for name in ids]


def is_whole(out: OutFolder, submission: str) -> bool:
    """Whether a stored grade can be read; what a power cut damaged is graded again."""
    try:
        load_grades(out, [submission])
    except UsageError:
        return False
    return True


def load_evidence(out: OutFolder, grade: Grade) -> Evidence | None:
    """What a grade was decided on; None where an older version graded it, and kept no evidence.

    Raises UsageError where it cannot be read, or is of another submission.
    """
    text = out.evidence(grade.submission_id)
    if text is None:
        return None
    name = str(evidence_file(out, grade))
    stored = evidence_json.load(text, name)
    if (stored.submission.id, stored.submission.digest) != (grade.submission_id, grade.submission_digest):
        raise UsageError(f"{name} is the evidence of another submission; grade the submission again")
    return stored.evidence


def evidence_file(out: OutFolder, grade: Grade) -> Path:
    """Where the evidence of a grade lies."""
    return Path(out.path, "grades", grade.submission_id, "evidence.json")
