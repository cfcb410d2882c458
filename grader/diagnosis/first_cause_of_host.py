"""What host code of a program or a function did wrong first: it makes all that comes after it meaningless."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.messages import text_of
from grader.mistakes import texts_of_course
from grader.model import Cause, FindingCode, FindingKind, Severity, Visibility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Assignment, CaseEvidence, CheckResult, Evidence, Finding


def first_cause_of_host(
    assignment: Assignment, evidence: Evidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """The first error of host code that an item tells, or the call that failed, whichever comes first.

    What nobody wrote is copied back because of something else, if anything else was found.
    """
    item_of = {
        (finding.code, finding.file, finding.line): result.item.id
        for result in reversed(shown)
        if result.item.check == "host"
        for finding in result.findings
    }
    visible = [case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE]
    errors = [finding for case in visible for finding in case.findings if finding.severity is Severity.ERROR]
    others = any(finding.code is not FindingCode.HOST_NEVER_WRITTEN for finding in errors)
    for case in visible:
        failed = _failed_call(assignment, case, shown, main_file)
        for finding in case.findings:
            item = item_of.get((finding.code, finding.file, finding.line))
            is_consequence = others and finding.code is FindingCode.HOST_NEVER_WRITTEN
            if item and _is_error_of_host(finding) and not is_consequence:
                return _cause_of_host(finding, item, main_file)
            if failed is not None and finding.code is FindingCode.HOST_OUT_OF_MEMORY:
                return failed
        if failed is not None:
            return failed
    return None


def _failed_call(
    assignment: Assignment, case: CaseEvidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """The call of the runtime that failed in a case, where more is lost than what is said of it."""
    items = (result.item for result in shown if dict(result.item.options).get("of") != "stderr")
    item = next((item.id for item in items if item.looks_at(case.case)), "")
    if case.program is None or case.program.failed_call is None or not item:
        return None
    texts = texts_of_course(assignment.feedback).mistake(FindingCode.CALL_FAILED)
    cause = _cause_of_host(case.program.failed_call, item, main_file)
    return replace(cause, hint=texts.hint, title=texts.title)


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
