"""First mistake of host code of a program or a function: it makes all that comes after it meaningless."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.explaining.causes import SIZES
from grader.model import Cause, FindingCode, FindingKind, Severity, Visibility
from grader.model.messages import text_of
from grader.model.mistakes import texts_of_course

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.model import Assignment, CaseEvidence, CheckResult, Evidence, Finding, RubricItem

OF_RESULTS = frozenset({"array", "output", "text"})
"""The checks of what the host has in the end."""

_CERTAIN = SIZES | {FindingCode.HOST_NOT_COOPERATIVE}
"""Mistakes of the host that are the cause of what kernels do wrong, whether or not an item looks at them."""

_REMARKS = frozenset({FindingCode.HOST_COPIED_ELEMENTS, FindingCode.HOST_FILLED_BYTES})
"""Remarks that explain wrong results: a part comes back, or an input holds other numbers."""


def first_cause_of_host(
    assignment: Assignment, evidence: Evidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """The first error of host code that an item shows, or the call that failed, whichever comes first.

    Memory that was never written is copied back because of something else, if there is any other finding.
    Where there is no error, the cause may be a remark: nothing comes back, or only a part.
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
        for finding in sorted(case.findings, key=lambda one: one.code not in _CERTAIN):
            item = item_of.get((finding.code, finding.file, finding.line))
            is_consequence = others and finding.code is FindingCode.HOST_NEVER_WRITTEN
            if finding.code in _CERTAIN:
                item = item or next((r.item.id for r in shown if r.item.looks_at(case.case)), "")
            if item and _is_error_of_host(finding) and not is_consequence:
                return _cause_of_host(finding, item, main_file)
            if failed is not None and finding.code is FindingCode.HOST_OUT_OF_MEMORY:
                return failed
        if failed is not None:
            return failed
    left = (_cause_by_remark(assignment, case, shown, main_file) for case in visible)
    return next((cause for cause in left if cause is not None), None)


def _cause_by_remark(
    assignment: Assignment, case: CaseEvidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """Cause where a remark explains wrong results, and kernels are right."""
    if any(finding.severity is not Severity.INFO for finding in case.findings):
        return None
    if any(comparison.wrong and comparison.kernel for comparison in case.comparisons):
        return None
    items = (result.item for result in shown if _is_of_results(result.item))
    item = next((item.id for item in items if item.looks_at(case.case)), "")
    finding = next(_explaining(case), None) if item else None
    if finding is None:
        return None
    if finding.code in _REMARKS:
        return _cause_of_host(finding, item, main_file)
    return _with_texts(assignment, finding, item, main_file)


def _explaining(case: CaseEvidence) -> Iterator[Finding]:
    """The remarks of a case that explain wrong results, the most certain first."""
    if case.program is not None and case.program.failed_call is not None:
        yield case.program.failed_call
    for finding in case.findings:
        if finding.code in _REMARKS or leaves_no_result(finding):
            yield finding
    if case.program is not None and not any(comparison.mistake for comparison in case.comparisons):
        yield from case.program.work_left


def _is_of_results(item: RubricItem) -> bool:
    writes_a_file = item.check == "kernel-output" and dict(item.options).get("of") is not None
    return item.check in OF_RESULTS or writes_a_file


def leaves_no_result(finding: Finding) -> bool:
    """True if nothing at all comes back; a last launch may be there only to be timed."""
    never = finding.code is FindingCode.HOST_NEVER_COPIED_BACK
    return never and not dict(finding.details).get("read_before")


def _failed_call(
    assignment: Assignment, case: CaseEvidence, shown: Sequence[CheckResult], main_file: str
) -> Cause | None:
    """The call of the runtime that failed in a case, where more is lost than its own finding."""
    items = (result.item for result in shown if dict(result.item.options).get("of") != "stderr")
    item = next((item.id for item in items if item.looks_at(case.case)), "")
    if case.program is None or case.program.failed_call is None or not item:
        return None
    if case.program.failed_call.severity is Severity.INFO:  # see `_remarked`
        return None
    return _with_texts(assignment, case.program.failed_call, item, main_file)


def _with_texts(assignment: Assignment, finding: Finding, item: str, main_file: str) -> Cause:
    """A finding as the cause, with the course's text for such findings."""
    texts = texts_of_course(assignment.feedback).mistake(finding.code)
    return replace(_cause_of_host(finding, item, main_file), hint=texts.hint, title=texts.title)


def has_error_of_host(evidence: Evidence, failing: Sequence[CheckResult]) -> bool:
    """True if host code did something wrong in a case of these items: then kernels show little."""
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
