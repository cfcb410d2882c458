"""Messages for an undefined output: its cause, and the results of a GPU with it.

The judge of such an output is chosen before (`grader.running.backends.deciding`); evidence holds the number
of elements it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.grading.checks import wording
from grader.grading.checks.cases import is_visible
from grader.model import FindingCode, FindingKind, Severity
from grader.model.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import CaseEvidence, Comparison, Finding

_CAUSES = {
    FindingKind.RACE: "undefined-by-race",
    FindingKind.UNINITIALISED: "undefined-by-unset",
    FindingKind.BARRIER_DIVERGENCE: "undefined-by-barrier",
    FindingKind.OUT_OF_BOUNDS: "undefined-by-bounds",
}


def undefined_cause(cases: Iterable[CaseEvidence]) -> str:
    """Cause that leaves an output undefined for certain, as a noun with its article; empty without one.

    Causes in visible cases come first, and have the line.
    """
    proved = [case for case in cases if any(comparison.undefined for comparison in case.comparisons)]
    for case in sorted(proved, key=lambda case: not is_visible(case)):
        errors = [finding for finding in _undefining(case) if finding.severity is Severity.ERROR]
        if errors:
            return _cause(errors[0], named=is_visible(case))
    return ""


def on_gpu(cases: Iterable[CaseEvidence]) -> str:
    """A sentence about the first visible case of which the GPU made something else; empty without one.

    What it makes of hidden ones would tell of their shapes.
    """
    for case in filter(is_visible, cases):
        finding = next(iter(_undefining(case)), None)
        for comparison in case.comparisons:
            if finding is not None and _differs(comparison):
                return _outcome(case, comparison, _cause(finding, named=True))
    return ""


def _undefining(case: CaseEvidence) -> list[Finding]:
    """The findings that may leave outputs undefined, the gravest first, then in the order of `_CAUSES`."""
    counted = (f for f in case.findings if f.kind in _CAUSES and f.severity is not Severity.INFO)
    severities, kinds = list(Severity), list(_CAUSES)
    return sorted(counted, key=lambda f: (severities.index(f.severity), kinds.index(f.kind)))


def _cause(finding: Finding, *, named: bool) -> str:
    if finding.code is FindingCode.DEPENDS_ON_ORDER:
        return text_of("undefined-by-order")
    name = _CAUSES[finding.kind]
    if finding.line is None or not named:
        return text_of(f"{name}-somewhere")
    return text_of(name, line=finding.line)


def _differs(comparison: Comparison) -> bool:
    """True if the GPU left something wrong, or all right that is wrong."""
    return comparison.wrong_on_device is not None and comparison.wrong_on_device != comparison.wrong


def _outcome(case: CaseEvidence, comparison: Comparison, cause: str) -> str:
    return text_of(
        "on-the-gpu",
        wrong=text_of(
            "wrong-of",
            count=comparison.wrong_on_device or 0,
            wrong=comparison.wrong_on_device or 0,
            elements=text_of("elements", count=comparison.total),
        ),
        array=wording.parameter(comparison.array, comparison.label),
        case=wording.printable(case.case.id),
        cause=cause,
    )
