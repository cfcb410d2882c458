"""The block of a wrong kernel that its report lets one watch, with its trace.

It is that in which happens what explains most: a hazard, or else the first wrong element of an output. Of
the visible cases in which the same happens the one with the smallest sizes is taken, so that there is little
to watch, but if possible none with a size of 1. A courtesy: where anything goes wrong there is no trace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.backends.emulator import limited
from grader.errors import UsageError, log_swallowed
from grader.kinds.kernel.tracing import scene_of
from grader.kinds.tracing import TraceRequest
from grader.model import FindingKind, Verdict, Visibility

if TYPE_CHECKING:
    from grader.model import Build, Case, CaseEvidence, Finding, Grade, Submission
    from grader.model.trace import TraceScene
    from grader.plan import Plan

HAZARDS = (
    FindingKind.OUT_OF_BOUNDS,
    FindingKind.BARRIER_DIVERGENCE,
    FindingKind.RACE,
    FindingKind.UNINITIALISED,
)
MOST_CELLS = 2**18
"""The product of a case's sizes up to which its launch takes a moment."""

_MATRIX = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """A block to watch, and for a wrong output the element of an array that it gets wrong."""

    request: TraceRequest
    mark: tuple[str, int] | None = None


def trace_to_show(plan: Plan, submission: Submission, built: Build, grade: Grade) -> TraceScene | None:
    """The trace for the reports of a grade; None where all is right or no case is small enough."""
    place = _place(grade)
    if place is None or plan.assignment.kernel.sizes:  # sizes that the file sets need a build of their own
        return None
    case = place.request.case
    kernel = dict(built.others).get(case.kernel, built)
    try:
        with limited():
            scene = scene_of(plan.assignment, submission, kernel, place.request)
    except UsageError:  # another launch, or no such block in it
        return None
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("tracing a block for the report")
        return None
    return replace(scene, mark=place.mark)


def _place(grade: Grade) -> _Place | None:
    cases = [
        case
        for case in (grade.evidence.cases if grade.evidence else ())
        if case.case.visibility is Visibility.VISIBLE and case.case.shape
    ]
    findings = [
        finding
        for item in grade.items
        if item.result.verdict is Verdict.FAIL
        for finding in item.result.findings
    ]
    line = grade.cause.line if grade.cause else None
    hazards = [finding for finding in findings if finding.kind in HAZARDS and finding.block is not None]
    hazards.sort(key=lambda finding: (finding.line != line, HAZARDS.index(finding.kind)))
    if hazards:
        return _of_hazard(hazards[0], cases, grade.seed)
    wrong = {finding.case for finding in findings if finding.kind is FindingKind.WRONG_OUTPUT}
    places = (_of_output(case, grade.seed) for case in cases if case.case.id in wrong)
    return next((place for place in places if place is not None), None)


def _of_hazard(hazard: Finding, cases: list[CaseEvidence], seed: int) -> _Place | None:
    """The block of the same hazard in the smallest case that has it."""
    same = [
        (case.case, finding.block)
        for case in cases
        for finding in case.findings
        if (finding.kind, finding.line, finding.other_line) == (hazard.kind, hazard.line, hazard.other_line)
        and finding.block is not None
        and math.prod(size for _, size in case.case.shape) <= MOST_CELLS
    ]
    if not same:
        return None
    case, block = min(same, key=lambda pair: _length(pair[0]))
    return _Place(TraceRequest(case, seed, block))


def _length(case: Case) -> tuple[bool, list[int]]:
    """A key by which cases are sorted: how much there is to watch; last those with hardly anything to see."""
    extents = sorted((size for _, size in case.shape), reverse=True)
    return extents[-1] == 1, extents


def _of_output(case: CaseEvidence, seed: int) -> _Place | None:
    """The block that computes the first wrong element of the example, as blocks lie over the output."""
    heats = [
        one.heat for one in case.comparisons if one.wrong and one.heat is not None and any(one.heat.block)
    ]
    outputs = [array for array in case.example if array.states.strip(".")]
    if not heats or not outputs or len(outputs[0].shape) > _MATRIX:
        return None
    output = outputs[0]
    element = next(number for number, state in enumerate(output.states) if state != ".")
    row, column = divmod(element, output.shape[-1])
    rows, columns = heats[0].block
    block = (column // max(columns, 1), row // max(rows, 1), 0)
    small = replace(case.case, shape=case.smallest or case.case.shape)
    return _Place(TraceRequest(small, seed, block), (output.name, element))
