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

OF_RESULTS = frozenset({"array", "output", "text"})
"""The checks of what the host has in the end."""


def first_cause_of_host(
    assignment: Assignment, evidence: Evidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """The first error of host code that an item tells, or the call that failed, whichever comes first.

    What nobody wrote is copied back because of something else, if anything else was found. Where there is no
    error, it is that nothing comes back at all.
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
    left = (_never_copied_back(assignment, case, shown, main_file) for case in visible)
    return next((cause for cause in left if cause is not None), None)


def _never_copied_back(
    assignment: Assignment, case: CaseEvidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """That nothing comes back after any kernel, where results are wrong and kernels are not."""
    if any(finding.severity is not Severity.INFO for finding in case.findings):
        return None
    if any(result.item.check == "kernel-output" for result in shown):
        return None
    finding = next(filter(leaves_no_result, case.findings), None)
    items = (result.item for result in shown if result.item.check in OF_RESULTS)
    item = next((item.id for item in items if item.looks_at(case.case)), "")
    return _with_texts(assignment, finding, item, main_file) if finding is not None and item else None


def leaves_no_result(finding: Finding) -> bool:
    """Whether it tells that nothing at all comes back: a last launch may be there to take its time alone."""
    never = finding.code is FindingCode.HOST_NEVER_COPIED_BACK
    return never and not dict(finding.details).get("read_before")


def _failed_call(
    assignment: Assignment, case: CaseEvidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """The call of the runtime that failed in a case, where more is lost than what is said of it."""
    items = (result.item for result in shown if dict(result.item.options).get("of") != "stderr")
    item = next((item.id for item in items if item.looks_at(case.case)), "")
    if case.program is None or case.program.failed_call is None or not item:
        return None
    return _with_texts(assignment, case.program.failed_call, item, main_file)


def _with_texts(assignment: Assignment, finding: Finding, item: str, main_file: str) -> Cause:
    """A finding as the cause, with what the course says of such findings."""
    texts = texts_of_course(assignment.feedback).mistake(finding.code)
    return replace(_cause_of_host(finding, item, main_file), hint=texts.hint, title=texts.title)


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
