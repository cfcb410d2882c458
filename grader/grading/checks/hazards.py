"""`memory` and `races`: what the emulator or a tool finds wrong with the accesses of threads.

`memory` asks that every access is inside an array and aligned, and that no value is used before it was set;
`races`, that no two threads are at one element without an order between them, and that no barrier is one that
some miss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.grading.checks.cases import cases_of_item, judge_findings
from grader.grading.checks.check import FindingsCheck, key
from grader.model import FindingCode, FindingKind, Severity
from grader.model.messages import text_of

if TYPE_CHECKING:
    from grader.model import CheckResult, Evidence, Finding

MEMORY_KINDS = (
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.MISALIGNED,
    FindingKind.UNINITIALISED,
    FindingKind.FAULT,
)

OF_THE_THREAD = ("local", "register")
"""Address spaces of a thread's own variables."""


@frozen(kw_only=True)
class MemoryCheck(FindingsCheck):
    """No access out of bounds, misaligned or of memory that was not written.

    What only the unoptimised build does is a warning, and costs nothing.
    """

    name: ClassVar[str] = "memory"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program", "function")
    title: ClassVar[str] = "memory accesses"

    def judge(self, evidence: Evidence) -> CheckResult:
        """Fail on a bad access in any of the item's cases, or on a variable that nvcc sees used unset."""
        unset = unset_variables(replace(evidence, cases=cases_of_item(self.item, evidence)))
        clean = text_of("no-bad-access")
        return judge_findings(self.item, evidence, MEMORY_KINDS, clean, Severity.ERROR, extra=unset)


def unset_variables(evidence: Evidence) -> tuple[Finding, ...]:
    """The compiler's warnings about variables that are used before they have a value.

    They name the variable, but also speak of host code and other kernels: they count only where the kernel
    was seen using a variable that had not been set.
    """
    findings = (finding for case in evidence.cases for finding in case.findings)
    unset = (f for f in findings if f.kind is FindingKind.UNINITIALISED and _is_of_thread(f))
    if all(finding.severity is Severity.INFO for finding in unset):
        return ()
    return tuple(
        replace(warning, kind=FindingKind.UNINITIALISED)
        for warning in evidence.build.warnings
        if warning.code is FindingCode.UNSET_VARIABLE_REPORTED
    )


def _is_of_thread(finding: Finding) -> bool:
    return finding.access is not None and finding.access.space in OF_THE_THREAD


RACE_KINDS = (FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE, FindingKind.UNDEFINED)
"""A file that is two programs earns nothing: what holds for the one says little of the other."""


@frozen(kw_only=True)
class RacesCheck(FindingsCheck):
    """No hazards, and no divergent barriers.

    Hazards inside one warp are warnings, and cost the item like errors unless it says ``severity: error``.
    """

    name: ClassVar[str] = "races"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program", "function")
    title: ClassVar[str] = "no races"
    severity: str = key(("error", "warning"), Severity.WARNING.value)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Fail on a race or a diverging barrier in any of the item's cases."""
        return judge_findings(self.item, evidence, RACE_KINDS, text_of("no-race"), self.severity)
