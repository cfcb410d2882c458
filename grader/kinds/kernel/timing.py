"""Speed of a kernel on a GPU: the staff's kernels that are timed beside it, and its own job."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import OurError
from grader.base.precision import numpy_type
from grader.kinds.timing import job_for, timing_sets, timing_staff
from grader.model import Argument, Finding
from grader.toolchain.gpu.request import Image, has_variables, widths
from grader.toolchain.gpu.timing_job import StaffKernel
from grader.toolchain.nvcc import assemble
from grader.toolchain.nvcc.launch import plan_launch

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.grading.oracle import Oracle
    from grader.kinds.plan import Plan, TimingStaff
    from grader.model import Assignment, Build, TimingPlan
    from grader.toolchain.gpu.timing_job import TimingJob
    from grader.toolchain.nvcc import Tools


def staff(
    assignment: Assignment,
    timing: TimingPlan,
    oracle: Oracle,
    build: Callable[[str], Build],
    tools: Tools,
    architectures: tuple[str, ...],
) -> TimingStaff:
    """The staff's kernels for the GPUs; raises OurError if one of them cannot be launched.

    ``build`` makes the build of the one with a name.
    """

    def kernel(name: str) -> StaffKernel:
        return _staff_kernel(assignment, timing, name, build(name), tools, architectures)

    names = [name for name in (timing.baseline, timing.solution) if name]
    with ThreadPoolExecutor(len(names)) as pool:
        return timing_staff(assignment, oracle, list(pool.map(kernel, names)))


def _staff_kernel(
    assignment: Assignment,
    timing: TimingPlan,
    name: str,
    built: Build,
    tools: Tools,
    architectures: tuple[str, ...],
) -> StaffKernel:
    launch = plan_launch(assignment.kernel, built, dict(timing.shape))
    if isinstance(launch, Finding):
        raise OurError(f"{name}.cu cannot be launched for the timing: {launch.message}")
    scalars = tuple(
        Argument(p.name, p.direction, np.void(1) if p.fields else numpy_type(p.dtype).type(0))
        for p in assignment.kernel.parameters
    )
    types = widths(scalars, built.parameter_bytes)
    variables = has_variables(built.ptx)
    images = tuple(
        (a, Image(assemble(tools, built.ptx, a), built.entry, types, variables=variables))
        for a in architectures
    )
    return StaffKernel(name, images, launch)


def job(
    plan: Plan, staff: TimingStaff, timing: TimingPlan, built: Build, oracle: Oracle
) -> TimingJob | Finding:
    """The timing job of a submission, or the finding that says why its launch would be refused."""
    launch = plan_launch(plan.assignment.kernel, built, dict(timing.shape))
    if isinstance(launch, Finding):
        return launch
    sets = timing_sets(plan.assignment, built.constants, oracle, timing, plan.seed)
    return replace(job_for(plan, staff, launch, sets), widths=widths(sets[0], built.parameter_bytes))
