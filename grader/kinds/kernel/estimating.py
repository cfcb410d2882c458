"""The estimated time of a kernel: its only launch, on the arrays that would be timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment import reference_folder
from grader.estimate import NotEstimatedError, device_of, estimate_kernel
from grader.kinds.estimate_request import Estimated, code_of
from grader.kinds.kernel.planning import timing_sets
from grader.model import Finding
from grader.nvcc import build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import array_types, load_oracle

if TYPE_CHECKING:
    from concurrent.futures import Future

    from grader.kinds.estimate_request import EstimateRequest
    from grader.model import Assignment, Build, Submission
    from grader.nvcc import MachineCode, Tools


def build_of(assignment: Assignment, submission: Submission, tools: Tools) -> Build:
    """The build of the kernel that is graded."""
    interface = assignment.kernel
    return build_at(tools, submission, interface, interface.kernel, ())


def estimated(request: EstimateRequest, built: Build, code: Future[MachineCode] | None = None) -> Estimated:
    """The time of the kernel's launch; raises NotEstimatedError."""
    assignment, timing = request.assignment, request.timing
    launch = plan_launch(assignment.kernel, built, dict(timing.shape))
    if isinstance(launch, Finding):
        raise NotEstimatedError("not-launched")
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    arguments = timing_sets(assignment, built.constants, oracle, timing, request.seed)[0]
    compiled = code_of(request, built, code)
    kernel = estimate_kernel(compiled, built, launch, arguments, device_of(request.device))
    return Estimated(kernel.estimate, kernel)
