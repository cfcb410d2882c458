"""evidence.json: all that the checks decided on, so that a changed rubric can be applied to it (staff only).

Format version 1: ``submission{id,file,digest}`` and ``evidence{…}``, the record `grader.model.Evidence` by
its own names. It names hidden cases and their shapes. It holds no source, no PTX and no executable.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grader.errors import UsageError
from grader.model import Evidence  # noqa: TC001 - `records_json` reads the type of the field
from grader.reports.records_json import Misfit, decode, encode

if TYPE_CHECKING:
    from grader.model import Grade

FORMAT_VERSION: Final = 1
MOST_CHARACTERS = 256 * 2**20


@dataclass(frozen=True, slots=True)
class StoredSubmission:
    """Whose evidence it is."""

    id: str
    file: str
    digest: str


@dataclass(frozen=True, slots=True)
class StoredEvidence:
    """The whole file."""

    format_version: int
    submission: StoredSubmission
    evidence: Evidence


def dump(grade: Grade) -> str:
    """Write what a grade was decided on; raises TypeError for what no record should hold."""
    if grade.evidence is None:
        raise TypeError("this grade has no evidence with it")
    submission = StoredSubmission(grade.submission_id, grade.submission_file, grade.submission_digest)
    stored = encode(StoredEvidence(FORMAT_VERSION, submission, grade.evidence))
    return json.dumps(stored, allow_nan=False, separators=(",", ":")) + "\n"


def load(text: str, name: str) -> StoredEvidence:
    """Read it back; ``name`` is the file's for messages. Raises UsageError for what is no such file."""
    try:
        if len(text) > MOST_CHARACTERS:
            raise Misfit(f"expected at most {MOST_CHARACTERS // 2**20} MiB")
        found = json.loads(text)
        version = found.get("format_version") if isinstance(found, dict) else None
        if version != FORMAT_VERSION:
            raise Misfit(f"expected format version {FORMAT_VERSION}")
        stored: StoredEvidence = decode(StoredEvidence, found)
    except (ValueError, RecursionError) as problem:
        reason = str(problem) if isinstance(problem, Misfit) else "it is no JSON that can be read"
        raise UsageError(f"{name} is no stored evidence: {reason}; grade the submission again") from None
    return stored
