"""A trace of the launch of a kernel, with what it is a trace of, and which one a report shows.

Of a wrong kernel a report lets one watch the block in which happens what explains most: a hazard, or else the
first wrong element of an output. Of the visible cases in which the same happens the one with the smallest
sizes is taken, so that there is little to watch, but if possible none with a size of 1. A courtesy: where
anything goes wrong there is no trace.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError, log_swallowed
from grader.base.memory_limit import limited
from grader.base.records import frozen
from grader.grading.assignment import reference_folder
from grader.grading.oracle import array_types, load_oracle
from grader.kinds import TraceRequest, require_compiled, source_lines
from grader.kinds.kernel.planning import arguments
from grader.model import TRACED, Finding, FindingKind, Verdict, Visibility
from grader.model.messages import current
from grader.model.trace import TraceScene
from grader.simulation.emulator.launch import Kernel
from grader.simulation.emulator.trace.trace import trace
from grader.simulation.ptx import parse
from grader.toolchain.nvcc import build_at, build_kernels
from grader.toolchain.nvcc.launch import plan_launch

if TYPE_CHECKING:
    from grader.kinds.plan import Plan
    from grader.model import Assignment, Build, Case, CaseEvidence, Grade, Submission
    from grader.toolchain.nvcc import Tools


def scene(assignment: Assignment, submission: Submission, tools: Tools, request: TraceRequest) -> TraceScene:
    """The trace; raises UsageError where the kernel does not compile or cannot be launched."""
    if request.kernel or request.launch:
        raise UsageError(
            f"--kernel and --launch are for programs and functions: a case of `{assignment.id}` is one launch"
        )
    built = _built(tools, submission, assignment, request.case)
    return scene_of(assignment, submission, built, request)


def scene_of(
    assignment: Assignment, submission: Submission, built: Build, request: TraceRequest
) -> TraceScene:
    """The trace of a kernel that is built; raises UsageError where it cannot be launched."""
    case = request.case
    launch = plan_launch(assignment.kernel, built, dict(case.shape))
    if isinstance(launch, Finding):
        raise UsageError(f"{submission.file}: {launch.message}")
    block, source = request.block_in(launch), source_lines(submission)
    module = parse(built.hazard_ptx)
    kernel = Kernel(module, built.entry, built.source_name, submission.file, built.shared_shapes)
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    drawn = arguments(assignment, built, case, oracle)
    return TraceScene(
        trace(kernel, launch, drawn, block, source),
        assignment.id,
        assignment.title,
        submission.file,
        case.kernel or assignment.kernel.kernel,
        case.id,
        case.shape,
        case.inputs,
        request.seed,
        built.constants,
        source,
    )


def _built(tools: Tools, submission: Submission, assignment: Assignment, case: Case) -> Build:
    """The build with the kernel that the case launches; raises UsageError where it does not compile."""
    interface = assignment.kernel
    if interface.sizes:
        built = build_at(tools, submission, interface, case.kernel or interface.kernel, case.shape)
    else:
        built = build_kernels(tools, submission, interface)
    if case.kernel and built.ok:
        built = dict(built.others).get(case.kernel, built)
    require_compiled(built, submission)
    return built


MOST_CELLS = 2**18
"""The product of a case's sizes up to which its launch takes a moment."""

_MATRIX = 2


@frozen
class _Place:
    """A block to watch, and for a wrong output the index of the element of an array that it gets wrong."""

    request: TraceRequest
    mark: tuple[str, tuple[int, ...]] | None = None


def trace_to_show(plan: Plan, submission: Submission, built: Build, grade: Grade) -> TraceScene | None:
    """The trace for the reports of a grade; None where all is right or no case is small enough."""
    watched = _block_to_show(grade)
    if watched is None or plan.assignment.kernel.sizes:  # sizes that the file sets need a build of their own
        return None
    case = watched.request.case
    kernel = dict(built.others).get(case.kernel, built)
    try:
        with limited():
            scene = scene_of(plan.assignment, submission, kernel, watched.request)
    except UsageError:  # another launch, or no such block in it
        return None
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("tracing a block for the report")
        return None
    findings = tuple(map(current().worded, scene.trace.findings))
    # The seed of a graded class decides hidden cases as well, and what is made here is put into reports.
    return replace(scene, trace=replace(scene.trace, findings=findings), mark=watched.mark, seed=None)


def _block_to_show(grade: Grade) -> _Place | None:
    cases = [
        case
        for case in (grade.evidence.cases if grade.evidence else ())
        if case.case.visibility is Visibility.VISIBLE and case.case.shape
    ]
    for_student = grade.for_student  # the page of a student has the trace, too
    results = for_student.results if for_student else tuple(item.result for item in grade.items)
    findings = [
        finding for result in results if result.verdict is Verdict.FAIL for finding in result.findings
    ]
    cause = for_student.cause if for_student else grade.cause
    line = cause.line if cause else None
    hazards = [finding for finding in findings if finding.kind in TRACED and finding.block is not None]
    hazards.sort(key=lambda finding: (finding.line != line, TRACED.index(finding.kind)))
    if hazards:
        return _of_hazard(hazards[0], cases, grade.seed)
    wrong = any(finding.kind is FindingKind.WRONG_OUTPUT for finding in findings)
    return _of_output(cases, grade.seed) if wrong else None


def _of_hazard(hazard: Finding, cases: list[CaseEvidence], seed: int) -> _Place | None:
    """The block of the same hazard in the smallest case that has it."""
    same = [
        (case.case, finding.block)
        for case in cases
        for finding in case.findings
        if (finding.kind, finding.line, finding.other_line) == (hazard.kind, hazard.line, hazard.other_line)
        and finding.block is not None
        and _is_small(case.case)
    ]
    if not same:
        return None
    case, block = min(same, key=lambda pair: _length(pair[0]))
    return _Place(TraceRequest(case, seed, block))


def _is_small(case: Case) -> bool:
    return math.prod(size for _, size in case.shape) <= MOST_CELLS


def _length(case: Case) -> tuple[bool, list[int]]:
    """A key by which cases are sorted: how much there is to watch; last those with hardly anything to see."""
    extents = sorted((size for _, size in case.shape), reverse=True)
    return extents[-1] == 1, extents


def _of_output(cases: list[CaseEvidence], seed: int) -> _Place | None:
    """The block that computes the first wrong element in the smallest case, as blocks lie over the output."""
    wrong = [
        (case.case, comparison.label or comparison.array, comparison.first.index, comparison.heat.block)
        for case in cases
        for comparison in case.comparisons
        if comparison.first is not None and comparison.heat is not None and all(comparison.heat.block)
        if _is_small(case.case) and len(comparison.first.index) <= _MATRIX
    ]
    if not wrong:
        return None
    case, array, index, (rows, columns) = min(wrong, key=lambda one: _length(one[0]))
    row = index[0] if len(index) == _MATRIX else 0
    block = (index[-1] // columns, row // rows, 0)
    return _Place(TraceRequest(case, seed, block), (array, index))
