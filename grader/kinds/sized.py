"""A file that does not compile with the sizes of one case, as a finding of that case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages import worded
from grader.model import Clause, Finding, FindingCode, FindingKind, Visibility

if TYPE_CHECKING:
    from grader.model import Build, Case


def not_built(built: Build, case: Case) -> Finding:
    """Why a case cannot be run whose sizes do not compile; of a hidden one without what they are."""
    texts = [finding.message for finding in built.findings] if case.visibility is Visibility.VISIBLE else []
    reason = tuple(Clause("because", (("text", text),)) for text in texts[:1])
    details = (("reason", reason),)
    return worded(Finding(FindingKind.COMPILE, code=FindingCode.SIZES_DO_NOT_COMPILE, details=details))
