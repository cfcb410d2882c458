"""Speed of a function on a GPU: its requests to its device are recorded, and replayed beside the clock.

    function ─recorded▶ Recordings ─assembled kernels, harness▶ rounds ─read▶ Timing

None of its host code runs where time is measured, so it cannot keep results or move the clock there. Its
memory is there before each replay, so allocations take no time; the host's own work does not count either.
Copies between host and device are done again, and take the time that they take. The staff's functions
beside it are recorded the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import OurError
from grader.grading.assignment import recorded_counters, staff_kernel
from grader.kinds import require_built, staff_submission
from grader.kinds.function.recording import recorded
from grader.kinds.timing import is_timed, job_for, read, timing_sets, timing_staff, untimed
from grader.running.backends import Runs
from grader.toolchain.gpu import pool
from grader.toolchain.gpu.request import Image, has_variables
from grader.toolchain.gpu.timing_job import StaffKernel
from grader.toolchain.nvcc import assemble, build_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.grading.oracle import Oracle
    from grader.kinds.plan import Plan, TimingStaff
    from grader.model import Argument, Assignment, Build, CaseEvidence, Submission, Timing, TimingPlan
    from grader.running.backends import Backend
    from grader.toolchain.gpu.pool import GpuPool
    from grader.toolchain.nvcc import Tools


def staff(assignment: Assignment, oracle: Oracle, tools: Tools, backend: Backend) -> TimingStaff | None:
    """The staff's functions for the GPUs; None where nothing is timed, or there are no such functions.

    Raises OurError where one of them does not build, or cannot be recorded.
    """
    plan = assignment.timing
    if not is_timed(assignment, backend) or plan is None or recorded_counters(assignment) is not None:
        return None
    names = [name for name in (plan.baseline, plan.solution) if name]
    return timing_staff(
        assignment, oracle, [_staff_function(assignment, oracle, tools, backend, n) for n in names]
    )


def _staff_function(
    assignment: Assignment, oracle: Oracle, tools: Tools, backend: Backend, name: str
) -> StaffKernel:
    submission = staff_submission(staff_kernel(assignment, name), "function")
    built = require_built(build_program(tools, submission, assignment.function), submission, "function")
    sets = input_sets(assignment, oracle, _timing_of(assignment), 0)
    try:
        recordings = recorded(assignment.function, built, tools, sets)
    except OurError as problem:
        raise OurError(f"the staff's function {submission.file} cannot be timed: {problem}") from None
    kept = has_variables(built.ptx)
    images = tuple(
        (architecture, Image(assemble(tools, built.ptx, architecture), "", variables=kept))
        for architecture in backend.architectures
    )
    return StaffKernel(name, images, recordings)


def timed(
    plan: Plan, submission: Submission, built: Build, tools: Tools, oracle: Oracle, gpus: GpuPool
) -> Timing | None:
    """The timing of a function that is right in every case; None where nothing is timed.

    ``built`` is the build for the emulator, whose kernels the GPU gets as well. A failure of ours is in the
    record.
    """
    if plan.timing is None:
        return None
    try:
        sets = input_sets(plan.assignment, oracle, _timing_of(plan.assignment), plan.seed)
        recordings = recorded(plan.assignment.function, built, tools, sets)
        job = job_for(plan, plan.timing, recordings, sets)
        if plan.assignment.function.pointers == "host":
            job = replace(job, on_host=True, library=())
        observed = pool.observe(gpus, tools, built, submission.file, (), job)
        return read(plan, Runs((), built, observed.gpu.name, timed=observed), job, oracle, submission.file)
    except OurError as problem:
        return untimed(plan, str(problem))


def is_right(cases: Sequence[CaseEvidence]) -> bool:
    """True if a function did what it should in all cases: nothing else is worth a device's time."""
    return all(
        case.completed and not (case.error or case.of_host or any(c.wrong for c in case.comparisons))
        for case in cases
    )


def _timing_of(assignment: Assignment) -> TimingPlan:
    if assignment.timing is None:
        raise OurError(f"the assignment {assignment.id} does not say what is timed")
    return assignment.timing


def input_sets(
    assignment: Assignment, oracle: Oracle, timing: TimingPlan, seed: int
) -> tuple[tuple[Argument, ...], ...]:
    """The arguments of timed calls, with what is in outputs before."""
    sets = timing_sets(assignment, (), oracle, timing, seed)
    if assignment.function.outputs != "zeros":
        return sets
    # What is to be there before the call is part of the inputs then.
    return tuple(
        tuple(replace(with_zeros(a), direction="inout") if a.direction == "out" else a for a in arguments)
        for arguments in sets
    )


def with_zeros(argument: Argument) -> Argument:
    """An `out` array full of zeros; any other argument as it is."""
    return replace(argument, value=np.zeros_like(argument.value)) if argument.direction == "out" else argument
