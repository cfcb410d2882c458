"""Speed on a GPU: what is timed beside submissions, the job of one of them, and the results of the rounds."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import OurError
from grader.base.precision import numbers
from grader.grading.arguments import make_arguments
from grader.grading.oracle import expected_of
from grader.kinds.plan import TimingStaff
from grader.model import Finding, Launch, Timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.grading.oracle import Oracle
    from grader.kinds.plan import Plan
    from grader.model import Argument, Assignment, Build, Named, TimingPlan
    from grader.running.backends import Backend, Runs
    from grader.toolchain.gpu.answer import HarnessAnswer
    from grader.toolchain.gpu.pool import Observed
    from grader.toolchain.gpu.replay import Recordings
    from grader.toolchain.gpu.timing import TimingQuestion
    from grader.toolchain.gpu.timing_job import StaffKernel, TimingJob
    from grader.toolchain.gpu.timing_rounds import Expected, Outputs

_SETS = 2
"""Input sets that the rounds choose from at random."""

_MOST_THREADS = {(7, 5): 1024, (8, 6): 1536, (8, 7): 1536, (8, 9): 1536, (12, 0): 1536, (12, 1): 1536}
"""Resident threads per multiprocessor where they are not 2048 (CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability")."""


def job_for(
    plan: Plan, staff: TimingStaff, timed: Launch | Recordings, sets: tuple[tuple[Argument, ...], ...]
) -> TimingJob:
    """Timing job of a submission of which ``timed`` is launched or replayed on these inputs."""
    from grader.toolchain.gpu.timing_job import TimingJob  # noqa: PLC0415 - without a GPU it is not loaded

    return TimingJob(
        baseline=staff.baseline,
        solution=staff.solution,
        launch=timed,
        sets=sets,
        thresholds=staff.thresholds,
        seed=plan.seed,
        budget_seconds=plan.assignment.timing.budget_seconds if plan.assignment.timing else 0.0,
        flops=staff.flops,
        library=staff.library,
    )


def untimed(plan: Plan, error: str = "", refused: Finding | None = None) -> Timing | None:
    """The record of a submission that was not timed; None where no submission is timed."""
    staff, timing = plan.timing, plan.assignment.timing
    if staff is None or timing is None:
        return None
    findings = () if refused is None else (refused,)
    return Timing(baseline=staff.baseline.name, error=error, shape=timing.shape, findings=findings)


def read(plan: Plan, runs: Runs, job: TimingJob | Finding | None, oracle: Oracle, file: str) -> Timing | None:
    """Results of a submission's rounds, or why nothing was timed; None where no submission is timed."""
    observed = runs.timed
    if runs.problem or job is None:
        return untimed(plan, runs.problem)
    if isinstance(job, Finding):
        return untimed(plan, refused=job)
    if observed is None or observed.answer is None or observed.answer.timing is None:
        return untimed(plan, observed.answer.error if observed and observed.answer else "")
    from grader.toolchain.gpu.timing import read_timing  # noqa: PLC0415 - on the emulator it is not loaded

    try:
        return read_timing(
            observed.answer.timing,
            _outputs(observed, job),
            _question(observed, observed.answer, job, oracle, file, plan),
        )
    except OurError as trouble:
        return untimed(plan, str(trouble))


def _question(
    observed: Observed, answer: HarnessAnswer, job: TimingJob, oracle: Oracle, file: str, plan: Plan
) -> TimingQuestion:
    from grader.toolchain.gpu.timing import TimingQuestion  # noqa: PLC0415 - as above

    timing = plan.assignment.timing
    shape = timing.shape if timing else ()
    arrays = [a for a in job.sets[0] if isinstance(a.value, np.ndarray)]
    return TimingQuestion(
        plan=job.rules(),
        expected=tuple(_expected(arguments, oracle, dict(shape)) for arguments in job.sets),
        read_bytes=sum(a.value.nbytes for a in arrays if a.direction in ("in", "inout")),
        written_bytes=sum(a.value.nbytes for a in arrays if a.direction in ("out", "inout")),
        l2_bytes=answer.device.l2_bytes if answer.device else 0,
        file=file,
        occupancy=_occupancy(observed, answer, job),
        shape=shape,
    )


def _expected(arguments: tuple[Any, ...], oracle: Oracle, shape: dict[str, int]) -> Expected:
    inputs = {a.name: numbers(a.value) for a in arguments if a.direction in ("in", "inout")}
    outputs = [argument.name for argument in arguments if argument.direction in ("out", "inout")]
    return expected_of(oracle, inputs, shape, outputs)


def _occupancy(observed: Observed, answer: HarnessAnswer, job: TimingJob) -> float | None:
    """The share of a multiprocessor's threads that the launch can keep resident, as the driver counts."""
    student = answer.resources.get("student")
    if student is None or student.blocks_per_multiprocessor is None or not isinstance(job.launch, Launch):
        return None
    most = _MOST_THREADS.get(observed.gpu.capability, 2048)
    warps = -(-prod(job.launch.block) // 32)
    return min(1.0, student.blocks_per_multiprocessor * warps * 32 / most)


def _outputs(observed: Observed, job: TimingJob) -> Outputs:
    """The outputs of timed launches that came back, by input set and digest."""
    from grader.toolchain.gpu.answer import read_array  # noqa: PLC0415 - as above

    listed = (observed.answer.timing or {}).get("outputs", []) if observed.answer else []
    result = observed.result
    if result is None or not isinstance(listed, list) or len(listed) > len(job.outputs()):
        raise OurError("the harness lists outputs of timed launches that it cannot have")
    like = {a.name: a.value for a in job.sets[0] if isinstance(a.value, np.ndarray)}
    outputs: dict[tuple[int, str], dict[str, Any]] = {}
    for line in listed:
        set_index, digest, array, file = _entry(line)
        if array not in like or file not in job.outputs() or set_index not in range(len(job.sets)):
            raise OurError("the harness lists an output of a timed launch that was not asked for")
        outputs.setdefault((set_index, digest), {})[array] = read_array(result, file, like[array])
    return outputs


def _entry(line: object) -> tuple[int, str, str, str]:
    """A line of the list of outputs, of the types that it must have."""
    if isinstance(line, dict):
        values = tuple(line.get(name) for name in ("set", "digest", "array", "file"))
        set_index, digest, array, file = values
        if type(set_index) is int and all(isinstance(text, str) for text in values[1:]):
            return set_index, str(digest), str(array), str(file)
    raise OurError("the harness lists outputs of timed launches in a form that it must not have")


_TIMING_STREAM = 0x7173
"""Keeps the inputs of timed launches apart from those of cases with the same seed."""


def is_timed(assignment: Assignment, backend: Backend) -> bool:
    """True if a rubric item asks for a speedup, and the backend measures time."""
    is_scored = any(item.check == "speedup" for item in assignment.rubric)
    return is_scored and backend.measures_time and assignment.timing is not None


def is_estimated(plan: Plan, built: Build) -> bool:
    """True if an estimate of a build's speed is wanted: by a student, or by an item without a GPU."""
    items = [item for item in plan.assignment.rubric if item.check == "speedup"]
    counts = any(dict(item.options).get("estimate") for item in items) and not plan.backend.measures_time
    return (plan.estimates or counts) and bool(items) and plan.assignment.timing is not None and built.ok


def timing_staff(assignment: Assignment, oracle: Oracle, kernels: Sequence[StaffKernel]) -> TimingStaff:
    """Kernels timed beside every submission: the baseline, and the model solution if there is one."""
    items = [item for item in assignment.rubric if item.check == "speedup"]
    steps = [step for item in items for step in dict(item.options)["steps"]]
    shape = assignment.timing.shape if assignment.timing else ()
    work = oracle.work(dict(shape)) if oracle.work else {}
    return TimingStaff(
        baseline=kernels[0],
        solution=kernels[1] if len(kernels) > 1 else None,
        thresholds=tuple(dict.fromkeys(threshold for threshold, _ in steps)),
        flops=work.get("flops"),
        library=tuple(work.get("library", {}).items()),
    )


def timing_sets(
    assignment: Assignment,
    constants: Named[int],
    oracle: Oracle,
    timing: TimingPlan,
    seed: int,
    *,
    sets: int = _SETS,
) -> tuple[tuple[Argument, ...], ...]:
    """The arguments of timed launches: some sets that differ in nothing but the numbers in them."""
    shape = dict(timing.shape)
    drawn = []
    for index in range(sets):
        rng = np.random.default_rng([seed, _TIMING_STREAM, index])
        arrays = oracle.inputs(timing.inputs, shape, rng)
        drawn.append(make_arguments(assignment.called, shape, arrays, dict(constants)))
    return tuple(drawn)
