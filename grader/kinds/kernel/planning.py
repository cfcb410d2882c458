"""What submissions of a kernel share: cases, what the staff's kernels moved, what is timed beside them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.assignment import recorded_counters, reference_folder, staff_kernel
from grader.backends.emulated_kernel import EmulatedKernel
from grader.errors import OurError
from grader.gpu.request import SETS, Image, StaffKernel, TimingJob, has_variables, widths
from grader.kinds import require_built, staff_submission
from grader.model import Argument, Build, Finding, Launch, Timing
from grader.nvcc import assemble, build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import array_types, draw_inputs, load_oracle, make_arguments
from grader.plan import TimingStaff
from grader.precision import numbers, numpy_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.backends import Backend
    from grader.gpu.replay import Recordings
    from grader.model import Assignment, Case, Counters, Named, TimingPlan
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan

    Baselines = Named[Named[Counters]]
    from grader.backends import Runs
    from grader.gpu.answer import HarnessAnswer
    from grader.gpu.pool import Observed
    from grader.gpu.timing import TimingQuestion
    from grader.gpu.timing_rounds import Expected, Outputs
    from grader.model import Build

_TIMING_STREAM = 0x7173
"""Keeps the inputs of timed launches apart from those of cases with the same seed."""


def plan(drawn: Plan, tools: Tools) -> Plan:
    """Prepare the staff's kernels for the drawn cases; raises OurError if one of them cannot be run."""
    assignment = drawn.assignment
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    recorded = recorded_counters(assignment)
    if recorded is not None:
        return replace(drawn, baselines=recorded, timing=None)
    with ThreadPoolExecutor(1) as beside:
        timing = beside.submit(_timing, assignment, oracle, tools, drawn.backend)
        baselines = _baselines(assignment, drawn.cases, oracle, tools)
    return replace(drawn, baselines=baselines, timing=timing.result())


def arguments(assignment: Assignment, built: Build, case: Case, oracle: Oracle) -> tuple[Argument, ...]:
    """The arguments of a case's launch for the kernel of a build, with what it calls them."""
    arrays = draw_inputs(oracle, case)
    unnamed = make_arguments(assignment.kernel, dict(case.shape), arrays, dict(built.constants))
    names = dict(built.student_names)
    with_names = (replace(argument, student_name=names.get(argument.name, "")) for argument in unnamed)
    return tuple(_with_offset(argument, case.offset) for argument in with_names)


def _with_offset(argument: Argument, offset: int) -> Argument:
    stays = argument.direction == "value" or argument.symbol
    return argument if stays else replace(argument, offset=offset)


def timing_sets(
    assignment: Assignment, constants: Named[int], oracle: Oracle, timing: TimingPlan, seed: int
) -> tuple[tuple[Argument, ...], ...]:
    """The arguments of timed launches: several sets that differ in nothing but the numbers in them."""
    shape = dict(timing.shape)
    sets = []
    for index in range(SETS):
        rng = np.random.default_rng([seed, _TIMING_STREAM, index])
        arrays = oracle.inputs(timing.inputs, shape, rng)
        sets.append(make_arguments(assignment.called, shape, arrays, dict(constants)))
    return tuple(sets)


def _baselines(assignment: Assignment, cases: tuple[Case, ...], oracle: Oracle, tools: Tools) -> Baselines:
    """The counters of each baseline kernel on the cases that a `traffic` item asks about."""
    case_ids: dict[str, set[str]] = {}
    for item in assignment.rubric:
        if item.check == "traffic":
            chosen = {case.id for case in cases if item.looks_at(case)}
            case_ids.setdefault(str(dict(item.options)["baseline"]), set()).update(chosen)
    counters: dict[str, dict[str, Counters]] = {}
    for name, chosen in case_ids.items():
        built = staff_build(assignment, name, tools)
        kernel = EmulatedKernel(built, "", f"{name}.cu")
        for case in (case for case in cases if case.id in chosen):
            if assignment.kernel.sizes:
                built = staff_build(assignment, name, tools, case.shape)
                kernel = EmulatedKernel(built, "", f"{name}.cu")
            launch = plan_launch(assignment.kernel, built, dict(case.shape))
            if isinstance(launch, Finding):
                raise OurError(
                    f"the baseline {name}.cu cannot be launched for case {case.id}: {launch.message}"
                )
            arguments_of_case = arguments(assignment, built, case, oracle)
            counters.setdefault(case.id, {})[name] = kernel.launch(
                launch, arguments_of_case, count_only=True
            ).counters
    return tuple((case, tuple(by_name.items())) for case, by_name in counters.items())


def _timing(assignment: Assignment, oracle: Oracle, tools: Tools, backend: Backend) -> TimingStaff | None:
    """The staff's kernels for the GPUs, if a rubric item asks for a speedup and time is measured."""
    if not is_timed(assignment, backend) or assignment.timing is None:
        return None
    plan = assignment.timing
    names = [name for name in (plan.baseline, plan.solution) if name]
    with ThreadPoolExecutor(len(names)) as pool:
        built = pool.map(
            lambda name: _staff_kernel(assignment, plan, name, tools, backend.architectures), names
        )
        return timing_staff(assignment, oracle, list(built))


def is_timed(assignment: Assignment, backend: Backend) -> bool:
    """Whether a rubric item asks for a speedup, and the backend measures time."""
    is_scored = any(item.check == "speedup" for item in assignment.rubric)
    return is_scored and backend.measures_time and assignment.timing is not None


def is_estimated(plan: Plan, built: Build) -> bool:
    """Whether somebody wants to know how fast a build would be: a student, or an item without a GPU."""
    items = [item for item in plan.assignment.rubric if item.check == "speedup"]
    counts = any(dict(item.options).get("estimate") for item in items) and not plan.backend.measures_time
    return (plan.estimates or counts) and bool(items) and plan.assignment.timing is not None and built.ok


def timing_staff(assignment: Assignment, oracle: Oracle, kernels: Sequence[StaffKernel]) -> TimingStaff:
    """What is timed beside every submission: the baseline, and the model solution if there is one."""
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


def _staff_kernel(
    assignment: Assignment, plan: TimingPlan, name: str, tools: Tools, architectures: tuple[str, ...]
) -> StaffKernel:
    built = staff_build(assignment, name, tools)
    launch = plan_launch(assignment.kernel, built, dict(plan.shape))
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


def staff_build(assignment: Assignment, name: str, tools: Tools, shape: Named[int] = ()) -> Build:
    """The build of one of the staff's kernels; raises OurError if it does not build."""
    interface, submission = assignment.kernel, staff_submission(staff_kernel(assignment, name), "kernel")
    built = build_at(tools, submission, interface, interface.kernel, shape)
    return require_built(built, submission, "kernel")


_MOST_THREADS = {(7, 5): 1024, (8, 6): 1536, (8, 7): 1536, (8, 9): 1536, (12, 0): 1536, (12, 1): 1536}
"""Resident threads per multiprocessor where they are not 2048 (CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability")."""


def timing_job(plan: Plan, built: Build, oracle: Oracle) -> TimingJob | Finding | None:
    """What to time beside a submission, or why its launch would be refused; None where nobody is timed."""
    staff, timing = plan.timing, plan.assignment.timing
    if staff is None or timing is None:
        return None
    launch = plan_launch(plan.assignment.kernel, built, dict(timing.shape))
    if isinstance(launch, Finding):
        return launch
    sets = timing_sets(plan.assignment, built.constants, oracle, timing, plan.seed)
    job = job_for(plan, staff, launch, sets)
    return replace(job, widths=widths(sets[0], built.parameter_bytes))


def job_for(
    plan: Plan, staff: TimingStaff, timed: Launch | Recordings, sets: tuple[tuple[Argument, ...], ...]
) -> TimingJob:
    """What to time beside a submission of which ``timed`` is launched or replayed on these inputs."""
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
    """The record of a submission that was not timed; None where nobody is."""
    staff, timing = plan.timing, plan.assignment.timing
    if staff is None or timing is None:
        return None
    findings = () if refused is None else (refused,)
    return Timing(baseline=staff.baseline.name, error=error, shape=timing.shape, findings=findings)


def read(plan: Plan, runs: Runs, job: TimingJob | Finding | None, oracle: Oracle, file: str) -> Timing | None:
    """What the rounds of a submission gave, or why nothing was timed; None where nobody is timed."""
    observed = runs.timed
    if runs.problem or job is None:
        return untimed(plan, runs.problem)
    if isinstance(job, Finding):
        return untimed(plan, refused=job)
    if observed is None or observed.answer is None or observed.answer.timing is None:
        return untimed(plan, observed.answer.error if observed and observed.answer else "")
    from grader.gpu.timing import read_timing  # noqa: PLC0415 - on the emulator it is not loaded

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
    from grader.gpu.timing import TimingQuestion  # noqa: PLC0415 - as above

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
    return oracle.expected(inputs, shape)


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
    from grader.gpu.answer import read_array  # noqa: PLC0415 - as above

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
