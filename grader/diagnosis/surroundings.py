"""What is known of a submission beside the findings of one item, and tells which cause is likely."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.model import FindingKind, KernelInterface, Severity, Visibility

if TYPE_CHECKING:
    from grader.model import Assignment, Evidence

OPERANDS = ("a-leading-dimension", "b-leading-dimension")
"""What outputs show of the first matrix that is read, and of the second."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The arrays without rows and columns, what the outputs show, and which stores leave their array.

    Arrays have the names of findings, the student's own. ``vectors`` holds those without rows and columns,
    ``arrays`` all that are parameters, ``shown`` the id of the mistake that most wrong elements show,
    ``misread`` the array whose rows the kernel takes to be of another length, if that is it, ``spilled``
    pairs of an array with rows and a line that stores beyond its end, and ``rewritten`` those of an array
    and a line on which several threads store to one element.
    """

    vectors: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    shown: str = ""
    misread: str = ""
    spilled: frozenset[tuple[str, int | None]] = frozenset()
    rewritten: frozenset[tuple[str, int | None]] = frozenset()


NOWHERE = Surroundings()
"""Nothing is known."""


def surroundings(assignment: Assignment, evidence: Evidence) -> Surroundings:
    """All that advice about one item may take from the others, of visible cases alone."""
    shown_cases = tuple(case for case in evidence.cases if case.case.visibility is Visibility.VISIBLE)
    evidence = replace(evidence, cases=shown_cases)
    interface = assignment.interface
    parameters = interface.arrays if isinstance(interface, KernelInterface) else ()
    label = evidence.build.label
    matrices = tuple(each for each in parameters if len(each.extents) > 1)
    shown, output = _shown(evidence)
    read = [each.name for each in matrices if each.direction != "out"]
    arrays = {"output-leading-dimension": output} | dict(zip(OPERANDS, read, strict=False))
    return Surroundings(
        vectors=frozenset(label(each.name) for each in parameters if len(each.extents) == 1),
        arrays=frozenset(label(each.name) for each in parameters if each.extents),
        shown=shown,
        misread=label(arrays.get(shown, "")),
        spilled=_spilled(evidence, frozenset(label(each.name) for each in matrices)),
        rewritten=_rewritten(evidence),
    )


def _shown(evidence: Evidence) -> tuple[str, str]:
    """The mistake that most elements show, and in which output: small shapes look like several."""
    weights: Counter[tuple[str, str]] = Counter()
    for case in evidence.cases:
        for comparison in case.comparisons:
            if comparison.mistake:
                weights[comparison.mistake, comparison.array] += comparison.wrong
    return weights.most_common(1)[0][0] if weights else ("", "")


def _rewritten(evidence: Evidence) -> frozenset[tuple[str, int | None]]:
    """Arrays and the lines on which several threads store different values to one element."""
    findings = (finding for case in evidence.cases for finding in case.findings)
    return frozenset(
        (finding.array, finding.line)
        for finding in findings
        if finding.kind is FindingKind.RACE
        and finding.hazard == "WAW"
        and finding.line == finding.other_line
        and finding.severity is not Severity.INFO
    )


def _spilled(evidence: Evidence, matrices: frozenset[str]) -> frozenset[tuple[str, int | None]]:
    """Arrays and the lines that store beyond them."""
    found = (
        (finding.array, finding.line)
        for case in evidence.cases
        for finding in case.findings
        if finding.kind is FindingKind.OUT_OF_BOUNDS and finding.direction == "store"
    )
    return frozenset((array, line) for array, line in found if array in matrices)
