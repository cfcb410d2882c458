"""`compile`: the submission is there, it builds, and what it builds can be launched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks import wording
from grader.checks.cases import FULL, NOTHING
from grader.checks.check import Check
from grader.model import CheckResult, Finding, FindingKind, Severity, Verdict
from grader.text import count

if TYPE_CHECKING:
    from grader.model import Build, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileCheck(Check):
    """It compiles, and has the kernel with the right parameters."""

    name: ClassVar[str] = "compile"
    title: ClassVar[str] = "compiles"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program")
    whole_submission: ClassVar[bool] = True
    cases_key: ClassVar[str] = ""

    def judge(self, evidence: Evidence) -> CheckResult:
        """Pass where there is a build; warnings cost nothing."""
        build = evidence.build
        if build.error:
            message = f"not judged, through no fault of the submission: {wording.printable(build.error)}"
            return CheckResult(self.item, Verdict.ERROR, NOTHING, message)
        if build.ok:
            findings = (*build.warnings, *_instance(build))
            return CheckResult(self.item, Verdict.PASS, FULL, _praise(build), findings=findings)
        reached = bool(build.toolkit)  # what the staff advise is about errors of a compiler
        hint = self.item.hint if reached else ""
        return CheckResult(
            self.item, Verdict.FAIL, NOTHING, _complaint(build), hint=hint, findings=build.findings
        )


def _praise(build: Build) -> str:
    """`compiles`, how many warnings there are to read, and which instance of a template is graded."""
    warnings = sum(finding.severity is Severity.WARNING for finding in build.warnings)
    more = f", with {count(warnings, 'warning')}" if warnings else ""
    instance = f"; {wording.instance(build)}" if build.instance else ""
    return f"the submission compiles{more}{instance}"


def _instance(build: Build) -> tuple[Finding, ...]:
    """A finding that costs nothing where an instance of a template is graded: reports tell of those."""
    told = wording.instance(build)
    return (Finding(FindingKind.COMPILE, told, severity=Severity.INFO),) if told else ()


def _complaint(build: Build) -> str:
    """The first error with its line, and how many more there are."""
    errors = [finding for finding in build.findings if finding.severity is Severity.ERROR] or list(
        build.findings
    )
    if not errors:
        return "the submission does not compile"
    more = f" (and {count(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
    return wording.with_line(errors[0]) + more
