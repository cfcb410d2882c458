"""`memory`: every access inside an array, aligned, and no value used before it was set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.checks.hazards import check_kinds
from grader.model import FindingKind

if TYPE_CHECKING:
    from grader.model import Build, CheckResult, Evidence, Finding, RubricItem

KINDS = (
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.MISALIGNED,
    FindingKind.UNINITIALISED,
    FindingKind.FAULT,
)

UNSET_VARIABLE = ("549-D", "used before its value is set")
"""How nvcc reports a local variable without a value: in a register, where no memory access shows it."""


def check(item: RubricItem, evidence: Evidence) -> CheckResult:
    """Fail on a bad access in any of the item's cases, or on a variable that nvcc sees used unset."""
    return check_kinds(item, evidence, KINDS, "no bad access", unset_variables(evidence.build))


def unset_variables(build: Build) -> tuple[Finding, ...]:
    """The compiler's warnings about variables that are used before they have a value."""
    return tuple(
        replace(warning, kind=FindingKind.UNINITIALISED)
        for warning in build.warnings
        if any(sign in warning.message for sign in UNSET_VARIABLE)
    )
