"""What host code of a program or a function did wrong first: it makes all that comes after it meaningless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.messages import text_of
from grader.model import Cause, FindingCode, FindingKind, Severity, Visibility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import CheckResult, Evidence, Finding


def first_cause_of_host(evidence: Evidence, shown: Sequence[CheckResult], main_file: str) -> Cause | None:
    """The first error of host code that an item tells, in the order in which the program makes them.

    What nobody wrote is copied back because of something else, if anything else was found.
    """
    item_of = {
        (finding.code, finding.file, finding.line): result.item.id
        for result in reversed(shown)
        if result.item.check == "host"
        for finding in result.findings
    }
    visible = (case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    errors = [finding for case in visible for finding in case.findings if finding.severity is Severity.ERROR]
    others = any(finding.code is not FindingCode.HOST_NEVER_WRITTEN for finding in errors)
    for finding in filter(_is_error_of_host, errors):
        item = item_of.get((finding.code, finding.file, finding.line))
        if item and not (others and finding.code is FindingCode.HOST_NEVER_WRITTEN):
            return _cause_of_host(finding, item, main_file)
    return None


def has_error_of_host(evidence: Evidence, failing: Sequence[CheckResult]) -> bool:
    """Whether host code did something wrong in a case of these items: then kernels show little."""
    cases = (case for case in evidence.cases if any(result.item.looks_at(case.case) for result in failing))
    return any(_is_error_of_host(finding) for case in cases for finding in case.findings)


def _is_error_of_host(finding: Finding) -> bool:
    return finding.kind is FindingKind.HOST and finding.severity is Severity.ERROR


def _cause_of_host(finding: Finding, item: str, main_file: str) -> Cause:
    """A finding as the cause, where its own sentence says enough."""
    code, message = finding.code, finding.message
    if finding.line is None or finding.file in {"", main_file}:
        return Cause(code, message, "", item, finding.line)
    sentence = text_of("with-its-place", sentence=message, file=finding.file, line=finding.line)
    return Cause(code, sentence, "", item)
