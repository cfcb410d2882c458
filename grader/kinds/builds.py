"""Builds beside the submission's own: of the staff's files, and with the sizes of one case.

The staff's own kernels, functions and programs are built to be compared with, and what fails there is our
error; each function calls the file by a ``noun`` in what it raises. A submission that does not compile with
the sizes of one case gets a finding of that case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.messages import worded
from grader.model import Clause, Finding, FindingCode, FindingKind, Submission, Visibility

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Build, Case


def staff_submission(path: Path, noun: str) -> Submission:
    """A file of the staff's as if it had been handed in; raises OurError where it cannot be read."""
    try:
        return Submission(path.stem, path.name, path.read_bytes(), "")
    except OSError as problem:
        raise OurError(f"the staff's {noun} {path} cannot be read: {problem.strerror}") from None


def require_built(built: Build, submission: Submission, noun: str) -> Build:
    """The build of a file of the staff's; raises OurError with the reasons where there is none."""
    if not built.ok:
        reasons = "; ".join(finding.message for finding in built.findings) or built.error
        raise OurError(f"the staff's {noun} {submission.file} does not build: {reasons}")
    return built


def not_built(built: Build, case: Case) -> Finding:
    """Why a case cannot be run whose sizes do not compile; of a hidden one without what they are."""
    texts = [finding.message for finding in built.findings] if case.visibility is Visibility.VISIBLE else []
    reason = tuple(Clause("because", (("text", text),)) for text in texts[:1])
    details = (("reason", reason),)
    return worded(Finding(FindingKind.COMPILE, code=FindingCode.SIZES_DO_NOT_COMPILE, details=details))
