"""`compile`: the submission is there, it builds, and what it builds can be launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.grading.checks import wording
from grader.grading.checks.cases import FULL, NOTHING, error_result
from grader.grading.checks.check import Check
from grader.model import CheckResult, Finding, FindingKind, Severity, Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from grader.model import Build, Evidence


@frozen(kw_only=True)
class CompileCheck(Check):
    """It compiles, and has the kernel with the right parameters."""

    name: ClassVar[str] = "compile"
    title: ClassVar[str] = "compiles"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program", "function")
    whole_submission: ClassVar[bool] = True
    cases_key: ClassVar[str] = ""

    def judge(self, evidence: Evidence) -> CheckResult:
        """Pass where there is a build; warnings cost nothing."""
        build = evidence.build
        if build.error:
            return error_result(self.item, build.error)
        if build.ok:
            findings = (*build.warnings, *_instance_finding(build))
            return CheckResult(self.item, Verdict.PASS, FULL, _pass_message(build), findings=findings)
        has_compiled = bool(build.toolkit)  # what the staff advise is about errors of a compiler
        hint = self.item.hint if has_compiled else ""
        return CheckResult(
            self.item, Verdict.FAIL, NOTHING, _fail_message(build), hint=hint, findings=build.findings
        )


def _pass_message(build: Build) -> str:
    """`compiles`, how many warnings there are to read, and which instance of a template is graded."""
    warnings = sum(finding.severity is Severity.WARNING for finding in build.warnings)
    more = text_of("with-warnings", count=warnings) if warnings else ""
    instance = text_of("with-instance", sentence=wording.instance(build)) if build.instance else ""
    return text_of("compiles", warnings=more, instance=instance)


def _instance_finding(build: Build) -> tuple[Finding, ...]:
    """A finding that costs nothing where an instance of a template is graded: reports tell of those."""
    text = wording.instance(build)
    return (Finding(FindingKind.COMPILE, text, severity=Severity.INFO),) if text else ()


def _fail_message(build: Build) -> str:
    """The first error with its line, and how many more there are."""
    errors = [finding for finding in build.findings if finding.severity is Severity.ERROR] or list(
        build.findings
    )
    if not errors:
        return text_of("does-not-compile")
    more = text_of("more-errors", count=len(errors) - 1) if len(errors) > 1 else ""
    return wording.with_line(errors[0]) + more
