"""The staff's own kernels, functions and programs, built to be compared with: what fails there is our error.

Each function calls the file by a ``noun`` in what it raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.model import Submission

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Build


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
