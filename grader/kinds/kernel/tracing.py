"""A trace of the launch of a kernel, with what it is a trace of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment import reference_folder
from grader.emulator.launch import Kernel
from grader.emulator.trace.trace import trace
from grader.errors import UsageError
from grader.kinds.kernel.planning import arguments
from grader.kinds.tracing import require_built, source_lines
from grader.model import Finding
from grader.model.trace import TraceScene
from grader.nvcc import build_at, build_kernels
from grader.nvcc.launch import plan_launch
from grader.oracle import array_types, load_oracle
from grader.ptx import parse

if TYPE_CHECKING:
    from grader.kinds.tracing import TraceRequest
    from grader.model import Assignment, Build, Case, Submission
    from grader.nvcc import Tools


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
    given = arguments(assignment, built, case, oracle)
    return TraceScene(
        trace(kernel, launch, given, block, source),
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
    require_built(built, submission)
    return built
