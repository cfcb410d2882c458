"""The estimated time of a kernel: its only launch, on the arrays that would be timed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grader.grading.assignment import reference_folder
from grader.grading.oracle import array_types, load_oracle
from grader.kinds.estimate_request import Estimated, code_of
from grader.kinds.estimate_results import LeftArray, compared_elements, outputs_of
from grader.kinds.timing import timing_sets
from grader.model import Finding
from grader.running.estimate import NotEstimatedError, device_of, elements_at, estimate_kernel
from grader.toolchain.nvcc import build_at
from grader.toolchain.nvcc.launch import plan_launch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from grader.kinds.estimate_request import EstimateRequest
    from grader.model import Argument, Assignment, Build, Submission
    from grader.running.estimate.further_blocks import BlocksRun
    from grader.running.estimate.sampling import MachineCodeLaunch
    from grader.toolchain.nvcc import MachineCode, Tools


def build_of(assignment: Assignment, submission: Submission, tools: Tools) -> Build:
    """The build of the kernel that is graded."""
    interface = assignment.kernel
    return build_at(tools, submission, interface, interface.kernel, ())


def estimated(
    request: EstimateRequest,
    built: Build,
    code: Future[MachineCode] | None = None,
    *,
    compares: bool = False,
) -> Estimated:
    """The time of the kernel's launch; raises NotEstimatedError.

    Where it ``compares``, also for a launch whose results are wrong.
    """
    assignment, timing = request.assignment, request.timing
    launch = plan_launch(assignment.kernel, built, dict(timing.shape))
    if isinstance(launch, Finding):
        raise NotEstimatedError("not-launched")
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    (arguments,) = timing_sets(assignment, built.constants, oracle, timing, request.seed, sets=1)
    compiled = code_of(request, built, code)
    kernel = estimate_kernel(compiled, built, launch, arguments, device_of(request.device))
    left_by = partial(_outputs_after, kernel.sampled.launch, outputs_of(arguments))
    compared = compared_elements(request, kernel, arguments, oracle, left_by) if compares else 0
    return Estimated(kernel.estimate, kernel, compared=compared)


def _outputs_after(
    launch: MachineCodeLaunch, outputs: Sequence[Argument], ran: Sequence[BlocksRun]
) -> list[LeftArray]:
    """The outputs as the blocks have left them that ran."""
    arrays = []
    for output in outputs:
        start, before = launch.starts[output.name], np.asarray(output.value).reshape(-1)
        after = launch.memory[start : start + before.nbytes].view(before.dtype)
        stored = elements_at(ran, start, before.itemsize, before.size)
        arrays.append(LeftArray(output.name, before, after, stored))
    return arrays
