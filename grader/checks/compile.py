"""`compile`: the submission is there, it builds, and what it builds can be launched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks import wording
from grader.checks.cases import FULL, NOTHING
from grader.model import CheckResult, Severity, Verdict

if TYPE_CHECKING:
    from grader.model import Build, Evidence, RubricItem


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Pass where there is a build; warnings cost nothing."""
    build = evidence.build
    if build.error:
        message = f"not judged, through no fault of the submission: {wording.printable(build.error)}"
        return CheckResult(item, Verdict.ERROR, NOTHING, message)
    if build.ok:
        return CheckResult(item, Verdict.PASS, FULL, _praise(build), findings=build.warnings)
    return CheckResult(
        item, Verdict.FAIL, NOTHING, _complaint(build), hint=item.hint, findings=build.findings
    )


def _praise(build: Build) -> str:
    """`compiles`, and how many warnings there are to read."""
    if not build.warnings:
        return "the submission compiles"
    return f"the submission compiles, with {wording.count(len(build.warnings), 'warning')}"


def _complaint(build: Build) -> str:
    """The first error with its line, and how many more there are."""
    errors = [finding for finding in build.findings if finding.severity is Severity.ERROR] or list(
        build.findings
    )
    if not errors:
        return "the submission does not compile"
    more = f" (and {wording.count(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
    return wording.with_line(errors[0]) + more
